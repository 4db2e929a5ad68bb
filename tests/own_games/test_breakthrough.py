"""The two examples whose pieces move: compiled rules and a class in plain Python, twins."""

import numpy as np
import pytest
from game_samples import BREAKTHROUGH, python_breakthrough

from alphazero.own_games.game_file import game_of
from alphazero.own_games.registry import make_game


@pytest.fixture(scope="module")
def compiled():
    return make_game(BREAKTHROUGH)


def python_game(side=5):
    return game_of(python_breakthrough(side), "breakthrough_python:Breakthrough")


def test_the_twins_state_the_same_sizes_symmetries_names_and_looks(compiled):
    twin = python_game()
    for name in ("num_actions", "max_plies", "planes_shape", "piece_letters", "appearance"):
        assert getattr(compiled, name) == getattr(twin, name), name
    assert np.array_equal(compiled.cell_symmetries, twin.cell_symmetries)
    assert np.array_equal(compiled.action_symmetries, twin.action_symmetries)
    for action in range(compiled.num_actions):
        assert compiled.action_squares(action) == twin.action_squares(action)
        assert compiled.action_to_text(action) == twin.action_to_text(action)
        assert compiled.text_to_action(compiled.action_to_text(action)) == action


def test_white_begins_at_the_bottom_and_whoever_gets_through_has_won(compiled):
    names = [
        compiled.action_to_text(one)
        for one in np.flatnonzero(compiled.legal_action_mask(compiled.initial_states())[0])
    ]
    assert names[:3] == ["a2a3", "a2b3", "b2a3"] and len(names) == 13
    board = np.zeros((5, 5), np.int8)
    board[1, 0], board[0, 1], board[3, 4] = 1, 2, 2  # a4 white; b5, e2 black
    state = compiled.cells_to_state(board, 0)
    wins = ["a4a5", "a4b5"]
    legal = np.flatnonzero(compiled.legal_action_mask(state[None])[0])
    assert [compiled.action_to_text(one) for one in legal] == wins
    for one in wins:
        after = compiled.step(state[None], np.array([compiled.text_to_action(one)]))
        assert after.over[0] and after.results[0] == -1 and after.players[0] == 1
    blocked = compiled.cells_to_state(np.roll(board, 1, axis=1), 0)  # b4 white; c5, a2 black
    assert not compiled.over(blocked[None])[0]
