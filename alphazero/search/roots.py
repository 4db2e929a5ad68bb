"""The roots of B searches: the noise they start with, and the policies they end with.

In: trees with evaluated roots, and the `SearchMode` of each search. Out: noisy priors or sequential
halving plans before the first simulation, `PolicyOutput` after the last. This file does not know
the game, the evaluator, or when a search ends.
"""

import enum
from typing import NamedTuple

import numpy as np

from alphazero.search import forced_playouts, gumbel, puct
from alphazero.search.settings import SearchSettings
from alphazero.search.simulate import FORCED_PLAYOUTS, GUMBEL, PUCT, RootPlan, make_root_plan
from alphazero.search.tree import ILLEGAL, ROOT_INDEX, UNPROVEN, Tree


class SearchMode(enum.IntEnum):
    """What a search is for. It sets the root's algorithm, the noise, and forced playouts.

    ========== ========== ===================== ===============
    mode       algorithm  noise                 forced playouts
    ========== ========== ===================== ===============
    FAST       fast_root  none                  no
    FULL       root       Dirichlet, or Gumbel  with PUCT
    EVALUATION root       none                  no
    ========== ========== ===================== ===============
    """

    FAST = 0  #: a short search of self-play that only chooses a move
    FULL = 1  #: a search of self-play that explores; its policy is a training target
    EVALUATION = 2  #: the search of a player, as strong as it can


class PolicyOutput(NamedTuple):
    """The result of M searches. Values are from the viewpoint of the player to move."""

    #: int32[M], the chosen actions: the most visited, or sequential halving's; a proven result is
    #: kept
    actions: np.ndarray
    #: float32[M, A], the policy target, sum 1: visit fractions without forced visits, or the
    #: improved policy of a Gumbel root
    action_weights: np.ndarray
    #: float32[M, A], the distribution to sample a move from, sum 1: visit fractions, or the
    #: improved policy
    move_weights: np.ndarray
    #: bool[M], True if `actions` is already sampled, by Gumbel noise; do not sample from
    #: `move_weights`
    is_sampled: np.ndarray
    #: float32[M], in [-1, 1]: the mean of the simulations, or with forced playouts and Gumbel roots
    #: the mean of the children's values under the policy target
    root_values: np.ndarray


class Roots:
    """The roots of the searches of one `alphazero.search.batched_search.TreeSearch`.

    Args:
        tree: the statistics, shared with the search.
        generator: samples the noise.
    """

    def __init__(self, tree: Tree, settings: SearchSettings, generator: np.random.Generator):
        self.settings = settings
        self._tree = tree
        self._generator = generator
        num_games, _, num_actions = tree.children_index.shape
        self._modes = np.zeros(num_games, np.int8)
        self.exploration = _exploration(settings)
        only_puct = settings.root == settings.fast_root == "puct" and not settings.forced_playouts_k
        #: None if every root uses PUCT, see `alphazero.search.simulate.simulate`
        self.plan: RootPlan | None = None if only_puct else make_root_plan(num_games, num_actions)
        self._algorithms = np.array([self._algorithm(mode) for mode in SearchMode], np.int8)

    def begin(self, rows: np.ndarray, modes) -> None:
        """Set the modes of the searches that begin in the listed games.

        Args:
            rows: int[M].
            modes: one `SearchMode`, or int[M].
        """
        self._modes[rows] = modes
        if self.plan is not None:
            self.plan.algorithms[rows] = self._algorithms[self._modes[rows]]

    def prepare(self, rows: np.ndarray, budgets: np.ndarray) -> None:
        """Add noise to the evaluated roots of the listed games, and plan Gumbel roots.

        Args:
            rows: int32[M].
            budgets: int32[B], as in `alphazero.search.simulate.simulate`.
        """
        if not len(rows):
            return
        if self.plan is None:
            self._add_dirichlet_noise(rows)
            return
        is_gumbel = self.plan.algorithms[rows] == GUMBEL
        self._add_dirichlet_noise(rows[~is_gumbel])
        if is_gumbel.any():
            self._plan_gumbel_roots(rows[is_gumbel], budgets)

    def output(self, rows: np.ndarray, temperatures: np.ndarray | None = None) -> PolicyOutput:
        """Return the policies of the listed games; every root must be evaluated.

        Args:
            rows: int[M].
            temperatures: float[M], factors of the Gumbel noise in the choice of an action, see
                `alphazero.search.gumbel.root_policy`; None is 1.
        """
        rows = np.asarray(rows, np.int32)
        weights = np.empty((len(rows), self._tree.children_index.shape[2]), np.float32)
        values = np.empty(len(rows), np.float32)
        puct.root_policy(self._tree, rows, weights, values)
        output = PolicyOutput(
            actions=weights.argmax(axis=1).astype(np.int32),
            action_weights=weights,
            move_weights=weights,
            is_sampled=np.zeros(len(rows), np.bool_),
            root_values=values,
        )
        if self.plan is None:
            return output
        temperatures = np.ones(len(rows)) if temperatures is None else temperatures
        output = output._replace(action_weights=weights.copy())
        self._prune_forced(rows, output)
        self._use_gumbel(rows, np.asarray(temperatures, np.float64), output)
        is_gumbel = self.plan.algorithms[rows] == GUMBEL
        is_puct = self.plan.algorithms[rows] == PUCT
        return output._replace(
            is_sampled=is_gumbel & self._is_full(rows),
            root_values=np.where(is_puct, values, self._values_under_target(rows, output)),
        )

    def _algorithm(self, mode: SearchMode) -> int:
        root = self.settings.fast_root if mode == SearchMode.FAST else self.settings.root
        if root == "gumbel":
            return GUMBEL
        forced = mode == SearchMode.FULL and self.settings.forced_playouts_k > 0
        return FORCED_PLAYOUTS if forced else PUCT

    def _is_full(self, rows) -> np.ndarray:
        # Comparing an array with a member of an enum takes 10 us, with a plain int 1 us.
        return self._modes[rows] == int(SearchMode.FULL)

    def _add_dirichlet_noise(self, rows) -> None:
        """Add fresh noise to the priors of the FULL searches among ``rows``."""
        rows = rows[self._is_full(rows)]
        if not len(rows):
            return
        settings, children_index = self.settings, self._tree.children_index
        alphas = np.full(len(rows), settings.dirichlet_alpha)
        if settings.dirichlet_alpha_per_move:
            is_legal = children_index[rows, ROOT_INDEX] != ILLEGAL
            alphas /= np.maximum(is_legal.sum(axis=1), 1)
        shape = (len(rows), children_index.shape[2])
        gammas = self._generator.standard_gamma(alphas[:, None], shape)
        puct.mix_root_priors(
            self._tree,
            rows,
            gammas.astype(np.float32),
            float(settings.dirichlet_fraction),
            float(settings.root_prior_temperature),
        )

    def _plan_gumbel_roots(self, rows, budgets) -> None:
        """Sample the Gumbel noise of FULL searches, and plan the sequential halving of all."""
        gumbels = np.zeros((len(rows), self._tree.children_index.shape[2]), np.float32)
        full = self._is_full(rows)
        noise = self._generator.gumbel(size=gumbels[full].shape)
        gumbels[full] = self.settings.gumbel_scale * noise
        num_considered = self.settings.max_num_considered_actions
        gumbel.plan_roots(self._tree, rows, budgets, self.plan, num_considered, gumbels)

    def _prune_forced(self, rows, output: PolicyOutput) -> None:
        """Write the policy targets of roots with forced playouts into ``output``."""
        forced = self.plan.algorithms[rows] == FORCED_PLAYOUTS
        targets = output.action_weights[forced]
        forced_playouts.prune_forced(self._tree, rows[forced], self.exploration, targets)
        output.action_weights[forced] = targets

    def _use_gumbel(self, rows, temperatures, output: PolicyOutput) -> None:
        """Write the actions and policies of Gumbel roots into ``output``."""
        halved = self.plan.algorithms[rows] == GUMBEL
        actions, improved = output.actions[halved], output.action_weights[halved]
        gumbel.root_policy(
            self._tree,
            rows[halved],
            self.plan,
            self.exploration,
            temperatures[halved],
            actions,
            improved,
        )
        output.actions[halved] = actions
        output.action_weights[halved] = output.move_weights[halved] = improved

    def _values_under_target(self, rows, output: PolicyOutput) -> np.ndarray:
        """Return the roots' values under the policy target, float32[M].

            value = sum(weight * children_values) / sum(weight), over the visited actions

        So what was visited only to explore does not count. A proven value is kept.
        """
        visited = self._tree.children_visits[rows, ROOT_INDEX] > 0
        weights = np.where(visited, output.action_weights, 0.0)
        total = weights.sum(axis=1)
        weighted = weights * self._tree.children_values[rows, ROOT_INDEX]
        values = weighted.sum(axis=1) / np.maximum(total, 1e-9)
        is_open = (self._tree.proven_values[rows, ROOT_INDEX] == UNPROVEN) & (total > 0.0)
        return np.where(is_open, values, output.root_values).astype(np.float32)


def _exploration(settings: SearchSettings) -> puct.Exploration:
    """Return the constants of the kernels."""
    names = [name for name in puct.Exploration._fields if name != "parent_weight"]
    return puct.Exploration(
        parent_weight=1.0 if settings.first_play_value == "parent" else 0.0,
        **{name: float(getattr(settings, name)) for name in names},
    )
