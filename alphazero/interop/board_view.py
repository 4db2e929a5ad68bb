"""Convert a PettingZoo agent's observation to a state of our game, and translate action numbers.

This works for PettingZoo's own board games and for our environments, whose observations have the
same form. Only the observation is used; no moves are remembered.

tictactoe_v3 numbers its squares column by column, also in its observation: observation[i, j] is row
j of column i. It draws the squares like this:

    0 3 6
    1 4 7
    2 5 8
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError

if TYPE_CHECKING:
    from pettingzoo import AECEnv

_OUR_NAMES = {"tictactoe_v3": "tic_tac_toe", "connect_four_v3": "connect_four"}
_COLUMN_BY_COLUMN = np.arange(9).reshape(3, 3).T.ravel()


class BoardView(NamedTuple):
    """The mapping of a PettingZoo environment's squares and actions to those of our game."""

    game: Game
    agents: tuple[str, str]  #: the environment's names of its agents, in the order of play
    squares: np.ndarray  #: int[H*W], our square s is the environment's square ``squares[s]``
    actions: np.ndarray  #: int[A], our action a is the environment's action ``actions[a]``

    def board(self, observation: np.ndarray, player: int) -> np.ndarray:
        """Convert an observation to our board, int8[H, W]: 0 empty, 1 and 2 the players' pieces.

        Args:
            observation: [H, W, 2]: the pieces of ``player``, and those of the opponent.

        Raises:
            ValueError: if the observation's shape is not that of this environment.
        """
        shape = (*self.game.planes_shape[1:], 2)
        if observation.shape != shape:
            raise ValueError(
                f"the observation has the shape {observation.shape}; {self.game.name} has {shape}."
            )
        cells = np.zeros(shape[:2], np.int8)
        cells[observation[:, :, 1] != 0] = 2 - player
        cells[observation[:, :, 0] != 0] = 1 + player
        return cells.ravel()[self.squares].reshape(shape[:2])

    def state(self, observation: np.ndarray, player: int) -> np.ndarray:
        """Convert the observation of the player to move to a state of our game, [K].

        Raises:
            ValueError: if the board is not reachable, or the observation has the wrong shape.
        """
        return self.game.cells_to_state(self.board(observation, player), player)


def view_of(environment: "AECEnv") -> BoardView:
    """Make the mapping of an environment to our game; the environment may have wrappers.

    Raises:
        ConfigError: if it is neither one of ours nor a known environment from PettingZoo.
    """
    game = getattr(environment.unwrapped, "game", None)
    name = environment.metadata.get("name")
    if not isinstance(game, Game):
        if name not in _OUR_NAMES:
            reason = "it is neither our own nor a known environment of PettingZoo"
            raise ConfigError.of("env", name, list(_OUR_NAMES), reason)
        game = make_game(_OUR_NAMES[name])
    squares = np.arange(math.prod(game.planes_shape[1:]))
    actions = np.arange(game.num_actions)
    if name == "tictactoe_v3":
        squares = actions = _COLUMN_BY_COLUMN
    return BoardView(game, tuple(environment.possible_agents), squares, actions)
