"""What a worker is asked for, and what it answers.

A unit is a number of games. In ordered mode its games depend on the network and the unit alone, so
that any worker gives the same answer; in free mode a worker also continues games of its own.
"""

from typing import Any, NamedTuple

import numpy as np

from alphazero.inference.engines.agreement import PositionSample
from alphazero.inference.engines.engine import EngineChoice
from alphazero.inference.network_evaluator import EvaluatorSettings
from alphazero.network.interface import NetworkSettings
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.settings import SelfPlaySettings


class Job(NamedTuple):
    """What a worker has to know about a run before its first unit."""

    run: str  #: a name that no other run has
    code_version: str  #: see `alphazero.workers.sent_code`
    game: str  #: the game's name
    game_file: str | None  #: the text of the user's own game file
    network: NetworkSettings
    evaluator: EvaluatorSettings
    search: SearchSettings
    selfplay: SelfPlaySettings
    device: str
    seed: int
    #: In ordered mode, the threads of a unit: the games depend on how they are divided. 0 in free
    #: mode, where a worker uses all its cores.
    unit_threads: int
    parallel_games_per_thread: int  #: in free mode


class Weights(NamedTuple):
    """A network to play with."""

    version: int  #: the number of iterations that it has learned
    arrays: dict[str, np.ndarray]  #: by name
    sample: PositionSample  #: on which engines are calibrated and compared
    engine: EngineChoice | None  #: None lets the worker choose its own


class Unit(NamedTuple):
    """A unit of self-play."""

    id: int  #: unique in the run
    num_games: int
    run_fraction: float  #: see `alphazero.selfplay.lockstep.SelfPlay.begin`


class Answer(NamedTuple):
    """The games of a unit."""

    unit_id: int
    version: int  #: of the network that played them
    games: dict[str, np.ndarray]  #: see `alphazero.selfplay.flat_games`
    work: tuple  #: the fields of `alphazero.workers.work.SelfPlayWork`
    seconds: float


class WorkerFacts(NamedTuple):
    """What a worker reports when it joins."""

    host: str
    process: int
    code_version: str
    engine: str
    evaluations_per_s: float  #: of its engine, all threads together; 0 if it was not measured
    num_threads: int

    @classmethod
    def of(cls, values: dict[str, Any]) -> "WorkerFacts":
        """Return the facts that plain data hold."""
        return cls(**{name: values[name] for name in cls._fields})
