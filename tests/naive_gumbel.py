"""Slow, obvious twins of the Gumbel root and of forced playouts.

They change the root of the textbook's search alone. The schedule of sequential halving is the list
of all its visits.
"""

import math

import numpy as np
from textbook_proofs import is_proven
from textbook_search import TextbookSearch


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


class NaivePlannedSearch(TextbookSearch):
    """One search whose root has an algorithm: "puct", "forced" or "gumbel".

    `plan` sets it before each `run`.
    """

    def plan(self, algorithm, gumbels):
        self.algorithm, self.gumbels = algorithm, gumbels

    def run(self):
        self.search(0)  # evaluates the root
        children = self.root.children
        self.kept = {action: child.visits for action, child in children.items()}
        priors = {action: self.prior(self.root, child) for action, child in children.items()}
        self.logits = {action: math.log(max(prior, 1e-37)) for action, prior in priors.items()}
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
        sigmas = self._sigmas()
        return softmax({a: self.logits[a] + sigmas[a] for a in self.playable_actions()})

    def pruned(self, fractions):
        best = max(fractions, key=fractions.get)
        if self.root.result is not None or self._visits(best) == 0:
            return fractions
        left = {action: self._pruned_visits(action, best) for action in fractions}
        return {action: count / sum(left.values()) for action, count in left.items()}

    def target(self):
        """Return the policy target of the root's algorithm."""
        if self.algorithm == "gumbel":
            return self.improved_policy()
        fractions = self.output().action_weights
        return self.pruned(fractions) if self.algorithm == "forced" else fractions

    def value_of(self, target):
        """Return the root's value under ``target`` over visited actions; a proven one stays."""
        tried = [action for action in target if self._visits(action)]
        weights = [target[action] for action in tried]
        if self.root.result is not None or sum(weights) == 0:
            return self.root.value
        return float(np.average([self._value(action) for action in tried], weights=weights))

    def scores(self, node):
        if node is not self.root or self.algorithm == "puct":
            return super().scores(node)
        if self.algorithm == "gumbel":
            return {self._select_halving(): 0.0}
        for action in self.root.children:
            if 0 < self._visits(action) < self._forced(action):
                return {action: 0.0}
        return super().scores(node)

    # --- the root's actions -----------------------------------------------------------------------

    def _visits(self, action):
        return self.root.children[action].visits

    def _value(self, action):
        return self.root.children[action].value_for(self.root.player)

    def _prior(self, action):
        return self.prior(self.root, self.root.children[action])

    # --- gumbel -----------------------------------------------------------------------------------

    def _select_halving(self):
        wanted = self.schedule[sum(self._made(action) for action in self.root.children)]
        counts = {self._made(action) for action in self._open()}
        below = [count for count in counts if count <= wanted]
        count = max(below) if below else min(counts)
        candidates = [action for action in self._open() if self._made(action) == count]
        return max(candidates, key=lambda action: self._gumbel_score(action, 1.0))

    def _gumbel_score(self, action, temperature):
        return temperature * self.gumbels[action] + self.logits[action] + self._sigmas()[action]

    def _sigmas(self):
        visited = [action for action in self._open() if self._visits(action)]
        counts = [self._visits(action) for action in visited]
        mixed = self.root.raw_value
        if visited:
            values = [self._value(action) for action in visited]
            mean = np.average(values, weights=[self._prior(action) for action in visited])
            mixed = (mixed + sum(counts) * mean) / (1 + sum(counts))
        scale = self.settings.value_scale * (self.settings.maxvisit_init + max(counts, default=0))
        return {
            action: scale * (self._value(action) if self._visits(action) else mixed)
            for action in self.root.children
        }

    def _made(self, action):
        return self._visits(action) - self.kept[action]

    def _open(self):
        children = self.root.children.items()
        return [action for action, child in children if not is_proven(child, -1, self.root.player)]

    # --- forced playouts --------------------------------------------------------------------------

    def _forced(self, action):
        visits = self.root.visits - 1
        return math.sqrt(self.settings.forced_playouts_k * self._prior(action) * visits)

    def _pruned_visits(self, action, best):
        visits = self._visits(action)
        if action == best:
            return visits
        best_score = self._puct(best, self._visits(best))
        fewest = visits
        for fewer in range(visits - 1, -1, -1):
            if visits - fewer > self._forced(action) or self._puct(action, fewer) >= best_score:
                break
            fewest = fewer
        return 0 if fewest == 1 < visits else fewest

    def _puct(self, action, visits):
        value = self._value(action) if self._visits(action) else 0.0
        return value + self.exploration(self.root, self._prior(action), visits)
