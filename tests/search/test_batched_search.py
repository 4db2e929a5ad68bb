"""The batched PUCT search: the textbook, independent games, proofs, budgets, root noise."""

import hashlib
import itertools
import math

import numpy as np
import pytest
from interpreted import printed_without_compiler
from search_samples import (
    GAMES,
    NO_NOISE,
    HashEvaluator,
    make_search,
    named_game,
    nodes_by_path,
    random_positions,
    searched,
)
from textbook_search import TextbookSearch

from alphazero.inference.evaluator import UniformEvaluator
from alphazero.own_games.registry import make_game
from alphazero.search import tree as trees
from alphazero.textbook.game import PlainGame
from alphazero.textbook.minimax import minimax


def assert_same_tree(search, row, textbook):
    """Compare a game's tree with the textbook's, node by node."""
    tree, nodes, expected = search.tree, nodes_by_path(search.tree, row), textbook.nodes()
    assert set(nodes) == set(expected)
    for path, node in nodes.items():
        twin = expected[path]
        assert tree.node_visits[row, node] == twin.visits
        assert tree.raw_values[row, node] == pytest.approx(twin.raw_value, abs=1e-6)
        assert tree.players[row, node] == twin.player
        assert tuple(search._states[row, node].tolist()) == twin.state
        proven = trees.UNPROVEN if twin.result is None else twin.result
        assert tree.proven_values[row, node] == proven
        if twin.result is None:  # the mean of a proven node is not used again
            assert tree.node_values[row, node] == pytest.approx(twin.value, abs=1e-5)
            mass = sum(child.prior for child in twin.children.values() if child.visits)
            assert tree.visited_priors[row, node] == pytest.approx(mass, abs=1e-5)
        assert_same_edges(search, row, node, textbook, twin, path)


def assert_same_edges(search, row, node, textbook, twin, path):
    """Compare the edges of one node with the textbook's."""
    tree, nodes = search.tree, nodes_by_path(search.tree, row)
    for action in range(search.game.num_actions):
        if action not in twin.children:
            assert tree.children_index[row, node, action] == trees.ILLEGAL
            continue
        child = twin.children[action]
        prior = textbook.prior(twin, child)
        index = nodes.get((*path, action), trees.UNVISITED)
        assert tree.children_index[row, node, action] == index
        assert tree.children_visits[row, node, action] == child.visits
        assert tree.children_priors[row, node, action] == pytest.approx(prior, abs=1e-6)
        if child.visits:
            value = child.value_for(twin.player)
            assert tree.children_values[row, node, action] == pytest.approx(value, abs=1e-5)


def assert_same_output(search, rows, textbooks):
    output = search.output(rows)
    for i in range(len(rows)):
        found = textbooks[i].output()
        weights = [found.action_weights.get(a, 0.0) for a in range(search.game.num_actions)]
        np.testing.assert_allclose(output.action_weights[i], weights, atol=1e-6)
        assert output.root_values[i] == pytest.approx(found.root_value, abs=1e-5)
        assert output.actions[i] == found.action


# --- the textbook ---------------------------------------------------------------------------------


TEXTBOOK_SETTINGS = {
    "reuse": dict(reuse_tree=True, first_play_urgency=0.3, root_first_play_urgency=0.2),
    "no reuse": dict(reuse_tree=False, first_play_urgency=0.3, root_first_play_urgency=0.2),
    "paper": dict(mcts_solver=False, first_play_value="zero", first_play_urgency=0.0),
    "simulations on top": dict(mcts_solver=False, count_kept_visits=False, pb_c_base=1e30),
    "solver, on top": dict(count_kept_visits=False, first_play_value="zero"),
}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    "variant, explores", [*((name, True) for name in TEXTBOOK_SETTINGS), ("reuse", False)]
)
def test_trees_are_those_of_the_textbook_over_whole_games(name, variant, explores):
    game = named_game(name)
    constants = (
        dict(pb_c_init=1.1, pb_c_base=50.0, root_prior_temperature=1.4) | TEXTBOOK_SETTINGS[variant]
    )
    states, rng = random_positions(game, 4, seed=3), np.random.default_rng(5)
    search = make_search(game, len(states), 40, explores=explores, **constants, **NO_NOISE)
    rows = np.arange(len(states))
    evaluator = HashEvaluator(game.num_actions)
    textbooks = [TextbookSearch(game, evaluator, search.settings) for _ in rows]
    budgets = rng.integers(1, 41, len(rows))
    search.reset(rows, states, budgets)
    for i in rows:
        textbooks[i].begin(states[i], budgets[i], flatten=explores)
    while len(rows):
        search.run()
        for i in rows:
            textbooks[i].run()
            assert_same_tree(search, i, textbooks[i])
        assert_same_output(search, rows, [textbooks[i] for i in rows])
        # Any legal action, so also one that was never visited or is proven to lose.
        mask = game.legal_action_mask(search.root_states[rows])
        actions = np.where(mask, rng.random(mask.shape), -1.0).argmax(axis=1)
        after = game.step(search.root_states[rows], actions)
        search.stop(rows[after.over])
        rows, actions, states = rows[~after.over], actions[~after.over], after.states[~after.over]
        budgets = rng.integers(1, 41, len(rows))
        search.advance(rows, actions, states, budgets)
        for i, row in enumerate(rows):
            textbooks[row].go_on(int(actions[i]), budgets[i], flatten=explores)


def test_the_games_of_the_textbook_reach_proofs_draws_and_double_moves():
    seen = set()
    for name in GAMES:
        game = named_game(name)
        search = searched(game, random_positions(game, 12, seed=3), 60)
        for row in range(12):
            num_nodes = search.tree.num_nodes[row]
            proven = search.tree.proven_values[row, :num_nodes]
            seen |= {int(value) for value in proven[search.tree.node_visits[row, :num_nodes] > 1]}
            players, parents = search.tree.players[row], search.tree.parents[row]
            children = range(1, num_nodes)
            seen |= {"twice" for node in children if players[node] == players[parents[node]]}
    assert seen == {-1, 0, 1, trees.UNPROVEN, "twice"}


# --- exact results --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ("tic_tac_toe", "connect_x:3x3x3", "othello:4", "twice"))
def test_proven_values_are_the_results_under_best_play(name):
    game = named_game(name)
    plain, known = PlainGame(game), {}
    states = random_positions(game, 60, seed=8)
    search = searched(game, states, 400)
    num_proven = 0
    for row, state in enumerate(states):
        small = np.count_nonzero(game.cells(state) == 0) < 6
        if small and search.tree.proven_values[row, 0] != trees.UNPROVEN:
            best = minimax(plain, tuple(state.tolist()), known)
            assert search.tree.proven_values[row, 0] == best
            num_proven += 1
    assert num_proven >= 20


def test_a_losing_action_has_no_weight_but_at_a_lost_root_all_actions_have():
    game = make_game("tic_tac_toe")
    threatened = game.play_moves([0, 4, 1])  # only square 2 stops the row
    search = searched(game, threatened[None], 200, evaluator=UniformEvaluator(9))
    weights = search.output(np.array([0])).action_weights[0]
    assert weights.tolist() == np.eye(9, dtype=np.float32)[2].tolist()
    lost = game.play_moves([0, 1, 3, 6, 4])  # two rows are open: nothing helps
    output = searched(game, lost[None], 400).output(np.array([0]))
    assert output.root_values[0] == -1.0
    assert (output.action_weights[0][[2, 5, 7, 8]] > 0).all()
    assert output.action_weights[0].sum() == pytest.approx(1.0)


# --- batches, budgets, limits ---------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_games_of_a_batch_do_not_depend_on_each_other(name):
    game, evaluator = named_game(name), HashEvaluator(named_game(name).num_actions)
    states = random_positions(game, 7, seed=1)
    together = searched(game, states, 30, evaluator=evaluator)
    for row in range(7):
        alone = searched(game, states[row : row + 1], 30, evaluator=evaluator)
        count = alone.tree.num_nodes[0]
        assert together.tree.num_nodes[row] == count
        for field, ours, theirs in zip(together.tree._fields, together.tree, alone.tree):
            if ours.ndim > 1 and not field.startswith("children"):
                assert np.array_equal(ours[row, :count], theirs[0, :count]), field
        ours, theirs = together.output(np.array([row])), alone.output(np.array([0]))
        assert np.array_equal(ours.action_weights, theirs.action_weights)


@pytest.mark.parametrize("name", GAMES)
def test_visits_sum_to_the_budget_and_nodes_fit_the_memory(name):
    game, rng = named_game(name), np.random.default_rng(0)
    states, rows = random_positions(game, 20, seed=2), np.arange(20)
    search, kept, budgets = make_search(game, 20, 50), np.zeros(20, int), rng.integers(1, 51, 20)
    search.reset(rows, states, budgets)
    num_checked = 0
    while len(rows):
        search.run()
        tree = search.tree
        visits = tree.children_visits[rows, 0].sum(axis=1)
        unproven = tree.proven_values[rows, 0] == trees.UNPROVEN
        assert np.array_equal(visits[unproven], np.maximum(budgets, kept)[unproven])
        assert (visits <= np.maximum(budgets, kept)).all()
        assert (tree.num_nodes[rows] <= 51).all()
        num_checked += unproven.sum()
        actions = search.output(rows).actions
        after = game.step(search.root_states[rows], actions)
        going = ~after.over
        search.stop(rows[after.over])
        rows, budgets = rows[going], rng.integers(1, 51, going.sum())
        search.advance(rows, actions[going], after.states[going], budgets)
        kept = np.where(tree.num_nodes[rows] > 0, tree.node_visits[rows, 0] - 1, 0)
    assert num_checked >= 5


def test_more_simulations_than_there_is_room_for_are_refused():
    game = make_game("tic_tac_toe")
    search = make_search(game, 2, 10)
    with pytest.raises(ValueError, match="11.* 10"):
        search.reset(np.arange(2), game.initial_states(2), np.array([10, 11]))


def test_a_stopped_game_gets_no_leaf_and_the_others_continue():
    game = make_game("connect_four")
    search = make_search(game, 3, 10)
    search.reset(np.arange(3), game.initial_states(3), 10)
    search.stop(np.array([1]))
    search.run()
    assert search.tree.num_nodes.tolist() == [11, 0, 11]
    assert search.finished_rows().tolist() == [0, 2]


def test_the_deadline_ends_a_search_when_every_root_has_visited_its_likeliest_action():
    """Without a visit there would be nothing to choose by."""
    game = make_game("connect_four")
    search = make_search(game, 2, 1000)
    search.reset(np.arange(2), game.initial_states(2), 1000)
    search.run(deadline=-math.inf)
    tree = search.tree
    assert tree.node_visits[:, 0].tolist() == [2, 2]
    output = search.output(np.arange(2))
    assert output.actions.tolist() == tree.children_priors[:, 0].argmax(axis=1).tolist()
    assert (output.action_weights.max(axis=1) == 1.0).all()


def test_progress_is_the_finished_fraction_of_the_simulations():
    game, reports = make_game("connect_four"), []
    search = make_search(game, 2, 40)
    search.reset(np.arange(2), game.initial_states(2), np.array([19, 39]))
    search.run(progress=reports.append)
    assert reports[0] == pytest.approx((1 / 20 + 1 / 40) / 2)
    assert reports == sorted(reports) and len(reports) == 40 and reports[-1] == 1.0


def test_counts_are_those_of_the_work_done():
    game, evaluator = make_game("connect_four"), HashEvaluator(7)
    search = searched(game, game.initial_states(4), 25, evaluator=evaluator)
    assert search.counts.num_batches == len(evaluator.num_rows)
    assert search.counts.num_evaluations == sum(evaluator.num_rows)
    assert search.counts.num_simulations == search.tree.num_nodes.sum()
    depths = [len(path) for row in range(4) for path in nodes_by_path(search.tree, row)]
    assert search.counts.total_depth == sum(depths)


def test_the_expected_line_is_legal_and_begins_with_the_action():
    game = make_game("connect_four")
    states = random_positions(game, 6, seed=6)
    search = searched(game, states, 80)
    lines = [search.principal_variation(row) for row in range(6)]
    assert [line[0] for line in lines] == search.output(np.arange(6)).actions.tolist()
    for state, line in zip(states, lines):
        for action in line:
            game.check_legal(state, action)
            state = game.step(state[None], np.array([action])).states[0]
    assert max(len(line) for line in lines) > 2


# --- root noise -----------------------------------------------------------------------------------


def root_priors(name, moves, num_games=3000, evaluator=None, **settings):
    """Return the root priors of many exploring searches of one position, and its legal actions.

    Returns:
        float64[num_games, A], int[L].
    """
    game = make_game(name)
    states = np.repeat(game.play_moves(moves)[None], num_games, axis=0)
    evaluator = evaluator or UniformEvaluator(game.num_actions)
    search = make_search(game, num_games, 1, evaluator, seed=11, explores=True, **settings)
    search.reset(np.arange(num_games), states, 1)
    search.step()
    legal = np.flatnonzero(game.legal_action_mask(states[:1])[0])
    return search.tree.children_priors[:, 0].astype(np.float64), legal


def test_noise_goes_to_legal_moves_only_and_priors_still_sum_to_one():
    evaluator, moves = HashEvaluator(9), [4, 0, 8]
    plain, legal = root_priors("tic_tac_toe", moves, 1, evaluator, **NO_NOISE)
    noise = dict(dirichlet_fraction=0.25, dirichlet_alpha=0.5)
    noisy, _ = root_priors("tic_tac_toe", moves, 500, evaluator, **noise)
    illegal = np.setdiff1d(np.arange(9), legal)
    assert len(legal) == 6
    assert (noisy[:, illegal] == 0).all()
    np.testing.assert_allclose(noisy.sum(axis=1), 1.0, atol=1e-6)
    assert (noisy[:, legal] >= 0.75 * plain[:, legal] - 1e-6).all()
    assert (noisy[:, legal].std(axis=0) > 0.01).all()


@pytest.mark.parametrize("per_move", (False, True))
def test_noise_has_the_spread_of_its_alpha(per_move):
    noise = dict(dirichlet_fraction=1.0, dirichlet_alpha=2.4, dirichlet_alpha_per_move=per_move)
    priors, legal = root_priors("tic_tac_toe", [4, 0, 8], **noise)
    alpha, k = (2.4 / 6 if per_move else 2.4), len(legal)
    # The variance of one coordinate of a symmetric Dirichlet distribution; 5 standard errors each.
    variance = (1 / k) * (1 - 1 / k) / (k * alpha + 1)
    for action in legal:
        squares = (priors[:, action] - 1 / k) ** 2
        assert abs(priors[:, action].mean() - 1 / k) < 5 * math.sqrt(variance / len(priors))
        assert abs(squares.mean() - variance) < 5 * squares.std() / math.sqrt(len(priors))


@pytest.mark.parametrize("explores", (True, False))
def test_noise_is_fresh_at_every_root_and_only_where_the_search_explores(explores):
    game = make_game("connect_four")
    states, rows = np.repeat(game.initial_states(1), 2, axis=0), np.arange(2)
    search = make_search(game, 2, 30, UniformEvaluator(7), explores=explores)
    search.reset(rows, states, 30)
    search.run()
    first = search.tree.children_priors[:, 0].copy()
    assert np.array_equal(first[0], first[1]) != explores
    assert np.allclose(first, 1 / 7) != explores
    actions = np.full(2, 3)
    inside = search.tree.children_priors[rows, search.tree.children_index[:, 0, 3]]
    after = game.step(states, actions).states
    search.advance(rows, actions, after, 30)
    kept = search.tree.children_priors[:, 0]
    for row in rows:
        assert np.allclose(kept[row], inside[row]) != explores
    assert np.allclose(kept[0], kept[1]) != explores


def test_root_temperature_flattens_the_priors():
    evaluator = HashEvaluator(9)
    plain, _ = root_priors("tic_tac_toe", [], 1, evaluator, **NO_NOISE)
    flat, _ = root_priors("tic_tac_toe", [], 1, evaluator, root_prior_temperature=2.0, **NO_NOISE)
    np.testing.assert_allclose(flat[0], np.sqrt(plain[0]) / np.sqrt(plain[0]).sum(), atol=1e-6)


# --- compiled and interpreted ---------------------------------------------------------------------


VARIANTS = (
    dict(root_prior_temperature=1.3),
    dict(root="gumbel", max_num_considered_actions=5),
    dict(forced_playouts_k=2.0),
    dict(mcts_solver=False, count_kept_visits=False, first_play_value="zero"),
)


def digest(name, settings):
    """Return a hash of everything in two trees, over two moves, with noise."""
    game, total = named_game(name), hashlib.sha256()
    states, rows = random_positions(game, 3, seed=21)[:2], np.arange(2)
    search = make_search(game, 2, 16, explores=True, **settings)
    search.reset(rows, states, np.array([16, 9]))
    for _ in range(2):
        search.run()
        output = search.output(rows)
        for row in rows:
            num_nodes = search.tree.num_nodes[row]
            visited = search.tree.children_index[row, :num_nodes] >= 0
            for field in (array for array in search.tree if array.ndim > 1):
                used = field[row, :num_nodes]
                total.update((used[visited] if used.ndim == 2 else used).tobytes())
        total.update(b"".join(np.asarray(part).tobytes() for part in output))
        after = game.step(search.root_states[rows], output.actions)
        going = ~after.over
        search.stop(rows[after.over])
        rows = rows[going]
        search.advance(rows, output.actions[going], after.states[going], 12)
    return total.hexdigest()


def digests():
    """Yield a line for each game and variant."""
    for name, settings in itertools.product(GAMES, VARIANTS):
        yield f"{name} {settings} {digest(name, settings)}"


@pytest.mark.slow
def test_the_interpreted_search_is_the_compiled_one_and_warns_of_nothing():
    assert printed_without_compiler(__file__) == list(digests())


if __name__ == "__main__":
    for line in digests():
        print(line)
