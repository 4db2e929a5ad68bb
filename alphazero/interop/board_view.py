"""Convert observations from PettingZoo to states of this package's games, and translate actions.

This works for PettingZoo's tictactoe_v3 and connect_four_v3, and for the environments of this
package, whose observations have the same form. Only the observation is used; no moves are
remembered.

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
    """The mapping from a PettingZoo environment's squares and actions to this package's."""

    game: Game
    agents: tuple[str, str]  #: the environment's names of its agents, in the order of play
    squares: np.ndarray  #: int[H*W], our square s is the environment's square ``squares[s]``
    actions: np.ndarray  #: int[A], our action a is the environment's action ``actions[a]``

    def board(self, observation: np.ndarray, player: int) -> np.ndarray:
        """Convert an observation to a board of this package's game.

        Args:
            observation: [H, W, 2], the pieces of ``player`` and those of the opponent.
            player: the agent that observes, 0 for the first, or 1.

        Returns:
            int8[H, W], 0 for an empty square, 1 for the first agent's pieces and 2 for the second
            agent's, whoever observes; see `Game.cells`.

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
        """Convert the observation of the player to move to a state of this package's game.

        Args:
            observation: [H, W, 2], the pieces of ``player`` and those of the opponent.
            player: the player to move, 0 for the first agent, or 1.

        Returns:
            The state, an array of K words.

        Raises:
            ValueError: if the board is not reachable, or the observation has the wrong shape.
        """
        return self.game.cells_to_state(self.board(observation, player), player)


def view_of(environment: "AECEnv") -> BoardView:
    """Make the mapping from a PettingZoo environment to the same game of this package.

    Args:
        environment: an environment of this package or of PettingZoo; it may have wrappers.

    Raises:
        ConfigError: if this package has no such game.
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
