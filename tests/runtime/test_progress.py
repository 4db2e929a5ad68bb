"""Long commands show how far they are: a bar on a terminal, lines elsewhere."""

import time

import numpy as np
import pytest

from alphazero.cli.progress import counted_choice, progress
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player

GAME = make_game("tic_tac_toe")


@pytest.fixture
def clock(monkeypatch):
    """Replace the clock; return a list whose only number is the time."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_without_a_terminal_there_is_a_line_now_and_then_with_the_time_left(clock, capsys):
    with progress("positions", 1000) as show:
        for seconds, done in ((10, 1), (29, 2), (60, 250), (70, 260), (100, 1000)):
            clock[0] = seconds
            show(done)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "250 of 1,000" in lines[0] and "3 min" in lines[0]  # 60 s for a quarter
    assert "1,000 of 1,000" in lines[1]


@pytest.mark.parametrize("num_positions", [1, 40])
@pytest.mark.parametrize("spec", ["best", "uct:5"])
def test_counted_answers_are_the_players_own(spec, num_positions):
    states = np.repeat(GAME.initial_states(), num_positions, axis=0)
    settings = PlayerSettings(num_simulations=5, seed=3)
    expected = make_player(spec, GAME, settings).choose(states)
    with counted_choice(make_player(spec, GAME, settings), "text", num_positions) as choose:
        found = choose(states)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
