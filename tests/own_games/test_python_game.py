"""Games of Python objects."""

import numpy as np
import pytest

from alphazero.own_games.python_game import PythonGame


class Nim:
    """One heap; take one or two; who takes the last wins."""

    num_actions, max_plies = 2, 4

    def __init__(self, heap: int, player: int = 0):
        self.heap, self.player = heap, player

    def clone(self):
        return type(self)(self.heap, self.player)

    def step(self, action):
        self.heap -= action + 1
        self.player = 1 - self.player

    def player_to_move(self):
        return self.player

    def is_over(self):
        return self.heap == 0

    def result(self):
        return -1.0

    def legal_actions(self):
        return list(range(min(self.heap, 2)))

    def observe(self):
        return np.full((1, 1, 1), self.heap, np.float32)

    def cells(self):
        return np.zeros((1, 1), np.int8)


@pytest.fixture
def nim():
    return PythonGame(Nim(4), "nim")


def test_a_batch_of_objects_steps_row_by_row(nim):
    states = nim.initial_states(3)
    assert states.shape == (3, nim.state_size) and states.dtype == nim.state_dtype == np.uint8
    states = nim.step(states, np.array([0, 1, 1])).states
    transition = nim.step(states, np.array([1, 0, 1]))
    assert [nim.position(state).heap for state in states] == [3, 2, 2]
    assert transition.over.tolist() == [False, False, True]
    assert transition.results.tolist() == [0.0, 0.0, -1.0]
    assert transition.players.tolist() == [0, 0, 0]
    assert transition.legal_action_mask.tolist() == [[True, False], [True, False], [False, False]]
    assert nim.observe(transition.states)[:, 0, 0, 0].tolist() == [1.0, 1.0, 0.0]


def test_a_playout_ends_with_the_result_for_the_player_to_move(nim):
    states = nim.step(nim.initial_states(200), np.array([1, 0] * 100)).states
    results = nim.playout(states, np.array([7], np.uint64))
    assert [nim.position(state).heap for state in states] == [2, 3] * 100
    # Heap 2: taking both wins, taking one loses, each with probability 1/2; the mean of 100 such
    # results has a standard deviation of 0.1.
    assert set(results.tolist()) == {1.0, -1.0} and abs(results[::2].mean()) < 0.5
