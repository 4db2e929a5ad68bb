"""Training games played on threads of this process, the default source of games.

In free mode, games that are unfinished at the end of an iteration continue in the next one
(`selfplay.carry_over`). In ordered mode, the threads play the same units of work as workers in
other processes or on other machines would.
"""

import dataclasses
import time
from collections.abc import Iterator

import torch

from alphazero.games.batched_game import Game
from alphazero.inference.cache import CachedEvaluator
from alphazero.inference.engines.agreement import PositionSample
from alphazero.runtime.random_generators import child_generator
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.settings import SelfPlaySettings
from alphazero.selfplay.threads import ParallelSelfPlay
from alphazero.workers.source import GameSource, Played
from alphazero.workers.unit import SelfPlayWork, ordered_units, play_ordered

_MAX_SILENCE_S = 0.5  # between two events


class ThreadSource(GameSource):
    """Plays training games on threads of this process; see `GameSource`.

    The trainer updates the networks of the evaluators that the threads use.

    Args:
        streams: one evaluator for each thread.
        settings: the settings of self-play.
        search: the settings of each move's search.
        seed: the run's seed.
        unit_games: number of games in a unit of work in ordered mode; 0 means free mode.

    Attributes:
        selfplay: plays the games on the threads.
    """

    def __init__(
        self,
        game: Game,
        streams: list[CachedEvaluator],
        settings: SelfPlaySettings,
        search: SearchSettings,
        seed: int,
        unit_games: int,
    ):
        if unit_games:
            settings = dataclasses.replace(settings, carry_over=False)
        generator = child_generator(seed, "self-play")
        self.selfplay = ParallelSelfPlay(game, streams, settings, search, generator)
        self._streams = streams
        self._seed = seed
        self._unit_games = unit_games
        self._version = 0
        self._thread_s = 0.0

    def update(self, version: int, network: torch.nn.Module, sample: PositionSample) -> None:
        """Record the new network's version; the trainer has already updated the evaluators."""
        self._version = version

    def play(self, num_games: int, progress: float) -> Iterator[Played]:
        """Play games on the threads, yielding them as they finish; see `GameSource.play`."""
        num_threads = len(self.selfplay.workers)
        start = yielded = time.monotonic()
        thread_s = self._thread_s
        for records in self._steps(num_games, progress):
            now = time.monotonic()
            self._thread_s = thread_s + (now - start) * num_threads
            if records or now - yielded >= _MAX_SILENCE_S:
                yield Played(records, [])
                yielded = now

    def _steps(self, num_games: int, progress: float) -> Iterator[list[GameRecord]]:
        if not self._unit_games:
            yield from self.selfplay.play_in_steps(num_games, progress)
            return
        for unit in ordered_units(self._version, num_games, self._unit_games, progress):
            yield play_ordered(self.selfplay, self._streams, unit, self._seed)

    @property
    def work(self) -> SelfPlayWork:
        """Counts and timings of the self-play done so far."""
        work = SelfPlayWork.now(self.selfplay, self._streams)
        return work._replace(thread_s=self._thread_s)

    def state_dict(self) -> dict:
        """Return the unfinished games and the random generators' states; {} in ordered mode."""
        return {} if self._unit_games else self.selfplay.state_dict()

    def load_state_dict(self, state: dict) -> None:
        """Restore a state that a `ThreadSource` stored; ignored if empty or in ordered mode."""
        if state and not self._unit_games:
            self.selfplay.load_state_dict(state)
