"""Games as a learner writes them: plain Python, with results that are not 1, 0 and -1."""


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
