"""Stores the positions of the nodes of B trees, and gives new nodes their values.

The edges found by simulations (`alphazero.search.simulate.Edges`) lead to new nodes. Each node gets
the result of a finished game, or the evaluator's policy and value. This module does not choose
moves.

Shapes: B games, M new nodes, N nodes of a tree, K state words, A actions.
"""

import dataclasses
import time
from typing import NamedTuple

import numpy as np

from alphazero.games.batched_game import Transition
from alphazero.search import tree as trees
from alphazero.search.simulate import Edges


@dataclasses.dataclass
class SearchCounts:
    """How many simulations and evaluations a `TreeSearch` has made, and the evaluator's seconds."""

    num_simulations: int = 0  #: number of simulations that ended at a new node
    #: number of positions passed to the evaluator, or looked up in its tables
    num_evaluations: int = 0
    num_batches: int = 0  #: number of calls of the evaluator, or of the kernel with the tables
    total_depth: int = 0  #: sum of the new nodes' distances from their roots
    evaluator_s: float = 0.0  #: wall-clock seconds spent in calls of the evaluator


class NewNodes(NamedTuple):
    """M new nodes, one at the end of each edge, that have not been added to the trees yet."""

    edges: Edges  #: the edges that lead to the new nodes
    positions: Transition  #: the new positions


class Leaves(NamedTuple):
    """M newly added nodes that have not been evaluated yet."""

    rows: np.ndarray  #: int32[M], the index of each leaf's game
    nodes: np.ndarray  #: int32[M], the index of each leaf in its tree
    states: np.ndarray  #: [M, K], the leaves' positions
    legal_action_mask: np.ndarray  #: bool[M, A], True for the legal actions


class Expansion:
    """Adds nodes to the trees of B searches, with values from the rules or the evaluator.

    Args:
        game: the rules of the game, an `alphazero.games.batched_game.Game`.
        evaluator: evaluates new leaves (see `alphazero.inference.evaluator.Evaluator`).
        tree: the trees of all B searches, which are changed in place.

    Attributes:
        root_states: [B, K], the positions being searched, as states of K words.
        states: [B, N, K], the position of each node.
        counts: how many simulations and evaluations were made so far, and the evaluator's seconds.
    """

    def __init__(self, game, evaluator, tree: trees.Tree):
        self.counts = SearchCounts()
        self.root_states = np.zeros((len(tree.parents), game.state_size), game.state_dtype)
        self.states = np.zeros((*tree.parents.shape, game.state_size), game.state_dtype)
        self._game = game
        self._evaluator = evaluator
        self._tree = tree

    def new_nodes(self, edges: Edges, num_roots: int, depth: int) -> NewNodes:
        """Compute the positions that edges lead to.

        Args:
            edges: M edges found by simulations, without unused entries.
            num_roots: number of edges that stand for roots that have not been evaluated yet.
            depth: sum of the new nodes' distances from their roots, for `SearchCounts.total_depth`.
        """
        positions = self._positions(edges, num_roots)
        self.counts.num_simulations += len(edges.rows)
        self.counts.total_depth += depth
        return NewNodes(edges, positions)

    def add(self, new: NewNodes) -> Leaves:
        """Add new nodes to the trees, and back up the results of finished games.

        Returns:
            The remaining new nodes, which the evaluator must evaluate.
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
        """Evaluate M positions with the evaluator, and add their number and its time to `counts`.

        Args:
            states: [M, K], the positions, as states of K words.

        Returns:
            The policy logits, float32[M, A], and the values, float32[M], in [-1, 1], for the player
            to move.
        """
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
        """Write the evaluator's output into the leaves, and back up the values to the roots.

        Args:
            leaves: M leaves that `add` returned.
            prior_logits: float32[M, A], the policies as logits.
            values: float32[M], in [-1, 1], for the player to move at each leaf.
        """
        rows, nodes, _, legal_action_mask = leaves
        trees.expand(self._tree, rows, nodes, prior_logits, legal_action_mask, values)
        trees.backward(self._tree, rows, nodes)

    def _positions(self, edges: Edges, num_roots: int) -> Transition:
        """Return the position that each edge leads to; for a root, the position being searched.

        Args:
            edges: edges found by simulations.
            num_roots: number of edges that stand for roots without a node.
        """
        rows, parents, actions = edges
        if num_roots == 0:
            return self._game.step(self.states[rows, parents], actions)
        states = self.root_states[rows]
        if num_roots < len(rows):
            moved = parents != trees.NO_PARENT
            states_before = self.states[rows[moved], parents[moved]]
            states[moved] = self._game.step(states_before, actions[moved]).states
        return self._game.inspect(states)
