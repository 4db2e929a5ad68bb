"""Weighted rollouts: probabilities are the softmax of the evaluation, all above 0, sum 1."""

import numpy as np
import pytest
from game_samples import random_states
from search_samples import make_uct

from alphazero.games import rules
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import kernel_rng
from alphazero.search.uct.rollout import (
    RolloutPolicy,
    check_weights,
    make_rollout_scratch,
    rollout,
    sample_index,
    weigh_moves,
)


def rollout_probabilities(game, state, weights=None) -> np.ndarray:
    """Return the probabilities of all actions under the weighted rollout policy, float64[A]."""
    scratch = make_rollout_scratch(game.num_actions)
    num_legal, total = weigh_moves(game.rules, state, check_weights(game, weights), scratch)
    probabilities = np.zeros(game.num_actions)
    probabilities[scratch.legal[:num_legal]] = scratch.chances[:num_legal] / total
    return probabilities


WEIGHTS = [None, [0.0, 0.0, 0.0], [0.1, 3.0, -1.0], [-1e4, 1e6, 1e5]]


@pytest.mark.parametrize("name", ["othello:4", "othello:6", "othello"])
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_every_legal_move_has_a_probability_above_zero_and_they_sum_to_one(name, weights):
    game = make_game(name)
    states = random_states(name, num_games=3)
    states = states[~game.over(states)]
    for state, legal in zip(states, game.legal_action_mask(states)):
        probabilities = rollout_probabilities(game, state, weights)
        assert (probabilities[legal] > 0).all() and not probabilities[~legal].any()
        assert probabilities.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name", ["othello:6", "othello"])
def test_probabilities_are_the_softmax_of_the_evaluation(name):
    game = make_game(name)
    states = random_states(name, num_games=2)
    scores, weights = np.zeros(game.num_actions), np.array([0.1, 1.5, 0.5])
    for state in states[~game.over(states)]:
        legal = game.legal_action_mask(state[None])[0]
        rules.action_scores(game.rules, state, weights, scores)
        wanted = np.where(legal, np.exp(scores), 0.0)
        np.testing.assert_allclose(
            rollout_probabilities(game, state, weights), wanted / wanted.sum(), rtol=1e-12
        )


def test_corners_are_likelier_than_edges_and_edges_than_the_middle():
    # White can enclose black discs from the corner 0, from the edge cell 4, and from the inner 21.
    game = make_game("othello:6")
    state = game.text_to_state("-BWB--\n--B---\n--W---\n-WB---\n------\n------", player=0)
    legal = np.flatnonzero(game.legal_action_mask(state[None])[0])
    probabilities = rollout_probabilities(game, state, [0.0, 2.0, 1.0])
    corner, edge, inside = 0, 4, 21
    assert {corner, edge, inside} <= set(legal.tolist())
    assert probabilities[corner] / probabilities[edge] == pytest.approx(np.exp(1.0))
    assert probabilities[edge] / probabilities[inside] == pytest.approx(np.exp(1.0))


def test_moves_are_sampled_with_their_probabilities():
    chances = np.array([1.0, 0.4, 0.6, 7.0])  # of which the first three count
    rng, num = kernel_rng(np.random.default_rng(1)), 20_000
    found = np.bincount([sample_index(chances, 3, 2.0, rng) for _ in range(num)]) / num
    wanted = np.array([0.5, 0.2, 0.3])
    # Within 5 standard errors.
    assert (abs(found - wanted) <= 5 * np.sqrt(wanted * (1 - wanted) / num)).all()


def test_rounding_never_gives_an_index_out_of_range():
    # Sums are rounded, so a random number may lie beyond the last chance. Here nearly all do.
    rng = kernel_rng(np.random.default_rng(1))
    assert {sample_index(np.array([1e-9, 1e-9, 1.0]), 2, 1.0, rng) for _ in range(100)} == {1}


@pytest.mark.parametrize("weighted", [False, True])
def test_a_rollout_ends_the_game_and_counts_points_of_the_first_player(weighted):
    game = make_game("othello:4")
    rng = kernel_rng(np.random.default_rng(2))
    scratch = make_rollout_scratch(game.num_actions)
    policy = RolloutPolicy(weighted, rules.rollout_weights(game.rules), scratch)
    seen = set()
    for _ in range(200):
        state = game.initial_states()[0]
        points = rollout(game.rules, state, policy, rng)
        board = game.cells(state)
        assert game.over(state[None])[0]
        assert points == 1 + np.sign((board == 1).sum() - (board == 2).sum())
        seen.add(points)
    assert seen == {0, 1, 2}


def test_the_search_uses_the_weights():
    game = make_game("othello:6")
    state = game.initial_states()[0]
    outputs = [
        make_uct(game, num_simulations=200, **settings).run(state).value
        for settings in (
            {},
            {"rollout": "weighted"},
            {"rollout": "weighted", "rollout_weights": rules.rollout_weights(game.rules)},
            {"rollout": "weighted", "rollout_weights": [0.0, -5.0, 2.0]},
        )
    ]
    assert outputs[1] == outputs[2]
    assert len(set(outputs)) == 3


@pytest.mark.parametrize(
    ("name", "weights", "key"),
    [
        ("tic_tac_toe", None, "rollout"),
        ("othello", [1.0], "rollout_weights"),
        ("othello", [1.0, np.nan, 0.0], "rollout_weights"),
    ],
)
def test_weights_that_do_not_fit_are_refused(name, weights, key):
    game = make_game(name)
    with pytest.raises(ConfigError) as error:
        rollout_probabilities(game, game.initial_states()[0], weights)
    assert error.value.key == key
    if key == "rollout_weights":
        assert np.array_equal(error.value.value, weights, equal_nan=True)
        assert "3" in error.value.allowed
