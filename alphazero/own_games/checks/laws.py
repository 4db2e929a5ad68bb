"""Check the laws of games in single positions and single steps, in plain Python.

In: a game and its positions. Out: a `BrokenLaw` that names the rule, the law and what the rule did.
`alphazero.own_games.checks.report` checks many positions.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from alphazero.games import rules
from alphazero.games.appearance import read_appearance
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.own_games.checks.rule_walks import BrokenLaw, View
from alphazero.own_games.python_game import PythonGame
from alphazero.own_games.rule_errors import python_error_text
from alphazero.runtime.errors import ConfigError

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


class Laws:
    """Checks a game against the laws of games; implements `rule_walks.Check`.

    Args:
        source: a `Game`, or the NamedTuple whose class implements `alphazero.games.rules`.
        path: the file that contains the rules, used to name lines in it.

    Raises:
        BrokenLaw: if a rule is missing or a size of the game is impossible.
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
        """Return the start position, [K]; see `Check`."""
        with self.naming_errors():
            return self.game.initial_states()[0]

    def step(self, state: np.ndarray, action: int) -> np.ndarray:
        """Play a legal action on two copies and check that the results agree; see `Check`."""
        with self.naming_errors():
            both = self.game.step(np.stack([state, state]), np.array([action, action], np.int32))
            what = f"'step' with action {action}"
            if self._changed(state):
                raise BrokenLaw(
                    f"{what} also changes the position before it: its copy (`clone`) shares a list "
                    "or an array with it."
                )
            if (both.states[0] != both.states[1]).any():
                raise BrokenLaw(f"{what} gives different positions when repeated.")
            return both.states[0]

    def key(self, state: np.ndarray) -> bytes:
        """Return the bytes of the state that identify the position; see `Check`."""
        return self.game.identity(state[None])[0].tobytes()

    def foresee(self, state: np.ndarray, actions: list[int]) -> list[tuple[bool, int]]:
        """Return (game over, number of pieces) after each action; see `Check`."""
        with self.naming_errors():
            rows = np.repeat(state[None], len(actions), axis=0)
            found = self.game.step(rows, np.array(actions, np.int32))
            nums = [int(np.count_nonzero(self.game.cells(row))) for row in found.states]
            return list(zip(found.over.tolist(), nums))

    def look(self, state: np.ndarray, ply: int) -> View:
        """Check every law that concerns a single position; see `Check`."""
        with self.naming_errors():
            before = state.copy()
            view = self._view(state)
            if ply == 0 and (view.over or view.player != 0):
                raise BrokenLaw(
                    "in the start position, player 0 must be to move and the game not over."
                )
            if ply >= self.game.max_plies and not view.over:
                raise BrokenLaw(f"a game goes on after {ply:,} actions: 'max_plies' is too small.")
            if (state != before).any() or self._changed(state):
                raise BrokenLaw("a rule other than 'step' changes the state.")
            return view

    def check_names(self) -> None:
        """Check that every action can be written as text."""
        with self.naming_errors():
            for action in range(self.game.num_actions):
                self.game.action_to_text(action)

    def _changed(self, state: np.ndarray) -> bool:
        """Return whether a position's object has changed since its state was made from it."""
        return isinstance(self.game, PythonGame) and bool((self.game.reread(state) != state).any())

    def _view(self, state: np.ndarray) -> View:
        game = self.game
        found = game.inspect(state[None])
        player = int(found.players[0])
        over = bool(found.over[0])
        result = float(found.results[0])
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
        shape = game.planes_shape[1:]
        if np.shape(board) != shape or not np.isin(board, range(len(game.piece_letters))).all():
            raise BrokenLaw(
                f"'cells' must return an array of shape {shape} with 0, 1 and 2, and with 3 for "
                "blocked squares if 'piece_letters' has a fourth letter."
            )
        return View(player, over, legal, result if over else None, board)

    @contextlib.contextmanager
    def naming_errors(self) -> Iterator[None]:
        """Convert an error raised by a rule into a `BrokenLaw`."""
        try:
            yield
        except (BrokenLaw, KeyboardInterrupt):
            raise
        except ConfigError as error:
            raise BrokenLaw(str(error)) from error
        except Exception as error:
            raise BrokenLaw(python_error_text(error, self._path)) from error


def _check_mask(game: Any, state: np.ndarray, legal: np.ndarray) -> None:
    """Check that the rule `legal_actions` writes every entry of the mask.

    Args:
        legal: bool[A], what the rule wrote into a mask that was all False.
    """
    full = np.ones_like(legal)
    rules.legal_actions(game, state, full)
    unwritten = np.flatnonzero(legal != full)
    if len(unwritten):
        raise BrokenLaw(
            f"'legal_actions' does not write mask[{unwritten[0]}]: it must write True or False for "
            "every action, because the mask holds old values."
        )


def _check_object(game: PythonGame, position: Any) -> None:
    """Check what the methods of a position object return."""
    legal = [] if position.is_over() else list(position.legal_actions())
    for action in legal:
        if isinstance(action, (bool, np.bool_)) or action not in range(game.num_actions):
            raise BrokenLaw(
                f"'legal_actions' returns {action!r}: actions are whole numbers from 0 to "
                f"{game.num_actions - 1}, below 'num_actions'."
            )
    if len(set(legal)) < len(legal):
        raise BrokenLaw(
            "'legal_actions' returns an action twice: it must list actions, not a mask."
        )
    planes = np.asarray(game.planes(position))
    if planes.shape != game.planes_shape:
        raise BrokenLaw(
            f"'observe' returns shape {planes.shape}; at the start it was {game.planes_shape}."
        )
    if game.has_binary_planes and not np.isin(planes, (0, 1)).all():
        raise BrokenLaw("'observe' returns numbers other than 0 and 1: remove binary_planes.")


def _check_compiled(game: Any) -> None:
    """Check that the sizes of a compiled game are valid, and that no rule is missing."""
    if not (isinstance(game, tuple) and hasattr(game, "_fields")):
        raise BrokenLaw(
            f"GAME is {game!r}: it must be an instance of a NamedTuple with the sizes of the game, "
            "or of a class with the methods in docs/ADD_A_GAME.md, such as 'legal_actions'."
        )
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
    shape = rules.planes_shape(game)
    if not (isinstance(shape, tuple) and len(shape) == 3 and all(map(_is_count, shape))):
        raise BrokenLaw(f"'planes_shape' returns {shape!r}: it must be (planes, rows, columns).")
    _check_players(game)
    read_appearance(rules.appearance(game))


def _check_players(game: Any) -> None:
    """Check the number of players and the range of results."""
    if rules.num_players(game) not in (1, 2):
        raise BrokenLaw(f"'num_players' returns {rules.num_players(game)!r}: it must be 1 or 2.")
    worst, best = rules.result_range(game)
    if not worst < best:
        raise BrokenLaw(f"'result_range' returns {worst, best}: it must be (worst, best).")


def _check_result(game: Any, result: float) -> None:
    """Check that a result is in the game's own `result_range`, or else is 1, 0 or -1."""
    worst, best = rules.result_range(game)
    if not rules.implements(game, "result_range"):
        if result not in (-1, 0, 1):
            raise BrokenLaw(
                f"'result' returns {result}: it must be 1, 0 or -1, or the game must define "
                "'result_range'."
            )
    elif not worst <= result <= best:
        raise BrokenLaw(f"'result' returns {result}: 'result_range' allows {worst:g} to {best:g}.")


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
            raise BrokenLaw(f"'symmetries' returns {name} with a row that is not a permutation.")
        if (table[0] != np.arange(size)).any():
            raise BrokenLaw(f"'symmetries' returns {name} whose first row is not the identity.")
