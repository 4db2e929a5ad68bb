"""Games as a learner writes them: plain Python, with results that are not 1, 0 and -1."""

import numpy as np


class Race:
    """In turn, add 1 or 2 to a sum. Who makes it 5 wins 20; who makes it 6 loses 14."""

    def initial_state(self):
        return (0, 0)  # the sum, and the player to move

    def player_to_move(self, state):
        return state[1]

    def legal_actions(self, state):
        return [1, 2]

    def step(self, state, action):
        return (state[0] + action, 1 - state[1])

    def is_over(self, state):
        return state[0] >= 5

    def result(self, state):
        return -20 if state[0] == 5 else 14  # for the player who would be next


class Fork:
    """One move of player 0, who then wins 20 or loses 14."""

    def initial_state(self):
        return "start"

    def player_to_move(self, state):
        return 0 if state == "start" else 1

    def legal_actions(self, state):
        return ["left", "right"]

    def step(self, state, action):
        return action

    def is_over(self, state):
        return state != "start"

    def result(self, state):
        return -20 if state == "left" else 14


class Named:
    """Four moves of players in turn, each with a name from a list, which is also the board."""

    max_plies = 4

    def __init__(self, names):
        self.names, self.num_actions, self.played = names, len(names), []

    def action_to_text(self, action):
        return self.names[action]

    def player_to_move(self):
        return len(self.played) % 2

    def legal_actions(self):
        return list(range(self.num_actions))

    def step(self, action):
        self.played.append(action)

    def is_over(self):
        return len(self.played) == 4

    def result(self):
        return -1

    def observe(self):
        return np.eye(5, dtype=np.float32)[len(self.played)].reshape(1, 5, 1)

    def cells(self):
        return np.eye(5, dtype=np.int8)[len(self.played)].reshape(5, 1)


class Claim:
    """Claim one of four squares in turn; who claims the last one wins. Drawn as text."""

    num_actions, max_plies = 4, 4

    def __init__(self):
        self.owners = [0] * 4

    def player_to_move(self):
        return sum(map(bool, self.owners)) % 2

    def legal_actions(self):
        return [square for square, owner in enumerate(self.owners) if not owner]

    def step(self, action):
        self.owners[action] = 1 + self.player_to_move()

    def is_over(self):
        return all(self.owners)

    def result(self):
        return -1

    def cells(self):
        return np.array(self.owners).reshape(2, 2)

    def to_text(self):
        return "".join(".XO"[owner] for owner in self.owners)


class ClaimInText(Claim):
    """`Claim` whose board stays empty: only the text shows who owns a square."""

    def cells(self):
        return np.zeros((2, 2), int)

    def observe(self):
        return np.array(self.owners, np.float32).reshape(1, 2, 2)


class Promotion:
    """A piece walks up three squares and becomes one of two kinds; the other player passes."""

    num_actions, max_plies = 4, 5

    def __init__(self):
        self.square, self.player = 2, 0

    def action_squares(self, action):
        return [(2, 1), (1, 0), (1, 0), ()][action]

    def player_to_move(self):
        return self.player

    def legal_actions(self):
        return [3] if self.player else [0] if self.square == 2 else [1, 2]

    def step(self, action):
        self.square -= action != 3
        self.player = 1 - self.player

    def is_over(self):
        return self.square == 0

    def result(self):
        return -1

    def cells(self):
        return np.eye(3, dtype=int)[self.square].reshape(3, 1)


class NotebookRace:
    """`Race` in the form of the published notebook: a state is the sum alone, turns alternate."""

    action_size = 2

    def start_state(self):
        return 0

    def get_player(self, state):
        raise NotImplementedError("turns alternate: nobody needs to ask")

    def get_transitions(self, state):
        if state >= 5:
            return {}, -20 if state == 5 else 14
        return {1: state + 1, 2: state + 2}, None

    def run_simulation(self, state):
        """Always add 1."""
        if state >= 5:
            return self.get_transitions(state)[1]
        return -20 if (5 - state) % 2 == 0 else 20

    def canonicalize(self, state):
        return state

    def get_symmetries(self, state, probs):
        return [(state, probs)]


class SevenStates:
    """The game of the published notebook's own test: two moves, each to the left or to the right.

    Only five states can be simulated, two of them final, and simulations say something else than
    the outcome. Nobody may ask who is to move.
    """

    following = {"s0": ("a1", "a2"), "s1": ("a3", "a4"), "s2": ("a5", "a6")}
    simulations = {"s1": 20.0, "s2": 10.0, "s3": 0.0, "s5": -14.0, "s6": 0.0}

    def action_size(self):
        return 6

    def start_state(self):
        return "s0"

    def get_player(self):
        raise RuntimeError("there are no players")

    def get_transitions(self, state):
        if state not in self.following:
            return {}, 0.0
        return {action: action.replace("a", "s") for action in self.following[state]}, None

    def run_simulation(self, state):
        return self.simulations[state]

    def canonicalize(self, state, player):
        return state

    def get_symmetries(self, state, probs):
        return [(state, probs)]
