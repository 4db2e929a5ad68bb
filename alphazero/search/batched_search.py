"""Batched PUCT search: the searches of B games run in lockstep and share one evaluator.

Each `step` runs one simulation in every unfinished search and calls the evaluator once for all the
leaves. A game whose search is finished can move on at once (`advance`, `reset`) while the others
continue, so the evaluator always gets a full batch. `output` returns the results as a
`PolicyOutput`. `alphazero.search.backend` has the other implementations.
"""

import time
from collections.abc import Callable

import numpy as np

from alphazero.search import simulate as simulation
from alphazero.search import tree as trees
from alphazero.search.expansion import Expansion, Leaves, NewNodes
from alphazero.search.in_flight import make_in_flight
from alphazero.search.roots import PolicyOutput, Roots
from alphazero.search.settings import SearchSettings
from alphazero.search.subtree import keep_subtree


class TreeSearch:
    """Searches the positions of B games in lockstep, with one evaluator for all of them.

    It is a `SearchBackend` whose trees can be read.

    A search ends after ``num_simulations`` simulations, or earlier if it proves the root's result.
    The visits in a subtree kept from the previous move count as simulations, unless
    ``settings.count_kept_visits`` is False.

    Memory is allocated once: B * (max_simulations + 1) nodes, each of which takes
    `alphazero.search.tree.bytes_per_node(A)` bytes and a state. If kept visits do not count,
    `game.max_plies` times as much is allocated.

    Args:
        game: the rules of the game, an `alphazero.games.batched_game.Game`.
        evaluator: computes the policies and values of new leaves, an
            `alphazero.inference.evaluator.Evaluator`.
        num_games: B, number of games.
        max_simulations: the largest ``num_simulations`` that any search may have.
        settings: the search's constants, root algorithm and tree reuse.
        generator: random generator for the root noise.
        leaves_per_step: maximum number of leaves of one tree per call of the evaluator (see
            `alphazero.search.in_flight`); if above 1, all roots must choose by PUCT.
        explores: whether to add root noise and forced playouts, as self-play does to make training
            targets; if False, the search is as strong as possible.

    Attributes:
        counts: how many simulations and evaluations were made so far, and the evaluator's seconds.
    """

    def __init__(
        self,
        game,
        evaluator,
        *,
        num_games: int,
        max_simulations: int,
        settings: SearchSettings,
        generator: np.random.Generator,
        leaves_per_step: int = 1,
        explores: bool = False,
    ):
        self.game = game
        self.evaluator = evaluator
        self.settings = settings
        self.max_simulations = max_simulations
        num_nodes = max_simulations + 1
        if not settings.count_kept_visits:  # a subtree may keep the visits of all earlier moves
            num_nodes = max_simulations * game.max_plies + 1
        self._tree = trees.make_tree(num_games, num_nodes, game.num_actions, settings.mcts_solver)
        self._expansion = Expansion(game, evaluator, self._tree)
        self._states = self._expansion.states
        self._root_states = self._expansion.root_states
        self.counts = self._expansion.counts
        self._budgets = np.zeros(num_games, np.int32)
        self._finished = np.zeros(num_games, np.bool_)
        self._in_use = np.zeros(num_games, np.bool_)
        self._roots = Roots(self._tree, settings, generator, explores)
        self.leaves_per_step = leaves_per_step
        self._in_flight = None
        if leaves_per_step > 1:
            self._in_flight = make_in_flight(self._tree, leaves_per_step)

    @property
    def tree(self) -> trees.Tree:
        """The search trees of all games; callers must not change them."""
        return self._tree

    @property
    def root_states(self) -> np.ndarray:
        """The positions being searched, [B, K]; callers must not change them."""
        return self._root_states

    @property
    def simulations_per_step(self) -> int:
        """How many simulations a step makes in each unfinished search, at least."""
        return 1

    def reset(self, rows: np.ndarray, states: np.ndarray, num_simulations) -> None:
        """Begin a search with an empty tree in each given game; see `SearchBackend.reset`."""
        self._root_states[rows] = states
        self._tree.num_nodes[rows] = 0
        self._begin(rows, num_simulations)

    def advance(self, rows, actions, states, num_simulations) -> None:
        """Begin a search after each given game's action; see `SearchBackend.advance`."""
        if not self.settings.reuse_tree:
            self.reset(rows, states, num_simulations)
            return
        rows = np.asarray(rows, np.int32)
        num_nodes = self._states.shape[1]
        sources = np.empty((len(rows), num_nodes), np.int32)
        num_kept = np.empty(len(rows), np.int32)
        keep_subtree(self._tree, rows, np.asarray(actions, np.int32), sources, num_kept)
        for row, row_sources, num in zip(rows, sources, num_kept):
            self._states[row, :num] = self._states[row, row_sources[:num]]
        self._root_states[rows] = states
        self._begin(rows, num_simulations)
        self._roots.prepare(rows[num_kept > 0], self._budgets)

    def stop(self, rows: np.ndarray) -> None:
        """Exclude games from further steps until they begin a search; see `SearchBackend.stop`."""
        self._in_use[rows] = False

    def finished_rows(self) -> np.ndarray:
        """Return the games whose search is finished; see `SearchBackend.finished_rows`."""
        simulation.finished_rows(self._tree, self._budgets, self._finished)
        return np.flatnonzero(self._finished & self._in_use).astype(np.int32)

    def step(self) -> None:
        """Run one simulation in every unfinished search, and evaluate all leaves in one batch.

        If a simulation reaches the end of a game, or a proven result, that result is backed up at
        once, and that search runs a second simulation in the same step. It never runs a third, so
        that the other searches do not wait long. With ``leaves_per_step`` above 1, each search
        instead runs up to that number of simulations, once.
        """
        new = self._find_leaves(np.flatnonzero(self._in_use).astype(np.int32))
        if new is None:
            return
        leaves = self._expansion.add(new)
        ended = new.edges.rows[new.positions.over]
        if len(ended) and self._in_flight is None:
            second = self._find_leaves(ended)
            if second is not None:
                more_leaves = self._expansion.add(second)
                leaves = Leaves(*map(np.concatenate, zip(leaves, more_leaves)))
        self._evaluate(leaves)

    def run(
        self, deadline: float | None = None, progress: Callable[[float], None] | None = None
    ) -> None:
        """Take steps until every search in use is finished or the deadline has passed.

        Args:
            deadline: time of `time.monotonic` at which to stop, though not before every search has
                visited at least one root action; None means no limit.
            progress: called after each step with the fraction of the simulations that are done, in
                [0, 1], averaged over the searches.
        """
        rows = np.flatnonzero(self._in_use)
        while len(self.finished_rows()) < len(rows):
            self.step()
            if progress is not None:
                visits = self._tree.node_visits[rows, trees.ROOT_INDEX]
                fractions = np.minimum(visits / (self._budgets[rows] + 1), 1.0)
                progress(float(fractions.mean()))
            if deadline is not None and time.monotonic() >= deadline:
                if (self._tree.node_visits[rows, trees.ROOT_INDEX] > 1).all():
                    return

    def output(self, rows: np.ndarray, temperatures: np.ndarray | None = None) -> PolicyOutput:
        """Return actions, policies and values of the given games; see `SearchBackend.output`."""
        return self._roots.output(rows, temperatures)

    def principal_variation(self, row: int) -> list[int]:
        """Return the expected line of play: the chosen action, then the most visited actions.

        Args:
            row: the index of the game.

        Returns:
            The actions in order of play, the first at the root; [] if the root has not been
            evaluated.
        """
        tree = self._tree
        node = trees.ROOT_INDEX
        line = []
        if tree.num_nodes[row] == 0:
            return line
        action = int(self.output(np.array([row])).actions[0])
        while tree.children_index[row, node, action] >= 0:
            line.append(action)
            node = int(tree.children_index[row, node, action])
            visits = tree.children_visits[row, node]
            if tree.node_visits[row, node] < 2 or not visits.any():
                break
            action = int(visits.argmax())
        return line or [action]

    def best_line(self, row: int) -> tuple[list[int], float]:
        """Return the moves that lead to the best proven result in a tree, and that result.

        This is only for games with one player, whose viewpoint all results have.

        Args:
            row: the index of the game.

        Returns:
            The actions from the root to the position with the best proven result, and that result
            in [-1, 1]; [] and -1 if no result is proven.
        """
        tree = self._tree
        results = tree.proven_values[row, : tree.num_nodes[row]].copy()
        is_unproven = results == trees.UNPROVEN
        if is_unproven.all():
            return [], -1.0
        results[is_unproven] = -trees.UNPROVEN
        # On ties, take the last node: a finished game is added after all nodes that it proves.
        node = int(len(results) - 1 - results[::-1].argmax())
        result = float(results[node])
        line = []
        while node != trees.ROOT_INDEX:
            line.append(int(tree.action_from_parent[row, node]))
            node = int(tree.parents[row, node])
        return line[::-1], result

    def _begin(self, rows, num_simulations) -> None:
        largest = np.max(num_simulations, initial=0)
        if largest > self.max_simulations:  # kernels would write beyond the arrays
            message = f"num_simulations={largest} is not allowed: at most {self.max_simulations}."
            raise ValueError(message)
        self._budgets[rows] = num_simulations
        if not self.settings.count_kept_visits:
            # A budget counts visits of the root's actions, not the root's own first visit.
            kept = self._tree.node_visits[rows, trees.ROOT_INDEX] - 1
            self._budgets[rows] += np.where(self._tree.num_nodes[rows] > 0, kept, 0)
        self._in_use[rows] = True

    def _find_leaves(self, rows: np.ndarray) -> NewNodes | None:
        """Run up to `leaves_per_step` simulations in each given game whose search is unfinished.

        Args:
            rows: int[M], the indices of the games.

        Returns:
            The new nodes, not yet added to the trees; None if no simulation ended at a new node
            (see `alphazero.search.simulate`).
        """
        edges = simulation.make_edges(len(rows) * self.leaves_per_step)
        counts = simulation.simulate(
            self._tree,
            rows,
            self._budgets,
            self._roots.exploration,
            self._roots.plan,
            self._in_flight,
            self.leaves_per_step,
            edges,
        )
        return self._new_nodes(edges, *counts)

    def _new_nodes(
        self, edges: simulation.Edges, num_edges: int, num_roots: int, depth: int
    ) -> NewNodes | None:
        if not num_edges:
            return None
        edges = simulation.Edges(*(field[:num_edges] for field in edges))
        return self._expansion.new_nodes(edges, num_roots, depth)

    def _evaluate(self, leaves: Leaves) -> None:
        """Evaluate new leaves, back up their values, and prepare the roots among them."""
        if not len(leaves.rows):
            return
        answers = self._expansion.evaluate(leaves.states)
        self._expansion.expand_and_backward(leaves, *answers)
        is_root = leaves.nodes == trees.ROOT_INDEX
        self._roots.prepare(leaves.rows[is_root], self._budgets)
