"""Play units of work in a worker, with the newest network that it has received.

A worker is given a `Job`, then `Weights` and `Unit`s; each `Unit` is answered with an `Answer`.
This module does not depend on the transport.
"""

import dataclasses
import socket
import time

from alphazero.inference.engines.engine import EngineChoice
from alphazero.inference.engines.registry import preferred_engine
from alphazero.inference.network_evaluator import NetworkEvaluator
from alphazero.network.registry import make_network
from alphazero.network.weights import load_arrays
from alphazero.runtime.device import choose_device, set_num_threads
from alphazero.runtime.random_generators import child_generator
from alphazero.selfplay.game_record import flatten
from alphazero.selfplay.threads import ParallelSelfPlay
from alphazero.workers.sent_code import game_here
from alphazero.workers.unit import (
    Answer,
    Job,
    SelfPlayWork,
    Unit,
    Weights,
    WorkerFacts,
    play_ordered,
)

_GPU_GAMES_PER_STREAM = 1024  # minimum on a GPU; a learner without a GPU has chosen fewer


class UnitPlayer:
    """Plays units of work in a worker's process, on its cores and, if there is one, its GPU.

    Args:
        job: the run's game, settings and seed.
        num_threads: number of threads; 0 means one per core that this process may use.
        name: unique name of the worker, which also seeds the games of free mode.

    Attributes:
        version: version of the network that plays; -1 before the first one is loaded.
        facts: host name and number of threads, which the worker reports when it joins.

    Raises:
        ConfigError: if the game cannot be made, or its rules differ on this machine.
    """

    def __init__(self, job: Job, num_threads: int = 0, name: str = ""):
        self.job = job
        self.game = game_here(job.game, job.game_files, job.rules_digest)
        self.version = -1
        self._num_threads = set_num_threads(num_threads)
        self._device = choose_device(job.device)
        self._network = make_network(
            self.game.planes_shape, self.game.num_actions, job.network, job.seed
        ).to(self._device)
        self._name = name
        self._evaluator: NetworkEvaluator | None = None
        self._selfplay: ParallelSelfPlay | None = None
        self.facts = WorkerFacts(socket.gethostname(), self._num_threads)

    def load(self, weights: Weights) -> None:
        """Load the weights of the network that plays the following units of work.

        Args:
            weights: the network's weights, with the engine to use and positions to calibrate it on.
        """
        load_arrays(self._network, weights.arrays)
        if self._evaluator is None:
            wanted = EngineChoice(self.job.evaluator.engine, self.job.evaluator.precision)
            choice = weights.engine or preferred_engine(wanted, self._device, self.job.network.kind)
            self._evaluator = NetworkEvaluator(
                self._network,
                weights.sample,
                self.game,
                choice,
                self.job.evaluator,
                self._device,
                self.job.unit_threads or self._num_threads,
            )
            self._selfplay = self._make_selfplay(self._evaluator)
        else:
            self._evaluator.update(self._network, weights.sample)
        self.version = weights.version

    def play(self, unit: Unit) -> Answer:
        """Play a unit of work with the network that was loaded last, and return the games.

        Call `load` at least once before.
        """
        assert self._evaluator is not None and self._selfplay is not None
        streams = self._evaluator.streams
        start = time.monotonic()
        before = SelfPlayWork.now(self._selfplay, streams)
        if self.job.unit_threads:
            records = play_ordered(self._selfplay, streams, unit, self.job.seed)
        else:
            records = list(self._selfplay.play(unit.num_games, unit.progress))
        seconds = time.monotonic() - start
        work = SelfPlayWork.now(self._selfplay, streams).since(before)
        work = work._replace(thread_s=seconds * len(self._selfplay.workers))
        return Answer(unit.id, self.version, flatten(records), work, seconds)

    def _make_selfplay(self, evaluator: NetworkEvaluator) -> ParallelSelfPlay:
        job = self.job
        streams = evaluator.streams
        settings = job.selfplay
        if job.unit_threads:
            settings = dataclasses.replace(settings, carry_over=False)
            generator = child_generator(job.seed, "self-play")
        else:
            num_games = len(streams) * job.parallel_games_per_thread
            if self._device.type == "cuda":
                num_games = max(num_games, len(streams) * _GPU_GAMES_PER_STREAM)
            settings = dataclasses.replace(
                settings, carry_over=True, num_parallel_games=min(num_games, 65_536)
            )
            generator = child_generator(job.seed, f"{job.run} {self._name}")
        return ParallelSelfPlay(self.game, streams, settings, job.search, generator)
