"""Accuracy: figures counted by hand, perfect and random players, intervals, groups."""

import math

import numpy as np
import pytest

from alphazero.evaluation.exact.accuracy import Proportion, groups_of, measure_accuracy, ply_bins
from alphazero.evaluation.exact.kinds import IMMEDIATE, QUIET
from alphazero.evaluation.exact.sets import make_set, read_set, shipped_path
from alphazero.games.registry import make_game
from alphazero.players.base import Choice
from alphazero.players.random import RandomPlayer
from alphazero.solvers.base import ILLEGAL_SCORE, values_of

NO = ILLEGAL_SCORE
#: Four positions of three in a row on 4 x 3, with made-up scores: only the first is one that wins at once.
MOVES = ((0, 1, 2, 0, 2, 1, 1, 1), (), (0,), (1, 2))
SCORES = [[0, NO, 2], [0, 3, -1], [-2, 0, 0], [1, 4, 2]]


@pytest.fixture(scope="module")
def tiny():
    game = make_game("connect_x:4x3x3")
    states = np.stack([game.play_moves(moves) for moves in MOVES])
    return make_set(
        game,
        states,
        np.array(SCORES, np.int16),
        ["random", "strong", "strong", "random"],
        MOVES,
        {},
    )


@pytest.fixture(scope="module")
def shipped():
    return read_set(shipped_path("connect_four"), make_game("connect_four"))


def player_of(evaluation_set, actions, values):
    """Return a chooser that plays ``actions`` in the set's positions and calls every position of it ``values``, every other one -0.5."""

    def choose(states):
        own = np.array_equal(states, evaluation_set.states)
        said = np.array(values if own else [-0.5] * len(states), np.float32)
        return Choice(np.array(actions if own else [0] * len(states), np.int32), None, said)

    return choose


def test_the_figures_are_those_counted_by_hand(tiny):
    # A draw for a win; the win; a loss for a draw; a win, but a slow one.
    report = measure_accuracy(player_of(tiny, [0, 1, 0, 0], [1.0, 0.5, -0.3, 0.1]), tiny)
    assert report.keeps_result.tolist() == [False, True, False, True]
    assert report.is_optimal.tolist() == [False, True, False, False]
    assert (report.accuracy(), report.optimal()) == (Proportion(2, 4), Proportion(1, 4))
    assert report.misplayed().tolist() == [0, 2]
    groups = groups_of(tiny)
    assert {label: report.accuracy(rows) for label, rows in groups["kind"].items()} == {
        QUIET: Proportion(2, 3),
        IMMEDIATE: Proportion(0, 1),
    }
    assert {label: report.accuracy(rows) for label, rows in groups["source"].items()} == {
        "random": Proportion(1, 2),
        "strong": Proportion(1, 2),
    }
    assert {label: report.optimal(rows) for label, rows in groups["ply"].items()} == {
        "0 to 1": Proportion(1, 2),
        "2 to 3": Proportion(0, 1),
        "8": Proportion(0, 1),
    }
    # The exact results are 1, 1, 0, 1; after the best moves of all but the first they are -1, 0, -1.
    assert tiny.reply_values.tolist() == [-1, 0, -1]
    assert report.values.mean_error == pytest.approx((0 + 0.5 + 0.3 + 0.9 + 0.5 + 0.5 + 0.5) / 7)
    assert report.values.result_accuracy == Proportion(5, 7)


def test_the_same_figures_as_plain_data(tiny):
    plain = measure_accuracy(player_of(tiny, [0, 1, 0, 0], [1.0, 0.5, -0.3, 0.1]), tiny).to_plain()
    assert plain["num_positions"] == 4
    assert plain["accuracy"] == {
        "count": 2,
        "total": 4,
        "fraction": 0.5,
        "interval": list(Proportion(2, 4).interval),
    }
    assert plain["result_accuracy"]["count"] == 5
    assert plain["source"]["random"]["optimal"]["count"] == 0


def test_a_player_without_an_opinion_has_no_value_error(tiny):
    report = measure_accuracy(player_of(tiny, [2, 1, 1, 1], [math.nan] * 4), tiny)
    assert report.values is None and "value_error" not in report.to_plain()
    assert (report.accuracy(), report.optimal()) == (Proportion(4, 4), Proportion(4, 4))


def test_values_are_asked_for_only_where_they_are_wanted(tiny):
    asked, before = [], tiny.states.copy()

    def choose(states):
        asked.append(len(states))
        states[:] = 0  # what a player does to its copy is its own affair
        return Choice(np.array([2, 1, 1, 1]), None, np.zeros(len(states)))

    assert measure_accuracy(choose, tiny, with_values=False).values is None
    assert asked == [4]
    assert measure_accuracy(choose, tiny).values.result_accuracy == Proportion(2, 7)
    assert asked == [4, 4, 3]
    assert np.array_equal(tiny.states, before)


@pytest.mark.parametrize("action", [1, 3, -1])
def test_an_illegal_move_is_named(tiny, action):
    with pytest.raises(ValueError, match=f"action {action},"):
        measure_accuracy(player_of(tiny, [action, 1, 1, 1], [0.0] * 4), tiny)


def test_perfect_play_makes_no_mistake(shipped):
    report = measure_accuracy(
        player_of(shipped, shipped.action_scores.argmax(axis=1), shipped.values),
        shipped,
        with_values=False,
    )
    assert report.accuracy() == report.optimal() == Proportion(1000, 1000)
    assert len(report.misplayed()) == 0


def test_random_play_is_near_its_expectation(shipped):
    report = measure_accuracy(RandomPlayer(make_game("connect_four"), seed=3).choose, shipped)
    values = values_of(shipped.action_scores)
    best = shipped.action_scores == shipped.action_scores.max(axis=1, keepdims=True)
    for share, right in (
        (report.accuracy(), values == shipped.values[:, None]),
        (report.optimal(), best),
    ):
        chances = right.sum(axis=1) / (values != -2).sum(axis=1)
        # Five standard deviations of a sum of independent draws.
        assert abs(share.count - chances.sum()) < 5 * math.sqrt((chances * (1 - chances)).sum())


def test_the_interval_is_wilsons():
    # 8 of 10, from the formula by hand with z = 1.96: (0.8 + 0.19207) / 1.38414 -+ 1.96 / 1.38414 * sqrt(0.016 + 0.009604).
    assert Proportion(8, 10).interval == pytest.approx((0.4902, 0.9433), abs=1e-4)
    low, high = Proportion(0, 1000).interval
    assert low == 0.0 and high == pytest.approx(1.959964**2 / (1000 + 1.959964**2))
    assert Proportion(1000, 1000).interval == pytest.approx((1 - high, 1.0))
    assert Proportion(0, 5).fraction == 0.0
    assert Proportion(0, 0).interval == (0.0, 1.0) and math.isnan(Proportion(0, 0).fraction)


def test_every_position_is_in_one_group_of_each_heading(shipped):
    for groups in groups_of(shipped).values():
        assert (np.sum(list(groups.values()), axis=0) == 1).all()
    bins = ply_bins(shipped)
    assert len(bins) <= 7 and bins[0].first == 0 and bins[-1].last == shipped.plies.max()
    assert len({each.last - each.first for each in bins[:-1]}) == 1
