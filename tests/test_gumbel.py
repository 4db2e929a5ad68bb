"""Gumbel search: schedules and bandits worked out by hand, the twin's trees and answers, improvement of the policy, proofs, kinds side by side."""

import math

import numpy as np
import pytest
from naive_gumbel import BanditEvaluator, BanditGame, NaivePlannedSearch, naive_schedule
from naive_mcts import HashEvaluator
from test_mcts import GAMES, assert_same_tree, make_search, named_game, random_positions

from alphazero.games.registry import make_game
from alphazero.inference.evaluator import UniformEvaluator
from alphazero.players.network import EvaluatorPlayer
from alphazero.search import tree as trees
from alphazero.search.batched_search import SearchSettings
from alphazero.search.gumbel import considered_visits

QUIET = dict(root="gumbel", gumbel_scale=0.0)


def pulled(
    priors, root_value, arm_values, num_simulations, num_games=1, noisy=True, seed=0, **settings
):
    """Return the finished searches of a bandit and what they say."""
    game, rows = BanditGame(len(priors)), np.arange(num_games)
    search = make_search(
        game,
        num_games,
        num_simulations,
        BanditEvaluator(priors, root_value, arm_values),
        seed,
        **settings,
    )
    search.reset(
        rows,
        game.initial_states(num_games),
        np.full(num_games, num_simulations),
        np.full(num_games, noisy),
    )
    search.run()
    return search, search.output(rows)


def searched(game, states, num_simulations, evaluator=None, noisy=True, **settings):
    search, rows = (
        make_search(game, len(states), num_simulations, evaluator, **settings),
        np.arange(len(states)),
    )
    search.reset(rows, states, np.full(len(rows), num_simulations), np.full(len(rows), noisy))
    search.run()
    return search


# --- the schedule -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("num_considered", "expected"),
    [
        # 24 simulations, 3 phases of 8: one round of 8, two of 4, four of 2
        (8, [0] * 8 + [1] * 4 + [2] * 4 + [3, 3, 4, 4, 5, 5, 6, 6]),
        # 47, phases of 15: one round of 8, three of 4, seven of 2; what is left over goes on with two
        (
            8,
            [0] * 8
            + [1] * 4
            + [2] * 4
            + [3] * 4
            + [number for count in range(4, 18) for number in (count, count)][:-1],
        ),
        (8, [0, 0]),
        (8, [0] * 8 + [1] * 4 + [2]),
        # 24, phases of 8: one round of 7, two of 3, two of 2 and so on
        (7, [0] * 7 + [1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8]),
        # 8, phases of 4: one round of 4, two of 2
        (4, [0, 0, 0, 0, 1, 1, 2, 2]),
        (2, [0, 0, 1, 1, 2]),
        (1, list(range(16))),
        (0, list(range(16))),
    ],
)
def test_the_schedule_by_hand(num_considered, expected):
    assert [
        considered_visits(num_considered, len(expected), index) for index in range(len(expected))
    ] == expected
    assert naive_schedule(num_considered, len(expected)) == expected


def test_the_schedule_is_the_naive_one():
    for num_considered in (0, 1, 2, 3, 5, 6, 7, 9, 16, 33, 65):
        for num_simulations in (1, 2, 7, 16, 31, 64, 200, 401):
            found = [
                considered_visits(num_considered, num_simulations, index)
                for index in range(num_simulations)
            ]
            assert found == naive_schedule(num_considered, num_simulations)


@pytest.mark.parametrize("noisy", (True, False))
@pytest.mark.parametrize(
    ("num_simulations", "visits"),
    [(8, [3, 3, 1, 1]), (16, [6, 6, 2, 2]), (24, [9, 9, 3, 3]), (3, [1, 1, 1, 0])],
)
def test_the_visits_of_a_bandit_are_those_of_the_schedule(num_simulations, visits, noisy):
    arms = np.random.default_rng(num_simulations).uniform(-1, 1, 4)
    search, _ = pulled(
        [0.1, 0.2, 0.3, 0.4],
        0.0,
        arms,
        num_simulations,
        20,
        noisy,
        root="gumbel",
        fast_root="gumbel",
    )
    assert (np.sort(search.tree.children_visits[:, 0], axis=1)[:, ::-1] == visits).all()


def test_only_so_many_actions_are_considered():
    search, _ = pulled(
        [0.1, 0.2, 0.3, 0.4], 0.0, [0.0] * 4, 12, max_num_considered_actions=2, **QUIET
    )
    assert search.tree.children_visits[0, 0].tolist() == [0, 0, 6, 6]


# --- bandits by hand --------------------------------------------------------------------------------------------------------------------


def test_halving_keeps_the_better_half_by_hand():
    # Equal priors: each arm once; the better two of them again, and again. Arm 1, the best, is played.
    search, output = pulled([0.25] * 4, 0.0, [0.0, 0.5, -0.5, 0.2], 8, **QUIET)
    assert search.tree.children_visits[0, 0].tolist() == [1, 3, 1, 3]
    assert output.actions.tolist() == [1]


def test_the_improved_policy_by_hand():
    # Two arms are considered, 0 and 1, in three simulations: 0, 1, 0. N = 3, Q = .4, -.2, unknown.
    # mixed value = (.6 + 3 * (.5 * .4 + .25 * -.2) / .75) / (1 + 3) = .3;  scale = (50 + 2) * .1 = 5.2
    constants = dict(max_num_considered_actions=2, value_scale=0.1, maxvisit_init=50.0)
    search, output = pulled([0.5, 0.25, 0.25], 0.6, [0.4, -0.2, 0.9], 3, **QUIET, **constants)
    assert search.tree.children_visits[0, 0].tolist() == [2, 1, 0]
    weights = np.array(
        [0.5 * math.exp(5.2 * 0.4), 0.25 * math.exp(5.2 * -0.2), 0.25 * math.exp(5.2 * 0.3)]
    )
    np.testing.assert_allclose(output.action_weights[0], weights / weights.sum(), rtol=1e-5)
    assert np.array_equal(output.move_weights, output.action_weights)
    assert output.actions[0] == 0


# --- what the noise does ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", (1.0, 0.5))
def test_without_weight_on_values_the_choice_is_a_draw_from_the_sharpened_prior(temperature):
    priors, num = np.array([0.5, 0.3, 0.15, 0.05]), 6000
    search, _ = pulled(priors, 0.0, [0.9, -0.9, 0.3, 0.0], 4, num, root="gumbel", value_scale=0.0)
    output = search.output(np.arange(num), np.full(num, temperature))
    expected = priors ** (1 / temperature) / (priors ** (1 / temperature)).sum()
    shares = np.bincount(output.actions, minlength=4) / num
    assert (np.abs(shares - expected) <= 5 * np.sqrt(expected * (1 - expected) / num)).all()
    assert output.is_drawn.all()
    assert (search.output(np.arange(num), np.zeros(num)).actions == 0).all()


def test_two_simulations_improve_on_the_prior():
    priors, arms = (
        np.array([0.4, 0.3, 0.1, 0.1, 0.1]),
        np.array([-0.5, 0.0, 0.6, -0.1, 0.3], np.float32),
    )
    search, output = pulled(priors, priors @ arms, arms, 2, 3000, root="gumbel")
    gains = arms[output.actions] - priors @ arms
    assert gains.mean() > 5 * gains.std() / math.sqrt(len(gains))
    assert (search.tree.children_visits[:, 0].max(axis=1) == 1).all()


def test_the_improved_policy_is_worth_more_than_the_prior_on_every_bandit():
    rng, least = np.random.default_rng(3), 0.0
    for _ in range(30):
        priors, arms = rng.dirichlet(np.ones(5)), rng.uniform(-1, 1, 5).astype(np.float32)
        _, output = pulled(priors, priors @ arms, arms, 10, root="gumbel")
        least = min(least, output.action_weights[0] @ arms - priors @ arms)
    assert least >= 0.0


def test_noise_replaces_dirichlet_noise_and_is_of_its_scale():
    priors = [0.5, 0.3, 0.2]
    search, _ = pulled(priors, 0.0, [0.0] * 3, 3, 2000, root="gumbel", gumbel_scale=2.0)
    np.testing.assert_allclose(
        search.tree.children_priors[:, 0], np.tile(priors, (2000, 1)), atol=1e-6
    )
    gumbels = search._plan.gumbels.ravel().astype(
        np.float64
    )  # variance of a standard Gumbel variable: pi^2 / 6
    squares = (gumbels - gumbels.mean()) ** 2
    assert abs(gumbels.var() - 4 * math.pi**2 / 6) < 5 * squares.std() / math.sqrt(len(gumbels))
    quiet, output = pulled(
        priors, 0.0, [0.0] * 3, 3, 5, noisy=False, root="gumbel", fast_root="gumbel"
    )
    assert not quiet._plan.gumbels.any() and not output.is_drawn.any()


# --- the twin ---------------------------------------------------------------------------------------------------------------------------


def kind_of(settings, noisy):
    if (settings.root if noisy else settings.fast_root) == "gumbel":
        return "gumbel"
    return "forced" if noisy and settings.forced_playouts_k else "puct"


def assert_same_output(search, rows, naives, temperatures):
    output = search.output(rows, temperatures)
    for i, naive in enumerate(naives):
        shares, value = naive.policy()
        target = (
            naive.improved_policy()
            if naive.kind == "gumbel"
            else naive.pruned_shares()
            if naive.kind == "forced"
            else shares
        )
        moves = target if naive.kind == "gumbel" else shares
        for found, expected in (
            (output.action_weights[i], target),
            (output.move_weights[i], moves),
        ):
            np.testing.assert_allclose(
                found, [expected.get(action, 0.0) for action in range(len(found))], atol=2e-5
            )
        expected_value = value if naive.kind == "puct" else naive.value_of(target)
        assert output.root_values[i] == pytest.approx(expected_value, abs=2e-5)
        assert output.actions[i] == (
            naive.choice(temperatures[i])
            if naive.kind == "gumbel"
            else output.move_weights[i].argmax()
        )


VARIANTS = {
    "gumbel": dict(root="gumbel", max_num_considered_actions=3),
    "gumbel in all searches": dict(
        root="gumbel", fast_root="gumbel", value_scale=0.3, maxvisit_init=10.0
    ),
    "forced": dict(forced_playouts_k=2.0),
    "forced, fast gumbel": dict(forced_playouts_k=1.3, fast_root="gumbel"),
}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("reuse", (True, False))
def test_trees_and_answers_are_those_of_the_naive_twin_over_whole_games(name, variant, reuse):
    game = named_game(name)
    settings = (
        dict(dirichlet_fraction=0.0, root_prior_temperature=1.4, reuse_tree=reuse)
        | VARIANTS[variant]
    )
    states, rng = random_positions(game, 5, seed=3), np.random.default_rng(5)
    search, rows = make_search(game, len(states), 30, **settings), np.arange(len(states))
    naives = [
        NaivePlannedSearch(game, HashEvaluator(game.num_actions), search.settings) for _ in rows
    ]
    budgets, noisy = rng.integers(1, 31, len(rows)), rng.random(len(rows)) < 0.6
    kinds = [kind_of(search.settings, own) for own in noisy]
    search.reset(rows, states, budgets, noisy)
    for i in rows:
        naives[i].reset(states[i], budgets[i], noisy[i] and kinds[i] != "gumbel")
    while len(rows):
        search.run()
        for row, kind in zip(rows, kinds):
            naives[row].plan(kind, search._plan.gumbels[row])
            naives[row].run()
            assert_same_tree(search, row, naives[row])
        assert_same_output(
            search, rows, [naives[row] for row in rows], rng.choice([0.0, 0.5, 1.0], len(rows))
        )
        mask = game.legal_action_mask(search.root_states[rows])
        actions = (mask * (rng.random(mask.shape) + search.output(rows).move_weights)).argmax(
            axis=1
        )
        after = game.step(search.root_states[rows], actions)
        search.stop(rows[after.over])
        rows, actions, states = rows[~after.over], actions[~after.over], after.states[~after.over]
        budgets, noisy = rng.integers(1, 31, len(rows)), rng.random(len(rows)) < 0.6
        kinds = [kind_of(search.settings, own) for own in noisy]
        search.advance(rows, actions, states, budgets, noisy)
        for i, row in enumerate(rows):
            naives[row].advance(
                int(actions[i]), states[i], budgets[i], noisy[i] and kinds[i] != "gumbel"
            )


@pytest.mark.parametrize("name", GAMES)
def test_rows_of_a_batch_do_not_depend_on_each_other_and_a_puct_row_is_plain_puct(name):
    game, noisy = named_game(name), np.arange(6) % 2 == 0
    states, rows = random_positions(game, 6, seed=1), np.arange(6)
    mixed = make_search(game, 6, 30, **QUIET)
    mixed.reset(rows, states, np.full(6, 30), noisy)
    mixed.run()
    output = mixed.output(rows)
    for row in rows:
        alone = searched(
            game, states[row : row + 1], 30, noisy=bool(noisy[row]), **(QUIET if noisy[row] else {})
        )
        expected = alone.output(np.array([0]))
        assert np.array_equal(mixed.tree.children_visits[row, 0], alone.tree.children_visits[0, 0])
        assert all(np.array_equal(ours[row], theirs[0]) for ours, theirs in zip(output, expected))


# --- reuse of the tree and proofs -------------------------------------------------------------------------------------------------------


def test_the_schedule_counts_the_visits_of_this_search_alone():
    game = BanditGame(4)
    search = make_search(
        game, 1, 40, BanditEvaluator([0.25] * 4, 0.0, [0.3, 0.2, 0.1, 0.0]), **QUIET
    )
    row, noisy, first = np.array([0]), np.array([True]), game.initial_states()
    search.reset(row, first, np.array([40]), noisy)
    search.run()
    action = search.output(row).actions
    search.advance(row, action, game.step(first, action).states, np.array([40]), noisy)
    kept = search.tree.children_visits[0, 0].copy()
    search.run()
    made = search.tree.children_visits[0, 0] - kept
    assert (
        kept.sum() == 14 and made.sum() == 26
    )  # 40 in two phases of 20: five rounds of four, then five of two, and two fewer below the arm
    assert np.sort(made).tolist() == np.sort(visits_of(naive_schedule(4, 26))).tolist()


def visits_of(schedule):
    """Return the visits of the actions that a schedule with four of them leads to: those left are always the first."""
    visits = [0] * 4
    for count in schedule:
        visits[next(action for action in range(4) if visits[action] == count)] += 1
    return visits


def test_an_action_proven_to_lose_is_left_and_has_no_weight():
    game, checked = make_game("tic_tac_toe"), 0
    for state in random_positions(game, 40, seed=4):
        search = make_search(game, 1, 60, root="gumbel")
        search.reset(np.array([0]), state[None], np.array([60]), np.array([True]))
        before = {}
        while not len(search.finished_rows()):
            search.step()
            tree = search.tree
            if tree.proven_values[0, 0] != trees.UNPROVEN:
                break
            output = search.output(np.array([0]))
            for action in np.flatnonzero(tree.children_index[0, 0] >= 0):
                if (
                    tree.proven_values[0, tree.children_index[0, 0, action]] != trees.UNPROVEN
                    and tree.children_values[0, 0, action] == -1.0
                ):
                    checked += action in before
                    assert (
                        before.setdefault(action, tree.children_visits[0, 0, action])
                        == tree.children_visits[0, 0, action]
                    )
                    assert output.action_weights[0, action] == 0 and output.actions[0] != action
    assert checked > 30


def test_a_proven_root_ends_the_search_and_restricts_the_policy():
    game = make_game("connect_x:4x3x3")
    search = searched(
        game, game.play_moves([0, 1, 2, 0, 2, 1, 1, 1])[None], 20, root="gumbel"
    )  # column 2 completes three in a row
    output = search.output(np.array([0]))
    assert (
        output.action_weights[0].tolist() == [0.0, 0.0, 1.0]
        and output.actions[0] == 2
        and output.root_values[0] == 1.0
    )
    assert search.tree.node_visits[0, 0] < 20
    game = make_game("tic_tac_toe")
    threatened = searched(
        game, game.play_moves([0, 4, 1])[None], 200, UniformEvaluator(9), root="gumbel"
    ).output(np.array([0]))
    assert (
        threatened.action_weights[0].tolist() == np.eye(9)[2].tolist()
        and threatened.actions[0] == 2
    )


def test_a_lost_root_keeps_the_prior_as_its_target():
    game, evaluator = make_game("tic_tac_toe"), HashEvaluator(9)
    state = game.play_moves([0, 1, 3, 6, 4])[None]  # two rows are open: nothing helps
    search = searched(game, state, 400, evaluator, root="gumbel")
    output = search.output(np.array([0]))
    logits, _ = evaluator.evaluate(game.observe(state))
    priors = np.where(game.legal_action_mask(state), np.exp(logits), 0.0)
    assert search.tree.proven_values[0, 0] == -1 and output.root_values[0] == -1.0
    np.testing.assert_allclose(output.action_weights, priors / priors.sum(), atol=1e-5)


# --- players ----------------------------------------------------------------------------------------------------------------------------


def test_a_player_searches_as_full_searches_do_but_without_noise_and_by_the_clock_with_puct():
    game, evaluator = make_game("connect_four"), HashEvaluator(7)
    states = random_positions(game, 9, seed=2)
    player = EvaluatorPlayer(game, evaluator, 6, settings=SearchSettings(root="gumbel"))
    expected = searched(
        game, states, 6, evaluator, noisy=False, root="gumbel", fast_root="gumbel"
    ).output(np.arange(9))
    for _ in range(2):
        choice = player.choose(states)
        assert np.array_equal(choice.actions, expected.actions) and np.array_equal(
            choice.action_weights, expected.action_weights
        )
    start = game.initial_states()[0]
    timed = EvaluatorPlayer(
        game, evaluator, 12, time_limit_s=60.0, settings=SearchSettings(root="gumbel")
    ).analyse(start)
    plain = EvaluatorPlayer(game, evaluator, 12).analyse(start)
    assert np.array_equal(timed.visits, plain.visits)
    halving = player.limited(12, None).analyse(start)
    assert not np.array_equal(halving.visits, plain.visits)
