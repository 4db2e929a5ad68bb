"""The Gumbel root: bandits solved by hand, a naive twin, policy improvement, proofs."""

import math

import numpy as np
import pytest
from naive_gumbel import NaivePlannedSearch, naive_schedule
from search_samples import (
    GAMES,
    NO_NOISE,
    HashEvaluator,
    make_search,
    named_game,
    pull_arms,
    random_positions,
    searched,
)
from test_batched_search import assert_same_tree

from alphazero.own_games.registry import make_game
from alphazero.players.search_player import SearchPlayer
from alphazero.search.gumbel import considered_visits
from alphazero.search.settings import SearchSettings

QUIET = dict(root="gumbel", gumbel_scale=0.0)


# --- the schedule ---------------------------------------------------------------------------------


def pairs(first, last):
    """Return each number from ``first`` to ``last`` twice."""
    return [number for count in range(first, last + 1) for number in (count, count)]


@pytest.mark.parametrize(
    ("num_considered", "expected"),
    [
        # 24 simulations, 3 phases of 8: one round of 8, two of 4, four of 2
        (8, [0] * 8 + [1] * 4 + [2] * 4 + pairs(3, 6)),
        # 47, phases of 15: one round of 8, three of 4, then of 2 for all that is left
        (8, [0] * 8 + [1] * 4 + [2] * 4 + [3] * 4 + pairs(4, 16) + [17]),
        (8, [0, 0]),
        (8, [0] * 8 + [1] * 4 + [2]),
        # 24, phases of 8: one round of 7, two of 3, two of 2 and so on
        (7, [0] * 7 + [1, 1, 1, 2, 2, 2] + pairs(3, 7) + [8]),
        # 8, phases of 4: one round of 4, two of 2
        (4, [0, 0, 0, 0, 1, 1, 2, 2]),
        (2, [0, 0, 1, 1, 2]),
        (1, list(range(16))),
        (0, list(range(16))),
    ],
)
def test_the_schedule_by_hand(num_considered, expected):
    num = len(expected)
    assert [considered_visits(num_considered, num, index) for index in range(num)] == expected
    assert naive_schedule(num_considered, num) == expected


def test_the_schedule_is_the_naive_one():
    for num_considered in (0, 1, 2, 3, 5, 6, 7, 9, 16, 33, 65):
        for num in (1, 2, 7, 16, 31, 64, 200, 401):
            found = [considered_visits(num_considered, num, index) for index in range(num)]
            assert found == naive_schedule(num_considered, num)


# --- bandits by hand ------------------------------------------------------------------------------


def test_halving_keeps_the_better_half_by_hand():
    # Equal priors: each arm once; the better two of them again, and again. Arm 1, the best, is
    # played.
    search, output = pull_arms([0.25] * 4, 0.0, [0.0, 0.5, -0.5, 0.2], 8, **QUIET)
    assert search.tree.children_visits[0, 0].tolist() == [1, 3, 1, 3]
    assert output.actions.tolist() == [1]


def test_the_improved_policy_by_hand():
    # Two arms are considered, 0 and 1, in three simulations: 0, 1, 0. N = 3, Q = .4, -.2, unknown.
    # mixed value = (.6 + 3 * (.5 * .4 + .25 * -.2) / .75) / (1 + 3) = .3;  scale = (50 + 2) * .1 =
    # 5.2
    constants = dict(max_num_considered_actions=2, value_scale=0.1, maxvisit_init=50.0)
    search, output = pull_arms([0.5, 0.25, 0.25], 0.6, [0.4, -0.2, 0.9], 3, **QUIET, **constants)
    assert search.tree.children_visits[0, 0].tolist() == [2, 1, 0]
    weights = np.array([0.5, 0.25, 0.25]) * np.exp(5.2 * np.array([0.4, -0.2, 0.3]))
    np.testing.assert_allclose(output.action_weights[0], weights / weights.sum(), rtol=1e-5)
    assert np.array_equal(output.move_weights, output.action_weights)
    assert output.actions[0] == 0


# --- what the noise does --------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", (1.0, 0.5))
def test_without_weight_on_values_the_choice_is_a_sample_from_the_sharpened_prior(temperature):
    priors, num = np.array([0.5, 0.3, 0.15, 0.05]), 6000
    settings = dict(root="gumbel", value_scale=0.0)
    search, _ = pull_arms(priors, 0.0, [0.9, -0.9, 0.3, 0.0], 4, num, **settings)
    output = search.output(np.arange(num), np.full(num, temperature))
    expected = priors ** (1 / temperature) / (priors ** (1 / temperature)).sum()
    found = np.bincount(output.actions, minlength=4) / num
    # Within 5 standard errors.
    assert (np.abs(found - expected) <= 5 * np.sqrt(expected * (1 - expected) / num)).all()
    assert output.is_sampled
    assert (search.output(np.arange(num), np.zeros(num)).actions == 0).all()


def test_the_improved_policy_is_worth_at_least_as_much_as_the_prior_on_every_bandit():
    rng, least = np.random.default_rng(3), 0.0
    for _ in range(30):
        priors, arms = rng.dirichlet(np.ones(5)), rng.uniform(-1, 1, 5).astype(np.float32)
        _, output = pull_arms(priors, priors @ arms, arms, 10, root="gumbel")
        least = min(least, output.action_weights[0] @ arms - priors @ arms)
    assert least >= 0.0


def test_gumbel_noise_replaces_dirichlet_noise_and_has_its_scale():
    priors, scale = [0.5, 0.3, 0.2], dict(root="gumbel", gumbel_scale=2.0)
    search, _ = pull_arms(priors, 0.0, [0.0] * 3, 3, 2000, **scale)
    found = search.tree.children_priors[:, 0]
    np.testing.assert_allclose(found, np.tile(priors, (2000, 1)), atol=1e-6)
    # The variance of a standard Gumbel variable is pi^2 / 6; within 5 standard errors.
    gumbels = search._roots.plan.gumbels.ravel().astype(np.float64)
    squares = (gumbels - gumbels.mean()) ** 2
    assert abs(gumbels.var() - 4 * math.pi**2 / 6) < 5 * squares.std() / math.sqrt(len(gumbels))


def test_only_searches_that_explore_have_gumbel_noise():
    search, output = pull_arms([0.5, 0.3, 0.2], 0.0, [0.0] * 3, 3, 5, False, root="gumbel")
    assert not search._roots.plan.gumbels.any() and not output.is_sampled


# --- the twin -------------------------------------------------------------------------------------


def assert_same_output(search, rows, naives, temperatures):
    output = search.output(rows, temperatures)
    for i, naive in enumerate(naives):
        found, target = naive.output(), naive.target()
        moves = target if naive.algorithm == "gumbel" else found.action_weights
        assert_same_weights(output.action_weights[i], target)
        assert_same_weights(output.move_weights[i], moves)
        expected = found.root_value if naive.algorithm == "puct" else naive.value_of(target)
        assert output.root_values[i] == pytest.approx(expected, abs=2e-5)
        if naive.algorithm == "gumbel":
            assert output.actions[i] == naive.choice(temperatures[i])
        else:
            assert output.actions[i] == output.move_weights[i].argmax()


def assert_same_weights(found, expected):
    expected = [expected.get(action, 0.0) for action in range(len(found))]
    np.testing.assert_allclose(found, expected, atol=2e-5)


#: The root's algorithm, and whether the searches explore.
VARIANTS = {
    "gumbel": ("gumbel", True, dict(root="gumbel", max_num_considered_actions=3)),
    "gumbel, other sigma": (
        "gumbel",
        True,
        dict(root="gumbel", value_scale=0.3, maxvisit_init=10.0),
    ),
    "gumbel of a player": ("gumbel", False, dict(root="gumbel", forced_playouts_k=2.0)),
    "forced": ("forced", True, dict(forced_playouts_k=2.0)),
    "a player forces nothing": ("puct", False, dict(forced_playouts_k=1.3)),
}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    "variant, reuse", [*((name, True) for name in VARIANTS), ("gumbel", False), ("forced", False)]
)
def test_trees_and_outputs_are_those_of_the_naive_twin_over_whole_games(name, variant, reuse):
    game, (algorithm, explores, own) = named_game(name), VARIANTS[variant]
    settings = dict(root_prior_temperature=1.4, reuse_tree=reuse, **NO_NOISE, **own)
    states, rng = random_positions(game, 3, seed=3), np.random.default_rng(5)
    search = make_search(game, len(states), 30, explores=explores, **settings)
    evaluator, rows = HashEvaluator(game.num_actions), np.arange(len(states))
    naives = [NaivePlannedSearch(game, evaluator, search.settings) for _ in rows]
    flatten = explores and algorithm != "gumbel"  # whether the root temperature is applied
    budgets = rng.integers(1, 31, len(rows))
    search.reset(rows, states, budgets)
    for i in rows:
        naives[i].begin(states[i], budgets[i], flatten)
    while len(rows):
        search.run()
        for row in rows:
            gumbels = search._roots.plan.gumbels[row] if algorithm == "gumbel" else None
            naives[row].plan(algorithm, gumbels)
            naives[row].run()
            assert_same_tree(search, row, naives[row])
        temperatures = rng.choice([0.0, 0.5, 1.0], len(rows))
        assert_same_output(search, rows, [naives[row] for row in rows], temperatures)
        mask = game.legal_action_mask(search.root_states[rows])
        moves = search.output(rows).move_weights
        actions = (mask * (rng.random(mask.shape) + moves)).argmax(axis=1)
        after = game.step(search.root_states[rows], actions)
        search.stop(rows[after.over])
        rows, actions, states = rows[~after.over], actions[~after.over], after.states[~after.over]
        budgets = rng.integers(1, 31, len(rows))
        search.advance(rows, actions, states, budgets)
        for i, row in enumerate(rows):
            naives[row].go_on(int(actions[i]), budgets[i], flatten)


def test_a_lost_root_keeps_the_prior_as_its_target():
    game, evaluator = make_game("tic_tac_toe"), HashEvaluator(9)
    state = game.play_moves([0, 1, 3, 6, 4])[None]  # two rows are open: nothing helps
    search = searched(game, state, 400, evaluator=evaluator, explores=True, root="gumbel")
    output = search.output(np.array([0]))
    logits, _ = evaluator.evaluate(game.observe(state))
    priors = np.where(game.legal_action_mask(state), np.exp(logits), 0.0)
    assert search.tree.proven_values[0, 0] == -1 and output.root_values[0] == -1.0
    np.testing.assert_allclose(output.action_weights, priors / priors.sum(), atol=1e-5)


# --- players --------------------------------------------------------------------------------------


def test_a_player_uses_the_root_of_self_play_without_noise():
    game, evaluator = make_game("connect_four"), HashEvaluator(7)
    states = random_positions(game, 9, seed=2)
    player = SearchPlayer(game, evaluator, 6, settings=SearchSettings(root="gumbel"))
    search = searched(game, states, 6, evaluator=evaluator, root="gumbel")
    expected = search.output(np.arange(9))
    for _ in range(2):
        choice = player.choose(states)
        assert np.array_equal(choice.actions, expected.actions)
        assert np.array_equal(choice.action_weights, expected.action_weights)


def test_a_player_with_a_time_limit_uses_puct():
    game, evaluator = make_game("connect_four"), HashEvaluator(7)
    settings, start = SearchSettings(root="gumbel"), game.initial_states()[0]
    timed = SearchPlayer(game, evaluator, 12, time_limit_s=60.0, settings=settings)
    plain = SearchPlayer(game, evaluator, 12).analyse(start)
    assert np.array_equal(timed.analyse(start).visits, plain.visits)
    halving = timed.limited(12, None).analyse(start)
    assert not np.array_equal(halving.visits, plain.visits)
