"""Convert observations from PettingZoo to states of this package's games, and translate actions.

This works for PettingZoo's tictactoe_v3 and connect_four_v3. Only the observation is used; no moves
are remembered.

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
from alphazero.own_games.adapters.pettingzoo_game import classic_module
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError

if TYPE_CHECKING:
    from pettingzoo import AECEnv

#: Environments of PettingZoo, and the names of the same games here.
ENVIRONMENTS = {"tictactoe_v3": "tic_tac_toe", "connect_four_v3": "connect_four"}
_COLUMN_BY_COLUMN = np.arange(9).reshape(3, 3).T.ravel()


class BoardView(NamedTuple):
    """The mapping from a PettingZoo environment's squares and actions to this package's."""

    game: Game
    agents: tuple[str, str]  #: the environment's names of its agents, in the order of play
    squares: np.ndarray  #: int[H*W], our square s is the environment's square ``squares[s]``
    #: int[A], our action a is the environment's action ``actions[a]``, and the other way round
    actions: np.ndarray

    def board(self, observation: np.ndarray, player: int) -> np.ndarray:
        """Convert an observation to a board of this package's game.

        Args:
            observation: [H, W, 2], the pieces of ``player`` and those of the opponent.
            player: the agent that observes, 0 for the first, or 1.

        Returns:
            int8[H, W], 0 for an empty square, 1 for the first agent's pieces and 2 for the second
            agent's, whoever observes; see `Game.cells`.
        """
        cells = np.zeros(self.game.planes_shape[1:], np.int8)
        cells[observation[:, :, 1] != 0] = 2 - player
        cells[observation[:, :, 0] != 0] = 1 + player
        return cells.ravel()[self.squares].reshape(cells.shape)

    def state(self, observation: np.ndarray, player: int) -> np.ndarray:
        """Convert the observation of the player to move to a state of this package's game.

        Args:
            observation: [H, W, 2], the pieces of ``player`` and those of the opponent.
            player: the player to move, 0 for the first agent, or 1.

        Returns:
            The state, an array of K words.

        Raises:
            ValueError: if the board is not reachable.
        """
        return self.game.cells_to_state(self.board(observation, player), player)


def make_environment(name: str, render_mode: str | None = None) -> "AECEnv":
    """Make one of the environments of PettingZoo that play one of this package's games.

    Args:
        name: the name of the environment, such as "connect_four_v3".
        render_mode: PettingZoo's: "human" opens a window; if None, nothing is drawn.

    Raises:
        ConfigError: if there is no such environment, or PettingZoo is not installed.
    """
    if name not in ENVIRONMENTS:
        raise ConfigError.of("env", name, list(ENVIRONMENTS))
    return classic_module(name).env(render_mode=render_mode)


def view_of(environment: "AECEnv") -> BoardView:
    """Make the mapping from a PettingZoo environment to the same game of this package.

    Args:
        environment: an environment of PettingZoo; it may have wrappers.

    Raises:
        ConfigError: if this package has no such game.
    """
    name = environment.metadata.get("name")
    if name not in ENVIRONMENTS:
        raise ConfigError.of("env", name, list(ENVIRONMENTS))
    game = make_game(ENVIRONMENTS[name])
    squares = np.arange(math.prod(game.planes_shape[1:]))
    actions = np.arange(game.num_actions)
    if name == "tictactoe_v3":
        squares = actions = _COLUMN_BY_COLUMN
    return BoardView(game, tuple(environment.possible_agents), squares, actions)
