"""Self-play on all cores: the games are dealt out to lanes, each of them a `SelfPlay` on a thread of its own.

In: a game, one evaluator for each lane, settings. Out: `GameRecord`s. The compiled kernels and the network compute without Python's lock, so that
the lanes really run side by side; on a GPU two lanes take turns, one walking its trees while the other's batch is computed.

The lanes meet after every `_STEPS` steps. What a lane plays depends on nothing but its own generator, so that a run can be repeated.
"""

import dataclasses
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from alphazero.search.batched_search import SearchCounts, SearchSettings
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.lockstep import ONE_PER_GAME, SelfPlay, SelfPlaySettings

_STEPS = 32  # between two meetings: the last lane is waited for, one or two hundredths of the time


class ParallelSelfPlay:
    """The lanes.

    Args:
        game: a batched game.
        evaluators: one for each lane; where there are fewer games in lockstep than lanes, the rest stays idle.
        generator: draws the lanes' seeds.
    """

    def __init__(
        self,
        game,
        evaluators,
        settings: SelfPlaySettings,
        search_settings: SearchSettings,
        generator: np.random.Generator,
    ):
        self.settings = settings
        sizes = shares(
            settings.num_parallel_games, min(len(evaluators), settings.num_parallel_games)
        )
        self.lanes = [
            SelfPlay(
                game,
                evaluator,
                dataclasses.replace(settings, num_parallel_games=size),
                search_settings,
                own,
            )
            for evaluator, size, own in zip(evaluators, sizes, generator.spawn(len(sizes)))
        ]
        self._pool = ThreadPoolExecutor(len(self.lanes)) if len(self.lanes) > 1 else None

    @property
    def num_positions(self) -> int:
        """Moves made by search so far."""
        return sum(lane.num_positions for lane in self.lanes)

    @property
    def counts(self) -> SearchCounts:
        """The work of all lanes together; seconds are summed over the lanes."""
        rows = [dataclasses.astuple(lane.search.counts) for lane in self.lanes]
        return SearchCounts(*(sum(column) for column in zip(*rows)))

    def play(self, num_games: int, progress: float = 1.0) -> Iterator[GameRecord]:
        """Play until ``num_games`` more games are finished, or a few more where several end between two meetings; see `SelfPlay.begin`."""
        for lane, share in zip(self.lanes, shares(num_games, len(self.lanes))):
            lane.begin(share, progress)
        finished = 0
        while finished < num_games:
            for records in self._advance():
                finished += len(records)
                yield from records

    def run_for(self, seconds: float) -> None:
        """Play on for about so long, searches under way included, and drop the games: for measurements, which need settings with `carry_over`."""
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            self._advance()

    def state_dict(self) -> dict:
        """Return the games under way and the random states; the trees are not part of it."""
        return {str(index): lane.state_dict() for index, lane in enumerate(self.lanes)}

    def load_state_dict(self, state: dict) -> None:
        """Restore what `state_dict` returned, also with another number of lanes; only the same number goes on bit for bit."""
        states = [state[str(index)] for index in range(len(state))]
        sizes = [lane.settings.num_parallel_games for lane in self.lanes]
        if len(states) != len(sizes) or any(
            own["rows"].max(initial=-1) >= size for own, size in zip(states, sizes)
        ):
            states = _dealt(states, [lane.state_dict()["generator"] for lane in self.lanes])
        for lane, own in zip(self.lanes, states):
            lane.load_state_dict(own)

    def _advance(self):
        if self._pool is None:
            return [self.lanes[0].advance(_STEPS)]
        return list(self._pool.map(lambda lane: lane.advance(_STEPS), self.lanes))


def shares(total: int, parts: int) -> list[int]:
    """Return ``total`` as so many whole numbers that differ by at most one."""
    return [total // parts + (index < total % parts) for index in range(parts)]


def _dealt(states: list[dict], generators: list[dict]) -> list[dict]:
    """Return the games of all ``states`` dealt out evenly to as many lanes as there are ``generators``, which serve where no lane left one."""
    names = [name for name in states[0] if name not in ("rows", "generator")]
    longest = max(state["states"].shape[1] for state in states)

    def joined(name):
        parts = [state[name] for state in states]
        if name not in ONE_PER_GAME:  # one entry for each ply: bring them to one length
            parts = [
                np.pad(part, [(0, 0), (0, longest - part.shape[1])] + [(0, 0)] * (part.ndim - 2))
                for part in parts
            ]
        return np.concatenate(parts)

    games = {name: joined(name) for name in names}
    dealt = []
    for index, fresh in enumerate(generators):
        own = {name: array[index :: len(generators)] for name, array in games.items()}
        generator = states[index]["generator"] if index < len(states) else fresh
        dealt.append({"rows": np.arange(len(own["playing"])), "generator": generator, **own})
    return dealt
