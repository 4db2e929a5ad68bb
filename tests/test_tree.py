"""The tree's arrays: bandits solved by hand, invariants under random operations, reuse without loss, memory as stated."""

import math

import numpy as np
import pytest
from naive_mcts import HashEvaluator, TwiceGame

from alphazero.games.registry import make_game
from alphazero.search import puct
from alphazero.search import simulate as walks
from alphazero.search import tree as trees
from alphazero.search.batched_search import SearchSettings, TreeSearch

GAMES = (
    "tic_tac_toe",
    "connect_x:4x4x3",
    "connect_x:3x3x3",
    "othello:4",
    "twice",
)  # the third has many draws
UNREDUCED = puct.Exploration(1.0, 1e9, 0.0, 0.0)  # pb_c stays 1


def named_game(name):
    return TwiceGame() if name == "twice" else make_game(name)


def by_path(tree, row, root=trees.ROOT_INDEX):
    """Return the nodes below ``root`` by the moves that lead to them from there."""
    paths = {root: ()}
    for node in range(root + 1, tree.num_nodes[row]):
        parent = tree.parents[row, node]
        if parent in paths:
            paths[node] = (*paths[parent], int(tree.action_from_parent[row, node]))
    return {path: node for node, path in paths.items()}


# --- bandits solved by hand -------------------------------------------------------------------------------------------------------------


def pull(
    priors,
    root_value,
    arm_values,
    num_simulations,
    exploration=UNREDUCED,
    same_player=False,
    over=(),
    mask=None,
):
    """Search a bandit: whoever pulls arm a gets ``arm_values[a]`` (viewpoint of the root's player) at every visit, however deep.

    Args:
        same_player: whether the root's player moves at all nodes.
        over: the arms whose game is finished after one pull.
    """
    num_actions = len(priors)
    tree = trees.make_tree(1, num_simulations + 1, num_actions)
    rows, budgets, node, parents, actions, depths = (np.zeros(1, np.int32) for _ in range(6))
    mask = np.ones((1, num_actions), bool) if mask is None else np.array([mask])
    budgets[0] = num_simulations
    order = []
    while True:
        walks.simulate(tree, rows, budgets, exploration, None, parents, actions, depths)
        if actions[0] < 0:
            return tree, order
        path = [int(actions[0])]
        above = parents[0]
        while above > 0:
            path.insert(0, int(tree.action_from_parent[0, above]))
            above = tree.parents[0, above]
        player = 0 if same_player else depths[0] % 2
        value = (
            root_value
            if parents[0] == trees.NO_PARENT
            else arm_values[path[0]] * (1 if player == 0 else -1)
        )
        finished = parents[0] == trees.ROOT_INDEX and path[0] in over
        results = np.array([value if finished else 0], np.float32)
        trees.add_nodes(
            tree,
            rows,
            parents,
            actions,
            np.array([player], np.int8),
            np.array([finished]),
            results,
            node,
        )
        if parents[0] != trees.NO_PARENT:
            order.append(path[0])
        if not finished:
            logits = np.log(np.array([priors], np.float32))
            trees.expand(tree, rows, node, logits, mask, np.array([value], np.float32))
            trees.backward(tree, rows, node)


@pytest.mark.parametrize("same_player", (False, True))
def test_bandit_by_hand(same_player):
    # Q + P sqrt(N) / (1 + n), N the root's visits, its own evaluation included; an unvisited arm has the root's mean for a Q.
    # N=1: 0 + .6      , 0 + .4         -> arm 0, which pays 0
    # N=2: 0 + .424    , 0 + .566       -> arm 1, which pays 1
    # N=3: 0 + .520    , 1 + .346       -> arm 1
    # N=4: 0 + .6      , 1 + .267       -> arm 1
    tree, order = pull([0.6, 0.4], 0.0, [0.0, 1.0], 4, same_player=same_player)
    assert order == [0, 1, 1, 1]
    assert tree.children_visits[0, 0].tolist() == [1, 3]
    assert tree.children_values[0, 0].tolist() == [0.0, 1.0]
    assert tree.node_visits[0, 0] == 5
    assert tree.node_values[0, 0] == pytest.approx(3 / 5)


def test_bandit_by_hand_with_first_play_urgency():
    # The root is worth .5 and so is arm 0, which gets the first pull: visited prior mass .64, its root .8.
    # N=2: arm 0: .5 + .64 * 1.414 / 2 = .953; arm 1: .5 - urgency * .8 + .36 * 1.414 = 1.009 without urgency, .209 with 1, .969 with .05
    for urgency, second in ((0.0, 1), (0.05, 1), (0.08, 0), (1.0, 0)):
        _, order = pull([0.64, 0.36], 0.5, [0.5, -1.0], 2, puct.Exploration(1.0, 1e9, 0.0, urgency))
        assert order == [0, second]
        _, order = pull([0.64, 0.36], 0.5, [0.5, -1.0], 2, puct.Exploration(1.0, 1e9, urgency, 0.0))
        assert order == [0, 1]  # the root has a constant of its own


def test_bandit_by_hand_with_growing_exploration():
    # pb_c = 1 + ln((N + 1 + 1) / 1): 2.0986 at N=1, 2.3863 at N=2
    # N=2 after arm 0 paid 1: the root's mean is .5; arm 0: 1 + .5 * 1.414 * 2.386 / 2 = 1.844; arm 1: .5 + .5 * 1.414 * 2.386 = 2.187
    assert pull([0.5, 0.5], 0.0, [1.0, 0.0], 2, puct.Exploration(1.0, 1.0, 0.0, 0.0))[1] == [0, 1]
    # with pb_c = 1 arm 0: 1 + .354; arm 1: .5 + .707
    assert pull([0.5, 0.5], 0.0, [1.0, 0.0], 2)[1] == [0, 0]


def test_an_unvisited_arm_is_never_worth_less_than_a_loss():
    # urgency 10: arm 1 is worth -1, not .0 - 10 * .775; N=2: arm 0: -.9 + .6 * .707 = -.476; arm 1: -1 + .4 * 1.414 = -.434
    exploration = puct.Exploration(1.0, 1e9, 10.0, 10.0)
    assert pull([0.6, 0.4], 0.0, [-0.9, 0.0], 2, exploration)[1] == [0, 1]


def test_a_winning_arm_ends_the_search_and_losing_ones_are_left():
    tree, order = pull([0.3, 0.3, 0.4], 0.0, [0.0, 1.0, -1.0], 50, over=(1, 2))
    assert tree.proven_values[0, 0] == 1
    assert order[-1] == 1 and order.count(1) == 1 and order.count(2) == 1
    tree, order = pull([0.1, 0.1, 0.8], 0.0, [-0.5, -0.5, -1.0], 50, over=(2,))
    assert tree.proven_values[0, 0] == trees.UNPROVEN
    assert tree.children_visits[0, 0, 2] == 1
    assert tree.children_priors[0, 0, 2] == 0.0
    tree, order = pull([0.5, 0.5], 0.0, [-1.0, 0.0], 50, over=(0, 1))
    assert tree.proven_values[0, 0] == 0
    tree, order = pull([0.5, 0.5], 0.0, [-1.0, -1.0], 50, over=(0, 1))
    assert tree.proven_values[0, 0] == -1


def test_an_illegal_arm_is_never_pulled():
    tree, order = pull([0.1, 0.8, 0.1], 0.0, [0.0, 1.0, 0.0], 20, mask=[True, False, True])
    assert 1 not in order
    assert tree.children_priors[0, 0].tolist() == [0.5, 0.0, 0.5]
    assert (tree.children_index[0, : tree.num_nodes[0], 1] == trees.ILLEGAL).all()


# --- masks, extremes --------------------------------------------------------------------------------------------------------------------


def test_a_row_with_everything_masked_gives_numbers():
    tree, rows, node = trees.make_tree(2, 3, 4), np.arange(2, dtype=np.int32), np.zeros(2, np.int32)
    roots = np.full(2, trees.NO_PARENT, np.int32)
    zeros = np.zeros(2, np.int32)
    trees.add_nodes(
        tree,
        rows,
        roots,
        zeros,
        np.zeros(2, np.int8),
        np.zeros(2, bool),
        np.zeros(2, np.float32),
        node,
    )
    mask = np.array([[False] * 4, [True, False, True, False]])
    trees.expand(
        tree,
        rows,
        node,
        np.array([[1e30, -1e30, 0, 5]] * 2, np.float32),
        mask,
        np.array([0.25, 0.5], np.float32),
    )
    trees.mix_root_priors(tree, rows, np.ones((2, 4), np.float32), 0.25, 1.3)
    weights, values = np.full((2, 4), np.nan, np.float32), np.full(2, np.nan, np.float32)
    trees.root_policy(tree, rows, weights, values)
    assert all(np.isfinite(part).all() for part in (*tree, weights, values))
    assert weights[0].tolist() == [0, 0, 0, 0]
    assert tree.children_priors[0, 0].tolist() == [0, 0, 0, 0]
    assert values.tolist() == [0.25, 0.5]
    assert weights[1].tolist() == [0.5, 0, 0.5, 0]


def test_extreme_logits_give_probabilities():
    for logits in ([1e30, 0.0, -1e30], [-1e30, -1e30, -1e30], [80.0, 90.0, 100.0]):
        tree, _ = pull([0.2, 0.3, 0.5], 0.0, [0.0] * 3, 0)
        trees.expand(
            tree,
            *np.zeros((2, 1), np.int32),
            np.array([logits], np.float32),
            np.ones((1, 3), bool),
            np.zeros(1, np.float32),
        )
        assert tree.children_priors[0, 0].sum() == pytest.approx(1.0)
        assert tree.children_priors[0, 0].argmax() == np.argmax(logits)


# --- invariants under random operations -------------------------------------------------------------------------------------------------


def assert_consistent(search, row):
    """Hold one game's tree to what must be true whenever no leaf waits for its answer."""
    tree, game, count = search.tree, search.game, int(search.tree.num_nodes[row])
    assert count <= search.max_simulations + 1
    if count == 0:
        return
    assert (
        tree.parents[row, 0] == trees.NO_PARENT
        and tree.action_from_parent[row, 0] == trees.NO_PARENT
    )
    assert np.array_equal(search._states[row, 0], search.root_states[row])
    assert count <= tree.node_visits[row, 0]
    inspected = game.inspect(search._states[row, :count])
    assert np.array_equal(tree.players[row, :count], inspected.players)
    for node in range(count):
        children, visits = tree.children_index[row, node], tree.children_visits[row, node]
        assert np.array_equal(children != trees.ILLEGAL, inspected.legal_action_mask[node])
        if node:
            parent, action = tree.parents[row, node], tree.action_from_parent[row, node]
            assert 0 <= parent < node
            assert tree.children_index[row, parent, action] == node
            assert tree.children_visits[row, parent, action] == tree.node_visits[row, node]
            after = game.step(search._states[row, parent][None], np.array([action])).states[0]
            assert np.array_equal(after, search._states[row, node])
        if inspected.over[node]:
            assert (
                tree.proven_values[row, node]
                == inspected.results[node]
                == tree.node_values[row, node]
            )
            continue
        visited = children >= 0
        assert (visits[visited] > 0).all() and (visits[~visited] == 0).all()
        assert (tree.parents[row, children[visited]] == node).all()
        if tree.proven_values[row, node] != trees.UNPROVEN:
            continue
        assert visits.sum() + 1 == tree.node_visits[row, node]
        total = (
            tree.raw_values[row, node]
            + (visits * tree.children_values[row, node].astype(np.float64)).sum()
        )
        if not (
            tree.proven_values[row, children[visited]] != trees.UNPROVEN
        ).any():  # a proof replaces a mean by the exact value
            assert tree.node_values[row, node] == pytest.approx(
                total / tree.node_visits[row, node], abs=1e-4
            )
            assert tree.children_priors[row, node].sum() == pytest.approx(1.0, abs=1e-5)
            assert tree.visited_priors[row, node] == pytest.approx(
                tree.children_priors[row, node, visited].sum(), abs=1e-5
            )
        for child, value in zip(children[visited], tree.children_values[row, node, visited]):
            if tree.proven_values[row, child] == trees.UNPROVEN:
                sign = 1 if tree.players[row, child] == tree.players[row, node] else -1
                assert value == pytest.approx(sign * tree.node_values[row, child], abs=1e-4)


@pytest.mark.parametrize("name", GAMES)
def test_trees_stay_consistent_under_random_operations(name):
    game, rng, num_games = named_game(name), np.random.default_rng(9), 6
    search = TreeSearch(
        game,
        HashEvaluator(game.num_actions),
        num_games,
        30,
        SearchSettings(),
        np.random.default_rng(1),
    )
    search.reset(
        np.arange(num_games),
        game.initial_states(num_games),
        np.full(num_games, 30),
        np.zeros(num_games, bool),
    )
    advanced = 0
    for _ in range(150):
        rows = np.flatnonzero(rng.random(num_games) < 0.4)
        evaluated = rows[search.tree.num_nodes[rows] > 0]
        kind = rng.choice(["step", "advance", "reset"], p=[0.8, 0.17, 0.03])
        if kind == "step":
            for _ in range(rng.integers(1, 12)):
                search.step()
        elif kind == "reset":
            search.reset(
                rows,
                game.initial_states(len(rows)),
                rng.integers(0, 31, len(rows)),
                rng.random(len(rows)) < 0.5,
            )
        elif len(evaluated):
            mask = game.legal_action_mask(search.root_states[evaluated])
            weights = search.output(evaluated).action_weights + 0.05 * mask
            actions = (weights * rng.random(mask.shape)).argmax(axis=1)
            after = game.step(search.root_states[evaluated], actions)
            live = ~after.over
            budgets = rng.integers(0, 31, live.sum())
            search.advance(
                evaluated[live],
                actions[live],
                after.states[live],
                budgets,
                rng.random(live.sum()) < 0.5,
            )
            search.reset(
                evaluated[~live],
                game.initial_states((~live).sum()),
                np.full((~live).sum(), 30),
                np.ones((~live).sum(), bool),
            )
            advanced += (search.tree.num_nodes[evaluated[live]] > 1).sum()
        for row in range(num_games):
            assert_consistent(search, row)
    assert advanced > 5


# --- reuse ------------------------------------------------------------------------------------------------------------------------------


def subtree(search, row, action):
    """Return everything that a tree knows below an action of its root, by path."""
    tree = search.tree
    root = tree.children_index[row, 0, action]
    if root < 0:
        return {}
    return snapshot(search, row, by_path(tree, row, root))


def snapshot(search, row, nodes):
    kept = {}
    for path, node in nodes.items():
        figures = {
            name: getattr(search.tree, name)[row, node].copy()
            for name in search.tree._fields[1:]
            if name not in ("parents", "action_from_parent")
        }
        links = figures.pop("children_index")
        figures["visited"] = np.where(links >= 0, 0, links)
        figures["state"] = search._states[row, node].copy()
        kept[path] = figures
    return kept


@pytest.mark.parametrize("name", GAMES)
def test_reuse_keeps_every_statistic_of_the_subtree_and_nothing_else(name):
    game, rng = named_game(name), np.random.default_rng(2)
    rows = np.arange(8)
    search = TreeSearch(
        game, HashEvaluator(game.num_actions), 8, 80, SearchSettings(), np.random.default_rng(1)
    )
    search.reset(rows, game.initial_states(8), np.full(8, 80), np.zeros(8, bool))
    sizes = []
    for _ in range(4):
        search.run()
        mask = game.legal_action_mask(search.root_states[rows])
        actions = (mask * rng.random(mask.shape)).argmax(axis=1)
        after = game.step(search.root_states[rows], actions)
        search.stop(rows[after.over])
        rows, actions, states = rows[~after.over], actions[~after.over], after.states[~after.over]
        before = [subtree(search, row, action) for row, action in zip(rows, actions)]
        search.advance(rows, actions, states, np.zeros(len(rows), int), np.zeros(len(rows), bool))
        for row, expected in zip(rows, before):
            assert search.tree.num_nodes[row] == len(expected)
            if expected:
                found = snapshot(search, row, by_path(search.tree, row))
                assert set(found) == set(expected)
                for path, figures in expected.items():
                    assert all(np.array_equal(figures[key], found[path][key]) for key in figures), (
                        path
                    )
            sizes.append(len(expected))
        search._begin(rows, np.full(len(rows), 80), np.zeros(len(rows), bool))
    assert max(sizes) > 10 and len(set(sizes)) > 5


# --- memory -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_actions", (3, 9, 65))
def test_a_node_takes_the_stated_memory(num_actions):
    tree = trees.make_tree(4, 10, num_actions)
    assert sum(array.nbytes for array in tree[1:]) == 4 * 10 * trees.bytes_per_node(num_actions)
    assert tree.num_nodes.nbytes == 4 * 4


def test_othello_trees_of_256_games_and_800_simulations_stay_under_500_mb():
    game = make_game("othello")
    search = TreeSearch(
        game, HashEvaluator(game.num_actions), 2, 800, SearchSettings(), np.random.default_rng(0)
    )
    arrays = [
        *search.tree,
        *(value for value in vars(search).values() if isinstance(value, np.ndarray)),
    ]
    assert sum(array.nbytes for array in arrays) / 2 * 256 < 500_000_000
    assert 256 * 801 * trees.bytes_per_node(65) == pytest.approx(
        220e6, rel=0.01
    )  # as the module says
    assert search.max_simulations == 800 and math.prod(search.tree.parents.shape) == 2 * 801
