"""Decide which leaves of a player's search trees to solve exactly, and at what cost.

For a game and the setting ``endgame``, `LeafPolicy.leaves` makes a solver of leaves that suits the
limits of a search. A solved leaf is called an answer. Costs are counted in nodes, so the results do
not depend on the machine; a time limit is also enforced by the clock.

A search may spend three quarters of a move on expensive answers: three eighths on answers expected
to take up to a quarter of the move, which settle the root's own moves where the game is nearly
decided; a quarter on answers of up to a twentieth; and an eighth on answers of up to 1/200. Answers
that cost little more than an evaluation are always worth it: they are final, and they prune
positions that the network would otherwise evaluate. If the number of simulations is the limit, the
move counts as a third of the cost of its evaluations, so that expensive answers add about a quarter
to it.
"""

import dataclasses
import math

import numpy as np

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.runtime.random_generators import child_generator
from alphazero.solvers.exact_leaves import (
    ProvenLeaves,
    Tier,
    game_positions,
    leaf_budgets,
    leaf_costs,
    make_prover,
)
from alphazero.solvers.provers import Prover

#: Fractions of a move's nodes, per tier: for one answer, and for all answers of the tier together.
#: With a fixed limit of 500 nodes instead, the player keeps the result in 98.2% of 2,000 positions
#: of Connect Four at 200 simulations (tiers: 98.45%, no exact leaves: 98.05%), and in 148 of 150
#: positions of plies 6 to 20 at 0.5 s (tiers: 150).
_TIERS = ((1 / 4, 3 / 8), (1 / 20, 1 / 4), (1 / 200, 1 / 8))
#: Nodes that one core searches while all cores evaluate one position with a 5x64 network; while a
#: leaf is looked up in line tables, with what Python adds before it can be solved; and in a second.
#: Rough estimates suffice: only the order of magnitude matters.
_NODES_PER_EVALUATION = 500
_NODES_PER_LOOK_UP = 100
_NODES_PER_S = 4_000_000
#: Solving a leaf may always cost as much as this many evaluations with a time limit, or as much as
#: one evaluation without.
_EVALUATIONS_PER_ANSWER = 4
#: Without a time limit, a move counts as this fraction of the cost of its evaluations.
_FRACTION_OF_EVALUATIONS = 1 / 3
_USUAL_CORES = 2
#: Number of random games on which costs are measured, and the number of nodes above which costs
#: are extrapolated.
_NUM_GAMES = 64
_MAX_MEASURED_NODES = 30_000


@dataclasses.dataclass(frozen=True)
class LeafPolicy:
    """Decides which leaves of a search tree to solve exactly, given the search's limits."""

    provers: list[Prover]  #: exact searches of the game, one for each thread
    #: float64[num_stages], mean number of nodes to solve a leaf with a given number of empty cells
    costs: np.ndarray
    #: nodes that one core searches while the network evaluates one position
    nodes_per_evaluation: float = _NODES_PER_EVALUATION

    def leaves(self, num_simulations: float, time_limit_s: float | None) -> ProvenLeaves | None:
        """Make the leaf solver for a search; return None if no leaf can be solved cheaply enough.

        The search is assumed to end at whichever limit it reaches first.

        Args:
            num_simulations: maximum simulations per move; infinite if only the time is limited.
            time_limit_s: maximum seconds per move; None means no limit.
        """
        by_time = math.inf if time_limit_s is None else time_limit_s * _NODES_PER_S
        by_count = num_simulations * self.nodes_per_evaluation
        is_timed = by_time < by_count
        if is_timed:
            cheap = _EVALUATIONS_PER_ANSWER * self.nodes_per_evaluation
            tiers = _tiers(by_time, cheap, len(self.provers))
        else:
            by_count *= _FRACTION_OF_EVALUATIONS
            tiers = _tiers(by_count, self.nodes_per_evaluation, _USUAL_CORES)
        if not leaf_budgets(self.costs, tiers[0].nodes_per_answer).any():
            return None
        nodes_per_s = _NODES_PER_S * len(self.provers) if is_timed else None
        return ProvenLeaves(self.provers, self.costs, tiers, nodes_per_s)


def _tiers(move_nodes: float, cheap: float, num_cores: int) -> list[Tier]:
    """Return the limits on the cost of solving leaves during a move, the most expensive tier first.

    Args:
        move_nodes: number of nodes that one core can search during the move.
        cheap: mean number of nodes that solving a leaf may always take, without a budget.
        num_cores: number of cores that solve leaves at the same time.
    """
    tiers = []
    for answer_fraction, tier_fraction in _TIERS:
        nodes_per_answer = answer_fraction * move_nodes
        if nodes_per_answer > cheap:
            tiers.append(Tier(nodes_per_answer, tier_fraction * move_nodes * num_cores))
    return [*tiers, Tier(cheap, math.inf)]


def make_leaf_policy(
    game: Game, setting: str, num_threads: int, has_tables: bool = False
) -> LeafPolicy | None:
    """Make the policy that decides which leaves of search trees to solve exactly.

    The costs of solving leaves are measured on positions from random games, which takes less than
    half a second.

    Args:
        setting: "off" or "auto".
        num_threads: number of threads that solve leaves.
        has_tables: whether the network is looked up in line tables, instead of evaluated.

    Returns:
        The policy; None if exact solving is off or unavailable for this game.
    """
    if setting == "off" or make_prover(game) is None:
        return None
    assert isinstance(game, CompiledGame)
    provers = [Prover(game) for _ in range(num_threads)]
    provers[0].prove(game.initial_states(), np.zeros(1, np.int64), 1)  # loads the kernels
    states = game_positions(game, _NUM_GAMES, child_generator(0, "endgame"))
    costs = leaf_costs(provers[0], states, _MAX_MEASURED_NODES)
    nodes_per_evaluation = _NODES_PER_LOOK_UP if has_tables else _NODES_PER_EVALUATION
    return LeafPolicy(provers, costs, nodes_per_evaluation)
