"""Who thinks for the players of a command: this process, or the machines of a Ray cluster.

In: the settings ``workers`` and ``address``. Out: a function that makes players.
"""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import ClassVar

from alphazero.config.settings import option
from alphazero.games.batched_game import Game
from alphazero.players.base import Player, PlayerSettings
from alphazero.players.registry import make_player

#: What does as `alphazero.players.registry.make_player`.
MakePlayer = Callable[[str, Game, PlayerSettings], Player]


@dataclasses.dataclass
class PlayerWorkers:
    """Who thinks for the players."""

    HEADING: ClassVar[str] = "workers: who thinks for the players"

    workers: str = option(
        "threads",
        "who thinks for the players: threads of this process, ray: every machine of a Ray cluster",
        choices=("threads", "ray"),
    )
    address: str = option(
        "auto",
        "of the Ray cluster, HOST:PORT; auto is the one that this machine is part of, local starts "
        "one here",
        alias="workers.address",  # what the setting is called in a run
    )


@contextlib.contextmanager
def player_maker(settings: PlayerWorkers) -> Iterator[MakePlayer]:
    """Give a function that makes players; let go of all workers at the end.

    Raises:
        ConfigError: if Ray is not installed, or there is no cluster at the address.
    """
    if settings.workers == "threads":
        yield make_player
        return
    from alphazero.workers.settings import check_ray_installed

    check_ray_installed("workers", "threads", ("threads",))
    from alphazero.workers.cluster.players import PlayerCluster, make_cluster_player

    cluster = PlayerCluster(settings.address)
    try:
        yield functools.partial(make_cluster_player, cluster)
    finally:
        cluster.close()
