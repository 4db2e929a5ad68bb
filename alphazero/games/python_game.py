"""The batched view of a game that only exists as Python objects: the second implementation of `alphazero.games.batched_game.Game`.

In: one object for the start position. Out: arrays of objects, one row for each position, so that search, self-play, arena and play never
know that the rules are not compiled. This file does not know where the objects come from; `alphazero.games.pettingzoo_game` is one source
of them. What needs compiled rules, such as the fused UCT kernel, does not work with these games.
"""

from typing import Protocol

import numpy as np

from alphazero.games.batched_game import Game, Transition
from alphazero.runtime.random_generators import random_below


class Position(Protocol):
    """One position of a game, as an object.

    The laws are those of `alphazero.games.rules`: a pass is an action, an object determines everything, numbers are from the viewpoint of
    the player to move. Objects that are equal (``==``) are the same position.
    """

    def clone(self) -> "Position":
        """Return a copy that `step` can change without changing this one."""

    def step(self, action: int) -> None:
        """Play a legal action, in place."""

    def player_to_move(self) -> int:
        """Return 0 for the player who moves first in the game and 1 for the other; of a finished game, the one who would move."""

    def is_over(self) -> bool:
        """Return whether the game is finished."""

    def result(self) -> float:
        """Return the result of a finished game, 1 win, 0 draw, -1 loss, from the viewpoint of the player to move."""

    def legal_actions(self):
        """Return the legal actions of an unfinished game, a sequence of int in rising order, at least one."""

    def observe(self) -> np.ndarray:
        """Return the network's input for the player to move, float32[C, H, W]."""

    def cells(self) -> np.ndarray:
        """Return the board as int8[H, W]: 0 empty, 1 a piece of the player who moves first in the game, 2 a piece of the other."""


class PythonGame(Game):
    """A game whose positions are Python objects; a state is an array of one object.

    Such states cannot be written to a file without pickling them, and each step of one costs as much as its `clone` and `step`.

    Args:
        name: the name of the game, as `alphazero.games.registry.make_game` reads it.
        start: the position at the start.
        num_actions: A, legal or not.
        max_plies: an upper bound of the number of actions in one game.
        symmetries: (cells, actions) as `alphazero.games.rules.symmetries` gives them; None is the identity alone.
        piece_letters: the empty square, a piece of the first player, a piece of the second player.
    """

    state_size = 1
    state_dtype = np.dtype(object)

    def __init__(
        self,
        name: str,
        start: Position,
        *,
        num_actions: int,
        max_plies: int,
        symmetries=None,
        piece_letters: str = ".XO",
    ):
        self.name = name
        self.num_actions = num_actions
        self.max_plies = max_plies
        self.planes_shape = tuple(start.observe().shape)
        self._start = start
        self._piece_letters = piece_letters
        if symmetries is None:
            _, height, width = self.planes_shape
            symmetries = (
                np.arange(height * width, dtype=np.int32)[None],
                np.arange(num_actions, dtype=np.int32)[None],
            )
        self.cell_symmetries, self.action_symmetries = symmetries

    def initial_states(self, num_games: int = 1) -> np.ndarray:
        return _column([self._start] * num_games)

    def step(self, states: np.ndarray, actions: np.ndarray) -> Transition:
        return self.inspect(
            _column(
                [
                    _after(position, action)
                    for position, action in zip(states[:, 0], actions, strict=True)
                ]
            )
        )

    def inspect(self, states: np.ndarray) -> Transition:
        num = len(states)
        over, results, players = (
            np.zeros(num, np.bool_),
            np.zeros(num, np.float32),
            np.zeros(num, np.int8),
        )
        legal_action_mask = np.zeros((num, self.num_actions), np.bool_)
        for row, position in enumerate(states[:, 0]):
            players[row] = position.player_to_move()
            over[row] = position.is_over()
            if over[row]:
                results[row] = position.result()
            else:
                legal_action_mask[row, position.legal_actions()] = True
        return Transition(states, over, results, players, legal_action_mask)

    def observe(self, states: np.ndarray) -> np.ndarray:
        planes = np.zeros((len(states), *self.planes_shape), np.float32)
        for row, position in enumerate(states[:, 0]):
            planes[row] = position.observe()
        return planes

    def playout(self, states: np.ndarray, rng: np.ndarray) -> np.ndarray:
        return np.array([_playout(position, rng) for position in states[:, 0]], np.float32)

    # --- text ---------------------------------------------------------------------------------------------------------------------------

    def cells(self, state: np.ndarray) -> np.ndarray:
        return state[0].cells()

    @property
    def piece_letters(self) -> str:
        return self._piece_letters

    def cells_to_state(self, board: np.ndarray, player: int) -> np.ndarray:
        raise ValueError(
            f"a position of '{self.name}' cannot be set up from a board: give the list of moves that lead to it."
        )

    def text_to_state(self, text: str, player: int) -> np.ndarray:
        return self.cells_to_state(np.zeros(self.planes_shape[1:], np.int8), player)

    def action_to_text(self, action: int) -> str:
        return str(action)

    def text_to_action(self, text: str) -> int:
        text = text.strip()
        if not (text.isascii() and text.isdigit()):
            raise ValueError(
                f"'{text}' is not a number: type a number from 0 to {self.num_actions - 1}."
            )
        if int(text) >= self.num_actions:
            raise ValueError(
                f"{int(text)} is out of range: type a number from 0 to {self.num_actions - 1}."
            )
        return int(text)


def _column(positions: list) -> np.ndarray:
    """Return the objects as an array, object[B, 1]; numpy must not look inside them."""
    states = np.empty((len(positions), 1), object)
    for row, position in enumerate(positions):
        states[row, 0] = position
    return states


def _after(position: Position, action: int) -> Position:
    child = position.clone()
    child.step(int(action))
    return child


def _playout(position: Position, rng: np.ndarray) -> float:
    """Return the result of one random game, from the viewpoint of the player to move in ``position``."""
    player = position.player_to_move()
    position = position.clone()
    while not position.is_over():
        legal = position.legal_actions()
        position.step(int(legal[random_below(rng, len(legal))]))
    return position.result() if position.player_to_move() == player else -position.result()
