"""Adapt games written in the form of the notebooks in docs/notebooks.md.

Each state is wrapped as an `alphazero.own_games.python_game.Position`. In notebook form, one object
holds all the rules of a game:

    action_size                 actions are 0 to action_size - 1; an attribute or a method
    start_state()
    get_transitions(state)      ({action: state}, None), or ({}, outcome) at the end
    canonicalize(state)         the state for the player to move: 1 own, -1 the opponent's, 0 empty
    get_symmetries(state, probs)  optional: [(state, probs), ...], all images of both

A state is a board (an array, a tuple or a list), or an object with a board as its attribute
``board``. Turns alternate, and outcomes are for the player to move. ``max_plies`` and
``result_range`` are optional attributes; without them, they are estimated from random games.
"""

import copy
import random
from typing import Any

import numpy as np

_NUM_PROBES = 100  # random games from which missing attributes are estimated
_MAX_PROBED_PLIES = 5_000


class NotebookPosition:
    """A state of a game in notebook form, with the methods of a game in plain Python.

    Those methods are described in `alphazero.own_games.python_game.Position`.

    Args:
        game: the object that holds the rules.
        state: the state in the game's own form.
        player: the player to move; 0 began the game.
        shape: (H, W) of the board.
    """

    binary_planes = True

    def __init__(self, game: Any, state: Any, player: int, shape: tuple[int, int]):
        self._game = game
        self._state = state
        self._player = player
        self._shape = shape
        self.rules_object = game  #: see `alphazero.games.batched_game.Game.rules_object`
        self._transitions, self._outcome = game.get_transitions(state)

    def clone(self) -> "NotebookPosition":
        twin = object.__new__(NotebookPosition)
        twin.__dict__.update(self.__dict__)
        return twin

    def step(self, action: int) -> None:
        self._state = self._transitions[action]
        self._player = 1 - self._player
        self._transitions, self._outcome = self._game.get_transitions(self._state)

    def player_to_move(self) -> int:
        return self._player

    def is_over(self) -> bool:
        return self._outcome is not None

    def result(self) -> float:
        return self._outcome

    def legal_actions(self) -> list[int]:
        return list(self._transitions)

    def observe(self) -> np.ndarray:
        """Return two planes, bool[2, H, W].

        The first shows the pieces of the player to move, the second the opponent's.
        """
        board = self._board()
        return np.stack([board > 0, board < 0])

    def cells(self) -> np.ndarray:
        board = self._board()
        opponents = np.where(board < 0, 2 - self._player, 0)
        return np.where(board > 0, 1 + self._player, opponents)

    def _board(self) -> np.ndarray:
        return _board_of(self._game.canonicalize(self._state)).reshape(self._shape)


class NotebookStart(NotebookPosition):
    """The start position of a game in notebook form; it also has attributes such as ``max_plies``.

    Args:
        game: the object that holds the rules.
    """

    def __init__(self, game: Any):
        state = game.start_state()
        board = _board_of(game.canonicalize(state))
        super().__init__(game, state, 0, _shape(board))
        size = getattr(game, "action_size", 0)
        self.num_actions = size() if callable(size) else size
        longest, largest = self._probe()
        best = max(1, largest)
        self.max_plies = getattr(game, "max_plies", max(2 * longest, board.size))
        self.result_range = getattr(game, "result_range", (-best, best))

    def symmetries(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Derive the symmetry tables by passing a board of numbered cells to ``get_symmetries``.

        Returns:
            The tables (cells, actions) of `alphazero.games.rules.symmetries`; None if the game
            has no method ``get_symmetries``.
        """
        if not callable(getattr(self._game, "get_symmetries", None)):
            return None
        state = self._game.canonicalize(self._state)
        images = self._game.get_symmetries(_numbered(state), list(range(self.num_actions)))
        cells = np.array([np.ravel(_board_of(image)) for image, _ in images], np.int32)
        actions = np.array([np.ravel(probs) for _, probs in images], np.int32)
        is_identity = (cells == np.arange(cells.shape[1])).all(axis=1)
        order = np.argsort(~is_identity, kind="stable")
        return cells[order], actions[order]

    def _probe(self) -> tuple[int, float]:
        """Play random games to estimate how long games are and how large their outcomes are.

        Returns:
            The number of plies of the longest game, and the largest absolute outcome.
        """
        rng = random.Random(0)
        longest = 0
        largest = 0.0
        for _ in range(_NUM_PROBES):
            position = self.clone()
            plies = 0
            while not position.is_over() and plies < _MAX_PROBED_PLIES:
                position.step(rng.choice(position.legal_actions()))
                plies += 1
            longest = max(longest, plies)
            largest = max(largest, abs(position.result() or 0))
        return longest, largest


def _shape(board: np.ndarray) -> tuple[int, int]:
    """Return a board's height and width.

    A flat board counts as a square if its size allows, otherwise as one row.
    """
    if board.ndim == 2:
        return board.shape
    side = round(board.size**0.5)
    return (side, side) if side * side == board.size else (1, board.size)


def _board_of(state: Any) -> np.ndarray:
    return np.asarray(getattr(state, "board", state))


def _numbered(state: Any) -> Any:
    """Return a copy of a state in which each square contains its own number, from 0."""
    board = _board_of(state)
    numbers = np.arange(board.size).reshape(board.shape)
    if not hasattr(state, "board"):
        return _like(numbers, state)
    numbered = copy.copy(state)
    object.__setattr__(numbered, "board", _like(numbers, state.board))  # may be frozen
    return numbered


def _like(numbers: np.ndarray, board: Any) -> Any:
    """Convert an array of numbers to the type of ``board``: an array, or nested tuples or lists."""
    if isinstance(board, list | tuple):
        return type(board)(map(_like, numbers, board))
    return numbers if isinstance(board, np.ndarray) else int(numbers)
