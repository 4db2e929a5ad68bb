"""The laws of a game, checked on random and steered games in plain Python.

In: the name of a game, or a game. Out: the first law that its rules break, with the position in
which they do, or notes on what looks wrong. Compiled code checks no array bounds, so that a mistake
in a rule can end the process; and rules in plain Python may not return. This program therefore runs
in a process of its own, with ``NUMBA_DISABLE_JIT=1``, see `alphazero.own_games.checked_game`.

    python -m alphazero.own_games.checks.laws NAME SECONDS TIME_LIMIT_S

prints its findings as JSON. What the rules themselves print goes to standard error.
`alphazero.own_games.rule_check` checks the same laws for longer.
"""

import contextlib
import faulthandler
import itertools
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from alphazero.games import rules
from alphazero.games.appearance import read_appearance
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.own_games.checks.rule_walks import (
    RANDOM,
    STEERED,
    Broken,
    BrokenLaw,
    View,
    Walk,
    walk,
)
from alphazero.own_games.checks.turned_play import turned_fault
from alphazero.own_games.game_file import file_of, game_of, is_compiled, is_game_file, load_source
from alphazero.own_games.own_game import has_python_rules
from alphazero.own_games.python_game import PythonGame
from alphazero.own_games.rule_errors import python_error_text
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.process import claim_output

_NUM_RANDOM_GAMES = 20
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
_LOADING_FACTOR = 6  # of the time limit, for running the file, which may compute tables
_MAX_SHOWN_ACTIONS = 30
_MIN_GAMES_FOR_NOTES = 10
_GAMES_WITH_SYMMETRIES = 3


def check_laws(
    source: Any,
    seconds: float,
    watch: Callable[[], None] = lambda: None,
    path: Path | None = None,
) -> list[str]:
    """Play random and steered games and check the laws in every position.

    Args:
        source: a `Game`, or the NamedTuple whose class implements `alphazero.games.rules`.
        seconds: stop playing after so long.
        watch: called before each position, which then has to return within some time.
        path: the file of the rules, to name lines in it.

    Returns:
        Notes on what is allowed but looks wrong.

    Raises:
        BrokenLaw: naming the rule, the law and the actions.
    """
    laws = Laws(source, path)
    rng, go_on = random.Random(0), until(seconds, watch)
    walks: list[Walk] = []
    for wishes in [RANDOM] * _NUM_RANDOM_GAMES + STEERED:
        walks.append(walk(laws, wishes, rng, go_on))
        _raise_if_broken(walks[-1].broken)
    played = walks[:_GAMES_WITH_SYMMETRIES]
    _raise_if_broken(broken_symmetry(laws, played, until(seconds, watch)))
    return notes_on(laws.game, walks[:_NUM_RANDOM_GAMES])


def _raise_if_broken(broken: Broken | None) -> None:
    if broken is None:
        return
    text = "in the start position"
    if 0 < len(broken.actions) <= _MAX_SHOWN_ACTIONS:
        text = f"after the actions {broken.actions}"
    elif broken.actions:
        last = broken.actions[-_MAX_SHOWN_ACTIONS:]
        text = f"after {len(broken.actions):,} actions that end with {last}"
    raise BrokenLaw(f"{text}: {broken.error}")


def until(seconds: float, watch: Callable[[], None]) -> Callable[[], bool]:
    """Return a function that calls ``watch`` and says whether there is still time."""
    deadline = time.monotonic() + seconds

    def go_on() -> bool:
        watch()
        return time.monotonic() < deadline

    return go_on


def notes_on(game: Game, walks: list[Walk]) -> list[str]:
    """Return notes on what random games show."""
    notes = []
    results = [result for one in walks if (result := result_of_last_mover(one)) is not None]
    num_lost = sum(result < 0 for result in results)
    is_odd = num_lost >= _MIN_GAMES_FOR_NOTES and not any(result > 0 for result in results)
    if game.num_players == 2 and is_odd:
        notes.append(
            f"in all {num_lost} random games that were not drawn, the player who made the "
            "last move lost. If the last move should win, 'result' has the wrong sign: it is the "
            "result of the player to move, after the last move."
        )
    repeated = next((one.repeated for one in walks if one.repeated), None)
    if repeated is not None:
        before, after = repeated
        notes.append(
            f"positions repeat: in a random game, the position after {after:,} actions looks like "
            f"the one after {before:,}. If the rules count actions or forbid repetitions, the "
            "state, or 'observe' or 'key' of a class, must show that. If they do not, games can "
            "go on for ever: end them at a limit."
        )
    return notes


def result_of_last_mover(one: Walk) -> float | None:
    """Return the result for the player who made the last move; None if the game did not end."""
    if len(one.views) < 2 or not one.views[-1].over:
        return None
    last, result = one.views[-1], one.views[-1].result or 0.0
    return result if last.player == one.views[-2].player else -result


class Laws:
    """The laws of one position and of one step, see `alphazero.own_games.checks.rule_walks.Check`.

    Args:
        source: see `check_laws`.
        path: the file of the rules, to name lines in it.

    Raises:
        BrokenLaw: if a rule is missing, or what the game says of its sizes is impossible.
    """

    def __init__(self, source: Any, path: Path | None = None):
        self._path = path
        with self.naming_errors():
            if not isinstance(source, Game):
                _check_compiled(source)
                source = CompiledGame(str(path), source)
            self.game: Game = source
            _check_tables(self.game)

    def start(self) -> np.ndarray:
        """See `Check`."""
        with self.naming_errors():
            return self.game.initial_states()[0]

    def step(self, state: np.ndarray, action: int) -> np.ndarray:
        """See `Check`."""
        with self.naming_errors():
            both = self.game.step(np.stack([state, state]), np.array([action, action], np.int32))
            if self._changed(state):
                raise BrokenLaw(
                    f"'step' with action {action} also changes the position before it: a copy "
                    "(`clone`) shares a list or an array with it."
                )
            if (both.states[0] != both.states[1]).any():
                raise BrokenLaw(
                    f"'step' with action {action} gives different positions when repeated."
                )
            return both.states[0]

    def key(self, state: np.ndarray) -> bytes:
        """See `Check`."""
        return self.game.identity(state[None])[0].tobytes()

    def foresee(self, state: np.ndarray, actions: list[int]) -> list[tuple[bool, int]]:
        """See `Check`."""
        with self.naming_errors():
            rows = np.repeat(state[None], len(actions), axis=0)
            found = self.game.step(rows, np.array(actions, np.int32))
            nums = [int(np.count_nonzero(self.game.cells(row))) for row in found.states]
            return list(zip(found.over.tolist(), nums))

    def look(self, state: np.ndarray, ply: int) -> View:
        """See `Check`."""
        with self.naming_errors():
            before = state.copy()
            view = self._view(state)
            if ply == 0 and (view.over or view.player != 0):
                raise BrokenLaw(
                    "in the start position, player 0 must be to move and the game not over."
                )
            if ply >= self.game.max_plies and not view.over:
                raise BrokenLaw(
                    f"a game goes on after {ply:,} actions, more than 'max_plies' allows."
                )
            if (state != before).any() or self._changed(state):
                raise BrokenLaw("a rule other than 'step' changes the state.")
            return view

    def check_names(self) -> None:
        """Check that every action has a name."""
        with self.naming_errors():
            for action in range(self.game.num_actions):
                self.game.action_to_text(action)

    def _changed(self, state: np.ndarray) -> bool:
        """Return whether the object of a position no longer says what it said when it was made."""
        return isinstance(self.game, PythonGame) and bool((self.game.reread(state) != state).any())

    def _view(self, state: np.ndarray) -> View:
        game, found = self.game, self.game.inspect(state[None])
        player, over, result = int(found.players[0]), bool(found.over[0]), float(found.results[0])
        if player not in range(game.num_players):
            allowed = "0 or 1" if game.num_players == 2 else "0 in a game of one player"
            raise BrokenLaw(f"'player_to_move' returns {player}: it must be {allowed}.")
        legal = np.flatnonzero(found.legal_action_mask[0]).tolist()
        if over and legal:
            raise BrokenLaw(f"the game is over, but 'legal_actions' allows action {legal[0]}.")
        if not over and not legal:
            raise BrokenLaw(
                "the game is not over, but 'legal_actions' allows no action. A pass is an action."
            )
        if isinstance(game, CompiledGame):
            _check_mask(game.rules, state, found.legal_action_mask[0])
            if over:
                _check_result(game.rules, game.own_result(result))
        if isinstance(game, PythonGame):
            _check_object(game, game.position(state))
        if not np.isfinite(game.observe(state[None])).all():
            raise BrokenLaw("'observe' writes numbers that are not finite.")
        board = game.cells(state)
        shape, values = game.planes_shape[1:], range(len(game.piece_letters))
        if np.shape(board) != shape or not np.isin(board, values).all():
            raise BrokenLaw(
                f"'cells' must return an array of shape {shape} with 0, 1 and 2, and with 3 for a "
                "blocked square if 'piece_letters' has a fourth letter for it."
            )
        return View(player, over, legal, result if over else None, board)

    @contextlib.contextmanager
    def naming_errors(self) -> Iterator[None]:
        """Turn an error that a rule raises into a sentence."""
        try:
            yield
        except (BrokenLaw, KeyboardInterrupt):
            raise
        except ConfigError as error:
            raise BrokenLaw(str(error)) from error
        except Exception as error:
            raise BrokenLaw(python_error_text(error, self._path)) from error


def _check_mask(game: Any, state: np.ndarray, legal: np.ndarray) -> None:
    """Check that the rule `legal_actions` writes the whole mask.

    Args:
        legal: bool[A], the mask that it returned when it got an empty one.
    """
    full = np.ones_like(legal)
    rules.legal_actions(game, state, full)
    if len(unwritten := np.flatnonzero(legal != full)):
        raise BrokenLaw(
            f"'legal_actions' does not write mask[{unwritten[0]}]: it must write True or False for "
            "every action, because the mask is not empty when it gets it."
        )


def _check_object(game: PythonGame, position: Any) -> None:
    """Check what the methods of an object return, before it becomes numbers."""
    legal = [] if position.is_over() else list(position.legal_actions())
    allowed = range(game.num_actions)
    if wrong := [one for one in legal if isinstance(one, (bool, np.bool_)) or one not in allowed]:
        raise BrokenLaw(
            f"'legal_actions' returns {wrong[0]!r}: actions are whole numbers from 0 to "
            f"{len(allowed) - 1}, below 'num_actions'."
        )
    if len(set(legal)) < len(legal):
        raise BrokenLaw("'legal_actions' returns an action twice: it lists actions and is no mask.")
    planes = np.asarray(game.planes(position))
    if planes.shape != game.planes_shape:
        raise BrokenLaw(
            f"'observe' returns an array of shape {planes.shape}; in the start position it was "
            f"{game.planes_shape}."
        )
    if game.has_binary_planes and not np.isin(planes, (0, 1)).all():
        raise BrokenLaw("'observe' returns numbers other than 0 and 1: remove binary_planes.")


def _check_compiled(game: Any) -> None:
    """Check that compiled code can take the sizes of the game, and that no rule is missing."""
    if not (isinstance(game, tuple) and hasattr(game, "_fields")):
        raise BrokenLaw(_no_tuple_text(game))
    for name in _REQUIRED:
        if not rules.implements(game, name):
            raise BrokenLaw(f"the rule '{name}' is missing.")
    for name in ("num_actions", "max_plies"):
        value = getattr(rules, name)(game)
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
    _check_players(game)
    shape = rules.planes_shape(game)
    if not (isinstance(shape, tuple) and len(shape) == 3 and all(map(_is_count, shape))):
        raise BrokenLaw(f"'planes_shape' returns {shape!r}: it must be (planes, rows, columns).")
    read_appearance(rules.appearance(game))


def _check_players(game: Any) -> None:
    """Check the number of players, and between which numbers their results are."""
    if rules.num_players(game) not in (1, 2):
        raise BrokenLaw(f"'num_players' returns {rules.num_players(game)!r}: it must be 1 or 2.")
    worst, best = rules.result_range(game)
    if not worst < best:
        raise BrokenLaw(f"'result_range' returns {worst, best}: it must be (worst, best).")


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


def _no_tuple_text(game: Any) -> str:
    if isinstance(game, type):
        name = game.__qualname__
        return f"GAME is the class '{name}': it must be an instance, GAME = {name}(...)."
    name = type(game).__qualname__
    return (
        f"GAME is of the class '{name}', which is no NamedTuple: write 'class {name}(NamedTuple):' "
        "and list the sizes of the game as its fields. A class in plain Python needs the methods "
        "that docs/ADD_A_GAME.md lists, such as 'legal_actions'."
    )


def _is_count(value: Any) -> bool:
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_whole and value > 0


# --- symmetries -----------------------------------------------------------------------------------


def _check_tables(game: Game) -> None:
    cells, actions = game.cell_symmetries, game.action_symmetries
    _, height, width = game.planes_shape
    for name, table, size in (
        ("cells", cells, height * width),
        ("actions", actions, game.num_actions),
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


def broken_symmetry(laws: Laws, walks: list[Walk], go_on: Callable[[], bool]) -> Broken | None:
    """Return the first position of some games in which a declared symmetry does not hold."""
    tables = list(zip(laws.game.cell_symmetries, laws.game.action_symmetries))
    with laws.naming_errors():
        for (number, row), one in itertools.product(list(enumerate(tables))[1:], walks):
            if not go_on():
                return None
            if (fault := turned_fault(laws.game, one.actions, *row)) is not None:
                error = BrokenLaw(f"symmetry {number} of 'symmetries' {fault.text}")
                return Broken(error, one.actions[: fault.ply])
    return None


# --- the program ----------------------------------------------------------------------------------


def watched(time_limit_s: float) -> Callable[[], None]:
    """Return a function whose calls may lie so far apart; else the process ends with a traceback.

    The file is run first, which may take longer than a position.
    """
    faulthandler.dump_traceback_later(_LOADING_FACTOR * time_limit_s, exit=True)
    return lambda: faulthandler.dump_traceback_later(time_limit_s, exit=True)


def checkable(name: str) -> tuple[Any, Path | None]:
    """Return what `check_laws` takes, and the file of the rules.

    Raises:
        BrokenLaw: if it cannot be loaded, or is no game.
    """
    file = None
    try:
        file = file_of(name) if is_game_file(name) else None
        source = load_source(name)
        file = file_of(name, source)
        is_raw = is_compiled(source) or is_game_file(name) and not has_python_rules(source)
        return source if is_raw else game_of(source, name), file
    except (BrokenLaw, ConfigError) as error:
        raise BrokenLaw(str(error).replace(f"the game file '{name}'", "it", 1)) from error
    except Exception as error:
        raise BrokenLaw(python_error_text(error, file)) from error


def main(name: str, seconds: str, time_limit_s: str) -> None:
    """Check a game and print the findings: the law that is broken, or None, and notes."""
    answers, broken, notes, watch = claim_output(), None, [], watched(float(time_limit_s))
    try:
        game, file = checkable(name)
        watch()
        notes = check_laws(game, float(seconds), watch, file)
    except BrokenLaw as error:
        broken = str(error)
    print(json.dumps({"broken": broken, "notes": notes}), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
