"""Lambda-returns along a game: against a sum written out term by term, at both ends of lambda, with cuts, and as the replay shows them."""

import numpy as np
import pytest

from alphazero.games.registry import make_game
from alphazero.replay.buffer import Replay, ReplaySettings
from alphazero.replay.targets import value_returns
from alphazero.selfplay.game_record import GameRecord


def random_record(rng, num_plies=9, num_actions=4):
    weights = rng.random((num_plies, num_actions)).astype(np.float32)
    players = rng.integers(0, 2, num_plies)
    result = int(rng.integers(-1, 2))
    return players, GameRecord(
        states=np.zeros((num_plies, 1), np.uint64),
        actions=rng.integers(0, num_actions, num_plies).astype(np.int32),
        action_weights=weights / weights.sum(axis=1, keepdims=True),
        root_values=rng.uniform(-1, 1, num_plies).astype(np.float32),
        outcomes=np.where(players == 0, result, -result).astype(np.int8),
        is_target=np.ones(num_plies, np.bool_),
    )


def written_out(record, players, ply, decay, cut_below):
    """Return the return of a ply as the weighted sum of every value after it: each is reached with the product of the decays on the way."""
    total, weight = 0.0, 1.0
    for later in range(ply, len(players)):
        sign = 1.0 if players[later] == players[ply] else -1.0
        value = sign * float(record.root_values[later])
        weights = record.action_weights[later]
        if weights[record.actions[later]] < cut_below * weights.max():
            return total + weight * value
        total += weight * (1 - decay) * value
        weight *= decay
    return total + weight * float(record.outcomes[ply])


@pytest.mark.parametrize(
    "decay, cut_below", [(0.9, 0.5), (0.7, 0.0), (1.0, 0.6), (0.0, 0.0), (0.5, 1.0)]
)
def test_a_return_is_the_sum_written_out(decay, cut_below):
    rng = np.random.default_rng(3)
    for _ in range(20):
        players, record = random_record(rng)
        returns, decided = value_returns(record, players, decay, cut_below)
        assert returns.dtype == decided.dtype == np.float32
        expected = [
            written_out(record, players, ply, decay, cut_below) for ply in range(len(players))
        ]
        np.testing.assert_allclose(returns, expected, atol=1e-6)
        positive = record._replace(
            root_values=np.abs(record.root_values), outcomes=np.abs(record.outcomes)
        )
        one_viewpoint = np.zeros_like(players)
        np.testing.assert_allclose(
            decided, value_returns(positive, one_viewpoint, decay, cut_below)[0], atol=1e-6
        )


def test_lambda_1_is_the_result_and_lambda_0_the_search():
    players, record = random_record(np.random.default_rng(5))
    np.testing.assert_array_equal(value_returns(record, players, 1.0, 0.0)[0], record.outcomes)
    np.testing.assert_array_equal(value_returns(record, players, 0.0, 0.0)[0], record.root_values)


def test_a_blunder_tells_nothing_of_the_position_before_it():
    """The first move is one the search gave a tenth of the heaviest weight; the game it lost counts from the second ply on."""
    weights = np.array([[0.1, 0.9, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]], np.float32)
    values = np.array([0.8, 0.0, 0.0], np.float32)
    record = GameRecord(
        np.zeros((3, 1), np.uint64),
        np.zeros(3, np.int32),
        weights,
        values,
        np.array([-1, 1, -1], np.int8),
        np.ones(3, np.bool_),
    )
    returns, decided = value_returns(record, np.array([0, 1, 0]), 1.0, 0.5)
    np.testing.assert_array_equal(returns, np.array([0.8, 1, -1], np.float32))
    np.testing.assert_array_equal(decided, np.array([0.8, 1, 1], np.float32))


def test_the_replay_shows_returns_of_target_rows():
    game = make_game("connect_four")
    moves = [3, 3, 2, 2, 4, 0, 1]
    states = np.stack([game.play_moves(moves[:ply]) for ply in range(len(moves))])
    rng = np.random.default_rng(7)
    weights = rng.random((7, 7)).astype(np.float32)
    values = rng.uniform(-1, 1, 7).astype(np.float32)
    outcomes = np.array([1, -1, 1, -1, 1, -1, 1], np.int8)
    is_target = np.array([0, 1, 1, 0, 1, 1, 1], np.bool_)
    record = GameRecord(states, np.array(moves, np.int32), weights, values, outcomes, is_target)
    settings = ReplaySettings(
        window_start=5,
        window_max=5,
        symmetries=False,
        return_lambda=0.8,
        return_cut=0.5,
    )
    replay = Replay(game, settings, np.random.default_rng(0))
    replay.add(record)
    returns, decided = value_returns(record, np.arange(7) % 2, 0.8, 0.5)
    shown = next(replay.epoch(5))
    order = np.array(
        [
            np.flatnonzero((game.observe(states) == planes).all(axis=(1, 2, 3)))[0]
            for planes in shown.planes
        ]
    )
    assert set(order) == set(np.flatnonzero(is_target))
    np.testing.assert_allclose(shown.outcomes, returns[order], rtol=1e-6)
    np.testing.assert_allclose(shown.decided, decided[order], rtol=1e-6)
    np.testing.assert_allclose(replay.spread(5, 5).decided, decided[is_target][::-1], rtol=1e-6)
