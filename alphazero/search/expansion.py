"""`Expansion`: stores the positions of the nodes of B trees, and gives new nodes their values.

In: the edges found by simulations (`alphazero.search.simulate.Edges`). Out: new nodes with an exact
result (a finished game or a proof) or with the evaluator's policy and value. Choosing moves is not
part of this file.

Shapes: B games, M new nodes, N nodes of a tree, K state words, A actions.
"""

import dataclasses
import time
from typing import NamedTuple, Protocol

import numpy as np

from alphazero.games.batched_game import Transition
from alphazero.search import tree as trees
from alphazero.search.simulate import Edges


@dataclasses.dataclass
class SearchCounts:
    """How much work a search has done so far, for reports."""

    num_simulations: int = 0  #: number of simulations that ended at a new node
    num_evaluations: int = 0  #: number of positions evaluated
    num_batches: int = 0  #: number of calls of the evaluator
    total_depth: int = 0  #: sum of the new nodes' distances from their roots
    evaluator_s: float = 0.0  #: wall-clock seconds spent in the evaluator


class NewNodes(NamedTuple):
    """M new nodes, one at the end of each edge, that are still to be added to the trees."""

    edges: Edges
    positions: Transition  #: the new positions; ``over`` and ``results`` include proven results


class Leaves(NamedTuple):
    """M new leaves that are still to be evaluated."""

    rows: np.ndarray  #: int32[M], index of each leaf's game
    nodes: np.ndarray  #: int32[M], index of each leaf in its tree
    states: np.ndarray  #: [M, K], the leaves' positions
    legal_action_mask: np.ndarray  #: bool[M, A], True for the legal actions


class ExactLeaves(Protocol):
    """Proves the results of positions, with limited work for each position.

    Every implementation obeys these rules:

    - a result other than `alphazero.search.tree.UNPROVEN` is the result under perfect play;
    - it never changes ``states``.
    """

    def prove(self, states: np.ndarray) -> np.ndarray:
        """Prove the results of unfinished positions where possible.

        Args:
            states: [M, K], the positions.

        Returns:
            float32[M], results for the player to move; `UNPROVEN` where no proof was found within
            the limit.
        """
        ...


class Expansion:
    """Adds nodes to the trees of B searches.

    Args:
        game: a batched game, see `alphazero.games.batched_game`.
        evaluator: see `alphazero.inference.evaluator.Evaluator`.
        tree: the trees of all B searches.
        exact_leaves: tries to prove the results of new nodes before the evaluator sees them; None
            skips this.

    Attributes:
        root_states: [B, K], the positions being searched.
        states: [B, N, K], the position of each node.
    """

    def __init__(self, game, evaluator, tree: trees.Tree, exact_leaves: ExactLeaves | None):
        self.counts = SearchCounts()
        self.root_states = np.zeros((len(tree.parents), game.state_size), game.state_dtype)
        self.states = np.zeros((*tree.parents.shape, game.state_size), game.state_dtype)
        self._game = game
        self._evaluator = evaluator
        self._tree = tree
        self._exact_leaves = exact_leaves

    def new_nodes(self, edges: Edges, num_roots: int, depth: int) -> NewNodes:
        """Make the new nodes at the ends of edges: play the actions, then try to prove results.

        Args:
            edges: M edges, all entries in use.
            num_roots: how many of the edges are roots.
            depth: sum of the distances of the other edges' new nodes from their roots.
        """
        positions = self._positions(edges, num_roots)
        if self._exact_leaves is not None:
            is_leaf = edges.parents != trees.NO_PARENT
            positions = _prove(self._exact_leaves, positions, is_leaf)
        self.counts.num_simulations += len(edges.rows)
        self.counts.total_depth += depth
        return NewNodes(edges, positions)

    def add(self, new: NewNodes) -> Leaves:
        """Add new nodes to the trees, and back up the results of finished and proven ones.

        Returns:
            The remaining nodes, which need the evaluator.
        """
        (rows, parents, actions), positions = new
        nodes = np.empty(len(rows), np.int32)
        outcomes = positions.players, positions.over, positions.results
        trees.add_nodes(self._tree, rows, parents, actions, *outcomes, nodes)
        self.states[rows, nodes] = positions.states
        leaves = Leaves(rows, nodes, positions.states, positions.legal_action_mask)
        is_open = ~positions.over
        if is_open.all():
            return leaves
        return Leaves(*(field[is_open] for field in leaves))

    def evaluate(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate M positions; return prior logits, float32[M, A], and values, float32[M]."""
        planes = self._game.observe(states)
        start = time.perf_counter()
        prior_logits, values = self._evaluator.evaluate(planes)
        self.counts.evaluator_s += time.perf_counter() - start
        self.counts.num_evaluations += len(states)
        self.counts.num_batches += 1
        return prior_logits, values

    def expand_and_backward(
        self, leaves: Leaves, prior_logits: np.ndarray, values: np.ndarray
    ) -> None:
        """Write the evaluator's output into the leaves, and back the values up to the roots."""
        rows, nodes, _, legal_action_mask = leaves
        trees.expand(self._tree, rows, nodes, prior_logits, legal_action_mask, values)
        trees.backward(self._tree, rows, nodes)

    def _positions(self, edges: Edges, num_roots: int) -> Transition:
        """Return the position at the end of each edge; for a root, the root position itself."""
        rows, parents, actions = edges
        if num_roots == 0:
            return self._game.step(self.states[rows, parents], actions)
        states = self.root_states[rows]
        if num_roots < len(rows):
            moved = parents != trees.NO_PARENT
            states_before = self.states[rows[moved], parents[moved]]
            states[moved] = self._game.step(states_before, actions[moved]).states
        return self._game.inspect(states)


def _prove(exact_leaves: ExactLeaves, positions: Transition, is_leaf: np.ndarray) -> Transition:
    """Try to prove the results of positions; mark proven ones as over, with their exact results.

    Args:
        is_leaf: bool[M], False for roots, which are never proven here: a root needs its moves, not
            only its result.
    """
    over = positions.over.copy()
    results = positions.results.copy()
    unfinished = np.flatnonzero(is_leaf & ~over)
    if len(unfinished):
        proven = exact_leaves.prove(positions.states[unfinished])
        is_proven = proven != trees.UNPROVEN
        over[unfinished[is_proven]] = True
        results[unfinished[is_proven]] = proven[is_proven]
    return positions._replace(over=over, results=results)
