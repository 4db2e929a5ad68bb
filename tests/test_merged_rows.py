"""Merged rows: what a naive loop over the positions says, and what the replay and the loss make of it."""

import numpy as np
import torch

from alphazero.games.registry import make_game
from alphazero.learner.loss import value_targets
from alphazero.replay.buffer import Replay, ReplaySettings
from alphazero.replay.merged_rows import merge_rows
from alphazero.selfplay.game_record import GameRecord


def test_positions_have_the_mean_of_their_rows():
    rng = np.random.default_rng(0)
    states = rng.integers(0, 3, (200, 2)).astype(np.uint64)
    weights = rng.random((200, 4)).astype(np.float32)
    outcomes, values = (
        rng.integers(-1, 2, 200).astype(np.int8),
        rng.uniform(-1, 1, 200).astype(np.float32),
    )
    merged = merge_rows(states, weights, outcomes, np.abs(outcomes), values)
    assert merged.action_weights.shape == (9, 4)
    for row, state in enumerate(states):
        same = (states == state).all(axis=1)
        position = merged.position_of[row]
        assert set(merged.position_of[same]) == {position}
        np.testing.assert_allclose(
            merged.action_weights[position], weights[same].mean(axis=0), rtol=1e-5
        )
        np.testing.assert_allclose(
            merged.outcomes[position], outcomes[same].mean(), rtol=1e-5, atol=1e-7
        )
        np.testing.assert_allclose(
            merged.decided[position], (outcomes[same] != 0).mean(), rtol=1e-5
        )
        np.testing.assert_allclose(
            merged.root_values[position], values[same].mean(), rtol=1e-5, atol=1e-6
        )


def game_of_one_move(game, action, outcome, root_value):
    states = game.initial_states(1)
    weights = np.eye(game.num_actions, dtype=np.float32)[[action]]
    return GameRecord(
        states,
        np.array([action], np.int32),
        weights,
        np.array([root_value], np.float32),
        np.array([outcome], np.int8),
        np.ones(1, np.bool_),
    )


def test_the_replay_shows_the_mean_and_forgets_it_with_new_rows():
    game = make_game("connect_four")
    replay = Replay(
        game,
        ReplaySettings(window_start=10, window_max=10, symmetries=False, merge_positions=True),
        np.random.default_rng(0),
    )
    for action, outcome, value in ((0, 1, 0.5), (1, -1, 0.0), (1, 0, -0.5), (3, 1, 1.0)):
        replay.add(game_of_one_move(game, action, outcome, value))
    batch = replay.sample(5)
    np.testing.assert_allclose(batch.action_weights, np.tile([0.25, 0.5, 0, 0.25, 0, 0, 0], (5, 1)))
    np.testing.assert_allclose(batch.outcomes, 0.25)
    np.testing.assert_allclose(batch.decided, 0.75)
    np.testing.assert_allclose(batch.root_values, 0.25)
    replay.add(game_of_one_move(game, 6, -1, 0.25))
    np.testing.assert_allclose(replay.sample(1).action_weights, [[0.2, 0.4, 0, 0.2, 0, 0, 0.2]])


def test_two_wins_a_draw_and_a_loss_are_told_apart_from_one_result_of_a_quarter():
    outcomes, decided, root_values = torch.tensor([0.25]), torch.tensor([0.75]), torch.tensor([0.0])
    torch.testing.assert_close(
        value_targets(outcomes, root_values, 0.0, 3, decided), torch.tensor([[0.5, 0.25, 0.25]])
    )
    torch.testing.assert_close(
        value_targets(outcomes, root_values, 0.5, 3, decided), torch.tensor([[0.25, 0.625, 0.125]])
    )


def test_replaced_rows_are_shown_and_rows_that_are_gone_passed_over():
    game = make_game("connect_four")
    replay = Replay(
        game,
        ReplaySettings(window_start=3, window_max=3, symmetries=False),
        np.random.default_rng(0),
    )
    for value in (0.1, 0.2, 0.3, 0.4):
        replay.add(game_of_one_move(game, 0, 1, value))
    rows = replay.draw_rows(10, np.random.default_rng(0))
    assert sorted(rows) == [1, 2, 3]
    assert np.array_equal(replay.states_of(rows), game.initial_states(3))
    replay.replace(
        np.array([0, 2]), np.eye(7, dtype=np.float32)[[5, 6]], np.array([-1.0, -0.5], np.float32)
    )
    shown = {
        round(float(value), 1): int(weights.argmax())
        for batch in [replay.sample(100)]
        for value, weights in zip(batch.root_values, batch.action_weights)
    }
    assert shown == {0.2: 0, -0.5: 6, 0.4: 0}
