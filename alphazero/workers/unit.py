"""The messages between the learner and its workers, such as units of work and their games.

A unit of work is a number of games to play. In ordered mode its games depend only on the network,
the unit and the run's seed: with equal engines, threads, processes and other machines play the same
games, even if a unit is repeated after its worker died. In free mode a worker also continues its
unfinished games.
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from alphazero.inference.cache import CachedEvaluator
from alphazero.inference.engines.agreement import PositionSample
from alphazero.inference.network_evaluator import EvaluatorSettings
from alphazero.network.interface import NetworkSettings
from alphazero.runtime.random_generators import child_generator
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.settings import SelfPlaySettings
from alphazero.selfplay.threads import ParallelSelfPlay


@dataclasses.dataclass
class Job:
    """A run's game, settings and seed, sent to each worker before its first unit of work."""

    run: str = ""  #: unique name of the run, which seeds the games of free mode
    game: str = ""  #: the game's name
    #: the files of a user-defined game, from `alphazero.runtime.own_code.own_files`; else None
    game_files: str | None = None
    rules_digest: str = ""  #: digest of a user-defined game's rules; "" for other games
    network: NetworkSettings = dataclasses.field(default_factory=NetworkSettings)
    evaluator: EvaluatorSettings = dataclasses.field(default_factory=EvaluatorSettings)
    search: SearchSettings = dataclasses.field(default_factory=SearchSettings)
    selfplay: SelfPlaySettings = dataclasses.field(default_factory=SelfPlaySettings)
    device: str = "auto"
    seed: int = 0
    #: number of threads in ordered mode, where it affects the games; 0 in free mode, where a worker
    #: uses all its cores
    unit_threads: int = 0
    parallel_games_per_thread: int = 1  #: number of games in lockstep on each thread in free mode


class Weights(NamedTuple):
    """The weights of a network, sent to the workers that play with it."""

    version: int  #: number of iterations for which the network has been trained
    arrays: dict[str, np.ndarray]  #: weights by name
    sample: PositionSample  #: positions on which engines are calibrated and compared


class Unit(NamedTuple):
    """A unit of work: a number of self-play games for one worker to play."""

    id: int  #: unique within the run
    num_games: int
    progress: float  #: fraction of the run that is done, in [0, 1]


class Joined(NamedTuple):
    """An event: a worker has joined and is ready to play."""

    worker: str  #: the worker's name
    host: str
    num_threads: int


class Left(NamedTuple):
    """An event: a worker has left, or was refused, and will send no more replies."""

    worker: str  #: the worker's name
    reason: str  #: a clause such as "its process was killed"


class SelfPlayWork(NamedTuple):
    """Counts and timings of self-play, summed over all threads."""

    num_simulations: int  #: simulations that added a leaf node
    num_evaluations: int  #: positions that the search had evaluated
    num_batches: int  #: how many times it had a batch of them evaluated
    total_depth: int  #: sum of the new leaf nodes' depths, in plies
    evaluator_s: float  #: wall-clock seconds inside the evaluator
    #: positions passed to the evaluator, counted by its cache; not those that kernels looked up
    num_requested: int
    num_evaluated: int  #: requested positions that were not in the cache
    network_s: float  #: wall-clock seconds inside the engine
    thread_s: float = 0.0  #: wall-clock seconds of all threads that played

    @classmethod
    def now(cls, selfplay: ParallelSelfPlay, streams: Sequence[CachedEvaluator]) -> "SelfPlayWork":
        """Return the counts and timings since ``selfplay`` was created; `thread_s` is 0.

        Args:
            selfplay: plays the games, and counts simulations, evaluations, batches and depths.
            streams: the evaluators of the threads, which count requested and evaluated positions
                and the seconds inside the engine.
        """
        counts = np.sum([stream.counts for stream in streams], axis=0)
        return cls(*dataclasses.astuple(selfplay.counts), *counts)

    def since(self, before: "SelfPlayWork") -> "SelfPlayWork":
        """Return the difference from earlier counts ``before``, field by field."""
        return SelfPlayWork._make(count - old for count, old in zip(self, before))

    def plus(self, more: Sequence[float]) -> "SelfPlayWork":
        """Return the sum of these counts and ``more``, field by field."""
        return SelfPlayWork._make(count + other for count, other in zip(self, more, strict=True))


class Answer(NamedTuple):
    """An event, a worker's reply: the games of one unit of work, with counts and timings."""

    worker: str  #: the worker's name
    unit_id: int  #: `Unit.id` of the unit of work
    version: int  #: version of the network that played the games, see `Weights.version`
    games: dict[str, np.ndarray]  #: arrays by name, see `alphazero.selfplay.game_record`
    work: SelfPlayWork  #: amount of self-play that the unit took
    seconds: float  #: wall-clock time that the unit took


Event = Joined | Answer | Left

NO_WORK = SelfPlayWork(*[0] * len(SelfPlayWork._fields))


# --- ordered mode -------------------------------------------------------------------------------

UNITS_OF_A_VERSION = 1 << 20  #: the unit ids of network version v start at v times this number


def ordered_units(version: int, num_games: int, unit_games: int, progress: float) -> list[Unit]:
    """Divide an iteration's games into units of work, the last of which may be smaller.

    Args:
        version: version of the network that plays the games.
        num_games: number of games in the iteration.
        unit_games: number of games per unit.
        progress: fraction of the run that is done, in [0, 1], which may determine the number of
            simulations per move.
    """
    first_id = version * UNITS_OF_A_VERSION
    starts = range(0, num_games, unit_games)
    return [
        Unit(first_id + index, min(unit_games, num_games - start), progress)
        for index, start in enumerate(starts)
    ]


def play_ordered(
    selfplay: ParallelSelfPlay, streams: list[CachedEvaluator], unit: Unit, seed: int
) -> list[GameRecord]:
    """Play a unit of work, whose games depend only on the network, the unit and the seed.

    Args:
        selfplay: plays the games; its setting ``carry_over`` must be off.
        streams: the evaluators of the threads; their caches are cleared first.
        unit: the unit of work.
        seed: the run's seed.
    """
    for stream in streams:
        stream.clear()
    selfplay.restart(child_generator(seed, f"unit {unit.id}"))
    return list(selfplay.play(unit.num_games, unit.progress))
