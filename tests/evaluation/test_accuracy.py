"""Accuracy: counts by hand, perfect and random players, intervals, groups."""

import math

import numpy as np
import pytest

from alphazero.evaluation.exact.accuracy import (
    Proportion,
    difference,
    measure_accuracy,
    ply_bins,
)
from alphazero.evaluation.exact.sets import make_set
from alphazero.own_games.registry import make_game
from alphazero.players.base import Choice
from alphazero.solvers.base import ILLEGAL_SCORE

NO = ILLEGAL_SCORE
#: Four positions of three in a row on 4 x 3, with invented scores; the first wins at once.
MOVES = ((0, 1, 2, 0, 2, 1, 1, 1), (), (0,), (1, 2))
SCORES = [[0, NO, 2], [0, 3, -1], [-2, 0, 0], [1, 4, 2]]


@pytest.fixture(scope="module")
def tiny():
    game = make_game("connect_x:4x3x3")
    states = np.stack([game.play_moves(moves) for moves in MOVES])
    sources = ["random", "strong", "strong", "random"]
    return make_set(game, states, np.array(SCORES, np.int16), sources, MOVES, {})


def choose_from(evaluation_set, actions, values):
    """Return a function that gives ``actions`` and ``values`` for the set, -0.5 for the replies."""

    def choose(states):
        own = np.array_equal(states, evaluation_set.states)
        own_values = np.array(values if own else [-0.5] * len(states), np.float32)
        return Choice(np.array(actions if own else [0] * len(states), np.int32), None, own_values)

    return choose


def test_figures_agree_with_counts_by_hand(tiny):
    # A draw instead of a win; the win; a loss instead of a draw; a win, but a slow one.
    report = measure_accuracy(choose_from(tiny, [0, 1, 0, 0], [1.0, 0.5, -0.3, 0.1]), tiny)
    assert report.keeps_result.tolist() == [False, True, False, True]
    assert report.is_optimal.tolist() == [False, True, False, False]
    assert (report.accuracy(), report.optimal()) == (Proportion(2, 4), Proportion(1, 4))
    assert report.misplayed().tolist() == [0, 2]
    bins = ply_bins(tiny.plies)
    assert {label: report.optimal(rows) for label, rows in bins.items()} == {
        "0 to 1": Proportion(1, 2),
        "2 to 3": Proportion(0, 1),
        "8": Proportion(0, 1),
    }
    # The exact results are 1, 1, 0, 1; after the best moves of all but the first, -1, 0, -1.
    assert tiny.reply_values.tolist() == [-1, 0, -1]
    assert report.values.mean_error == pytest.approx((0 + 0.5 + 0.3 + 0.9 + 0.5 + 0.5 + 0.5) / 7)
    assert report.values.result_accuracy == Proportion(5, 7)
    plain = report.to_plain()
    assert plain["num_positions"] == 4 and plain["accuracy"]["fraction"] == 0.5
    assert plain["accuracy"]["interval"] == list(Proportion(2, 4).interval)
    assert plain["result_accuracy"]["count"] == 5
    assert plain["ply"]["0 to 1"]["optimal"]["count"] == 1


@pytest.mark.parametrize("action", [1, 3, -1])
def test_an_illegal_move_is_an_error(tiny, action):
    with pytest.raises(ValueError, match=f"action {action},"):
        measure_accuracy(choose_from(tiny, [action, 1, 1, 1], [0.0] * 4), tiny)


def test_the_interval_is_that_of_wilson():
    # 8 of 10, by hand with z = 1.96:
    # (0.8 + 0.19207) / 1.38414 -+ 1.96 / 1.38414 * sqrt(0.016 + 0.009604).
    assert Proportion(8, 10).interval == pytest.approx((0.4902, 0.9433), abs=1e-4)
    low, high = Proportion(0, 1000).interval
    assert low == 0.0 and high == pytest.approx(1.959964**2 / (1000 + 1.959964**2))
    assert Proportion(1000, 1000).interval == pytest.approx((1 - high, 1.0))
    assert Proportion(0, 5).fraction == 0.0
    assert Proportion(0, 0).interval == (0.0, 1.0) and math.isnan(Proportion(0, 0).fraction)


def test_a_difference_by_hand():
    found = difference(np.array([1, 1, 0, 1], bool), np.array([0, 1, 0, 0], bool))
    # By position 1, 0, 0, 1: mean 1/2, variance 1/3 of 4 positions.
    assert found.mean == 0.5
    half = 1.959964 * (1 / 12) ** 0.5
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), rel=1e-5)
