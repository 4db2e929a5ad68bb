"""The roots of B searches: noise added at the start, and results read at the end.

Before the first simulation, an evaluated root gets noisy priors or a sequential-halving plan; after
the last, its results are read as a `PolicyOutput`. This module does not depend on the game or the
evaluator, and does not decide when a search ends.
"""

from typing import NamedTuple

import numpy as np

from alphazero.search import forced_playouts, gumbel, puct
from alphazero.search.settings import SearchSettings
from alphazero.search.simulate import RootPlan, make_root_plan
from alphazero.search.tree import ILLEGAL, ROOT_INDEX, UNPROVEN, Tree


class PolicyOutput(NamedTuple):
    """The results of M searches, with values for the player to move at the root."""

    #: int32[M], the chosen actions: the most visited ones, or those chosen by sequential halving;
    #: never an action that gives away a proven result
    actions: np.ndarray
    #: float32[M, A], the policy target, sum 1: visit fractions without forced visits, or the
    #: improved policy of a Gumbel root
    action_weights: np.ndarray
    #: float32[M, A], the distribution to sample a move from, sum 1: visit fractions, or the
    #: improved policy
    move_weights: np.ndarray
    #: float32[M], in [-1, 1]: the mean of the simulations; with forced playouts or Gumbel roots,
    #: the mean of the children's values under the policy target
    root_values: np.ndarray
    priors: np.ndarray  #: float32[M, A], the root's priors, which include noise
    players: np.ndarray  #: int8[M], the player to move
    is_sampled: bool  #: True if Gumbel noise sampled `actions`: do not sample from `move_weights`


class Roots:
    """Adds noise to the roots of a `TreeSearch`, and reads results from them after the search.

    Args:
        tree: the search trees, shared with the search.
        settings: the root algorithm, its noise and its constants.
        generator: random generator for the noise.
        explores: whether to add root noise and forced playouts, as self-play does.

    Attributes:
        exploration: the settings that the compiled kernels read; its ``forced_playouts_k`` is 0
            unless ``explores`` is True.
    """

    def __init__(
        self,
        tree: Tree,
        settings: SearchSettings,
        generator: np.random.Generator,
        explores: bool,
    ):
        self.settings = settings
        self._tree = tree
        self._generator = generator
        self._explores = explores
        self.exploration = _exploration(settings)
        if not explores:
            self.exploration = self.exploration._replace(forced_playouts_k=0.0)
        #: sequential-halving plans of Gumbel roots; None for PUCT roots
        self.plan: RootPlan | None = make_root_plan(tree) if settings.root == "gumbel" else None

    def prepare(self, rows: np.ndarray, budgets: np.ndarray) -> None:
        """Add noise to the given games' evaluated roots; plan sequential halving at Gumbel roots.

        Noise is added only if the searches explore.

        Args:
            rows: int32[M], the indices of the games.
            budgets: int32[B], total visits of the root's actions at which each search ends.
        """
        if not len(rows):
            return
        if self.plan is not None:
            self._plan_gumbel_roots(rows, budgets)
        elif self._explores:
            self._add_dirichlet_noise(rows)

    def output(self, rows: np.ndarray, temperatures: np.ndarray | None = None) -> PolicyOutput:
        """Return actions, policies and values of the given games, whose roots must be evaluated.

        Args:
            rows: int[M], the indices of the games.
            temperatures: float[M], factors by which the Gumbel noise is multiplied when choosing
                actions (see `alphazero.search.gumbel.root_policy`); None means 1. PUCT roots ignore
                them.
        """
        rows = np.asarray(rows, np.int32)
        num_actions = self._tree.children_index.shape[2]
        weights = np.empty((len(rows), num_actions), np.float32)
        values = np.empty(len(rows), np.float32)
        puct.root_policy(self._tree, rows, weights, values)
        actions = weights.argmax(axis=1).astype(np.int32)
        targets = weights
        if self.plan is not None:
            if temperatures is None:
                temperatures = np.ones(len(rows))
            gumbel.root_policy(
                self._tree, rows, self.plan, self.exploration, temperatures, actions, weights
            )
        elif self.exploration.forced_playouts_k > 0:
            targets = weights.copy()
            forced_playouts.prune_forced(self._tree, rows, self.exploration, targets)
        if self.plan is not None or targets is not weights:
            values = self._values_under_target(rows, targets, values)
        priors = self._tree.children_priors[rows, ROOT_INDEX]
        players = self._tree.players[rows, ROOT_INDEX]
        is_sampled = self.plan is not None and self._explores
        return PolicyOutput(actions, targets, weights, values, priors, players, is_sampled)

    def _add_dirichlet_noise(self, rows) -> None:
        """Apply the root temperature to the given games' root priors and mix in Dirichlet noise.

        Args:
            rows: int32[M], the indices of the games.
        """
        settings = self.settings
        children_index = self._tree.children_index
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
        """Plan sequential halving at the given roots, with Gumbel noise if searches explore.

        Args:
            rows: int32[M], the indices of the games.
            budgets: int32[B], total visits of the root's actions at which each search ends.
        """
        num_actions = self._tree.children_index.shape[2]
        gumbels = np.zeros((len(rows), num_actions), np.float32)
        if self._explores:
            gumbels[:] = self.settings.gumbel_scale * self._generator.gumbel(size=gumbels.shape)
        num_considered = self.settings.max_num_considered_actions
        gumbel.plan_roots(self._tree, rows, budgets, self.plan, num_considered, gumbels)

    def _values_under_target(self, rows, targets, values) -> np.ndarray:
        """Return the roots' values under the policy target, float32[M], for the player to move.

            value = sum(weight * children_values) / sum(weight), over the visited actions

        Visits made only for exploration therefore do not count. Proven roots, and roots without
        visited actions, keep their entry in ``values``.

        Args:
            rows: int32[M], the indices of the games.
            targets: float32[M, A], the policy targets.
            values: float32[M], the mean results of the roots' simulations.
        """
        visited = self._tree.children_visits[rows, ROOT_INDEX] > 0
        weights = np.where(visited, targets, 0.0)
        total = weights.sum(axis=1)
        weighted = weights * self._tree.children_values[rows, ROOT_INDEX]
        means = weighted.sum(axis=1) / np.maximum(total, 1e-9)
        is_open = (self._tree.proven_values[rows, ROOT_INDEX] == UNPROVEN) & (total > 0.0)
        return np.where(is_open, means, values).astype(np.float32)


def _exploration(settings: SearchSettings) -> puct.Exploration:
    """Extract the settings that the compiled kernels read, converted to floats."""
    names = [name for name in puct.Exploration._fields if name != "parent_weight"]
    constants = {name: float(getattr(settings, name)) for name in names}
    parent_weight = 1.0 if settings.first_play_value == "parent" else 0.0
    return puct.Exploration(parent_weight=parent_weight, **constants)
