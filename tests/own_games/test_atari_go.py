"""Atari Go, an example that suits networks of windows: compiled rules and a class are twins."""

from pathlib import Path

import numpy as np
import pytest

from alphazero.network.interface import NetworkSettings
from alphazero.network.registry import check_settings
from alphazero.own_games.registry import make_game

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = [str(FOLDER / name) for name in ("atari_go.py", "atari_go_python.py")]


@pytest.fixture(scope="module", params=EXAMPLES, ids=("compiled", "python"))
def game(request):
    return make_game(request.param)


def play(game, names):
    """Play moves such as "a1 b2"; return the last step."""
    states = game.initial_states()
    for name in names.split():
        step = game.step(states, np.array([game.text_to_action(name)]))
        states = step.states
    return step


@pytest.mark.parametrize(
    "moves, result",
    (
        ("a1 b1 k11 a2", -1),  # White takes the corner: Black, who is to move, has lost
        ("a2 a1 b1", -1),  # Black does
        ("b1 k11 a2 a1", 1),  # White fills its own last liberty, and Black is to move
        ("b1 a2 a1 b2 k11 c1", -1),  # a group of two
        ("b1 a2 k11 b2 k10 a1", None),  # White connects; Black's piece has a liberty left
        ("a2 b2 b1 a3 k11 a1 k10 c1", -1),  # taking comes before the own piece's liberties
    ),
)
def test_who_loses_a_piece_has_lost(game, moves, result):
    end = play(game, moves)
    assert bool(end.over[0]) == (result is not None)
    if result is not None:
        assert end.results[0] == result


def test_networks_of_windows_play_it(game):
    check_settings(game, NetworkSettings(kind="windows"))
    assert (game.planes_shape, game.num_actions, len(game.cell_symmetries)) == ((2, 11, 11), 121, 8)


def test_the_twins_agree_in_random_games():
    compiled, python = map(make_game, EXAMPLES)
    generator = np.random.default_rng(1)
    for _ in range(3):
        states, twins = compiled.initial_states(), python.initial_states()
        for _ in range(compiled.max_plies):
            mask = compiled.legal_action_mask(states)
            np.testing.assert_array_equal(mask, python.legal_action_mask(twins))
            np.testing.assert_array_equal(compiled.observe(states), python.observe(twins))
            actions = generator.choice(np.flatnonzero(mask[0]), size=1)
            step, twin = compiled.step(states, actions), python.step(twins, actions)
            assert step.over[0] == twin.over[0]
            if step.over[0]:
                assert step.results[0] == twin.results[0]
                break
            states, twins = step.states, twin.states
