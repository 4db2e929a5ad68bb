"""The PUCT search: the same trees as a slow twin, the same answers whatever else is in the batch, exact results, budgets, noise."""

import hashlib
import itertools
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from naive_mcts import UNKNOWN, HashEvaluator, NaiveSearch, ScriptedGame, TwiceGame, best_result

from alphazero.games.registry import make_game
from alphazero.inference.evaluator import UniformEvaluator
from alphazero.search import tree as trees
from alphazero.search.batched_search import SearchSettings, TreeSearch

GAMES = (
    "tic_tac_toe",
    "connect_x:4x4x3",
    "connect_x:3x3x3",
    "othello:4",
    "twice",
)  # the third has many draws


def named_game(name):
    return TwiceGame() if name == "twice" else make_game(name)


def random_positions(game, num_games, seed):
    """Return positions of random games that are not finished, [B, K], each of another length."""
    rng, states = np.random.default_rng(seed), game.initial_states(num_games)
    lengths = rng.integers(0, game.max_plies, num_games)
    for ply in range(game.max_plies):
        mask = game.legal_action_mask(states)
        after = game.step(states, np.where(mask, rng.random(mask.shape), -1.0).argmax(axis=1))
        moving = (lengths > ply) & ~after.over
        states[moving] = after.states[moving]
        lengths[after.over] = 0
    return states


def make_search(game, num_games, num_simulations, evaluator=None, seed=0, **settings):
    evaluator = evaluator or HashEvaluator(game.num_actions)
    return TreeSearch(
        game,
        evaluator,
        num_games,
        num_simulations,
        SearchSettings(**settings),
        np.random.default_rng(seed),
    )


def searched(game, states, num_simulations, noisy=False, **options):
    """Return the search of ``states`` when it is finished."""
    search, rows = (
        make_search(game, len(states), num_simulations, **options),
        np.arange(len(states)),
    )
    search.reset(rows, states, np.full(len(rows), num_simulations), np.full(len(rows), noisy))
    search.run()
    return search


def by_path(tree, row):
    """Return the nodes of a game's tree by the moves that lead to them from the root."""
    paths = {}
    for node in range(tree.num_nodes[row]):
        parent = tree.parents[row, node]
        paths[node] = (
            ()
            if parent == trees.NO_PARENT
            else (*paths[parent], int(tree.action_from_parent[row, node]))
        )
    return {path: node for node, path in paths.items()}


def assert_same_tree(search, row, naive):
    tree, nodes = search.tree, by_path(search.tree, row)
    assert set(nodes) == set(naive.nodes)
    for path, node in nodes.items():
        twin = naive.nodes[path]
        assert tree.node_visits[row, node] == len(twin.values)
        assert tree.raw_values[row, node] == pytest.approx(twin.values[0], abs=1e-6)
        assert tree.players[row, node] == twin.player
        proven = naive.proven(path)
        assert tree.proven_values[row, node] == (trees.UNPROVEN if proven is UNKNOWN else proven)
        if proven is UNKNOWN:  # otherwise nobody asks for the mean again
            assert tree.node_values[row, node] == pytest.approx(
                sum(twin.values) / len(twin.values), abs=1e-5
            )
            mass = sum(prior for action, prior in twin.priors.items() if (*path, action) in nodes)
            assert tree.visited_priors[row, node] == pytest.approx(mass, abs=1e-5)
        assert np.array_equal(search._states[row, node], twin.state)
        for action in range(tree.children_index.shape[2]):
            if twin.over or action not in twin.priors:
                assert tree.children_index[row, node, action] == trees.ILLEGAL
                continue
            child = nodes.get((*path, action), trees.UNVISITED)
            assert tree.children_index[row, node, action] == child
            assert tree.children_visits[row, node, action] == naive.visits(path, action)
            assert tree.children_priors[row, node, action] == pytest.approx(
                naive.prior(path, action), abs=1e-6
            )
            if child != trees.UNVISITED:
                assert tree.children_values[row, node, action] == pytest.approx(
                    naive.edge_value(path, action), abs=1e-5
                )


def assert_same_output(search, rows, naives):
    output = search.output(rows)
    for i in range(len(rows)):
        shares, value = naives[i].policy()
        expected = [shares.get(action, 0.0) for action in range(search.game.num_actions)]
        np.testing.assert_allclose(output.action_weights[i], expected, atol=1e-6)
        assert output.root_values[i] == pytest.approx(value, abs=1e-5)
        assert output.actions[i] == np.argmax(expected)


# --- the twin ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("reuse", (True, False))
def test_trees_are_those_of_the_naive_twin_over_whole_games(name, reuse):
    game = named_game(name)
    constants = dict(
        pb_c_init=1.1,
        pb_c_base=50.0,
        first_play_urgency=0.3,
        root_first_play_urgency=0.2,
        reuse_tree=reuse,
    )
    flattening = dict(
        dirichlet_fraction=0.0, root_prior_temperature=1.4
    )  # what the noise does beside the noise
    states, rng = random_positions(game, 6, seed=3), np.random.default_rng(5)
    search, rows = (
        make_search(game, len(states), 40, **constants, **flattening),
        np.arange(len(states)),
    )
    naives = [NaiveSearch(game, HashEvaluator(game.num_actions), search.settings) for _ in rows]
    budgets, flatten = rng.integers(1, 41, len(rows)), rng.random(len(rows)) < 0.5
    search.reset(rows, states, budgets, flatten)
    for i in rows:
        naives[i].reset(states[i], budgets[i], flatten[i])
    while len(rows):
        search.run()
        for i in rows:
            naives[i].run()
            assert_same_tree(search, i, naives[i])
        assert_same_output(search, rows, [naives[i] for i in rows])
        mask = game.legal_action_mask(search.root_states[rows])
        actions = np.where(mask, rng.random(mask.shape), -1.0).argmax(
            axis=1
        )  # any legal one: never visited, proven to lose, or the best
        after = game.step(search.root_states[rows], actions)
        search.stop(rows[after.over])
        rows, actions, states = rows[~after.over], actions[~after.over], after.states[~after.over]
        budgets, flatten = rng.integers(1, 41, len(rows)), rng.random(len(rows)) < 0.5
        search.advance(rows, actions, states, budgets, flatten)
        for i, row in enumerate(rows):
            naives[row].advance(int(actions[i]), states[i], budgets[i], flatten[i])


def test_the_twin_meets_proofs_draws_passes_and_double_moves():
    """The twin test above is worth its time only if its games reach what is hard."""
    seen = set()
    for name in GAMES:
        game = named_game(name)
        search = searched(game, random_positions(game, 12, seed=3), 60)
        for row in range(12):
            proven = search.tree.proven_values[row, : search.tree.num_nodes[row]]
            inner = search.tree.node_visits[row, : search.tree.num_nodes[row]] > 1
            seen |= {int(value) for value in proven[inner]}
            players, parents = search.tree.players[row], search.tree.parents[row]
            seen |= {
                "twice"
                for node in range(1, search.tree.num_nodes[row])
                if players[node] == players[parents[node]]
            }
    assert seen == {-1, 0, 1, trees.UNPROVEN, "twice"}


# --- exact results ----------------------------------------------------------------------------------------------------------------------


def test_a_win_at_once_is_found_proven_and_played_whatever_the_evaluator_thinks():
    game = make_game("connect_x:4x3x3")
    state = game.play_moves([0, 1, 2, 0, 2, 1, 1, 1])  # column 2 completes three in a row
    search = searched(game, state[None], 20)
    output = search.output(np.array([0]))
    assert output.actions[0] == 2
    assert output.action_weights[0].tolist() == [0.0, 0.0, 1.0]
    assert output.root_values[0] == 1.0
    assert search.tree.proven_values[0, 0] == 1


@pytest.mark.parametrize("name", ("tic_tac_toe", "connect_x:3x3x3", "othello:4", "twice"))
def test_proven_values_are_the_results_under_best_play(name):
    game = named_game(name)
    states = game.initial_states(1) if name == "twice" else random_positions(game, 60, seed=8)
    search = searched(game, states, 400)
    proven = 0
    for row, state in enumerate(states):
        small = name == "twice" or np.count_nonzero(game.cells(state) == 0) < 6
        if small and search.tree.proven_values[row, 0] != trees.UNPROVEN:
            assert search.tree.proven_values[row, 0] == best_result(game, state)
            proven += 1
    assert proven >= (1 if name == "twice" else 20)


def test_the_visit_that_completes_a_proof_counts_its_result_and_not_that_of_its_last_leaf():
    open_end = [[[[0, 0], [0, 0]], [[0, 0], [0, 0]]], [[[0, 0], [0, 0]], [[0, 0], [0, 0]]]]
    game = ScriptedGame(
        [[0, 1], open_end]
    )  # the first reply draws; after the second its player has lost
    search = searched(game, game.initial_states(), 8, evaluator=UniformEvaluator(2))
    tree, first = search.tree, search.tree.children_index[0, 0, 0]
    assert (tree.children_index[0, first] > 0).all() and tree.proven_values[0, first] == 0
    assert tree.proven_values[0, 0] == trees.UNPROVEN
    assert tree.node_values[0, 0] == 0.0  # nobody ever won anything at the root


def test_an_action_proven_to_lose_gets_no_further_visit_while_there_is_another():
    game = make_game("connect_x:4x4x3")
    checked = 0
    for state in random_positions(game, 12, seed=4):
        search = make_search(game, 1, 60)
        search.reset(np.array([0]), state[None], np.array([60]), np.array([False]))
        before = {}
        while not len(search.finished_rows()):
            search.step()
            tree = search.tree
            for node in range(tree.num_nodes[0]):
                children = [
                    int(child) for child in tree.children_index[0, node] if child != trees.ILLEGAL
                ]
                for action, child in enumerate(tree.children_index[0, node]):
                    lost = (
                        child >= 0
                        and tree.children_values[0, node, action] == -1.0
                        and tree.proven_values[0, child] != trees.UNPROVEN
                    )
                    if lost and tree.proven_values[0, node] == trees.UNPROVEN and len(children) > 1:
                        visits = int(tree.children_visits[0, node, action])
                        checked += (node, action) in before
                        assert before.setdefault((node, action), visits) == visits
    assert checked > 100


def test_the_losing_action_has_no_share_and_a_lost_root_keeps_them_all():
    game = make_game("tic_tac_toe")
    threatened = game.play_moves([0, 4, 1])  # only square 2 stops the row
    output = searched(game, threatened[None], 200, evaluator=UniformEvaluator(9)).output(
        np.array([0])
    )
    assert output.action_weights[0].tolist() == np.eye(9, dtype=np.float32)[2].tolist()
    lost = game.play_moves([0, 1, 3, 6, 4])  # two rows are open: nothing helps
    search = searched(game, lost[None], 400)
    output = search.output(np.array([0]))
    assert output.root_values[0] == -1.0
    assert (output.action_weights[0][[2, 5, 7, 8]] > 0).all()
    assert output.action_weights[0].sum() == pytest.approx(1.0)


# --- batches, budgets, memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_rows_of_a_batch_do_not_depend_on_each_other(name):
    game, evaluator = named_game(name), HashEvaluator(named_game(name).num_actions)
    states = random_positions(game, 7, seed=1)
    together = searched(game, states, 30, evaluator=evaluator)
    for row in range(7):
        alone = searched(game, states[row : row + 1], 30, evaluator=evaluator)
        count = alone.tree.num_nodes[0]
        assert together.tree.num_nodes[row] == count
        for name, ours, theirs in zip(together.tree._fields, together.tree, alone.tree):
            if ours.ndim > 1 and not name.startswith("children"):
                assert np.array_equal(ours[row, :count], theirs[0, :count]), name
        assert np.array_equal(
            together.output(np.array([row])).action_weights,
            alone.output(np.array([0])).action_weights,
        )


@pytest.mark.parametrize("name", GAMES)
def test_visits_sum_to_the_budget_and_nodes_fit_the_memory(name):
    game, rng = named_game(name), np.random.default_rng(0)
    states, rows = random_positions(game, 20, seed=2), np.arange(20)
    search, kept, budgets = make_search(game, 20, 50), np.zeros(20, int), rng.integers(1, 51, 20)
    search.reset(rows, states, budgets, np.zeros(20, bool))
    counted = 0
    while len(rows):
        search.run()
        tree = search.tree
        visits = tree.children_visits[rows, 0].sum(axis=1)
        unproven = tree.proven_values[rows, 0] == trees.UNPROVEN
        assert np.array_equal(visits[unproven], np.maximum(budgets, kept)[unproven])
        assert (visits <= np.maximum(budgets, kept)).all()
        assert (tree.num_nodes[rows] <= 51).all()
        counted += unproven.sum()
        after = game.step(search.root_states[rows], search.output(rows).actions)
        search.stop(rows[after.over])
        rows, budgets = rows[~after.over], rng.integers(1, 51, (~after.over).sum())
        search.advance(
            rows,
            search.output(rows).actions,
            after.states[~after.over],
            budgets,
            np.zeros(len(rows), bool),
        )
        kept = np.where(tree.num_nodes[rows] > 0, tree.node_visits[rows, 0] - 1, 0)
    assert counted >= 5


def test_more_simulations_than_there_is_room_for_are_refused():
    game = make_game("tic_tac_toe")
    search = make_search(game, 2, 10)
    with pytest.raises(ValueError, match="room for 10 simulations, 11 were asked for"):
        search.reset(np.arange(2), game.initial_states(2), np.array([10, 11]), np.zeros(2, bool))


def test_a_stopped_game_gets_no_leaf_and_the_others_go_on():
    game = make_game("connect_four")
    search, rows = make_search(game, 3, 10), np.arange(3)
    search.reset(rows, game.initial_states(3), np.full(3, 10), np.zeros(3, bool))
    search.stop(np.array([1]))
    search.run()
    assert search.tree.num_nodes.tolist() == [11, 0, 11]
    assert search.finished_rows().tolist() == [0, 2]


def test_the_deadline_ends_a_search_after_at_least_one_step():
    game = make_game("connect_four")
    search = make_search(game, 2, 1000)
    search.reset(np.arange(2), game.initial_states(2), np.full(2, 1000), np.zeros(2, bool))
    search.run(deadline=-math.inf)
    assert search.tree.node_visits[:, 0].tolist() == [1, 1]
    assert search.output(np.arange(2)).action_weights.tolist() == [[np.float32(1 / 7)] * 7] * 2


def test_counts_tell_the_work():
    game, evaluator = make_game("connect_four"), HashEvaluator(7)
    search = searched(game, game.initial_states(4), 25, evaluator=evaluator)
    assert search.counts.num_batches == len(evaluator.num_rows)
    assert search.counts.num_evaluations == sum(evaluator.num_rows)
    assert search.counts.num_simulations == search.tree.num_nodes.sum()
    depths = [len(path) for row in range(4) for path in by_path(search.tree, row)]
    assert search.counts.total_depth == sum(depths)


def test_the_expected_line_is_legal_and_begins_with_the_action():
    game = make_game("connect_four")
    states = random_positions(game, 6, seed=6)
    search = searched(game, states, 80)
    for row in range(6):
        line = search.principal_variation(row)
        assert line[0] == search.output(np.array([row])).actions[0]
        state = states[row]
        for action in line:
            game.check_legal(state, action)
            state = game.step(state[None], np.array([action])).states[0]
    assert max(len(search.principal_variation(row)) for row in range(6)) > 2


# --- root noise -------------------------------------------------------------------------------------------------------------------------


def root_priors(name, moves, num_games=3000, evaluator=None, **settings):
    """Return the root's priors of many searches of one position with noise, float32[num_games, A], and its legal actions."""
    game = make_game(name)
    states = np.repeat(game.play_moves(moves)[None], num_games, axis=0)
    search = make_search(
        game, num_games, 1, evaluator or UniformEvaluator(game.num_actions), seed=11, **settings
    )
    search.reset(np.arange(num_games), states, np.ones(num_games, int), np.ones(num_games, bool))
    search.step()
    return search.tree.children_priors[:, 0].astype(np.float64), np.flatnonzero(
        game.legal_action_mask(states[:1])[0]
    )


def test_noise_goes_to_legal_moves_only_and_priors_still_sum_to_one():
    evaluator = HashEvaluator(9)
    plain, legal = root_priors("tic_tac_toe", [4, 0, 8], 1, evaluator, dirichlet_fraction=0.0)
    noisy, _ = root_priors(
        "tic_tac_toe", [4, 0, 8], 500, evaluator, dirichlet_fraction=0.25, dirichlet_alpha=0.5
    )
    illegal = np.setdiff1d(np.arange(9), legal)
    assert len(legal) == 6
    assert (noisy[:, illegal] == 0).all()
    np.testing.assert_allclose(noisy.sum(axis=1), 1.0, atol=1e-6)
    assert (noisy[:, legal] >= 0.75 * plain[:, legal] - 1e-6).all()
    assert (noisy[:, legal].std(axis=0) > 0.01).all()


@pytest.mark.parametrize("per_move", (False, True))
def test_noise_has_the_spread_of_its_alpha(per_move):
    priors, legal = root_priors(
        "tic_tac_toe",
        [4, 0, 8],
        dirichlet_fraction=1.0,
        dirichlet_alpha=2.4,
        dirichlet_alpha_per_move=per_move,
    )
    alpha, k = (2.4 / 6 if per_move else 2.4), len(legal)
    for action in legal:
        squares = (priors[:, action] - 1 / k) ** 2
        variance = (
            (1 / k) * (1 - 1 / k) / (k * alpha + 1)
        )  # of one coordinate of a symmetric Dirichlet distribution
        assert abs(priors[:, action].mean() - 1 / k) < 5 * math.sqrt(variance / len(priors))
        assert abs(squares.mean() - variance) < 5 * squares.std() / math.sqrt(len(priors))


def test_noise_is_fresh_at_every_root_and_only_where_it_is_asked_for():
    game = make_game("connect_four")
    states, rows = np.repeat(game.initial_states(1), 4, axis=0), np.arange(4)
    search = make_search(game, 4, 30, UniformEvaluator(7))
    search.reset(rows, states, np.full(4, 30), np.array([True, True, False, False]))
    search.run()
    first = search.tree.children_priors[:, 0].copy()
    assert not np.array_equal(first[0], first[1])
    assert np.allclose(first[2:], 1 / 7)
    actions = np.full(4, 3)
    inside = [
        search.tree.children_priors[row, search.tree.children_index[row, 0, 3]].copy()
        for row in rows
    ]
    search.advance(
        rows,
        actions,
        game.step(states, actions).states,
        np.full(4, 30),
        np.array([True, False, True, False]),
    )
    kept = search.tree.children_priors[:, 0]
    assert (
        not np.allclose(kept[0], inside[0])
        and not np.allclose(kept[2], inside[2])
        and not np.allclose(kept[0], kept[2])
    )
    assert np.array_equal(kept[1], inside[1]) and np.array_equal(kept[3], inside[3])


def test_root_temperature_flattens_the_priors():
    evaluator = HashEvaluator(9)
    plain, legal = root_priors("tic_tac_toe", [], 1, evaluator, dirichlet_fraction=0.0)
    flat, _ = root_priors(
        "tic_tac_toe", [], 1, evaluator, dirichlet_fraction=0.0, root_prior_temperature=2.0
    )
    np.testing.assert_allclose(flat[0], np.sqrt(plain[0]) / np.sqrt(plain[0]).sum(), atol=1e-6)


# --- compiled and interpreted -----------------------------------------------------------------------------------------------------------


VARIANTS = (
    dict(root_prior_temperature=1.3),
    dict(root="gumbel", max_num_considered_actions=5),
    dict(forced_playouts_k=2.0, fast_root="gumbel"),
)


def digests():
    """Return a line for each game and way of searching that depends on everything in a few trees, over two moves, with noise."""
    for name, settings in itertools.product(GAMES, VARIANTS):
        game, total = named_game(name), hashlib.sha256()
        states, rows = random_positions(game, 3, seed=21)[:2], np.arange(2)
        search = make_search(game, 2, 16, **settings)
        search.reset(rows, states, np.array([16, 9]), np.array([True, False]))
        for _ in range(2):
            search.run()
            output = search.output(rows)
            for row in rows:
                for part in search.tree[1:]:
                    used = part[row, : search.tree.num_nodes[row]]
                    total.update(
                        (
                            used[search.tree.children_index[row, : len(used)] >= 0]
                            if used.ndim == 2
                            else used
                        ).tobytes()
                    )
            total.update(b"".join(part.tobytes() for part in output))
            after = game.step(search.root_states[rows], output.actions)
            search.stop(rows[after.over])
            rows = rows[~after.over]
            search.advance(
                rows,
                output.actions[~after.over],
                after.states[~after.over],
                np.full(len(rows), 12),
                np.ones(len(rows), bool),
            )
        yield f"{name} {settings} {total.hexdigest()}"


def test_the_interpreted_search_is_the_compiled_one_and_warns_of_nothing():
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }
    interpreted = subprocess.run(
        [sys.executable, "-W", "error", __file__],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert interpreted.returncode == 0, interpreted.stderr
    assert interpreted.stdout.splitlines() == list(digests())


if __name__ == "__main__":
    for line in digests():
        print(line)
