"""Batched PUCT search: the searches of B games run in lockstep and share one evaluator.

Each `step` runs one simulation in every unfinished search and calls the evaluator once for all the
leaves. A game whose search is finished can move on at once (`advance`, `reset`) while the others
continue, so the evaluator always gets a full batch. `output` returns the results as a
`PolicyOutput`.
"""

import time
from collections.abc import Callable

import numpy as np

from alphazero.games.batched_game import CompiledGame
from alphazero.search import simulate as simulation
from alphazero.search import table_search
from alphazero.search import tree as trees
from alphazero.search.expansion import Expansion, Leaves, NewNodes
from alphazero.search.in_flight import collect, make_in_flight
from alphazero.search.line_tables import LineTables
from alphazero.search.roots import PolicyOutput, Roots
from alphazero.search.settings import SearchSettings
from alphazero.search.subtree import keep_subtree

#: Walks in one step of a search with line tables: about a millisecond's, and at least so many in
#: each game. Deadlines and Ctrl-C take effect between steps.
_WALKS_PER_STEP = 256
_MIN_WALKS = 32


class TreeSearch:
    """Searches the positions of B games in lockstep, with one evaluator for all of them.

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
    def walks_per_step(self) -> int:
        """How many walks a step makes in each game, at least."""
        return 1 if self._line_tables() is None else _MIN_WALKS

    def reset(self, rows: np.ndarray, states: np.ndarray, num_simulations) -> None:
        """Begin a search with an empty tree in each of the given games.

        Args:
            rows: int[M], the indices of the games.
            states: [M, K], the unfinished positions to search, as states of K words.
            num_simulations: number of simulations of each search, as one number or int[M].

        Raises:
            ValueError: if ``num_simulations`` exceeds `max_simulations`.
        """
        self._root_states[rows] = states
        self._tree.num_nodes[rows] = 0
        self._begin(rows, num_simulations)

    def advance(self, rows, actions, states, num_simulations) -> None:
        """Begin a search after the action played in each given game, keeping the action's subtree.

        If ``settings.reuse_tree`` is False, the searches begin with empty trees, as in `reset`.

        Args:
            rows: int[M], the indices of the games.
            actions: int[M], the actions played.
            states: [M, K], the unfinished positions after the actions, as states of K words.
            num_simulations: number of simulations of each search, as one number or int[M].

        Raises:
            ValueError: if ``num_simulations`` exceeds `max_simulations`.
        """
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
        """Exclude games from further steps until `reset` or `advance` begins new searches in them.

        Args:
            rows: int[M], the indices of the games.
        """
        self._in_use[rows] = False

    def finished_rows(self) -> np.ndarray:
        """Return the indices of the games whose search is finished and not stopped, int32[M].

        A search is finished when all its simulations are done or its root's result is proven.
        """
        simulation.finished_rows(self._tree, self._budgets, self._finished)
        return np.flatnonzero(self._finished & self._in_use).astype(np.int32)

    def step(self) -> None:
        """Run one simulation in every unfinished search, and evaluate all leaves in one batch.

        If a simulation reaches the end of a game, or a proven result, that result is backed up at
        once, and that search runs a second simulation in the same step. It never runs a third, so
        that the other searches do not wait long. With ``leaves_per_step`` above 1, each search
        instead runs up to that number of simulations, once.

        If the evaluator has `alphazero.search.line_tables.LineTables`, a step is `walks_per_step`
        simulations and more in every search.
        """
        rows = np.flatnonzero(self._in_use).astype(np.int32)
        tables = self._line_tables()
        new = self._find(rows) if tables is None else self._grow(rows, tables)
        if new is None:
            return
        leaves = self._expansion.add(new)
        ended = new.edges.rows[new.positions.over]
        if len(ended) and self._in_flight is None and tables is None:
            second = self._find(ended)
            if second is not None:
                more_leaves = self._expansion.add(second)
                leaves = Leaves(*map(np.concatenate, zip(leaves, more_leaves)))
        if len(leaves.rows):
            answers = self._expansion.evaluate(leaves.states)
            self._expansion.expand_and_backward(leaves, *answers)
            is_root = leaves.nodes == trees.ROOT_INDEX
            self._roots.prepare(leaves.rows[is_root], self._budgets)

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
        """Return the chosen actions, policies and values of the given games; see `Roots.output`.

        Args:
            rows: int[M], the indices of the games.
            temperatures: float[M], factors of the Gumbel noise, 1 by default; ignored by PUCT
                roots.
        """
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

    def _line_tables(self) -> LineTables | None:
        """Return the evaluator's tables, if kernels can search with them, else None."""
        if not isinstance(self.game, CompiledGame):
            return None
        return getattr(self.evaluator, "line_tables", None)

    def _grow(self, rows: np.ndarray, tables: LineTables) -> NewNodes | None:
        """Run many simulations in the given games; return the roots, which the kernel cannot add.

        Args:
            rows: int32[M], the indices of the games.
        """
        workspace = table_search.make_workspace(self.game, tables, len(rows))
        num_roots, num_nodes, num_evaluations, depth = table_search.grow(
            self.game.rules,
            self._tree,
            self._states,
            rows,
            self._budgets,
            self._roots.exploration,
            self._roots.plan,
            workspace,
            max(_WALKS_PER_STEP // max(len(rows), 1), _MIN_WALKS),
        )
        self.counts.num_simulations += num_nodes
        self.counts.num_evaluations += num_evaluations
        self.counts.num_batches += 1
        self.counts.total_depth += depth
        return self._new_nodes(workspace.edges, num_roots, num_roots, 0)

    def _find(self, rows: np.ndarray) -> NewNodes | None:
        """Run up to `leaves_per_step` simulations in each given game whose search is unfinished.

        Args:
            rows: int[M], the indices of the games.

        Returns:
            The new nodes, not yet added to the trees; None if no simulation ended at a new node
            (see `alphazero.search.simulate`).
        """
        edges = simulation.make_edges(len(rows) * self.leaves_per_step)
        arguments = (self._tree, rows, self._budgets, self._roots.exploration)
        if self._in_flight is None:
            counts = simulation.simulate(*arguments, self._roots.plan, edges)
        else:
            counts = collect(*arguments, self._in_flight, self.leaves_per_step, edges)
        return self._new_nodes(edges, *counts)

    def _new_nodes(
        self, edges: simulation.Edges, num_edges: int, num_roots: int, depth: int
    ) -> NewNodes | None:
        if not num_edges:
            return None
        edges = simulation.Edges(*(field[:num_edges] for field in edges))
        return self._expansion.new_nodes(edges, num_roots, depth)
