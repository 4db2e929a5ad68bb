"""Solve leaves of a tree search with compiled alpha-beta searches, before the network is asked.

`ProvenLeaves` solves positions as they occur at the leaves of
`alphazero.search.batched_search.TreeSearch`, in games that have a compiled exact search.

A position's *stage* is the number of its empty cells; an *answer* is a solved leaf. `leaf_costs`
measures the cost of an answer at each stage; `leaf_budgets` allows answers only where the mean cost
is low enough. Costs are counted in nodes, so that answers do not depend on the machine; a search
with a time limit also looks at the clock.

Shapes: M positions, K state words, N sample positions.
"""

import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.games.connect_x import ConnectX
from alphazero.games.othello import Othello
from alphazero.runtime.random_generators import uniform_actions
from alphazero.search.tree import UNPROVEN
from alphazero.solvers.provers import Prover

#: Solving a position stops at this multiple of the nodes that an answer may cost on average.
_PATIENCE = 4
_UNLIMITED = 2**62
#: Number of stages over which the growth of costs is measured.
_NUM_SLOPE_STAGES = 8
#: Minimum growth factor of costs per stage.
_LEAST_GROWTH = 1.25
#: Limits on the positions tried per stage, and on the nodes that they are expected to cost.
_MAX_TRIED = 32
_MIN_TRIED = 8
_MAX_TRIED_NODES = 1_000_000
#: Measuring stops after this many stages in a row whose answers are too expensive.
_NUM_FAILURES = 2


class Tier(NamedTuple):
    """A limit on the cost of solving a leaf, in force until a search has spent its nodes."""

    nodes_per_answer: float  #: maximum mean number of nodes to solve a leaf
    nodes_per_search: float  #: the tier's budget: nodes for all leaves of a search together


class ProvenLeaves:
    """Solves leaves exactly within budgets of nodes: an implementation of `ExactLeaves`.

    The leaves that a search solves first, near its root, prune the most. A search therefore begins
    with the most expensive tier, and moves on to the next when it has spent the budget of that
    tier.

    Args:
        provers: exact searches of one game, one for each thread.
        costs: float64[num_stages], mean nodes to solve a leaf at each stage, as `leaf_costs`
            measures them; a stage is a number of empty cells.
        tiers: the cost limits, the most expensive first; the last one has an unlimited budget.
        nodes_per_s: expected speed of all provers together, for a search with a time limit. On a
            slower machine, a tier then also ends by the clock, even while a leaf is being solved.
            If None, only nodes count.

    Attributes:
        num_nodes: total nodes searched since this object was created.
    """

    def __init__(
        self,
        provers: Sequence[Prover],
        costs: np.ndarray,
        tiers: Sequence[Tier],
        nodes_per_s: float | None = None,
    ):
        self.num_nodes = 0
        self._provers = provers
        self._budgets = [leaf_budgets(costs, tier.nodes_per_answer) for tier in tiers]
        self._tiers = tiers
        self._nodes_per_s = nodes_per_s or 0.0
        self._pool = ThreadPoolExecutor(len(provers)) if len(provers) > 1 else None
        self.begin(1)

    def begin(self, num_searches: int, deadline: float | None = None) -> None:
        """Prepare for new searches: restore the node budgets and clear the transposition tables.

        Args:
            num_searches: number of searches that run together; their budgets are added up.
            deadline: time by `time.monotonic` at which solving must stop; None means no limit.
        """
        for prover in self._provers:
            prover.forget()
        self._tier = 0
        self._deadline = math.inf if deadline is None else deadline
        self._num_searches = num_searches
        self._nodes_left = self._tiers[0].nodes_per_search * num_searches

    @property
    def largest_stage(self) -> int:
        """The most empty cells of a position that the current tier solves; -1 if none."""
        return int(np.flatnonzero(self._budgets[self._tier]).max(initial=-1))

    def prove(self, states: np.ndarray) -> np.ndarray:
        """Prove the results of leaves as far as the node budgets allow; see `ExactLeaves.prove`.

        The results are float32[M], in [-1, 1] for the player to move; `UNPROVEN` where no proof was
        found.
        """
        results = np.full(len(states), UNPROVEN, np.float32)
        budgets = self._budgets[self._tier][self._provers[0].stages(states)]
        asked = np.flatnonzero(budgets)
        if not len(asked):
            return results
        num_parts = len(self._provers)
        parts = [asked[first::num_parts] for first in range(num_parts)]
        max_nodes = int(min(self._nodes_left / len(parts), _UNLIMITED)) + 1
        start = time.monotonic()
        num_before = self.num_nodes
        max_s = self._nodes_left / self._nodes_per_s if self._nodes_per_s else math.inf
        deadline = min(start + max_s, self._deadline)

        def answer(prover: Prover, part: np.ndarray) -> tuple[np.ndarray, int]:
            return prover.prove(states[part], budgets[part], max_nodes, deadline)

        run = map if self._pool is None or len(asked) < 2 else self._pool.map
        for part, (part_results, num_nodes) in zip(parts, run(answer, self._provers, parts)):
            results[part] = part_results
            self.num_nodes += num_nodes
        seconds = time.monotonic() - start
        self._spend(max(self.num_nodes - num_before, seconds * self._nodes_per_s))
        return results

    def _spend(self, num_nodes: float) -> None:
        self._nodes_left -= num_nodes
        while self._nodes_left <= 0 and self._tier + 1 < len(self._tiers):
            self._tier += 1
            self._nodes_left += self._tiers[self._tier].nodes_per_search * self._num_searches


def make_prover(game: Game) -> Prover | None:
    """Make a prover for Connect-X (up to 64 bits) or Othello; return None for any other game."""
    if isinstance(game, CompiledGame) and isinstance(game.rules, ConnectX | Othello):
        return Prover(game)
    return None


def game_positions(game: Game, num_games: int, generator: np.random.Generator) -> np.ndarray:
    """Play games of uniformly random moves and return all their unfinished positions.

    Args:
        num_games: number of games to play.
        generator: the source of the random moves.

    Returns:
        [N, K], the positions of all games, ordered by ply.
    """
    states = game.initial_states(num_games)
    positions = []
    while len(states):
        positions.append(states)
        actions = uniform_actions(game.legal_action_mask(states), generator)
        after = game.step(states, actions)
        states = after.states[~after.over]
    return np.concatenate(positions)


def leaf_costs(prover: Prover, states: np.ndarray, max_nodes: int) -> np.ndarray:
    """Measure the mean number of nodes needed to solve a leaf at each stage.

    A leaf's stage is the number of its empty cells. Nodes of failed attempts are included. Where
    the cost exceeds ``max_nodes``, it is extrapolated: it keeps growing by the average factor per
    stage of the last `_NUM_SLOPE_STAGES` stages. If fewer stages have been measured, it is
    infinite.

    Args:
        prover: the exact search to measure.
        states: [N, K], unfinished positions as they occur in games.
        max_nodes: cost above which stages are not measured.

    Returns:
        float64[num_stages], the mean cost in nodes.
    """
    stages = prover.stages(states)
    costs = np.full(prover.num_stages, np.inf)
    first = 0
    num_failures = 0
    cost = 0.0
    for stage in np.unique(stages):
        num_affordable = int(_MAX_TRIED_NODES / max(cost, 1.0))
        num_tried = max(min(_MAX_TRIED, num_affordable), _MIN_TRIED)
        cost = _answer_cost(prover, states[stages == stage][:num_tried], max_nodes)
        if cost <= max_nodes:
            costs[first : stage + 1] = cost  # missing stages get the cost of the next one
            num_failures = 0
        else:
            num_failures += 1
        first = stage + 1
        if num_failures == _NUM_FAILURES:
            break
    prover.forget()
    return _extrapolated(costs)


def _answer_cost(prover: Prover, states: np.ndarray, max_nodes: int) -> float:
    """Measure the mean number of nodes needed to solve positions of one stage.

    Args:
        prover: the exact search to measure.
        states: [N, K], unfinished positions of this stage.
        max_nodes: mean nodes per position above which measuring stops.

    Returns:
        The nodes searched per solved position; infinite if measuring stopped or no position was
        solved.
    """
    budget = np.array([int(_PATIENCE * max_nodes)])
    num_nodes = 0
    num_proven = 0
    prover.forget()
    for state in states:
        results, nodes = prover.prove(state[None], budget, _UNLIMITED)
        num_nodes += nodes
        num_proven += results[0] != UNPROVEN
        if num_nodes > max_nodes * len(states):
            return np.inf
    return num_nodes / num_proven if num_proven else np.inf


def _extrapolated(costs: np.ndarray) -> np.ndarray:
    """Replace the infinite costs of later stages with estimates that grow exponentially.

    Args:
        costs: float64[num_stages], costs by stage; finite for the first stages, then infinite.

    Returns:
        float64[num_stages]; the same costs if too few of them are finite to measure their growth.
    """
    last = int(np.count_nonzero(np.isfinite(costs))) - 1
    first = last - _NUM_SLOPE_STAGES
    if first < 0:
        return costs
    growth = (costs[last] / max(costs[first], 1.0)) ** (1 / _NUM_SLOPE_STAGES)
    growth = max(growth, _LEAST_GROWTH)
    num_stages = np.arange(1, len(costs) - last)
    estimates = costs[last] * growth**num_stages
    return np.concatenate([costs[: last + 1], estimates])


def leaf_budgets(costs: np.ndarray, nodes_per_answer: float) -> np.ndarray:
    """Return the maximum number of nodes to spend on a position at each stage.

    A position's stage is the number of its empty cells.

    Args:
        costs: float64[num_stages], mean nodes to solve a leaf, as `leaf_costs` measures them.
        nodes_per_answer: maximum mean number of nodes to solve a leaf.

    Returns:
        int64[num_stages]: four times ``nodes_per_answer`` where leaves cost at most
        ``nodes_per_answer`` on average, otherwise 0.
    """
    is_cheap = costs <= nodes_per_answer
    budget = int(min(_PATIENCE * nodes_per_answer, _UNLIMITED))
    return np.where(is_cheap, budget, 0)
