"""Slow, obvious twins of what `NaiveSearch` leaves out: the Gumbel root, forced playouts. Beside them a bandit as a game.

As in `naive_mcts`, every number is worked out from lists when it is asked for; the schedule of sequential halving is the list of all its visits.
"""

import math

import numpy as np
from naive_mcts import UNKNOWN, NaiveSearch

from alphazero.games.batched_game import Game, Transition


def naive_schedule(num_considered, num_simulations):
    """Return how many visits the action of each simulation has before it, by making all of them."""
    if num_considered <= 1:
        return list(range(num_simulations))
    visits, schedule, left = [0] * num_considered, [], num_considered
    while len(schedule) < num_simulations:
        for _ in range(
            max(1, int(num_simulations / (math.ceil(math.log2(num_considered)) * left)))
        ):
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
    """One search whose root is of a kind: "puct", "forced" or "gumbel"; `plan` says so before each `run`."""

    def plan(self, kind, gumbels):
        self.kind, self.gumbels = kind, gumbels

    def run(self):
        if () not in self.nodes:
            self._add((), self.root_state)
        actions = self.nodes[()].priors
        self.kept = {action: self.visits((), action) for action in actions}
        self.logits = {action: math.log(max(self.prior((), action), 1e-37)) for action in actions}
        considered = min(len(self._open(())), self.settings.max_num_considered_actions)
        self.schedule = naive_schedule(considered, max(self.budget - sum(self.kept.values()), 0))
        super().run()

    def choice(self, temperature):
        """Return Gumbel's action: the best of those visited most in this search."""
        policy = self.improved_policy()
        most = max(self._made(action) for action in policy)
        scores = {
            action: self._gumbel_score(action, temperature)
            for action in policy
            if self._made(action) == most
        }
        return max(scores, key=scores.get)

    def improved_policy(self):
        shares, _ = self.policy()  # for its keys: what keeps the proven result
        sigmas = self._sigmas(())
        return softmax({action: self.logits[action] + sigmas[action] for action in shares})

    def pruned_shares(self):
        shares, _ = self.policy()
        best = max(shares, key=shares.get)
        if self.proven(()) is not UNKNOWN or self.visits((), best) == 0:
            return shares
        left = {action: self._pruned_visits(action, best) for action in shares}
        return {action: count / sum(left.values()) for action, count in left.items()}

    def value_of(self, target):
        """Return the root's value if moves were made by ``target``, over the visited ones; a proven one stays."""
        _, value = self.policy()
        tried = [action for action in target if self.visits((), action)]
        weights = [target[action] for action in tried]
        if self.proven(()) is not UNKNOWN or sum(weights) == 0:
            return value
        return float(np.average([self.edge_value((), action) for action in tried], weights=weights))

    def _select(self, path):
        if path == () and self.kind == "gumbel":
            return self._select_halving()
        if path == () and self.kind == "forced":
            for action in self.nodes[()].priors:
                if 0 < self.visits((), action) < self._forced(action):
                    return action
        return super()._select(path)

    # --- gumbel -------------------------------------------------------------------------------------------------------------------------

    def _select_halving(self):
        wanted = self.schedule[sum(self._made(action) for action in self.nodes[()].priors)]
        counts = {self._made(action) for action in self._open(())}
        below = [count for count in counts if count <= wanted]
        count = max(below) if below else min(counts)
        scores = {
            action: self._gumbel_score(action, 1.0)
            for action in self._open(())
            if self._made(action) == count
        }
        return max(scores, key=scores.get)

    def _gumbel_score(self, action, temperature):
        return temperature * self.gumbels[action] + self.logits[action] + self._sigmas(())[action]

    def _sigmas(self, path):
        visited = [action for action in self._open(path) if self.visits(path, action)]
        counts = [self.visits(path, action) for action in visited]
        mixed = self.nodes[path].values[0]
        if visited:
            mean = np.average(
                [self.edge_value(path, action) for action in visited],
                weights=[self.prior(path, action) for action in visited],
            )
            mixed = (mixed + sum(counts) * mean) / (1 + sum(counts))
        scale = self.settings.value_scale * (self.settings.maxvisit_init + max(counts, default=0))
        actions = self.nodes[path].priors
        return {
            action: scale * (self.edge_value(path, action) if self.visits(path, action) else mixed)
            for action in actions
        }

    def _made(self, action):
        return self.visits((), action) - self.kept[action]

    def _open(self, path):
        return [
            action for action in self.nodes[path].priors if self.proven_edge(path, action) != -1
        ]

    # --- forced playouts ----------------------------------------------------------------------------------------------------------------

    def _forced(self, action):
        return math.sqrt(
            self.settings.forced_playouts_k
            * self.prior((), action)
            * (len(self.nodes[()].values) - 1)
        )

    def _pruned_visits(self, action, best):
        visits = self.visits((), action)
        if action == best:
            return visits
        fewest = visits
        for fewer in range(visits - 1, -1, -1):
            if visits - fewer > self._forced(action) or self._puct(action, fewer) >= self._puct(
                best, self.visits((), best)
            ):
                break
            fewest = fewer
        return 0 if fewest == 1 < visits else fewest

    def _puct(self, action, visits):
        settings, parent_visits = self.settings, len(self.nodes[()].values)
        pb_c = settings.pb_c_init + math.log(
            (parent_visits + settings.pb_c_base + 1) / settings.pb_c_base
        )
        value = self.edge_value((), action) if self.visits((), action) else 0.0
        return value + pb_c * self.prior((), action) * math.sqrt(parent_visits) / (1 + visits)


class BanditGame(Game):
    """A game without end whose first action is the arm that is pulled. State: int32[2] = arm + 1, plies made; players alternate."""

    name, state_size, state_dtype, planes_shape, max_plies = (
        "bandit",
        2,
        np.dtype(np.int32),
        (2, 1, 1),
        1000,
    )

    def __init__(self, num_arms):
        self.num_actions = num_arms

    def initial_states(self, num_games=1):
        return np.zeros((num_games, 2), np.int32)

    def step(self, states, actions):
        arms = np.where(states[:, 1] == 0, np.asarray(actions) + 1, states[:, 0])
        return self.inspect(np.stack([arms, states[:, 1] + 1], axis=1).astype(np.int32))

    def inspect(self, states):
        num = len(states)
        mask = np.ones((num, self.num_actions), bool)
        return Transition(
            states,
            np.zeros(num, bool),
            np.zeros(num, np.float32),
            (states[:, 1] % 2).astype(np.int8),
            mask,
        )

    def observe(self, states):
        return states.astype(np.float32).reshape(-1, 2, 1, 1)


class BanditEvaluator:
    """Gives every position the same priors, and the value of its arm from the viewpoint of the player to move."""

    def __init__(self, priors, root_value, arm_values):
        self.logits, self.values = (
            np.log(np.array(priors, np.float32)),
            np.array([root_value, *arm_values], np.float32),
        )

    def evaluate(self, planes):
        arms, plies = planes[:, 0, 0, 0].astype(int), planes[:, 1, 0, 0]
        return np.tile(self.logits, (len(planes), 1)), self.values[arms] * np.where(
            plies % 2, -1, 1
        ).astype(np.float32)
