"""The batched view of a game whose positions are Python objects, for games without compiled rules.

In: an object for the start position. Out: arrays of objects, one row for each position, so that
search, self-play, matches and play need not know that the rules are not compiled. This file does
not know where the objects come from; `alphazero.games.pettingzoo_game` is one source of them.
Whatever needs compiled rules, such as the fused UCT kernel, does not work with these games.
"""

from typing import Protocol

import numpy as np

from alphazero.games.batched_game import Game, Transition
from alphazero.games.symmetry import identity_tables
from alphazero.games.text import parse_index
from alphazero.runtime.random_generators import random_below


class Position(Protocol):
    """One position of a game, as an object.

    The laws are those of `alphazero.games.rules`: a pass is an action, a position determines
    everything that follows, and results are from the viewpoint of the player to move. Equal objects
    (``==``) are the same position.
    """

    def clone(self) -> "Position":
        """Return a copy; stepping the copy leaves this position unchanged."""

    def step(self, action: int) -> None:
        """Play a legal action, in place."""

    def player_to_move(self) -> int:
        """Return 0 for the player who began the game, 1 for the other.

        If the game is over, this is the player who would be next.
        """

    def is_over(self) -> bool:
        """Return whether the game is finished."""

    def result(self) -> float:
        """Return the result of a finished game for the player to move: 1 win, 0 draw, -1 loss."""

    def legal_actions(self):
        """Return the legal actions of an unfinished game, in rising order; at least one."""

    def observe(self) -> np.ndarray:
        """Return the network's input for the player to move, float32[C, H, W]."""

    def cells(self) -> np.ndarray:
        """Return the board, int8[H, W]: 0 empty, 1 the first player's piece, 2 the second's."""


class PythonGame(Game):
    """A game whose positions are Python objects; a state is an array of one object.

    Such states cannot be stored without pickling, and a step costs as much as `clone` and `step` of
    the object.

    Args:
        name: the game's name, as `alphazero.games.registry.make_game` takes it.
        start: the start position.
        num_actions: A, legal or not.
        max_plies: an upper bound of the number of actions in a game.
        symmetries: (cells, actions) as `alphazero.games.rules.symmetries` returns them; None is the
            identity alone.
        piece_letters: letters of an empty square, the first player's piece, the second's.
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
            symmetries = identity_tables(*self.planes_shape[1:], num_actions)
        self.cell_symmetries, self.action_symmetries = symmetries

    def initial_states(self, num_games: int = 1) -> np.ndarray:
        return _column([self._start] * num_games)

    def step(self, states: np.ndarray, actions: np.ndarray) -> Transition:
        played = zip(states[:, 0], actions, strict=True)
        return self.inspect(_column([_after(position, action) for position, action in played]))

    def inspect(self, states: np.ndarray) -> Transition:
        num = len(states)
        over, results = np.zeros(num, np.bool_), np.zeros(num, np.float32)
        players = np.zeros(num, np.int8)
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

    # --- text -------------------------------------------------------------------------------------

    def cells(self, state: np.ndarray) -> np.ndarray:
        return state[0].cells()

    @property
    def piece_letters(self) -> str:
        return self._piece_letters

    def cells_to_state(self, board: np.ndarray, player: int) -> np.ndarray:
        raise ValueError(
            f"'{self.name}' cannot set a position up from a board: give the moves that lead to it."
        )

    def text_to_state(self, text: str, player: int) -> np.ndarray:
        return self.cells_to_state(np.zeros(self.planes_shape[1:], np.int8), player)

    def action_to_text(self, action: int) -> str:
        return str(action)

    def text_to_action(self, text: str) -> int:
        return parse_index(text, self.num_actions)


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
    """Return the result of one random game for the player to move in ``position``."""
    player = position.player_to_move()
    position = position.clone()
    while not position.is_over():
        legal = position.legal_actions()
        position.step(int(legal[random_below(rng, len(legal))]))
    return position.result() if position.player_to_move() == player else -position.result()
