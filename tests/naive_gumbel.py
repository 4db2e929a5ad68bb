"""Slow, obvious twins of the Gumbel root and of forced playouts.

As in `naive_puct`, every number is computed from lists when it is asked for. The schedule of
sequential halving is the list of all its visits.
"""

import math

import numpy as np
from naive_puct import UNKNOWN, NaiveSearch


def naive_schedule(num_considered, num_simulations):
    """Return how many visits the action of each simulation has before it, by making all of them."""
    if num_considered <= 1:
        return list(range(num_simulations))
    visits, schedule, left = [0] * num_considered, [], num_considered
    num_phases = math.ceil(math.log2(num_considered))
    while len(schedule) < num_simulations:
        for _ in range(max(1, int(num_simulations / (num_phases * left)))):
            for action in range(left):
                schedule.append(visits[action])
                visits[action] += 1
        left = max(2, left // 2)
    return schedule[:num_simulations]


def softmax(logits):
    """Return the probabilities of a dictionary's logits."""
    largest = max(logits.values())
    weights = {key: math.exp(logit - largest) for key, logit in logits.items()}
    return {key: weight / sum(weights.values()) for key, weight in weights.items()}


class NaivePlannedSearch(NaiveSearch):
    """One search whose root has an algorithm: "puct", "forced" or "gumbel".

    `plan` sets it before each `run`.
    """

    def plan(self, algorithm, gumbels):
        self.algorithm, self.gumbels = algorithm, gumbels

    def run(self):
        if () not in self.nodes:
            self._add((), self.root_state)
        actions = self.nodes[()].priors
        self.kept = {action: self.visits((), action) for action in actions}
        self.logits = {action: math.log(max(self.prior((), action), 1e-37)) for action in actions}
        considered = min(len(self._open()), self.settings.max_num_considered_actions)
        self.schedule = naive_schedule(considered, max(self.budget - sum(self.kept.values()), 0))
        super().run()

    def choice(self, temperature):
        """Return the action of a Gumbel root: the best of those visited most in this search."""
        policy = self.improved_policy()
        most = max(self._made(action) for action in policy)
        finalists = [action for action in policy if self._made(action) == most]
        return max(finalists, key=lambda action: self._gumbel_score(action, temperature))

    def improved_policy(self):
        fractions, _ = self.policy()  # for its keys: the actions that may be played
        sigmas = self._sigmas()
        return softmax({action: self.logits[action] + sigmas[action] for action in fractions})

    def pruned_fractions(self):
        fractions, _ = self.policy()
        best = max(fractions, key=fractions.get)
        if self.proven(()) is not UNKNOWN or self.visits((), best) == 0:
            return fractions
        left = {action: self._pruned_visits(action, best) for action in fractions}
        return {action: count / sum(left.values()) for action, count in left.items()}

    def target(self):
        """Return the policy target of the root's algorithm."""
        if self.algorithm == "gumbel":
            return self.improved_policy()
        return self.pruned_fractions() if self.algorithm == "forced" else self.policy()[0]

    def value_of(self, target):
        """Return the root's value under ``target`` over visited actions; a proven one stays."""
        _, value = self.policy()
        tried = [action for action in target if self.visits((), action)]
        weights = [target[action] for action in tried]
        if self.proven(()) is not UNKNOWN or sum(weights) == 0:
            return value
        return float(np.average([self.edge_value((), action) for action in tried], weights=weights))

    def _select(self, path):
        if path == () and self.algorithm == "gumbel":
            return self._select_halving()
        if path == () and self.algorithm == "forced":
            for action in self.nodes[()].priors:
                if 0 < self.visits((), action) < self._forced(action):
                    return action
        return super()._select(path)

    # --- gumbel -----------------------------------------------------------------------------------

    def _select_halving(self):
        wanted = self.schedule[sum(self._made(action) for action in self.nodes[()].priors)]
        counts = {self._made(action) for action in self._open()}
        below = [count for count in counts if count <= wanted]
        count = max(below) if below else min(counts)
        candidates = [action for action in self._open() if self._made(action) == count]
        return max(candidates, key=lambda action: self._gumbel_score(action, 1.0))

    def _gumbel_score(self, action, temperature):
        return temperature * self.gumbels[action] + self.logits[action] + self._sigmas()[action]

    def _sigmas(self):
        visited = [action for action in self._open() if self.visits((), action)]
        counts = [self.visits((), action) for action in visited]
        mixed = self.nodes[()].values[0]
        if visited:
            values = [self.edge_value((), action) for action in visited]
            mean = np.average(values, weights=[self.prior((), action) for action in visited])
            mixed = (mixed + sum(counts) * mean) / (1 + sum(counts))
        scale = self.settings.value_scale * (self.settings.maxvisit_init + max(counts, default=0))
        return {
            action: scale * (self.edge_value((), action) if self.visits((), action) else mixed)
            for action in self.nodes[()].priors
        }

    def _made(self, action):
        return self.visits((), action) - self.kept[action]

    def _open(self):
        return [action for action in self.nodes[()].priors if self.proven_edge((), action) != -1]

    # --- forced playouts --------------------------------------------------------------------------

    def _forced(self, action):
        visits = len(self.nodes[()].values) - 1
        return math.sqrt(self.settings.forced_playouts_k * self.prior((), action) * visits)

    def _pruned_visits(self, action, best):
        visits = self.visits((), action)
        if action == best:
            return visits
        best_score = self._puct(best, self.visits((), best))
        fewest = visits
        for fewer in range(visits - 1, -1, -1):
            if visits - fewer > self._forced(action) or self._puct(action, fewer) >= best_score:
                break
            fewest = fewer
        return 0 if fewest == 1 < visits else fewest

    def _puct(self, action, visits):
        value = self.edge_value((), action) if self.visits((), action) else 0.0
        return value + self.exploration((), action, visits)
