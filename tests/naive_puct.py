"""A slow, obvious twin of the PUCT search: the textbook with dictionaries and lists.

It shares no code with `alphazero.search`. A node is named by the moves that lead to it from the
root, and holds all the values that were ever backed up to it; means are computed when they are
asked for.
"""

import math

import numpy as np

UNKNOWN = None


class NaiveNode:
    """One position. Values are from the viewpoint of its player to move."""

    def __init__(self, state, player, over, result):
        self.state, self.player, self.over, self.result = state, player, over, result
        self.priors = {}  # of the legal actions
        self.values = []  # one for each visit, the node's own evaluation first
        self.edge_values = {}  # action: the values of its visits


class NaiveSearch:
    """One PUCT search. ``nodes`` maps the moves from the root to the position behind them."""

    def __init__(self, game, evaluator, settings):
        self.game, self.evaluator, self.settings = game, evaluator, settings

    def reset(self, state, num_simulations, flatten=False):
        """Begin with an empty tree; ``flatten`` applies the root temperature."""
        self.nodes, self.root_state = {}, state
        self.budget, self.flatten = num_simulations, flatten

    def advance(self, action, state, num_simulations, flatten=False):
        kept = {path[1:]: node for path, node in self.nodes.items() if path[:1] == (action,)}
        self.reset(state, num_simulations, flatten)
        if self.settings.reuse_tree:
            self.nodes = kept
            if kept and flatten:
                self._flatten_root()

    def run(self):
        if () not in self.nodes:
            self._add((), self.root_state)
        while self.proven(()) is UNKNOWN and len(self.nodes[()].values) - 1 < self.budget:
            self._simulate()

    # --- statistics -------------------------------------------------------------------------------

    def proven(self, path):
        """Return the result under best play for the player at ``path``, if the tree proves it."""
        node = self.nodes[path]
        if node.over:
            return node.result
        children = [self.proven_edge(path, action) for action in node.priors]
        if 1 in children:
            return 1
        return UNKNOWN if UNKNOWN in children else max(children)

    def proven_edge(self, path, action):
        """Return the same for one action, from the viewpoint of the player at ``path``."""
        child = (*path, action)
        if child not in self.nodes or self.proven(child) is UNKNOWN:
            return UNKNOWN
        return self._sign(path, child) * self.proven(child)

    def edge_value(self, path, action):
        proven = self.proven_edge(path, action)
        values = self.nodes[path].edge_values.get(action, [])
        return proven if proven is not UNKNOWN else sum(values) / len(values)

    def prior(self, path, action):
        return 0.0 if self.proven_edge(path, action) == -1 else self.nodes[path].priors[action]

    def visits(self, path, action):
        return len(self.nodes[path].edge_values.get(action, []))

    def policy(self):
        """Return (visit fractions by action, value) of the actions that may be played.

        These keep a proven result, or, without one, are not proven to lose.
        """
        root, proven = self.nodes[()], self.proven(())
        edges = {action: self.proven_edge((), action) for action in root.priors}
        if proven is UNKNOWN:
            allowed = [action for action, edge in edges.items() if edge != -1]
        else:
            allowed = [action for action, edge in edges.items() if edge == proven or proven == -1]
        visits = {action: self.visits((), action) for action in allowed}
        total = sum(visits.values())
        fractions = {
            action: count / total if total else 1 / len(allowed) for action, count in visits.items()
        }
        return fractions, np.mean(root.values) if proven is UNKNOWN else proven

    # --- one simulation ---------------------------------------------------------------------------

    def _simulate(self):
        path = ()
        while path in self.nodes and self.proven(path) is UNKNOWN:
            path = (*path, self._select(path))
        if path in self.nodes:
            self.nodes[path].values.append(self.proven(path))
        else:
            above = self.nodes[path[:-1]].state[None]
            self._add(path, self.game.step(above, np.array(path[-1:])).states[0])
        self._back_up(path)

    def _select(self, path):
        scores = {action: self._score(path, action) for action in self.nodes[path].priors}
        return max(scores, key=scores.get)

    def _score(self, path, action):
        node, settings = self.nodes[path], self.settings
        visited = [other for other in node.priors if (*path, other) in self.nodes]
        if action in visited:
            value = self.edge_value(path, action)
        else:
            urgency = settings.first_play_urgency if path else settings.root_first_play_urgency
            mass = sum(node.priors[other] for other in visited)
            value = max(sum(node.values) / len(node.values) - urgency * math.sqrt(mass), -1.0)
        return value + self.exploration(path, action, self.visits(path, action))

    def exploration(self, path, action, visits):
        """Return PUCT's second term for an action with ``visits``."""
        settings, num = self.settings, len(self.nodes[path].values)
        pb_c = settings.pb_c_init + math.log((num + settings.pb_c_base + 1) / settings.pb_c_base)
        return pb_c * self.prior(path, action) * math.sqrt(num) / (1 + visits)

    def _add(self, path, state):
        inspected = self.game.inspect(state[None])
        node = NaiveNode(
            state, int(inspected.players[0]), bool(inspected.over[0]), int(inspected.results[0])
        )
        self.nodes[path] = node
        if node.over:
            node.values.append(node.result)
            return
        logits, values = self.evaluator.evaluate(self.game.observe(state[None]))
        legal = np.flatnonzero(inspected.legal_action_mask[0])
        weights = {int(action): math.exp(logits[0, action]) for action in legal}
        node.priors = {action: weight / sum(weights.values()) for action, weight in weights.items()}
        node.values.append(float(values[0]))
        if path == () and self.flatten:
            self._flatten_root()

    def _back_up(self, path):
        value = self.nodes[path].values[-1]
        while path:
            parent = path[:-1]
            value *= self._sign(parent, path)
            self.nodes[parent].edge_values.setdefault(path[-1], []).append(value)
            if self.proven(parent) is not UNKNOWN:
                value = self.proven(parent)
            self.nodes[parent].values.append(value)
            path = parent

    def _sign(self, parent, child):
        return 1 if self.nodes[parent].player == self.nodes[child].player else -1

    def _flatten_root(self):
        exponent = 1 / self.settings.root_prior_temperature
        root = self.nodes[()]
        powers = {action: self.prior((), action) ** exponent for action in root.priors}
        total = sum(powers.values())
        if total > 0:  # otherwise every action is proven to lose
            root.priors = {action: power / total for action, power in powers.items()}


def best_result(game, state):
    """Return the result under best play, for the player to move, by full enumeration."""
    here = game.inspect(state[None])
    if here.over[0]:
        return int(here.results[0])
    results = []
    for action in np.flatnonzero(here.legal_action_mask[0]):
        after = game.step(state[None], np.array([action]))
        sign = 1 if after.players[0] == here.players[0] else -1
        results.append(sign * best_result(game, after.states[0]))
    return max(results)
