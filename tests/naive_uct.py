"""A slow, obvious twin of the UCT search: the textbook with dictionaries of lists of results.

It shares no code with `alphazero.search`. A node is named by the moves that lead to it or, with
statistics by position, by its state. Random numbers are sampled in the same order as in the search:
one for each tie in the order of the actions, then those of the playout. So both agree to the last
visit.
"""

import math

import numpy as np

from alphazero.runtime.random_generators import random_below


class NaiveUct:
    """Runs simulations from ``root``.

    `results` maps a node's name to the results of its simulations for player 0.
    """

    def __init__(self, game, root, uct_c, by_position, rng):
        self.game, self.root, self.uct_c = game, root, uct_c
        self.by_position, self.rng = by_position, rng
        self.results = {}
        self.expanded = {self.name((), root)}

    def name(self, moves, state):
        return state.tobytes() if self.by_position else moves

    def simulate(self):
        moves, state = (), self.root
        visited = [self.name(moves, state)]
        while not self.game.over(state[None])[0]:
            if visited[-1] not in self.expanded:
                if visited[-1] not in self.results:
                    break
                self.expanded.add(visited[-1])
            action = self.select(moves, state)
            moves, state = (*moves, action), self.after(state, action)
            visited.append(self.name(moves, state))
        result = self.game.playout(state[None], self.rng)[0] * self.sign(state)
        for name in visited:
            self.results.setdefault(name, []).append(result)

    def select(self, moves, state):
        best_action, best_score, num_equal = None, -math.inf, 0
        parent_visits = len(self.results.get(self.name(moves, state), []))
        for action in np.flatnonzero(self.game.legal_action_mask(state[None])[0]):
            child = self.name((*moves, int(action)), self.after(state, action))
            score = self.ucb1(self.results.get(child, []), parent_visits, self.sign(state))
            if score > best_score:
                best_action, best_score, num_equal = int(action), score, 1
            elif score == best_score:
                num_equal += 1
                if random_below(self.rng, num_equal) == 0:
                    best_action = int(action)
        return best_action

    def ucb1(self, results, parent_visits, sign):
        if not results:
            return math.inf
        wins = sum({1: 1.0, 0: 0.5, -1: 0.0}[sign * result] for result in results)
        return wins / len(results) + self.uct_c * math.sqrt(math.log(parent_visits) / len(results))

    def after(self, state, action):
        return self.game.step(state[None], np.array([action])).states[0]

    def sign(self, state):
        return 1 if self.game.players(state[None])[0] == 0 else -1
