"""Players whose batches are divided among the nodes of a Ray cluster.

In: the specification of a player. Out: a `Player`. What matches read of it, such as its name and
its engine, is that of the same player in this process, which also analyses single positions.
"""

import dataclasses

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.base import Analysis, Choice, Player, PlayerSettings, SearchProgress
from alphazero.players.registry import existing_network, make_player, read_spec
from alphazero.storage.run_folder import find_network
from alphazero.workers.cluster.player_cluster import PlayerCluster, notify
from alphazero.workers.cluster.player_copy import Limit, Recipe
from alphazero.workers.sent_game import own_file_text

#: Rows for each thread, so that a thread whose positions take longer does not hold up the others,
#: and so that both players of a match have positions to think about.
_ROWS_PER_THREAD = 8


class ClusterPlayer:
    """Divides its batches among the nodes of a cluster; see `Player`.

    Args:
        local: the same player in this process.
        cluster: whose actors have the player.
        number: of the player there.
    """

    #: It has none: players with a time limit are not divided.
    time_limit_s = None

    def __init__(self, local: Player, cluster: PlayerCluster, number: int):
        self.name = local.name
        self.engine = getattr(local, "engine", "")
        self.method = getattr(local, "method", "")
        self._local = local
        self._cluster = cluster
        self._number = number

    @property
    def batch_size(self) -> int:
        """See `Player`; the first look at it connects to the cluster."""
        return max(self._local.batch_size, _ROWS_PER_THREAD) * max(self._cluster.num_threads, 1)

    def choose(self, states: np.ndarray) -> Choice:
        """See `alphazero.players.base.Player.choose`."""
        if not len(states):
            return self._local.choose(states)
        return self._cluster.choose(self._number, states, self._local)

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """See `alphazero.players.base.Player.analyse`; this process does it alone."""
        return self._local.analyse(state, progress)

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> Player:
        """See `alphazero.players.base.Player.limited`; with a time limit it plays here alone."""
        local = self._local.limited(num_simulations, time_limit_s)
        if time_limit_s is not None:
            return local
        number = self._cluster.add(Limit(self._number, num_simulations))
        return ClusterPlayer(local, self._cluster, number)


def make_cluster_player(
    cluster: PlayerCluster, spec: str, game: Game, settings: PlayerSettings | None = None
) -> Player:
    """Return the player of a specification, divided among the nodes of a cluster if that can be.

    Args:
        spec, settings: see `alphazero.players.registry.make_player`.

    Raises:
        ConfigError, UnsolvableError, StoredFileError: as `make_player`.
    """
    local = make_player(spec, game, settings)
    kind, own = read_spec(spec, settings)
    if reason := _stays_here(kind, own):
        notify(f"{spec} plays in this process alone: {reason}.")
        return local
    return ClusterPlayer(local, cluster, cluster.add(make_recipe(spec, game, settings)))


def make_recipe(spec: str, game: Game, settings: PlayerSettings | None = None) -> Recipe:
    """Return what another machine needs to make the player of a specification: UCT or a network."""
    kind, own = read_spec(spec, settings)
    network = None
    if kind != "uct":
        network = find_network(existing_network(kind, spec, game.name)).read_bytes()
    fields = (field.name for field in dataclasses.fields(PlayerSettings))
    plain = PlayerSettings(**{name: getattr(own, name) for name in fields})
    return Recipe(game.name, own_file_text(game.name), network, plain)


def _stays_here(kind: str, settings: PlayerSettings) -> str:
    """Return why a player is not divided, as a clause; "" if it is."""
    if kind == "random":
        return "its moves cost nothing"
    if kind == "solver":
        return "its solver keeps a table from one position to the next"
    if kind.startswith("gtp:"):
        return "it is another program, which follows the games from their start"
    if settings.time_limit_s is not None:
        return "its time limit is meant for this machine"
    if kind == "uct" and settings.keep_table:
        return "with keep_table it follows the games from their start"
    return ""
