"""The tree's arrays: bandits solved by hand, invariants under random operations, memory."""

import math

import numpy as np
import pytest
from mostly_slow import mostly_slow
from search_samples import GAMES, make_search, named_game

from alphazero.own_games.registry import make_game
from alphazero.search import puct
from alphazero.search import simulate as simulation
from alphazero.search import tree as trees

#: pb_c stays 1, and an unvisited arm has its parent's value.
PLAIN = puct.Exploration(
    pb_c_init=1.0, pb_c_base=1e9, first_play_urgency=0.0, root_first_play_urgency=0.0
)


# --- bandits solved by hand -----------------------------------------------------------------------


def pull(
    priors,
    root_value,
    arm_values,
    num_simulations,
    exploration=PLAIN,
    same_player=False,
    over=(),
    mask=None,
):
    """Search a bandit with the kernels alone.

    Args:
        arm_values: the value of every node behind an arm, for the root's player.
        same_player: whether the root's player moves at all nodes.
        over: the arms that end the game.

    Returns:
        The tree, and the arms in the order in which they were pulled.
    """
    num_actions = len(priors)
    tree = trees.make_tree(1, num_simulations + 1, num_actions)
    rows, node, budgets = np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)
    mask = np.ones((1, num_actions), bool) if mask is None else np.array([mask])
    logits = np.log(np.array([priors], np.float32))
    budgets[0] = num_simulations
    edges, order = simulation.make_edges(1), []
    while True:
        num_edges, num_roots, depth = simulation.simulate(
            tree, rows, budgets, exploration, None, None, 1, edges
        )
        if num_edges == 0:
            return tree, order
        player = 0 if same_player else depth % 2
        value, finished = root_value, False
        if num_roots == 0:
            arm = first_action(tree, edges.parents[0], edges.actions[0])
            order.append(arm)
            value = arm_values[arm] * (1 if player == 0 else -1)
            finished = edges.parents[0] == trees.ROOT_INDEX and arm in over
        players, results = np.array([player], np.int8), np.array([value * finished], np.float32)
        finishes = np.array([finished])
        trees.add_nodes(tree, rows, edges.parents, edges.actions, players, finishes, results, node)
        if not finished:
            trees.expand(tree, rows, node, logits, mask, np.array([value], np.float32))
            trees.backward(tree, rows, node)


def first_action(tree, node, action):
    """Return the first action of the path that leads to an edge of tree 0."""
    while node != trees.ROOT_INDEX:
        action, node = tree.action_from_parent[0, node], tree.parents[0, node]
    return int(action)


@pytest.mark.parametrize("same_player", (False, True))
def test_bandit_by_hand(same_player):
    # Q + P sqrt(N) / (1 + n), N the root's visits, its own evaluation included. An unvisited arm
    # has the root's mean as its Q.
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


@pytest.mark.parametrize(("urgency", "second"), ((0.0, 1), (0.05, 1), (0.08, 0), (1.0, 0)))
def test_bandit_by_hand_with_first_play_urgency(urgency, second):
    # The root is worth .5, and so is arm 0, which is pulled first: visited prior .64, its root .8.
    # N=2: arm 0: .5 + .64 * 1.414 / 2 = .953
    #      arm 1: .5 - urgency * .8 + .36 * 1.414 = 1.009 without urgency, .209 with 1, .969 with
    # .05
    arms = ([0.64, 0.36], 0.5, [0.5, -1.0], 2)
    at_root = PLAIN._replace(root_first_play_urgency=urgency)
    assert pull(*arms, at_root)[1] == [0, second]
    below_root = PLAIN._replace(first_play_urgency=urgency)
    assert pull(*arms, below_root)[1] == [0, 1]


def test_bandit_by_hand_with_growing_exploration():
    # pb_c = 1 + ln((N + 1 + 1) / 1): 2.0986 at N=1, 2.3863 at N=2. After arm 0 paid 1 the root's
    # mean is .5. N=2: arm 0: 1 + .5 * 1.414 * 2.386 / 2 = 1.844; arm 1: .5 + .5 * 1.414 * 2.386 =
    # 2.187
    arms = ([0.5, 0.5], 0.0, [1.0, 0.0], 2)
    assert pull(*arms, PLAIN._replace(pb_c_base=1.0))[1] == [0, 1]
    # With pb_c = 1: arm 0: 1 + .354; arm 1: .5 + .707
    assert pull(*arms)[1] == [0, 0]


def test_an_unvisited_arm_is_never_worth_less_than_a_loss():
    # With an urgency of 10, arm 1 is worth -1 and not .0 - 10 * .775.
    # N=2: arm 0: -.9 + .6 * .707 = -.476; arm 1: -1 + .4 * 1.414 = -.434
    exploration = PLAIN._replace(first_play_urgency=10.0, root_first_play_urgency=10.0)
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


# --- what a simulation finds ----------------------------------------------------------------------


def test_a_simulation_tells_a_pending_root_a_leaf_and_a_finished_search_apart():
    tree, _ = pull([0.5, 0.5], 0.0, [0.0, 0.0], 1)
    three = trees.make_tree(3, 2, 2)
    for field, source in zip(three[1:], tree[1:]):
        field[1:] = source
    three.num_nodes[1:] = 2
    edges, rows = simulation.make_edges(3), np.arange(3, dtype=np.int32)
    budgets = np.array([5, 1, 5], np.int32)  # the search of game 1 is finished
    assert simulation.simulate(three, rows, budgets, PLAIN, None, None, 1, edges) == (2, 1, 1)
    assert edges.rows[:2].tolist() == [0, 2]
    assert edges.parents[:2].tolist() == [trees.NO_PARENT, trees.ROOT_INDEX]
    assert edges.actions[:2].tolist() == [trees.NO_PARENT, 1]


# --- masks, extremes ------------------------------------------------------------------------------


def test_a_row_with_everything_masked_gives_numbers():
    tree, rows, node = trees.make_tree(2, 3, 4), np.arange(2, dtype=np.int32), np.zeros(2, np.int32)
    no_parents, results = np.full(2, trees.NO_PARENT, np.int32), np.zeros(2, np.float32)
    players, over = np.zeros(2, np.int8), np.zeros(2, bool)
    trees.add_nodes(tree, rows, no_parents, no_parents, players, over, results, node)
    mask = np.array([[False] * 4, [True, False, True, False]])
    logits = np.array([[1e30, -1e30, 0, 5]] * 2, np.float32)
    trees.expand(tree, rows, node, logits, mask, np.array([0.25, 0.5], np.float32))
    puct.mix_root_priors(tree, rows, np.ones((2, 4), np.float32), 0.25, 1.3)
    weights, values = np.full((2, 4), np.nan, np.float32), np.full(2, np.nan, np.float32)
    puct.root_policy(tree, rows, weights, values)
    assert all(np.isfinite(part).all() for part in (*tree, weights, values))
    assert weights[0].tolist() == [0, 0, 0, 0]
    assert tree.children_priors[0, 0].tolist() == [0, 0, 0, 0]
    assert values.tolist() == [0.25, 0.5]
    assert weights[1].tolist() == [0.5, 0, 0.5, 0]


@pytest.mark.parametrize("logits", ([1e30, 0.0, -1e30], [-1e30, -1e30, -1e30], [80.0, 90.0, 100.0]))
def test_extreme_logits_give_probabilities(logits):
    tree, _ = pull([0.2, 0.3, 0.5], 0.0, [0.0] * 3, 0)
    row, mask = np.zeros(1, np.int32), np.ones((1, 3), bool)
    trees.expand(tree, row, row, np.array([logits], np.float32), mask, np.zeros(1, np.float32))
    assert tree.children_priors[0, 0].sum() == pytest.approx(1.0)
    assert tree.children_priors[0, 0].argmax() == np.argmax(logits)


# --- invariants under random operations -----------------------------------------------------------


def assert_consistent(search, row):
    """Check what holds for a game's tree whenever no leaf waits for its evaluation."""
    tree, game, count = search.tree, search.game, int(search.tree.num_nodes[row])
    assert count <= search.tree.parents.shape[1]
    if count == 0:
        return
    assert tree.parents[row, 0] == tree.action_from_parent[row, 0] == trees.NO_PARENT
    assert np.array_equal(search._states[row, 0], search.root_states[row])
    assert count <= tree.node_visits[row, 0]
    inspected = game.inspect(search._states[row, :count])
    assert np.array_equal(tree.players[row, :count], inspected.players)
    for node in range(count):
        legal = tree.children_index[row, node] != trees.ILLEGAL
        assert np.array_equal(legal, inspected.legal_action_mask[node])
        if node != trees.ROOT_INDEX:
            assert_linked(search, row, node)
        if inspected.over[node]:
            result = inspected.results[node]
            assert tree.proven_values[row, node] == tree.node_values[row, node] == result
        else:
            assert_statistics(tree, row, node)


def assert_linked(search, row, node):
    """Check the link between a node and its parent."""
    tree = search.tree
    parent, action = tree.parents[row, node], tree.action_from_parent[row, node]
    assert 0 <= parent < node
    assert tree.children_index[row, parent, action] == node
    assert tree.children_visits[row, parent, action] == tree.node_visits[row, node]
    after = search.game.step(search._states[row, parent][None], np.array([action]))
    assert np.array_equal(after.states[0], search._states[row, node])


def assert_statistics(tree, row, node):
    """Check the statistics of an evaluated node against those of its children."""
    children, visits = tree.children_index[row, node], tree.children_visits[row, node]
    visited = children >= 0
    assert (visits[visited] > 0).all() and (visits[~visited] == 0).all()
    assert (tree.parents[row, children[visited]] == node).all()
    if tree.proven_values[row, node] != trees.UNPROVEN:
        return
    num_visits, values = tree.node_visits[row, node], tree.children_values[row, node]
    assert visits.sum() + 1 == num_visits
    unproven = tree.proven_values[row, children[visited]] == trees.UNPROVEN
    if unproven.all():  # a proof replaces a mean by the exact value
        total = tree.raw_values[row, node] + (visits * values.astype(np.float64)).sum()
        priors = tree.children_priors[row, node]
        visited_prior = pytest.approx(priors[visited].sum(), abs=1e-5)
        assert tree.node_values[row, node] == pytest.approx(total / num_visits, abs=1e-4)
        assert priors.sum() == pytest.approx(1.0, abs=1e-5)
        assert tree.visited_priors[row, node] == visited_prior
    for child, value in zip(children[visited][unproven], values[visited][unproven]):
        sign = 1 if tree.players[row, child] == tree.players[row, node] else -1
        assert value == pytest.approx(sign * tree.node_values[row, child], abs=1e-4)


def advance_at_random(search, rows, rng):
    """Play a random move in games whose root is evaluated; return how many kept a subtree."""
    game = search.game
    mask = game.legal_action_mask(search.root_states[rows])
    weights = search.output(rows).action_weights + 0.05 * mask
    actions = (weights * rng.random(mask.shape)).argmax(axis=1)
    after = game.step(search.root_states[rows], actions)
    going, ended = ~after.over, rows[after.over]
    budgets = rng.integers(0, 31, going.sum())
    search.advance(rows[going], actions[going], after.states[going], budgets)
    search.reset(ended, game.initial_states(len(ended)), 30)
    return (search.tree.num_nodes[rows[going]] > 1).sum()


@pytest.mark.parametrize("name", mostly_slow(GAMES))
@pytest.mark.parametrize("explores", (True, False))
def test_trees_stay_consistent_under_random_operations(name, explores):
    game, rng, num_games = named_game(name), np.random.default_rng(9), 4
    search = make_search(game, num_games, 30, seed=1, explores=explores)
    search.reset(np.arange(num_games), game.initial_states(num_games), 30)
    num_kept = 0
    for _ in range(60):
        rows = np.flatnonzero(rng.random(num_games) < 0.4)
        evaluated = rows[search.tree.num_nodes[rows] > 0]
        operation = rng.choice(["step", "advance", "reset"], p=[0.8, 0.17, 0.03])
        if operation == "step":
            for _ in range(rng.integers(1, 12)):
                search.step()
        elif operation == "reset":
            budgets = rng.integers(0, 31, len(rows))
            search.reset(rows, game.initial_states(len(rows)), budgets)
        elif len(evaluated):
            num_kept += advance_at_random(search, evaluated, rng)
        for row in range(num_games):
            assert_consistent(search, row)
    assert num_kept > 5


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_actions", (3, 9, 65))
def test_a_node_takes_the_stated_memory(num_actions):
    tree = trees.make_tree(4, 10, num_actions)
    by_node = [array for array in tree if array.ndim > 1]
    assert sum(array.nbytes for array in by_node) == 4 * 10 * trees.bytes_per_node(num_actions)
    assert tree.num_nodes.nbytes == 4 * 4


def test_a_new_tree_is_zeros_and_what_lies_in_unused_nodes_has_no_meaning():
    one, other = (make_search(make_game("connect_x:4x5x3"), 2, 60) for _ in range(2))
    assert not any(array.any() for array in one.tree if array.ndim > 1)
    for array in other.tree:
        if array.ndim > 1:
            array[:] = 77
    for search in (one, other):
        search.reset(np.arange(2), search.game.initial_states(2), 60)
        search.run()
    assert one.tree.num_nodes.tolist() == other.tree.num_nodes.tolist()
    for field in ("children_visits", "children_index", "children_values", "parents", "players"):
        num = one.tree.num_nodes[0]
        is_over = one.tree.proven_values[0, :num] != trees.UNPROVEN
        left, right = (getattr(search.tree, field)[0, :num][~is_over] for search in (one, other))
        np.testing.assert_array_equal(left, right)


def test_othello_trees_of_256_games_and_800_simulations_stay_under_500_mb():
    search = make_search(make_game("othello"), 2, 800)
    own = [value for value in vars(search).values() if isinstance(value, np.ndarray)]
    assert sum(array.nbytes for array in (*search.tree, *own)) / 2 * 256 < 500_000_000
    stated = 256 * 801 * trees.bytes_per_node(65)  # in the docstring of the module
    assert stated == pytest.approx(220e6, rel=0.01)
    assert search.max_simulations == 800 and math.prod(search.tree.parents.shape) == 2 * 801
