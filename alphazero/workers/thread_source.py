"""Games played on threads of this process: the default.

In free mode unfinished games go on in the next iteration (`selfplay.carry_over`); in ordered mode
the same units are played as by workers elsewhere.
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
from alphazero.solvers.exact_leaves import exact_leaves_maker
from alphazero.workers.source import Played, WorkerReport
from alphazero.workers.unit import SelfPlayWork, ordered_units, play_ordered


class ThreadSource:
    """A `GameSource` on the trainer's own evaluator, which the trainer updates.

    Args:
        streams: one evaluator for each thread.
        seed: of the run.
        unit_games: games of a unit in ordered mode; 0 is free mode.

    Attributes:
        selfplay: plays the games.
    """

    plays_on = False

    def __init__(
        self,
        game: Game,
        streams: list[CachedEvaluator],
        settings: SelfPlaySettings,
        search: SearchSettings,
        seed: int,
        unit_games: int = 0,
    ):
        if unit_games:
            settings = dataclasses.replace(settings, carry_over=False)
        make_leaves = exact_leaves_maker(game, search.exact_leaves, seed)
        generator = child_generator(seed, "self-play")
        self.selfplay = ParallelSelfPlay(game, streams, settings, search, generator, make_leaves)
        self._streams = streams
        self._seed = seed
        self._unit_games = unit_games
        self._version = 0
        self._thread_s = 0.0

    def update(self, version: int, network: torch.nn.Module, sample: PositionSample) -> None:
        """See `GameSource.update`; the streams have the new network already."""
        self._version = version

    def play(self, num_games: int, progress: float) -> Iterator[Played]:
        """See `GameSource.play`."""
        start, num_threads = time.monotonic(), len(self.selfplay.workers)
        thread_s = self._thread_s
        for record in self._records(num_games, progress):
            self._thread_s = thread_s + (time.monotonic() - start) * num_threads
            yield Played([record], [])

    def _records(self, num_games: int, progress: float) -> Iterator[GameRecord]:
        if not self._unit_games:
            yield from self.selfplay.play(num_games, progress)
            return
        for unit in ordered_units(self._version, num_games, self._unit_games, progress):
            yield from play_ordered(self.selfplay, self._streams, unit, self._seed)

    def tend(self) -> None:
        """Do nothing: these threads rest while the network learns."""

    @property
    def work(self) -> SelfPlayWork:
        """See `GameSource.work`."""
        work = SelfPlayWork.now(self.selfplay, self._streams)
        return work._replace(thread_s=self._thread_s)

    def worker_reports(self) -> list[WorkerReport]:
        """Return []: there are no workers elsewhere."""
        return []

    def state_dict(self) -> dict:
        """Return the games in progress and the random states; {} in ordered mode, without any."""
        return {} if self._unit_games else self.selfplay.state_dict()

    def load_state_dict(self, state: dict) -> None:
        """See `GameSource.load_state_dict`; games in progress elsewhere are lost."""
        if "0" in state and not self._unit_games:  # of threads
            self.selfplay.load_state_dict(state)

    def stored(self) -> None:
        """Do nothing: nothing waits for it."""

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""
