"""`Expansion`: the positions behind the nodes of B trees, and how new nodes get their values.

In: the edges that simulations found (`alphazero.search.simulate.Edges`). Out: nodes with a result
(the game is over, or an exact search knows how it ends) or with the evaluator's answer. Nothing
here knows how a search chooses its moves.

Shapes: B games, M new nodes, N nodes of a tree, K state words, A actions.
"""

import dataclasses
import time
from typing import NamedTuple

import numpy as np

from alphazero.games.batched_game import Transition
from alphazero.search import tree as trees
from alphazero.search.exact_leaves import ExactLeaves
from alphazero.search.simulate import Edges


@dataclasses.dataclass
class SearchCounts:
    """How much work was done, for reports."""

    num_simulations: int = 0  #: simulations that ended at a new node
    num_evaluations: int = 0  #: positions that the evaluator answered
    num_batches: int = 0  #: calls of the evaluator
    total_depth: int = 0  #: sum of the new nodes' distances from their roots
    evaluator_s: float = 0.0  #: wall seconds inside the evaluator


class NewNodes(NamedTuple):
    """The ends of M edges, to be added to the trees."""

    edges: Edges
    #: The positions there; ``over`` and ``results`` tell the exact results, too.
    positions: Transition


class Leaves(NamedTuple):
    """M nodes of the trees that need the evaluator."""

    rows: np.ndarray  #: int32[M], their games
    nodes: np.ndarray  #: int32[M]
    states: np.ndarray  #: [M, K]
    legal_action_mask: np.ndarray  #: bool[M, A]


class Expansion:
    """Adds nodes to the trees of B searches.

    Args:
        game: a batched game, see `alphazero.games.batched_game`.
        evaluator: see `alphazero.inference.evaluator.Evaluator`.
        tree: of the B searches.
        exact_leaves: asked about new nodes before the evaluator, or None.

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
        """Return the new nodes at the ends of the edges.

        Args:
            edges: all entries in use.
            num_roots: how many of the edges are roots.
            depth: sum of the others' distances from their roots.
        """
        positions = self._positions(edges, num_roots)
        if self._exact_leaves is not None:
            positions = self._proven(positions, edges.parents != trees.NO_PARENT)
        self.counts.num_simulations += len(edges.rows)
        self.counts.total_depth += depth
        return NewNodes(edges, positions)

    def add(self, new: NewNodes) -> Leaves:
        """Add new nodes to the trees, and back up the results of those that are finished or proven.

        Returns:
            The other nodes, which need the evaluator.
        """
        (rows, parents, actions), positions = new
        nodes = np.empty(len(rows), np.int32)
        known = positions.players, positions.over, positions.results
        trees.add_nodes(self._tree, rows, parents, actions, *known, nodes)
        self.states[rows, nodes] = positions.states
        leaves = Leaves(rows, nodes, positions.states, positions.legal_action_mask)
        if not positions.over.any():
            return leaves
        return Leaves(*(field[~positions.over] for field in leaves))

    def evaluate(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return prior logits, float32[M, A], and values, float32[M], of positions."""
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
        """Write the evaluator's answers into the leaves, and the values into the nodes above."""
        rows, nodes, _, legal_action_mask = leaves
        trees.expand(self._tree, rows, nodes, prior_logits, legal_action_mask, values)
        trees.backward(self._tree, rows, nodes)

    def _positions(self, edges: Edges, num_roots: int) -> Transition:
        """Return the transition to the new nodes; a root that waits is its own new position."""
        rows, parents, actions = edges
        if num_roots == 0:
            return self._game.step(self.states[rows, parents], actions)
        states = self.root_states[rows]
        if num_roots < len(rows):
            moved = parents != trees.NO_PARENT
            states_before = self.states[rows[moved], parents[moved]]
            states[moved] = self._game.step(states_before, actions[moved]).states
        return self._game.inspect(states)

    def _proven(self, positions: Transition, is_leaf: np.ndarray) -> Transition:
        """Return the positions with the results that the exact leaves prove.

        Args:
            is_leaf: bool[M], False for a root: a root needs its moves, not its result alone.
        """
        over, results = positions.over.copy(), positions.results.copy()
        asked = np.flatnonzero(is_leaf & ~over)
        if self._exact_leaves is not None and len(asked):
            proven = self._exact_leaves.prove(positions.states[asked])
            known = proven != trees.UNPROVEN
            over[asked[known]], results[asked[known]] = True, proven[known]
        return positions._replace(over=over, results=results)
