"""PUCT for B games in lockstep: the driver that brings tree, game and evaluator together.

In: positions, an evaluator, a number of simulations for each game. Out: `PolicyOutput`. One `step` takes one leaf in every game whose search
is not finished and asks the evaluator once for all of them; a game whose search is finished can move on at once (`advance`, `reset`) while
the others go on, so that the evaluator always gets a full batch. The tree's statistics live in `alphazero.search.tree`.
"""

import dataclasses
import time
from typing import NamedTuple

import numpy as np

from alphazero.runtime.settings import option
from alphazero.search import gumbel, puct
from alphazero.search import simulate as walks
from alphazero.search import tree as trees


@dataclasses.dataclass
class SearchSettings:
    """The settings of a PUCT search."""

    pb_c_init: float = option(
        1.25, "exploration constant c of PUCT, with Q in [-1, 1] (AlphaZero: 1.25)", low=0.0
    )
    pb_c_base: float = option(
        19652.0, "visits at which exploration begins to grow (AlphaZero: 19652)", low=1.0
    )
    first_play_urgency: float = option(
        0.25,
        "an unvisited move is worth its parent's value less this times sqrt(visited prior)",
        low=0.0,
    )
    root_first_play_urgency: float = option(0.0, "the same at the root", low=0.0)
    dirichlet_alpha: float = option(
        1.0,
        "concentration of the root noise; small is spiky (AlphaZero: 0.3 for chess, 0.03 for Go)",
        low=1e-3,
    )
    dirichlet_alpha_per_move: bool = option(
        False, "divide dirichlet_alpha by the number of legal moves (10 is then the usual value)"
    )
    dirichlet_fraction: float = option(
        0.25,
        "share of the noise in the root's priors; 0 is no noise (AlphaZero: 0.25)",
        low=0.0,
        high=1.0,
    )
    root_prior_temperature: float = option(
        1.0,
        "flattens the root's priors in self-play; 1 leaves them (KataGo: 1.25)",
        low=0.1,
        high=10.0,
    )
    reuse_tree: bool = option(
        True,
        "keep the subtree of the move played; its visits count towards the next search's simulations",
    )
    forced_playouts_k: float = option(
        0.0,
        "in noisy searches a visited move gets sqrt(this * prior * visits), pruned from the target again; 0 is off (KataGo: 2)",
        low=0.0,
        high=100.0,
    )
    root: str = option(
        "puct",
        "how the root of a full search, and of a player's, spends its simulations: gumbel is sequential halving",
        choices=("puct", "gumbel"),
    )
    fast_root: str = option(
        "puct",
        "the same for self-play's fast searches; gumbel goes without noise there",
        choices=("puct", "gumbel"),
    )
    gumbel_scale: float = option(
        1.0,
        "scale of the Gumbel noise of full searches, in place of Dirichlet noise (paper: 1)",
        low=0.0,
        high=10.0,
    )
    max_num_considered_actions: int = option(
        16, "moves that a Gumbel root begins with (paper: 16)", low=1
    )
    value_scale: float = option(
        0.1,
        "a Gumbel root weighs values in [-1, 1] by this times maxvisit_init + the most visits",
        low=0.0,
        high=100.0,
    )
    maxvisit_init: float = option(50.0, "see value_scale (paper: 50)", low=0.0)


class PolicyOutput(NamedTuple):
    """What finished searches say about M positions."""

    actions: np.ndarray  #: int32[M], the search's choice, which keeps the proven result where there is one: the most visited, or Gumbel's
    action_weights: np.ndarray  #: float32[M, A], the policy target, each row sums to 1: visit shares without forced visits, or Gumbel's improved policy
    move_weights: np.ndarray  #: float32[M, A], what a move is drawn from, each row sums to 1: visit shares, or Gumbel's improved policy
    is_drawn: np.ndarray  #: bool[M], whether ``actions`` is a draw already, by Gumbel noise, so that none is made from ``move_weights``
    root_values: np.ndarray  #: float32[M], in [-1, 1], of the player to move: the mean over the visits, or over the target where that leaves some out


@dataclasses.dataclass
class SearchCounts:
    """How much work was done, for reports."""

    num_simulations: int = 0  #: simulations whose leaf was new
    num_evaluations: int = 0  #: positions that the evaluator answered
    num_batches: int = 0
    total_depth: int = 0  #: of the new leaves
    evaluator_s: float = 0.0  #: wall seconds inside the evaluator


class TreeSearch:
    """B searches that share one evaluator.

    Memory: B * (max_simulations + 1) * `tree.bytes_per_node(A)` bytes, allocated once.

    Args:
        game: a batched game, see `alphazero.games.batched_game`.
        evaluator: see `alphazero.inference.evaluator.Evaluator`.
        num_games: B.
        max_simulations: the largest number of simulations that any search will ask for.
        settings: the constants of the search.
        generator: draws the root noise.
    """

    def __init__(
        self,
        game,
        evaluator,
        num_games: int,
        max_simulations: int,
        settings: SearchSettings,
        generator: np.random.Generator,
    ):
        self.game = game
        self.evaluator = evaluator
        self.settings = settings
        self.counts = SearchCounts()
        self._generator = generator
        self._tree = trees.make_tree(num_games, max_simulations + 1, game.num_actions)
        self._states = np.zeros((num_games, max_simulations + 1, game.state_size), game.state_dtype)
        self._root_states = np.zeros((num_games, game.state_size), game.state_dtype)
        self._budgets = np.zeros(num_games, np.int32)
        self._plan = (
            walks.make_root_plan(num_games, game.num_actions) if _needs_plan(settings) else None
        )
        self._noisy = np.zeros(num_games, np.bool_)
        self._finished = np.zeros(num_games, np.bool_)
        self._in_use = np.zeros(num_games, np.bool_)
        names = (
            "pb_c_init",
            "pb_c_base",
            "first_play_urgency",
            "root_first_play_urgency",
            "forced_playouts_k",
            "value_scale",
            "maxvisit_init",
        )
        constants = {name: float(getattr(settings, name)) for name in names}
        self._exploration = puct.Exploration(**constants)

    @property
    def tree(self) -> trees.Tree:
        """The statistics, for reading."""
        return self._tree

    @property
    def root_states(self) -> np.ndarray:
        """The positions being searched, [B, K], for reading."""
        return self._root_states

    @property
    def max_simulations(self) -> int:
        """The largest number of simulations that a search may ask for."""
        return self._tree.parents.shape[1] - 1

    def reset(
        self, rows: np.ndarray, states: np.ndarray, num_simulations: np.ndarray, noisy: np.ndarray
    ) -> None:
        """Begin searches from scratch in the listed games.

        Args:
            rows: int[M].
            states: [M, K], not finished.
            num_simulations: int[M], how many visits the root's children get.
            noisy: bool[M], whether root noise, root temperature and forced playouts are applied.
        """
        self._root_states[rows] = states
        self._tree.num_nodes[rows] = 0
        self._begin(rows, num_simulations, noisy)

    def advance(
        self,
        rows: np.ndarray,
        actions: np.ndarray,
        states: np.ndarray,
        num_simulations: np.ndarray,
        noisy: np.ndarray,
    ) -> None:
        """Go on from the position after an action, keeping what the tree knows of it.

        Args:
            rows, actions: int[M].
            states: [M, K], the positions after the actions, not finished.
            num_simulations, noisy: as in `reset`.
        """
        if not self.settings.reuse_tree:
            return self.reset(rows, states, num_simulations, noisy)
        rows = np.asarray(rows, np.int32)
        sources = np.empty((len(rows), self._states.shape[1]), np.int32)
        kept = np.empty(len(rows), np.int32)
        trees.keep_subtree(self._tree, rows, np.asarray(actions, np.int32), sources, kept)
        for i, row in enumerate(rows):
            self._states[row, : kept[i]] = self._states[row, sources[i, : kept[i]]]
        self._root_states[rows] = states
        self._begin(rows, num_simulations, noisy)
        self._prepare_roots(rows[kept > 0])

    def stop(self, rows: np.ndarray) -> None:
        """Leave the listed games out of every further step."""
        self._in_use[rows] = False

    def finished_rows(self) -> np.ndarray:
        """Return int32[M]: the games in use whose search is finished."""
        walks.finished_rows(self._tree, self._budgets, self._finished)
        return np.flatnonzero(self._finished & self._in_use).astype(np.int32)

    def step(self) -> None:
        """Take one leaf in every unfinished game and answer all of them with one call of the evaluator.

        A leaf that turns out to be a finished game is backed up at once, and its game looks for another; once only, so that the
        others do not wait long for it.
        """
        rows = np.flatnonzero(self._in_use).astype(np.int32)
        leaf_rows, leaf_nodes, leaf_states, leaf_masks = [], [], [], []
        for _ in range(2):
            rows, nodes, transition = self._find_leaves(rows)
            if not len(rows):
                break
            over = transition.over
            live = ~over
            leaf_rows.append(rows[live])
            leaf_nodes.append(nodes[live])
            leaf_states.append(transition.states[live])
            leaf_masks.append(transition.legal_action_mask[live])
            rows = rows[over]
            if not len(rows):
                break
        if leaf_rows:
            self._answer(
                *(
                    parts[0] if len(parts) == 1 else np.concatenate(parts)
                    for parts in (leaf_rows, leaf_nodes, leaf_states, leaf_masks)
                )
            )

    def run(self, deadline: float | None = None, progress=None) -> None:
        """Step until every game in use is finished.

        Args:
            deadline: of `time.monotonic`; the search stops there if it comes first, after at least one step.
            progress: called with the fraction done after each step.
        """
        rows = np.flatnonzero(self._in_use)
        while len(self.finished_rows()) < len(rows):
            self.step()
            if progress is not None:
                progress(
                    float(
                        np.mean(
                            np.minimum(
                                self._tree.node_visits[rows, 0] / (self._budgets[rows] + 1), 1.0
                            )
                        )
                    )
                )
            if deadline is not None and time.monotonic() >= deadline:
                return

    def output(self, rows: np.ndarray, temperatures: np.ndarray | None = None) -> PolicyOutput:
        """Return what the searches of the listed games say; every root must have been evaluated.

        Args:
            rows: int[M].
            temperatures: float[M], factors of the Gumbel noise in the choice of an action, see `gumbel.root_policy`; 1 where not given.
        """
        rows = np.asarray(rows, np.int32)
        weights = np.empty((len(rows), self.game.num_actions), np.float32)
        values = np.empty(len(rows), np.float32)
        trees.root_policy(self._tree, rows, weights, values)
        output = PolicyOutput(
            weights.argmax(axis=1).astype(np.int32),
            weights,
            weights,
            np.zeros(len(rows), np.bool_),
            values,
        )
        if self._plan is None:
            return output
        return self._other_output(
            rows,
            np.ones(len(rows)) if temperatures is None else np.asarray(temperatures, np.float64),
            output,
        )

    def principal_variation(self, row: int) -> list[int]:
        """Return the expected line: the most visited action at each node, from the root on."""
        line, node = [], trees.ROOT_INDEX
        if self._tree.num_nodes[row] == 0:
            return line
        action = int(self.output(np.array([row])).actions[0])
        while self._tree.children_index[row, node, action] >= 0:
            line.append(action)
            node = int(self._tree.children_index[row, node, action])
            if (
                not self._tree.children_visits[row, node].any()
                or self._tree.node_visits[row, node] < 2
            ):
                break
            action = int(self._tree.children_visits[row, node].argmax())
        return line or [action]

    def _begin(self, rows, num_simulations, noisy) -> None:
        if np.any(np.asarray(num_simulations) > self.max_simulations):
            raise ValueError(
                f"this search has room for {self.max_simulations} simulations, {np.max(num_simulations)} were asked for."
            )
        self._budgets[rows] = num_simulations
        if self._plan is not None:
            self._plan.kinds[rows] = np.where(
                noisy,
                self._kind_of(self.settings.root, True),
                self._kind_of(self.settings.fast_root, False),
            )
        self._noisy[rows] = noisy
        self._in_use[rows] = True

    def _kind_of(self, root: str, noisy: bool) -> int:
        if root == "gumbel":
            return walks.GUMBEL
        return walks.FORCED if noisy and self.settings.forced_playouts_k > 0 else walks.PUCT

    def _find_leaves(self, rows):
        """Return (rows, nodes, transition) of the new nodes of those of ``rows`` whose search is not finished."""
        parents, actions, depths = (np.empty(len(rows), np.int32) for _ in range(3))
        walks.simulate(
            self._tree, rows, self._budgets, self._exploration, self._plan, parents, actions, depths
        )
        found = actions >= 0
        if not found.all():
            rows, parents, actions = rows[found], parents[found], actions[found]
        if not len(rows):
            return rows, rows, None
        roots = parents == trees.NO_PARENT
        if roots.any():
            transition = self._with_roots(rows, parents, actions, roots)
        else:
            transition = self.game.step(self._states[rows, parents], actions)
        nodes = np.empty(len(rows), np.int32)
        trees.add_nodes(
            self._tree,
            rows,
            parents,
            actions,
            transition.players,
            transition.over,
            transition.results,
            nodes,
        )
        self._states[rows, nodes] = transition.states
        self.counts.num_simulations += len(rows)
        self.counts.total_depth += int(depths.sum())
        return rows, nodes, transition

    def _with_roots(self, rows, parents, actions, roots):
        """Return the transition where some rows are roots that only wait for their evaluation."""
        states = self._root_states[rows]
        if not roots.all():
            walked = ~roots
            states[walked] = self.game.step(
                self._states[rows[walked], parents[walked]], actions[walked]
            ).states
        return self.game.inspect(states)

    def _answer(self, rows, nodes, states, masks) -> None:
        """Evaluate the leaves and write the answer into the tree."""
        if not len(rows):
            return
        planes = self.game.observe(states)
        start = time.perf_counter()
        prior_logits, values = self.evaluator.evaluate(planes)
        self.counts.evaluator_s += time.perf_counter() - start
        self.counts.num_evaluations += len(rows)
        self.counts.num_batches += 1
        trees.expand(self._tree, rows, nodes, prior_logits, masks, values)
        trees.backward(self._tree, rows, nodes)
        self._prepare_roots(rows[nodes == trees.ROOT_INDEX])

    def _other_output(self, rows, temperatures, output: PolicyOutput) -> PolicyOutput:
        """Return the output of plain PUCT with the rows of other kinds replaced by what they say."""
        kinds, targets, moves = (
            self._plan.kinds[rows],
            output.action_weights.copy(),
            output.move_weights,
        )
        forced, drawn = kinds == walks.FORCED, kinds == walks.GUMBEL
        pruned = targets[forced]
        puct.prune_forced(self._tree, rows[forced], self._exploration, pruned)
        targets[forced] = pruned
        choices, improved = output.actions[drawn], targets[drawn]
        gumbel.root_policy(
            self._tree,
            rows[drawn],
            self._plan,
            self._exploration,
            temperatures[drawn],
            choices,
            improved,
        )
        output.actions[drawn], targets[drawn], moves[drawn] = choices, improved, improved
        values = np.where(
            forced | drawn, self._values_of(rows, targets, output.root_values), output.root_values
        )
        return output._replace(
            action_weights=targets, is_drawn=drawn & self._noisy[rows], root_values=values
        )

    def _values_of(self, rows, targets, root_values) -> np.ndarray:
        """Return the roots' values if moves were made by ``targets`` ([M, A]): what was only tried, or forced, does not count. Proven ones stay."""
        weights = np.where(self._tree.children_visits[rows, trees.ROOT_INDEX] > 0, targets, 0.0)
        total = weights.sum(axis=1)
        values = (weights * self._tree.children_values[rows, trees.ROOT_INDEX]).sum(
            axis=1
        ) / np.maximum(total, 1e-9)
        is_open = (self._tree.proven_values[rows, trees.ROOT_INDEX] == trees.UNPROVEN) & (
            total > 0.0
        )
        return np.where(is_open, values, root_values).astype(np.float32)

    def _prepare_roots(self, rows) -> None:
        """Give noise to the evaluated roots of the listed games, each as its kind of search takes it."""
        if self._plan is None:
            return self._mix_noise(rows)
        halving = self._plan.kinds[rows] == walks.GUMBEL
        self._mix_noise(rows[~halving])
        rows = rows[halving]
        if not len(rows):
            return
        gumbels, noisy = np.zeros((len(rows), self.game.num_actions), np.float32), self._noisy[rows]
        gumbels[noisy] = self.settings.gumbel_scale * self._generator.gumbel(
            size=(np.count_nonzero(noisy), self.game.num_actions)
        )
        gumbel.plan_roots(
            self._tree,
            rows,
            self._budgets,
            self._plan,
            self.settings.max_num_considered_actions,
            gumbels,
        )

    def _mix_noise(self, rows) -> None:
        """Give fresh Dirichlet noise to the roots of those of ``rows`` that are noisy."""
        rows = rows[self._noisy[rows]]
        if not len(rows):
            return
        settings = self.settings
        alphas = np.full(len(rows), settings.dirichlet_alpha)
        if settings.dirichlet_alpha_per_move:
            alphas /= np.maximum(
                (self._tree.children_index[rows, 0] != trees.ILLEGAL).sum(axis=1), 1
            )
        gammas = self._generator.standard_gamma(
            alphas[:, None], (len(rows), self.game.num_actions)
        ).astype(np.float32)
        trees.mix_root_priors(
            self._tree,
            rows,
            gammas,
            float(settings.dirichlet_fraction),
            float(settings.root_prior_temperature),
        )


def _needs_plan(settings: SearchSettings) -> bool:
    """Return whether any root is searched by anything but plain PUCT."""
    return settings.forced_playouts_k > 0 or "gumbel" in (settings.root, settings.fast_root)
