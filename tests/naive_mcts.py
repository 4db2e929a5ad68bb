"""A slow, obvious twin of the PUCT search: a dictionary of nodes keyed by the moves from the root, lists of values, recursion for proofs.

It shares no code and no layout with `alphazero.search`. Every number is worked out from the lists when it is asked for, so that nothing can be
stale: a mean is the mean of a list, a proof is a recursion to the end of the tree. Beside it, what both searches are fed with in the tests:
an evaluator whose answers depend on the position alone, and a game in which a player moves twice.
"""

import hashlib
import math

import numpy as np

from alphazero.games.batched_game import Game, Transition

UNKNOWN = None


class HashEvaluator:
    """Gives every position pseudo-random prior logits and a value that depend on its planes alone."""

    def __init__(self, num_actions, spread=1.5):
        self.num_actions, self.spread = num_actions, spread
        self.num_rows = []  # of each call
        self._known = {}

    def evaluate(self, planes):
        self.num_rows.append(len(planes))
        answers = [self._answer(row.tobytes()) for row in planes]
        return np.array([logits for logits, _ in answers], np.float32), np.array(
            [value for _, value in answers], np.float32
        )

    def _answer(self, data):
        if data not in self._known:
            generator = np.random.default_rng(
                int.from_bytes(hashlib.sha256(data).digest()[:8], "little")
            )
            self._known[data] = (
                self.spread * generator.standard_normal(self.num_actions),
                generator.uniform(-0.9, 0.9),
            )
        return self._known[data]


class NaiveNode:
    """One position. Values are from the viewpoint of its player."""

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

    # --- what the search knows ----------------------------------------------------------------------------------------------------------

    def proven(self, path):
        """Return the result under best play for the player at ``path``, as far as the tree proves it."""
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
        """Return (visit shares by action, value): only what keeps a proven result, or is not proven to lose, has a share."""
        root, proven = self.nodes[()], self.proven(())
        edges = {action: self.proven_edge((), action) for action in root.priors}
        if proven is UNKNOWN:
            allowed = [action for action, edge in edges.items() if edge != -1]
        else:
            allowed = [action for action, edge in edges.items() if edge == proven or proven == -1]
        visits = {action: self.visits((), action) for action in allowed}
        total = sum(visits.values())
        shares = {
            action: count / total if total else 1 / len(allowed) for action, count in visits.items()
        }
        return shares, sum(root.values) / len(root.values) if proven is UNKNOWN else proven

    # --- one simulation -----------------------------------------------------------------------------------------------------------------

    def _simulate(self):
        path = ()
        while path in self.nodes and self.proven(path) is UNKNOWN:
            path = (*path, self._select(path))
        if path not in self.nodes:
            self._add(
                path,
                self.game.step(self.nodes[path[:-1]].state[None], np.array([path[-1]])).states[0],
            )
        else:
            self.nodes[path].values.append(self.proven(path))
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
        pb_c = settings.pb_c_init + math.log(
            (len(node.values) + settings.pb_c_base + 1) / settings.pb_c_base
        )
        return value + pb_c * self.prior(path, action) * math.sqrt(len(node.values)) / (
            1 + self.visits(path, action)
        )

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
        root = self.nodes[()]
        powers = {
            action: self.prior((), action) ** (1 / self.settings.root_prior_temperature)
            for action in root.priors
        }
        if sum(powers.values()) == 0:
            return  # every action is proven to lose
        root.priors = {action: power / sum(powers.values()) for action, power in powers.items()}


class TwiceGame(Game):
    """A tiny game in which moves do not alternate: players 0 1 1 0 0 1 add 1, 2 or 3 to a sum, which then decides who has won.

    State: int32[2] = plies made, sum. Adding the same number as the ply's number in threes is not legal, so that masks matter.
    """

    ORDER = (0, 1, 1, 0, 0, 1, 1)
    RESULTS = (1, -1, 0, -1, 1)  # of player 0, by the sum's rest
    name, num_actions, state_size, state_dtype = "twice", 3, 2, np.dtype(np.int32)
    planes_shape, max_plies = (2, 1, 1), 6
    cell_symmetries, action_symmetries = (
        np.zeros((1, 1), np.int32),
        np.arange(3, dtype=np.int32)[None],
    )

    def initial_states(self, num_games=1):
        return np.zeros((num_games, 2), np.int32)

    def step(self, states, actions):
        return self.inspect(
            states
            + np.stack([np.ones(len(states), np.int32), np.asarray(actions, np.int32) + 1], axis=1)
        )

    def inspect(self, states):
        plies, over = states[:, 0], states[:, 0] == 6
        players = np.array(self.ORDER, np.int8)[plies]
        results = np.array(self.RESULTS, np.float32)[states[:, 1] % 5] * np.where(
            players == 0, 1, -1
        )
        mask = (np.arange(3) != plies[:, None] % 3) & ~over[:, None]
        return Transition(
            states, over, np.where(over, results, 0).astype(np.float32), players, mask
        )

    def observe(self, states):
        return states.astype(np.float32).reshape(-1, 2, 1, 1)


class ScriptedGame(Game):
    """A game written out as nested lists, a list for a position and a number for a final one: its result for whoever would move there."""

    name, state_size, state_dtype, num_actions, planes_shape = (
        "scripted",
        1,
        np.dtype(np.int32),
        2,
        (1, 1, 1),
    )

    def __init__(self, positions):
        self.nodes = [(positions, 0)]  # with their depth, in the order of their numbers
        self.children = {}
        for number, (node, depth) in enumerate(self.nodes):  # it grows on the way
            for action, child in enumerate(node if isinstance(node, list) else []):
                self.children[number, action] = len(self.nodes)
                self.nodes.append((child, depth + 1))

    def initial_states(self, num_games=1):
        return np.zeros((num_games, 1), np.int32)

    def step(self, states, actions):
        return self.inspect(
            np.array(
                [
                    [self.children[int(state), int(action)]]
                    for (state,), action in zip(states, actions)
                ],
                np.int32,
            )
        )

    def inspect(self, states):
        nodes = [self.nodes[state] for (state,) in states]
        over = np.array([not isinstance(node, list) for node, _ in nodes])
        results = np.array([0 if isinstance(node, list) else node for node, _ in nodes], np.float32)
        mask = np.array(
            [
                [isinstance(node, list) and action < len(node) for action in range(2)]
                for node, _ in nodes
            ]
        )
        return Transition(
            states, over, results, np.array([depth % 2 for _, depth in nodes], np.int8), mask
        )

    def observe(self, states):
        return states.astype(np.float32).reshape(-1, 1, 1, 1)


def best_result(game, state):
    """Return the result of a position under best play by both, from the viewpoint of its player, by looking at everything."""
    here = game.inspect(state[None])
    if here.over[0]:
        return int(here.results[0])
    results = []
    for action in np.flatnonzero(here.legal_action_mask[0]):
        after = game.step(state[None], np.array([action]))
        sign = 1 if after.players[0] == here.players[0] else -1
        results.append(sign * best_result(game, after.states[0]))
    return max(results)
