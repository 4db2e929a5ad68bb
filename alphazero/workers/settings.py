"""Settings for who plays the training games: threads, other processes, or other machines."""

import dataclasses

from alphazero.config.settings import option


@dataclasses.dataclass
class WorkerSettings:
    """Settings for the workers that play the training games: their kind, number and timing."""

    kind: str = option(
        "auto",
        "threads of this process, processes of this machine, ray: every machine of a Ray cluster, "
        "auto is processes for a game in plain Python, else threads",
        choices=("auto", "threads", "processes", "ray"),
    )
    mode: str = option(
        "free",
        "free: games count as they come, at most max_staleness networks old; ordered: units of "
        "fixed games in a fixed order, so that the run can be repeated with any kind of worker",
        choices=("free", "ordered"),
    )
    unit_games: int = option(64, "games of a unit of work in ordered mode", low=1, high=1_000_000)
    unit_s: float = option(
        30.0, "seconds that a unit should last in free mode", low=0.1, high=86_400.0
    )
    max_staleness: int = option(
        1, "networks by which the games of free mode may lag behind the newest one", low=0, high=100
    )
    timeout_s: float = option(
        0.0,
        "seconds without an answer after which a worker is dismissed; 0 is ten times the time that "
        "its unit should last, and ten minutes for its first one",
        low=0.0,
    )
    num_processes: int = option(
        0,
        "processes of workers=processes; 0 is one for each core with a game in plain Python, else "
        "one for each eight cores",
        low=0,
        high=1024,
    )
    address: str = option(
        "auto",
        "of the Ray cluster, HOST:PORT; auto is the one that this machine is part of, local starts "
        "one here",
    )
