"""Play units of work in a worker, with the newest network that it has received.

A worker is given a `Job`, then `Weights` and `Unit`s; each `Unit` is answered with an `Answer`.
This module does not depend on the transport.
"""

import dataclasses
import socket
import threading
import time

from alphazero.games.batched_game import Game
from alphazero.inference.engines.registry import EngineChoice, preferred_engine
from alphazero.inference.network_evaluator import NetworkEvaluator
from alphazero.network.registry import make_network
from alphazero.network.weights import load_arrays
from alphazero.own_games.registry import make_game
from alphazero.runtime.device import choose_device, set_num_threads
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.own_code import file_here
from alphazero.runtime.random_generators import child_generator
from alphazero.selfplay.game_record import flatten
from alphazero.selfplay.threads import ParallelSelfPlay
from alphazero.workers.unit import (
    UNITS_OF_A_VERSION,
    Answer,
    Job,
    Joined,
    SelfPlayWork,
    Unit,
    Weights,
    play_ordered,
)

_GPU_GAMES_PER_STREAM = 1024  # minimum on a GPU; a learner without a GPU has chosen fewer


class UnitPlayer:
    """Plays units of work in a worker's process, on its cores and, if there is one, its GPU.

    `receive` may be called in another thread than `begin` and `play`.

    Args:
        name: unique name of the worker, which also seeds the games of free mode.
        num_threads: number of threads; 0 means one per core that this process may use.
    """

    _job: Job
    _weights: Weights  # of the network that plays
    _evaluator: NetworkEvaluator
    _selfplay: ParallelSelfPlay

    def __init__(self, name: str, num_threads: int):
        self._name = name
        self._num_threads = set_num_threads(num_threads)
        self._newest: Weights | None = None
        self._arrival = threading.Condition()

    def receive(self, weights: Weights) -> None:
        """Receive a network, which plays from the next unit of work on, unless it is outdated."""
        with self._arrival:
            if self._newest is None or weights.version >= self._newest.version:
                self._newest = weights
            self._arrival.notify()

    def begin(self, job: Job) -> Joined:
        """Prepare to play with a first network, for which the call waits.

        Args:
            job: the run's game, settings and seed.

        Raises:
            ConfigError: if the game cannot be made, or its rules differ on this machine.
        """
        self._job = job
        game = game_here(job.game, job.game_files, job.rules_digest)
        device = choose_device(job.device)
        network = make_network(game, job.network, job.seed)
        self._network = network.to(device)
        self._weights = self._wait_for_network(0)
        load_arrays(self._network, self._weights.arrays)
        wanted = EngineChoice(job.evaluator.engine, job.evaluator.precision)
        self._evaluator = NetworkEvaluator(
            self._network,
            self._weights.sample,
            game,
            preferred_engine(wanted, device, job.network.kind),
            job.evaluator,
            device,
            job.unit_threads or self._num_threads,
        )
        streams = self._evaluator.streams
        settings = dataclasses.replace(job.selfplay, carry_over=not job.unit_threads)
        if not job.unit_threads:
            num_games = job.parallel_games_per_thread
            if self._evaluator.device.type == "cuda":
                num_games = max(num_games, _GPU_GAMES_PER_STREAM)
            settings.num_parallel_games = min(num_games * len(streams), 65_536)
        generator = child_generator(job.seed, f"{job.run} {self._name}")  # unused in ordered mode
        self._selfplay = ParallelSelfPlay(game, streams, settings, job.search, generator)
        return Joined(self._name, socket.gethostname(), self._num_threads)

    def play(self, unit: Unit) -> Answer:
        """Play a unit of work with the newest network received, and return the games.

        In ordered mode, the call waits for the network that the unit is for.
        """
        is_ordered = self._job.unit_threads > 0
        weights = self._wait_for_network(unit.id // UNITS_OF_A_VERSION if is_ordered else 0)
        if weights is not self._weights:
            load_arrays(self._network, weights.arrays)
            self._evaluator.update(self._network, weights.sample)
            self._weights = weights
        streams = self._evaluator.streams
        start = time.monotonic()
        before = SelfPlayWork.now(self._selfplay, streams)
        if is_ordered:
            records = play_ordered(self._selfplay, streams, unit, self._job.seed)
        else:
            records = list(self._selfplay.play(unit.num_games, unit.progress))
        seconds = time.monotonic() - start
        work = SelfPlayWork.now(self._selfplay, streams).since(before)
        work = work._replace(thread_s=seconds * len(self._selfplay.workers))
        return Answer(self._name, unit.id, weights.version, flatten(records), work, seconds)

    def _wait_for_network(self, version: int) -> Weights:
        """Return the newest network received, once it has this version or a newer one."""
        with self._arrival:
            while self._newest is None or self._newest.version < version:
                self._arrival.wait()
            return self._newest


def game_here(name: str, files: str | None, rules_digest: str) -> Game:
    """Recreate the learner's game on a worker's machine.

    Args:
        name: the game's name on the learner's machine.
        files: the files of a user-defined game (see `alphazero.runtime.own_code.own_files`); None
            for other games.
        rules_digest: the digest of the rules on the learner's machine; "" for other games.

    Raises:
        ConfigError: if the game cannot be made, or its rules differ on this machine.
    """
    game = make_game(name if files is None else file_here(name, files))
    if game.rules_digest != rules_digest:
        allowed = "the version that the learner runs"
        reason = f"its rules are different on this machine ({socket.gethostname()})"
        raise ConfigError.of("game", name, allowed, reason)
    return game
