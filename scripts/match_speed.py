"""Measure what a Ray cluster costs a match: games/s on its nodes and on threads, in one run.

    python scripts/match_speed.py a=uct:1000 b=uct:1000 nodes=2 num_games=32 rounds=5

The nodes have one core each and are on this machine; against them play as many threads of this
process, on the same batches. The two kinds take turns. Printed are games/s and their ratio in the
same round. Set RAY_worker_niceness=0 where other programs run: Ray gives way to them otherwise.
"""

import dataclasses
import statistics
import sys
import time

from script_command import run_script
from worker_speed import start_cluster

from alphazero.evaluation.match import play_match
from alphazero.games.registry import make_game
from alphazero.runtime.settings import option
from alphazero.workers.cluster.cluster_player import ClusterPlayer, make_cluster_player, make_recipe
from alphazero.workers.cluster.player_cluster import PlayerCluster
from alphazero.workers.cluster.player_copy import PlayerCopy


@dataclasses.dataclass
class Settings:
    """Settings of this script."""

    game: str = option("connect_four", "the game")
    a: str = option("uct:1000", "player A")
    b: str = option("uct:1000", "player B")
    nodes: int = option(2, "nodes of one core each", low=1)
    num_games: int = option(32, "games of a measurement, an even number", low=2)
    rounds: int = option(5, "measurements of each kind", low=1)


class Threads:
    """Does what a player on a cluster does with as many threads of this process."""

    def __init__(self, player: ClusterPlayer, copy: PlayerCopy):
        self.name = player.name
        self._player = player
        self.choose = copy.choose

    @property
    def batch_size(self) -> int:
        """That of the player on the cluster."""
        return self._player.batch_size


def main(words: list[str]) -> int:
    """Return the exit status."""
    return run_script(measure_match, Settings, words, "scripts/match_speed.py", __doc__)


def measure_match(settings: Settings) -> None:
    """Measure and print."""
    import ray

    game = make_game(settings.game)
    specs = settings.a, settings.b
    cluster = PlayerCluster("auto")
    divided = [make_cluster_player(cluster, spec, game) for spec in specs]
    in_process = [
        Threads(player, PlayerCopy.make(make_recipe(spec, game), settings.nodes, "threads"))
        for spec, player in zip(specs, divided)
    ]
    nodes = start_cluster(settings.nodes)
    for players in (in_process, divided):
        play_match(game, *players, 32)  # compiles
    ratios = []
    for number in range(settings.rounds):
        alone = games_per_s(settings, in_process)
        together = games_per_s(settings, divided)
        ratios.append(together / alone)
        print(
            f"round {number + 1}: {alone:.2f} games/s on threads, {together:.2f} on the nodes, "
            f"ratio {ratios[-1]:.2f}",
            flush=True,
        )
    print(f"median ratio {statistics.median(ratios):.2f}")
    cluster.close()
    ray.shutdown()
    nodes.shutdown()


def games_per_s(settings: Settings, players: list) -> float:
    """Return the games/s of a match."""
    start = time.monotonic()
    play_match(make_game(settings.game), *players, settings.num_games)
    return settings.num_games / (time.monotonic() - start)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
