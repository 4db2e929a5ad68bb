"""Training games played on threads of this process: the default source.

In free mode unfinished games continue in the next iteration (`selfplay.carry_over`); in ordered
mode the threads play the same units of work as workers elsewhere would.

With `workers.overlap` the games of the next iteration are played while the network learns, with the
previous network. Their number is fixed, so the run can be repeated.
"""

import dataclasses
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait

import torch

from alphazero.games.batched_game import Game
from alphazero.inference.cache import CachedEvaluator
from alphazero.inference.engines.agreement import PositionSample
from alphazero.runtime.random_generators import child_generator
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.game_record import GameRecord, flatten, unflatten
from alphazero.selfplay.settings import SelfPlaySettings
from alphazero.selfplay.threads import ParallelSelfPlay
from alphazero.workers.source import GameSource, Played
from alphazero.workers.unit import NO_WORK, SelfPlayWork, ordered_units, play_ordered

_POLL_S = 0.5


class ThreadSource(GameSource):
    """A `GameSource` that uses the trainer's own evaluators, which the trainer updates.

    Args:
        streams: one evaluator per thread.
        seed: seed of the run.
        unit_games: games per unit of work in ordered mode; 0 means free mode.
        overlap: whether `play_ahead` plays games, which requires free mode.

    Attributes:
        selfplay: the self-play workers.
    """

    def __init__(
        self,
        game: Game,
        streams: list[CachedEvaluator],
        settings: SelfPlaySettings,
        search: SearchSettings,
        seed: int,
        unit_games: int = 0,
        overlap: bool = False,
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
        self._overlaps = overlap
        self._background = ThreadPoolExecutor(1)
        self._playing: Future | None = None  # the games that `play_ahead` started
        self._ahead: list[GameRecord] = []  # finished games for the next `play`
        self._work_before = NO_WORK  # work that an earlier process did for `_ahead`
        self._work_until = NO_WORK  # all work before `play_ahead` began
        self._is_closed = False

    def update(self, version: int, network: torch.nn.Module, sample: PositionSample) -> None:
        """Note the version of the new network, which the evaluators have already."""
        self._version = version

    def play(self, num_games: int, progress: float) -> Iterator[Played]:
        """Yield the games played ahead, then new ones."""
        ahead = self._ahead
        self._ahead = []
        if ahead:
            yield Played(ahead, [])
        if len(ahead) < num_games:
            yield from self._play(num_games - len(ahead), progress)

    def _play(self, num_games: int, progress: float) -> Iterator[Played]:
        start = time.monotonic()
        num_threads = len(self.selfplay.workers)
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

    def play_ahead(self, num_games: int, progress: float) -> None:
        """Start the next iteration's games in the background, if the settings allow it."""
        if self._overlaps:
            self._work_until = self.work
            self._playing = self._background.submit(self._play_ahead, num_games, progress)

    def _play_ahead(self, num_games: int, progress: float) -> None:
        for played in self._play(num_games, progress):
            self._ahead += played.records
            if self._is_closed:
                return

    def wait(self) -> Iterator[int]:
        """Wait for the games played ahead; now and then yield how many are done."""
        while self._playing is not None:
            if wait([self._playing], _POLL_S).done:
                self._playing.result()
                self._playing = None
            yield len(self._ahead)

    @property
    def work(self) -> SelfPlayWork:
        """Counts of all self-play work so far."""
        work = SelfPlayWork.now(self.selfplay, self._streams)
        return work._replace(thread_s=self._thread_s).plus(self._work_before)

    def state_dict(self) -> dict:
        """Return games played ahead, games in progress and random states; in ordered mode, {}."""
        if self._unit_games:
            return {}
        state = self.selfplay.state_dict()
        if self._ahead:
            work = list(self.work.since(self._work_until))
            state["ahead"] = {"games": flatten(self._ahead), "work": work}
        return state

    def load_state_dict(self, state: dict) -> None:
        """Restore a state that threads stored; ignore any other state, with its games."""
        if "0" in state and not self._unit_games:  # the state of threads
            self._ahead = []
            self._work_before = NO_WORK
            if ahead := state.get("ahead"):
                self._ahead = unflatten(ahead["games"])
                self._work_before = NO_WORK.plus(ahead["work"])
            threads = {name: own for name, own in state.items() if name != "ahead"}
            self.selfplay.load_state_dict(threads)

    def close(self) -> None:
        """Stop playing games ahead, and end the thread that plays them."""
        self._is_closed = True
        self._background.shutdown()
