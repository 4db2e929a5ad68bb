"""Read our board from what an environment shows an agent, and translate action numbers.

In: observation planes of PettingZoo's own board games, or of our environments, which have the same
form. Out: a state of our game. Nothing but the observation is used; no move is remembered.

tictactoe_v3 numbers its squares column by column, in its observation too: observation[i, j] is row
j of column i. It draws them like this:

    0 3 6
    1 4 7
    2 5 8
"""

from typing import NamedTuple

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.games.registry import make_game
from alphazero.runtime.errors import ConfigError

_OUR_NAMES = {"tictactoe_v3": "tic_tac_toe", "connect_four_v3": "connect_four"}
_COLUMN_BY_COLUMN = np.arange(9, dtype=np.int32).reshape(3, 3).T.ravel()


class BoardView(NamedTuple):
    """An environment, seen as one of our games."""

    game: Game
    agents: tuple[str, str]  #: the environment's names of its agents; the first one moves first
    squares: np.ndarray  #: int32[H*W], our square s is the environment's square ``squares[s]``
    actions: np.ndarray  #: int32[A], our action a is the environment's action ``actions[a]``
    #: whether each move adds one piece, so that the number of pieces shows who is to move
    count_tells_mover: bool

    def player_of(self, observation: np.ndarray, agent: str | None = None) -> int:
        """Return which player an agent is; 0 moves first.

        Args:
            observation: [H, W, 2], what the agent observes when it is to move.
            agent: its name; None counts the pieces, if that is enough.

        Raises:
            ValueError: if the environment has no agent of that name, or no name is given and
                counting is not enough.
        """
        if agent is not None:
            if agent not in self.agents:
                names = " and ".join(self.agents)
                raise ValueError(f"the environment has no agent '{agent}'; its agents are {names}.")
            return self.agents.index(agent)
        if not self.count_tells_mover:
            raise ValueError(
                f"a board of {self.game.name} does not show who is to move: give the agent's name."
            )
        return int(np.asarray(observation)[:, :, :2].sum()) % 2

    def board(self, observation: np.ndarray, player: int) -> np.ndarray:
        """Return our board, int8[H, W]: 0 empty, 1 the first player's piece, 2 the second's.

        Args:
            observation: [H, W, 2]: ``player``'s own pieces, the opponent's.

        Raises:
            ValueError: if the observation has another shape than this environment's.
        """
        observation = np.asarray(observation)
        shape = (*self.game.planes_shape[1:], 2)
        if observation.shape != shape:
            raise ValueError(
                f"the observation has the shape {observation.shape}; {self.game.name} has {shape}."
            )
        own, other = observation[:, :, 0] != 0, observation[:, :, 1] != 0
        cells = np.where(own, 1 + player, np.where(other, 2 - player, 0)).astype(np.int8)
        return cells.ravel()[self.squares].reshape(shape[:2])

    def state(self, observation: np.ndarray, player: int) -> np.ndarray:
        """Return our state, [K], in which ``player`` is to move and observes ``observation``.

        Raises:
            ValueError: if the board is not reachable, or as `board`.
        """
        return self.game.cells_to_state(self.board(observation, player), player)


def view_of(environment) -> BoardView:
    """Return the view of an environment, wrapped or not.

    Raises:
        ConfigError: if it is neither one of ours nor one of the known ones of PettingZoo.
    """
    agents = tuple(environment.possible_agents)
    game = getattr(environment.unwrapped, "game", None)
    if isinstance(game, Game):
        return _view(game, agents, count_tells_mover=False)
    name = environment.metadata.get("name")
    if name not in _OUR_NAMES:
        reason = "it is neither known here nor one of our own games"
        raise ConfigError.of("env", name, list(_OUR_NAMES), reason)
    game = make_game(_OUR_NAMES[name])
    return _view(game, agents, True, _COLUMN_BY_COLUMN if name == "tictactoe_v3" else None)


def _view(game: Game, agents: tuple, count_tells_mover: bool, order=None) -> BoardView:
    """Return the view; ``order`` numbers squares and actions, None numbers them as we do."""
    _, height, width = game.planes_shape
    squares = np.arange(height * width, dtype=np.int32) if order is None else order
    actions = np.arange(game.num_actions, dtype=np.int32) if order is None else order
    return BoardView(game, agents, squares, actions, count_tells_mover)
