"""Measure the overhead of worker processes: self-play by threads, processes and Ray compared.

    python scripts/worker_speed.py kinds=threads,processes,ray cores=2 seconds=30 rounds=3

Each kind plays Connect Four on the same number of cores: threads of this process, one process per
core, or one Ray node per core. The kinds take turns, without a learner. The script prints games/s,
their ratio to threads in the same round, and the fraction of the time that the workers' threads
spent playing; the rest is lost to transport, waiting and checking.
"""

import dataclasses
import statistics
import sys
import time

from rich.console import Console
from rich.table import Table
from script_command import exit_status

from alphazero.config.command_line import from_overrides
from alphazero.config.help import HELP
from alphazero.config.settings import option, rows
from alphazero.storage.run_folder import RunFolder
from alphazero.training.run_config import compose
from alphazero.training.settings import check_run
from alphazero.training.trainer import Trainer


@dataclasses.dataclass
class Settings:
    """Settings of this script."""

    kinds: str = option("threads,processes,ray", "kinds of workers to measure")
    cores: int = option(2, "cores for self-play", low=1)
    seconds: float = option(30.0, "seconds of a measurement, after a warm-up", low=1.0)
    rounds: int = option(3, "measurements of each kind", low=1)
    unit_s: float = option(5.0, "seconds of a work unit", low=0.1)
    num_simulations: int = option(100, "simulations per move", low=2)
    network: str = option("4x48", "name of a network config")


def main(arguments: list[str]) -> int:
    """Run the script; return its exit status."""
    if HELP & set(arguments):
        settings = [f"{row.key}={row.value}  {row.help}" for row in rows(Settings())]
        print(__doc__, *settings, sep="\n")
        return 0
    name = "scripts/worker_speed.py"
    return exit_status(lambda: measure_kinds(from_overrides(Settings, arguments, name)))


def measure_kinds(settings: Settings) -> None:
    """Measure all kinds of workers in turn, and print a table."""
    console, kinds = Console(), settings.kinds.split(",")
    cluster = start_cluster(settings.cores) if "ray" in kinds else None
    trainers = {kind: make(settings, kind) for kind in kinds}
    speeds: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    for number in range(settings.rounds):
        for kind, trainer in trainers.items():
            speeds[kind].append(measure(trainer, settings))
            games, busy = speeds[kind][-1]
            console.print(f"round {number + 1}, {kind}: {games:.1f} games/s, busy {busy:.1%}")
    table = Table("kind", "games/s (median)", "ratio to threads (median)", "threads busy")
    for kind, rounds in speeds.items():
        ratios = [games / first for (games, _), (first, _) in zip(rounds, speeds[kinds[0]])]
        table.add_row(
            kind,
            f"{statistics.median(games for games, _ in rounds):.1f}",
            f"{statistics.median(ratios):.3f}",
            f"{statistics.median(busy for _, busy in rounds):.1%}",
        )
    console.print(table)
    for trainer in trainers.values():
        trainer.board.source.close()
    if cluster is not None:
        import ray

        ray.shutdown()
        cluster.shutdown()


def start_cluster(num_nodes: int):
    """Start a Ray cluster of one-core nodes on this machine, and connect to it."""
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(num_nodes):
        cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    return cluster


def make(settings: Settings, kind: str) -> Trainer:
    """Return the trainer of a run, for self-play only."""
    arguments = [
        "game=connect_four",
        f"network={settings.network}",
        f"workers={kind}",
        f"workers.unit_s={settings.unit_s}",
        f"workers.num_processes={settings.cores}",
        f"run.num_threads={settings.cores if kind == 'threads' else 1}",
        f"selfplay.num_parallel_games={128 * settings.cores if kind == 'threads' else 128}",
        f"selfplay.num_simulations={settings.num_simulations}",
        "selfplay.games_per_iteration=100000",
        "evaluator.engine=openvino",
        "evaluator.precision=int8",
        "learner.precision=float32",
    ]
    of_run = compose(arguments)
    trainer = Trainer(of_run, RunFolder("build/worker_speed"), check_run(of_run))
    trainer.board.source.update(0, trainer.learner.played_network, trainer.board.sample)
    return trainer


def measure(trainer: Trainer, settings: Settings) -> tuple[float, float]:
    """Return games/s, and the fraction of the time that the threads spent playing."""
    source = trainer.board.source
    warm_up_s = 3 * settings.unit_s if source.plays_on else 2.0
    began, num_games, first, last, thread_s = time.monotonic(), 0, 0.0, 0.0, 0.0
    for played in source.play(10**9, 0.0):
        now = time.monotonic()
        if not played.records or now - began < warm_up_s:
            continue
        if first == 0.0:
            first, thread_s = now, source.work.thread_s
            continue
        num_games += len(played.records)
        last = now
        if now - first > settings.seconds:
            break
    busy = (source.work.thread_s - thread_s) / (last - first) / settings.cores
    return num_games / (last - first), busy


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
