"""The interface of a search, as self-play uses it.

Three classes implement it; `alphazero.inference.backends` chooses one:

- `alphazero.search.batched_search.TreeSearch` calls the evaluator once per step, with a leaf of
  each game; it supports every game and every evaluator;
- `alphazero.inference.table_search.TableSearch` makes many simulations in one kernel, which
  contains the rules and the network;
- `alphazero.inference.gpu_search.GpuTreeSearch` keeps trees, rules and network on a GPU.
"""

from typing import Protocol

import numpy as np

from alphazero.search.expansion import SearchCounts
from alphazero.search.roots import PolicyOutput


class SearchBackend(Protocol):
    """Searches the positions of B games, which begin and end their searches independently.

    With the same generator and a network that computes the same numbers, all implementations make
    the same trees.
    """

    counts: SearchCounts  #: how many simulations and evaluations were made so far

    @property
    def simulations_per_step(self) -> int:
        """How many simulations a step makes in each unfinished search, at least."""
        ...

    def reset(self, rows: np.ndarray, states: np.ndarray, num_simulations) -> None:
        """Begin a search with an empty tree in each of the given games.

        Args:
            rows: int[M], the indices of the games.
            states: [M, K], the unfinished positions to search, as states of K words.
            num_simulations: number of simulations of each search, as one number or int[M].

        Raises:
            ValueError: if ``num_simulations`` exceeds the maximum that the search was made for.
        """
        ...

    def advance(self, rows, actions, states, num_simulations) -> None:
        """Begin a search after the action played in each given game, keeping the action's subtree.

        If the setting ``reuse_tree`` is False, the searches begin with empty trees, as in `reset`.

        Args:
            rows: int[M], the indices of the games.
            actions: int[M], the actions played.
            states: [M, K], the unfinished positions after the actions, as states of K words.
            num_simulations: number of simulations of each search, as one number or int[M].

        Raises:
            ValueError: if ``num_simulations`` exceeds the maximum that the search was made for.
        """
        ...

    def stop(self, rows: np.ndarray) -> None:
        """Exclude games from further steps until `reset` or `advance` begins new searches in them.

        Args:
            rows: int[M], the indices of the games.
        """
        ...

    def finished_rows(self) -> np.ndarray:
        """Return the indices of the games whose search is finished and not stopped, int32[M].

        A search is finished when all its simulations are done or its root's result is proven.
        """
        ...

    def step(self) -> None:
        """Run `simulations_per_step` simulations or more in every unfinished search."""
        ...

    def output(self, rows: np.ndarray, temperatures: np.ndarray | None = None) -> PolicyOutput:
        """Return the chosen actions, policies and values of the given games; see `Roots.output`.

        Args:
            rows: int[M], the indices of the games.
            temperatures: float[M], factors of the Gumbel noise, 1 by default; ignored by PUCT
                roots.
        """
        ...
