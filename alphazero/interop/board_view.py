"""How a board is read from what an environment shows an agent, and how the environment's actions are numbered.

In: the observation planes of PettingZoo's own board games, or of our environments (`alphazero.interop.environments`, the same form). Out: a
state of our game. Nothing but the observation is used: no move is remembered.

tictactoe_v3 numbers its squares column by column, and its observation is numbered in the same way: observation[i, j] is row j of column i.

    0 3 6
    1 4 7        as it draws them
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
    """One environment, seen as a game of ours."""

    game: Game
    agents: tuple[
        str, str
    ]  #: the environment's names of its agents, the one who moves first before the other
    squares: (
        np.ndarray
    )  #: int32[H*W], our square s, row by row, is the environment's square ``squares[s]``
    actions: np.ndarray  #: int32[A], our action a is the environment's action ``actions[a]``
    count_tells_mover: (
        bool  #: whether each move adds one piece, so that their number tells who is to move
    )

    def player_of(self, observation: np.ndarray, agent: str | None = None) -> int:
        """Return which player an agent is, 0 for who moves first.

        Args:
            observation: [H, W, 2], what the agent sees while it is to move.
            agent: its name; None counts the pieces, where that is enough.

        Raises:
            ValueError: if the name is not one of the environment's, or there is none and counting is not enough.
        """
        if agent is not None:
            if agent not in self.agents:
                raise ValueError(
                    f"the environment has no agent '{agent}', only {' and '.join(self.agents)}."
                )
            return self.agents.index(agent)
        if not self.count_tells_mover:
            raise ValueError(
                f"in {self.game.name} the board does not tell who is to move: give the agent's name."
            )
        return int(np.asarray(observation)[:, :, :2].sum()) % 2

    def board(self, observation: np.ndarray, player: int) -> np.ndarray:
        """Return our board, int8[H, W]: 0 empty, 1 a piece of the player who moves first in the game, 2 of the other.

        Args:
            observation: [H, W, 2], from the viewpoint of ``player``: its own pieces, then the other's.

        Raises:
            ValueError: if the observation is not of this environment.
        """
        observation = np.asarray(observation)
        shape = self.game.planes_shape[1:]
        if observation.shape != (*shape, 2):
            raise ValueError(
                f"an observation of {self.game.name} has the shape {(*shape, 2)}, not {observation.shape}."
            )
        own, other = observation[:, :, 0] != 0, observation[:, :, 1] != 0
        cells = np.where(own, 1 + player, np.where(other, 2 - player, 0)).astype(np.int8)
        return cells.ravel()[self.squares].reshape(shape)

    def state(self, observation: np.ndarray, player: int) -> np.ndarray:
        """Return our state, [K], in which ``player`` is to move and sees ``observation``.

        Raises:
            ValueError: if no game can have this position.
        """
        return self.game.cells_to_state(self.board(observation, player), player)


def view_of(environment) -> BoardView:
    """Return the view of an environment, wrapped or not.

    Raises:
        ConfigError: if it is neither one of ours nor one of PettingZoo's that are known here.
    """
    agents = tuple(environment.possible_agents)
    game = getattr(environment.unwrapped, "game", None)
    if isinstance(game, Game):
        return _view(game, agents, count_tells_mover=False)
    name = environment.metadata.get("name")
    if name not in _OUR_NAMES:
        raise ConfigError(
            f"our players know the environments {', '.join(_OUR_NAMES)} and those of our own games, not '{name}'."
        )
    game = make_game(_OUR_NAMES[name])
    return _view(game, agents, True, _COLUMN_BY_COLUMN if name == "tictactoe_v3" else None)


def _view(
    game: Game, agents: tuple[str, str], count_tells_mover: bool, order: np.ndarray | None = None
) -> BoardView:
    """Return the view whose squares, and actions if ``order`` is given, are numbered by ``order``; None is the same numbers as ours."""
    _, height, width = game.planes_shape
    squares = np.arange(height * width, dtype=np.int32) if order is None else order
    actions = np.arange(game.num_actions, dtype=np.int32) if order is None else order
    return BoardView(game, agents, squares, actions, count_tells_mover)
