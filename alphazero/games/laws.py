"""The laws of a game, checked on random games in plain Python.

In: the path of a game file. Out: the first law that its rules break, with the position in which
they do, or notes on what looks wrong. Compiled code checks no array bounds, so that a mistake in a
rule can end the process; this program therefore runs in a process of its own, with
``NUMBA_DISABLE_JIT=1``, see `alphazero.games.game_file`.

    python -m alphazero.games.laws PATH SECONDS TIME_LIMIT_S

prints its findings as JSON in the last line.
"""

import contextlib
import faulthandler
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.games.rule_errors import python_error_text
from alphazero.runtime.errors import ConfigError

NUM_GAMES = 30
_REQUIRED = (
    "num_actions",
    "state_layout",
    "planes_shape",
    "max_plies",
    "reset",
    "player_to_move",
    "legal_actions",
    "step",
    "is_over",
    "result",
    "observe",
    "cells",
)
_LOADING_LIMIT_S = 60.0  # for running the file, which may compute tables
_MAX_SHOWN_ACTIONS = 30
_MIN_GAMES_FOR_NOTES = 10
_GAMES_WITH_SYMMETRIES = 3


class BrokenLaw(Exception):
    """A law that the rules of a game break; the message says which, and where."""


class _Played(NamedTuple):
    """One random game."""

    #: in [-1, 1], for the player who made the last move; None if it was not finished
    result: float | None
    repeated: tuple[int, int] | None  #: the numbers of actions before the same position


class Sizes(NamedTuple):
    """What a game says of itself."""

    num_actions: int
    state_size: int
    dtype: np.dtype
    planes_shape: tuple[int, int, int]
    max_plies: int


def check_laws(game: Any, seconds: float, watch: Callable[[], None] = lambda: None) -> list[str]:
    """Play random games and check the laws in every position.

    Args:
        game: the NamedTuple whose class implements `alphazero.games.rules`.
        seconds: stop playing after so long.
        watch: called before each position, which then has to return within some time.

    Returns:
        Notes on what is allowed but looks wrong.

    Raises:
        BrokenLaw: naming the rule and the law.
    """
    _check_class(game)
    for name in _REQUIRED:
        if not rules.implements(game, name):
            raise BrokenLaw(f"the rule '{name}' is missing.")
    sizes = _sizes(game)
    _check_tables(game, sizes)
    deadline = time.monotonic() + seconds

    def go_on() -> bool:
        watch()
        return time.monotonic() < deadline

    rng = np.random.default_rng(0)
    games = [
        _play(game, sizes, rng, go_on, with_symmetries=number < _GAMES_WITH_SYMMETRIES)
        for number in range(NUM_GAMES)
    ]
    results = [played.result for played in games]
    notes = _notes_on_results(results) if rules.num_players(game) == 2 else []
    return [*notes, *_notes_on_repetitions(games)]


def _notes_on_results(results: list[float | None]) -> list[str]:
    if results.count(-1) < _MIN_GAMES_FOR_NOTES or results.count(1):
        return []
    return [
        f"in all {results.count(-1)} random games that were not drawn, the player who made the "
        "last move lost. If the last move should win, 'result' has the wrong sign: it is the "
        "result of the player to move, after the last move."
    ]


def _notes_on_repetitions(games: list["_Played"]) -> list[str]:
    repeated = next((played.repeated for played in games if played.repeated), None)
    if repeated is None:
        return []
    before, after = repeated
    return [
        f"positions repeat: in a random game, the position after {after:,} actions was the one "
        f"after {before:,}. Such a game can go on for ever. Every game must end: count the "
        "actions in the state and end the game at a limit, or forbid repetitions."
    ]


def _check_class(game: Any) -> None:
    """Check that compiled code can take the sizes of the game."""
    if isinstance(game, tuple) and hasattr(game, "_fields"):
        return
    if isinstance(game, type):
        name = game.__qualname__
        raise BrokenLaw(f"GAME is the class '{name}': it must be an instance, GAME = {name}(...).")
    name = type(game).__qualname__
    raise BrokenLaw(
        f"GAME is of the class '{name}', which is no NamedTuple: write 'class {name}(NamedTuple):' "
        "and list the sizes of the game as its fields."
    )


def _sizes(game: Any) -> Sizes:
    num_actions, max_plies = rules.num_actions(game), rules.max_plies(game)
    for name, value in (("num_actions", num_actions), ("max_plies", max_plies)):
        if not _is_count(value):
            raise BrokenLaw(f"'{name}' returns {value!r}: it must be a whole number above 0.")
    layout = rules.state_layout(game)
    try:
        state_size, dtype = layout
        dtype = np.dtype(dtype)
    except (TypeError, ValueError):
        dtype = None
    if dtype is None or not _is_count(state_size):
        raise BrokenLaw(f"'state_layout' returns {layout!r}: it must be (length, dtype).")
    if rules.num_players(game) not in (1, 2):
        raise BrokenLaw(f"'num_players' returns {rules.num_players(game)!r}: it must be 1 or 2.")
    worst, best = rules.result_range(game)
    if not worst < best:
        raise BrokenLaw(f"'result_range' returns {worst, best}: it must be (worst, best).")
    shape = rules.planes_shape(game)
    if not (isinstance(shape, tuple) and len(shape) == 3 and all(map(_is_count, shape))):
        raise BrokenLaw(f"'planes_shape' returns {shape!r}: it must be (planes, rows, columns).")
    return Sizes(num_actions, state_size, dtype, shape, max_plies)


def _is_count(value: Any) -> bool:
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_whole and value > 0


def _check_tables(game: Any, sizes: Sizes) -> None:
    cells, actions = rules.symmetries(game)
    _, height, width = sizes.planes_shape
    for name, table, size in (
        ("cells", cells, height * width),
        ("actions", actions, sizes.num_actions),
    ):
        if np.ndim(table) != 2 or np.shape(table) != (len(cells), size):
            raise BrokenLaw(
                f"'symmetries' returns {name} of shape {np.shape(table)}: "
                f"it must be (number of symmetries, {size})."
            )
        if (np.sort(table, axis=1) != np.arange(size)).any():
            raise BrokenLaw(f"'symmetries' returns {name} with a row that is no permutation.")
        if (table[0] != np.arange(size)).any():
            raise BrokenLaw(f"'symmetries' returns {name} whose first row is not the identity.")


def _play(
    game: Any,
    sizes: Sizes,
    rng: np.random.Generator,
    go_on: Callable[[], bool],
    with_symmetries: bool,
) -> _Played:
    """Play one random game while ``go_on`` says so."""
    state = np.zeros(sizes.state_size, sizes.dtype)
    rules.reset(game, state)
    actions: list[int] = []
    mover, repeated, seen = 0, None, {}
    while go_on():
        before = seen.setdefault(state.tobytes(), len(actions))
        if before < len(actions) and repeated is None:
            repeated = before, len(actions)
        with _naming_position(actions):
            over, legal = _inspect(game, sizes, state, first=not actions)
            if with_symmetries:
                _check_symmetries(game, sizes, state)
            if over:
                result = float(rules.scaled_result(game, state))
                sign = 1 if rules.player_to_move(game, state) == mover else -1
                return _Played(sign * result, repeated)
            if len(actions) == sizes.max_plies:
                raise BrokenLaw(_too_long_text(sizes.max_plies, repeated))
            mover, action = int(rules.player_to_move(game, state)), int(rng.choice(legal))
            _step(game, state, action)
        actions.append(action)
    return _Played(None, repeated)


def _too_long_text(max_plies: int, repeated: tuple[int, int] | None) -> str:
    text = f"a game goes on after {max_plies:,} actions, more than 'max_plies' allows"
    if repeated is None:
        return f"{text}."
    return f"{text}; the position after {repeated[1]:,} actions was the one after {repeated[0]:,}."


def _inspect(game: Any, sizes: Sizes, state: np.ndarray, first: bool) -> tuple[bool, np.ndarray]:
    """Check the laws of one position; return whether it is over, and the legal actions."""
    before = state.copy()
    player, over = rules.player_to_move(game, state), bool(rules.is_over(game, state))
    if player not in range(rules.num_players(game)):
        allowed = "0 or 1" if rules.num_players(game) == 2 else "0 in a game of one player"
        raise BrokenLaw(f"'player_to_move' returns {player}: it must be {allowed}.")
    if first and (over or player != 0):
        raise BrokenLaw("in the start position, player 0 must be to move and the game not over.")
    legal = _legal_actions(game, sizes, state)
    if over and len(legal):
        raise BrokenLaw(f"the game is over, but 'legal_actions' allows action {legal[0]}.")
    if not over and not len(legal):
        raise BrokenLaw(
            "the game is not over, but 'legal_actions' allows no action. A pass is an action."
        )
    if over:
        _check_result(game, rules.result(game, state))
    planes = np.zeros(sizes.planes_shape, np.float32)
    rules.observe(game, state, planes)
    if not np.isfinite(planes).all():
        raise BrokenLaw("'observe' writes numbers that are not finite.")
    board = rules.cells(game, state)
    if np.shape(board) != sizes.planes_shape[1:] or not np.isin(board, (0, 1, 2)).all():
        raise BrokenLaw(
            f"'cells' must return an array of shape {sizes.planes_shape[1:]} with 0, 1 and 2."
        )
    if (state != before).any():
        raise BrokenLaw("a rule other than 'step' changes the state.")
    return over, legal


def _check_result(game: Any, result: float) -> None:
    """Check a result: in a range that the game states, every number is one, otherwise three."""
    worst, best = rules.result_range(game)
    if not rules.implements(game, "result_range"):
        if result not in (-1, 0, 1):
            raise BrokenLaw(
                f"'result' returns {result}: it must be 1, 0 or -1, or the game must define "
                "'result_range'."
            )
    elif not worst <= result <= best:
        allowed = f"from {worst:g} to {best:g}, as 'result_range' says"
        raise BrokenLaw(f"'result' returns {result}: it must be {allowed}.")


def _legal_actions(game: Any, sizes: Sizes, state: np.ndarray) -> np.ndarray:
    """Return the legal actions; check that they do not depend on what the mask held before."""
    masks = np.array([[False], [True]]).repeat(sizes.num_actions, axis=1)
    for mask in masks:
        rules.legal_actions(game, state, mask)
    if len(unwritten := np.flatnonzero(masks[0] != masks[1])):
        raise BrokenLaw(
            f"'legal_actions' does not write mask[{unwritten[0]}]: it must write True or False for "
            "every action, because the mask is not empty when it gets it."
        )
    return np.flatnonzero(masks[0])


def _check_symmetries(game: Any, sizes: Sizes, state: np.ndarray) -> None:
    """Check that legal actions and planes turn with the board.

    This needs a state that is its board and the player to move; others are not checked.
    """
    if not rules.implements(game, "from_cells"):
        return
    board, player = rules.cells(game, state), int(rules.player_to_move(game, state))
    legal, planes = _view(game, sizes, state)
    for number, (cells, actions) in enumerate(zip(*rules.symmetries(game))):
        try:
            turned = rules.from_cells(game, board.ravel()[cells].reshape(board.shape), player)
        except ValueError:
            return
        if number == 0 and (turned != state).any():
            return
        turned_legal, turned_planes = _view(game, sizes, turned)
        if (turned_legal != legal[actions]).any():
            raise BrokenLaw(
                f"symmetry {number} of 'symmetries' changes the rules: after turning the board, "
                "other actions are legal."
            )
        if (turned_planes != planes[:, cells]).any():
            raise BrokenLaw(
                f"symmetry {number} of 'symmetries' does not turn what 'observe' shows."
            )


def _view(game: Any, sizes: Sizes, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the legal actions, bool[A], and the planes, float32[C, H*W]."""
    legal = np.zeros(sizes.num_actions, np.bool_)
    rules.legal_actions(game, state, legal)
    planes = np.zeros(sizes.planes_shape, np.float32)
    rules.observe(game, state, planes)
    return legal, planes.reshape(len(planes), -1)


def _step(game: Any, state: np.ndarray, action: int) -> None:
    again = state.copy()
    rules.step(game, state, action)
    rules.step(game, again, action)
    if (state != again).any():
        raise BrokenLaw(f"'step' with action {action} gives different positions when repeated.")


@contextlib.contextmanager
def _naming_position(actions: list[int]) -> Iterator[None]:
    """Add the moves to a broken law, and to an error that a rule raises."""
    try:
        yield
    except BrokenLaw as error:
        raise BrokenLaw(f"{_place_text(actions)}: {error}") from None
    except Exception as error:
        error.add_note(_place_text(actions))
        raise


def _place_text(actions: list[int]) -> str:
    if not actions:
        return "in the start position"
    if len(actions) <= _MAX_SHOWN_ACTIONS:
        return f"after the actions {actions}"
    return f"after {len(actions):,} actions that end with {actions[-_MAX_SHOWN_ACTIONS:]}"


def _error_text(error: Exception, path: Path) -> str:
    """Return an error of the user's code, and the position in which it was raised."""
    places = [f"{place}: " for place in getattr(error, "__notes__", ())]
    return "".join(places) + python_error_text(error, path)


def main(path: str, seconds: str, time_limit_s: str) -> None:
    """Check a game file and print the findings: the law that is broken, or None, and notes."""
    from alphazero.games.game_file import load_rules

    def watch(limit_s: float = float(time_limit_s)) -> None:
        faulthandler.dump_traceback_later(limit_s, exit=True)

    broken, notes = None, []
    try:
        watch(_LOADING_LIMIT_S)
        game = load_rules(path)
        watch()
        notes = check_laws(game, float(seconds), watch)
    except BrokenLaw as error:
        broken = str(error)
    except ConfigError as error:
        broken = str(error).replace(f"the game file '{path}'", "it", 1)
    except Exception as error:
        broken = _error_text(error, Path(path))
    print("\n" + json.dumps({"broken": broken, "notes": notes}))


if __name__ == "__main__":
    main(*sys.argv[1:])
