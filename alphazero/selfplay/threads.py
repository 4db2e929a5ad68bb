"""Self-play on all cores: games are divided among workers, each a `SelfPlay` in its own thread.

Each worker has its own evaluator; all finished games are yielded in one stream. The compiled
kernels and the network release Python's global interpreter lock, so workers run in parallel. On a
GPU, workers take turns: while some walk their trees, the GPU computes the others' batches.

Workers synchronize after some simulations of their games (`_SIMULATIONS_PER_SYNC`). A worker's
games depend only on its own generator and the weights, so a run is reproducible.
"""

import dataclasses
import itertools
import operator
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.inference.evaluator import Evaluator
from alphazero.search.expansion import SearchCounts
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.lockstep import SelfPlay
from alphazero.selfplay.settings import SelfPlaySettings

_SIMULATIONS_PER_SYNC = 32  # waiting for the slowest worker then takes 1 to 2% of the time
#: Between kernels, one worker at a time runs Python. If workers met after every kernel, all would
#: wait for that: with line tables on two busy cores, self-play was a third slower.
_MIN_STEPS_PER_SYNC = 8


class ParallelSelfPlay:
    """Plays games in several threads, each of which runs a `SelfPlay`, called a worker here.

    Args:
        game: the rules of the game, applied to arrays of positions.
        evaluators: one per worker; if there are fewer parallel games than evaluators, the surplus
            evaluators are not used.
        settings: number of games and simulations, openings and temperatures;
            ``num_parallel_games`` is the total over all workers.
        search_settings: the constants and root algorithm of each move's search.
        generator: random generator from which the workers' generators are derived.

    Attributes:
        workers: one `SelfPlay` per thread, each with its share of the parallel games.
    """

    def __init__(
        self,
        game: Game,
        evaluators: Sequence[Evaluator],
        settings: SelfPlaySettings,
        search_settings: SearchSettings,
        generator: np.random.Generator,
    ):
        num_workers = min(len(evaluators), settings.num_parallel_games)
        sizes = split_evenly(settings.num_parallel_games, num_workers)
        self.settings = settings
        self.workers = [
            SelfPlay(
                game,
                evaluator,
                dataclasses.replace(settings, num_parallel_games=size),
                search_settings,
                own_generator,
            )
            for evaluator, size, own_generator in zip(
                evaluators, sizes, generator.spawn(num_workers)
            )
        ]
        self._pool = ThreadPoolExecutor(num_workers) if num_workers > 1 else None

    @property
    def counts(self) -> SearchCounts:
        """How many simulations and evaluations all workers made, and the evaluators' seconds."""
        rows = [dataclasses.astuple(worker.search.counts) for worker in self.workers]
        totals = [sum(column) for column in zip(*rows)]
        return SearchCounts(*totals)

    def play(self, num_games: int, progress: float = 1.0) -> Iterator[GameRecord]:
        """Play until ``num_games`` games have finished, yielding each as it finishes.

        A few more games are yielded if several finish at about the same time.

        Args:
            num_games: number of games to finish; may include games begun earlier.
            progress: fraction of the run that is done, in [0, 1], which may determine the number of
                simulations per move.
        """
        for records in self.play_in_steps(num_games, progress):
            yield from records

    def play_in_steps(self, num_games: int, progress: float) -> Iterator[list[GameRecord]]:
        """Play as `play` does, but yield the newly finished games after every few simulations.

        Often no game has finished, and the list is empty.
        """
        shares = split_evenly(num_games, len(self.workers))
        for worker, own_games in zip(self.workers, shares):
            worker.begin(own_games, progress)
        finished = 0
        while finished < num_games:
            records = list(itertools.chain.from_iterable(self._advance()))
            finished += len(records)
            yield records

    def restart(self, generator: np.random.Generator) -> None:
        """Abandon the games in progress and continue with random states spawned from ``generator``.

        Later games therefore depend only on the generator and on the evaluators' weights.
        """
        generators = generator.spawn(len(self.workers))
        for worker, own_generator in zip(self.workers, generators):
            worker.restart(own_generator)

    def state_dict(self) -> dict:
        """Return the workers' games in progress and random states, without the search trees."""
        return {str(index): worker.state_dict() for index, worker in enumerate(self.workers)}

    def load_state_dict(self, state: dict) -> None:
        """Restore a state that `state_dict` returned.

        If the number of workers has changed, or a worker now has too few rows for its stored games,
        the state is ignored and new games start instead.
        """
        states = [state[str(index)] for index in range(len(state))]
        sizes = [worker.settings.num_parallel_games for worker in self.workers]
        longest = [int(own["rows"].max(initial=-1)) + 1 for own in states]
        if len(sizes) == len(longest) and all(map(operator.le, longest, sizes)):
            for worker, own in zip(self.workers, states):
                worker.load_state_dict(own)

    def _advance(self) -> list[list[GameRecord]]:
        """Let all workers make `_SIMULATIONS_PER_SYNC` simulations in each game, in parallel.

        Returns:
            The games that finished during these steps, one list per worker.
        """

        def advance(worker: SelfPlay) -> list[GameRecord]:
            num_steps = _SIMULATIONS_PER_SYNC // worker.search.simulations_per_step
            return worker.advance(max(num_steps, _MIN_STEPS_PER_SYNC))

        if self._pool is None:
            return [advance(self.workers[0])]
        return list(self._pool.map(advance, self.workers))


def split_evenly(total: int, num_parts: int) -> list[int]:
    """Split ``total`` into ``num_parts`` integers that differ by at most 1, largest first."""
    smallest, remainder = divmod(total, num_parts)
    return [smallest + (index < remainder) for index in range(num_parts)]
