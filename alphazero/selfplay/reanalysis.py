"""Reanalysis: positions of the window are searched again with the newest network, so that old games teach what is known today.

In: positions, the streams of an evaluator. Out: new policy targets and root values for them; the results of the games stay. As in MuZero Reanalyze
(Schrittwieser et al. 2021, arXiv 2104.06294), for the searches alone. The searches are full ones without noise, with the root of full searches
(`search.root`). Knows neither replay nor learner.
"""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from alphazero.search.batched_search import SearchSettings, TreeSearch


class Reanalysis:
    """Searches on all cores, one part of the positions on each.

    Args:
        game: a batched game.
        evaluators: one for each stream.
        num_parallel_games: searches in lockstep, of all streams together.
        max_simulations: the largest number of simulations that a search will be asked for.
    """

    def __init__(
        self,
        game,
        evaluators,
        num_parallel_games: int,
        max_simulations: int,
        settings: SearchSettings,
    ):
        self.game = game
        self._batch_size = max(num_parallel_games // len(evaluators), 1)
        # Nothing here is drawn at random: without noise, a generator is never asked.
        unasked = np.random.default_rng(0)
        settings = dataclasses.replace(
            settings, fast_root=settings.root
        )  # a search without noise counts as a fast one
        self._searches = [
            TreeSearch(game, evaluator, self._batch_size, max_simulations, settings, unasked)
            for evaluator in evaluators
        ]
        self._pool = ThreadPoolExecutor(len(evaluators)) if len(evaluators) > 1 else None

    def search(self, states: np.ndarray, num_simulations: int) -> tuple[np.ndarray, np.ndarray]:
        """Return action weights (float32[M, A]) and root values (float32[M]) of unfinished positions ([M, K]), from the player to move's viewpoint."""
        parts = np.array_split(states, len(self._searches))
        mapping = map if self._pool is None else self._pool.map
        answers = list(
            mapping(
                lambda search, part: self._search_part(search, part, num_simulations),
                self._searches,
                parts,
            )
        )
        return np.concatenate([weights for weights, _ in answers]), np.concatenate(
            [values for _, values in answers]
        )

    def _search_part(
        self, search: TreeSearch, states: np.ndarray, num_simulations: int
    ) -> tuple[np.ndarray, np.ndarray]:
        weights = np.empty((len(states), self.game.num_actions), np.float32)
        values = np.empty(len(states), np.float32)
        for start in range(0, len(states), self._batch_size):
            part = states[start : start + self._batch_size]
            rows = np.arange(len(part))
            search.stop(np.arange(self._batch_size))
            search.reset(
                rows, part, np.full(len(rows), num_simulations), np.zeros(len(rows), np.bool_)
            )
            search.run()
            output = search.output(rows)
            weights[start : start + len(part)], values[start : start + len(part)] = (
                output.action_weights,
                output.root_values,
            )
        return weights, values
