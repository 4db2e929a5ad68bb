"""An actor of Ray that has copies of players on its node."""

import numpy as np

from alphazero.players.base import Choice
from alphazero.workers.cluster.player_copy import Limit, PlayerCopy, Recipe
from alphazero.workers.cluster.ray_connection import ray
from alphazero.workers.code_version import code_version


@ray.remote
class PlayerActor:
    """Chooses moves for the players of a match, one batch at a time.

    Args:
        name: of this actor, for the seeds of its players.
        num_threads: that it may use.
    """

    def __init__(self, name: str, num_threads: int):
        self._name = name
        self._num_threads = num_threads
        self._players: dict[int, PlayerCopy] = {}

    def code_version(self) -> str:
        """Return the version of the program on this node."""
        return code_version()

    def make(self, player: int, order: Recipe | Limit) -> None:
        """Make the player of this number."""
        if isinstance(order, Recipe):
            made = PlayerCopy.make(order, self._num_threads, self._name)
        else:
            made = self._players[order.like].limited(order.num_simulations)
        self._players[player] = made

    def choose(self, player: int, states: np.ndarray) -> Choice:
        """Choose a move in each position."""
        return self._players[player].choose(states)
