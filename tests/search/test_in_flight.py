"""Several leaves of one tree at once: nothing counts twice, and one leaf is the plain search."""

import numpy as np
import pytest
from search_samples import GAMES, HashEvaluator, make_search, named_game, random_positions, searched

from alphazero.search.tree import UNPROVEN, UNVISITED


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("leaves_per_step", (2, 5, 16))
def test_every_visit_is_counted_once(name, leaves_per_step):
    game = named_game(name)
    states = random_positions(game, 12, seed=1)
    search = searched(game, states, 50, leaves_per_step=leaves_per_step)
    tree = search.tree
    assert not search._in_flight.nodes.any() and not search._in_flight.edges.any()
    for row in range(12):
        proven = tree.proven_values[row, 0] != UNPROVEN
        made = tree.node_visits[row, 0] - 1
        assert made == 50 or (proven and made <= 50)
        for node in range(tree.num_nodes[row]):
            children = tree.children_index[row, node]
            legal = children >= UNVISITED
            if tree.proven_values[row, node] != UNPROVEN:
                continue  # a walk that reaches it ends there
            visits = tree.children_visits[row, node][legal]
            assert tree.node_visits[row, node] == 1 + visits.sum()
            expanded = np.flatnonzero(children >= 0)
            assert (visits[children[legal] == UNVISITED] == 0).all()
            for action in expanded:
                child = children[action]
                assert tree.parents[row, child] == node
                assert tree.action_from_parent[row, child] == action
                assert tree.node_visits[row, child] == tree.children_visits[row, node, action]


def test_a_step_fills_a_batch_but_never_beyond_the_budget():
    game = named_game("othello:4")
    evaluator = HashEvaluator(game.num_actions)
    search = searched(game, game.initial_states(), 21, leaves_per_step=8, evaluator=evaluator)
    assert evaluator.num_rows[0] == 1  # the root
    assert max(evaluator.num_rows) > 3
    assert search.counts.num_simulations == 22 and search.tree.node_visits[0, 0] == 22


@pytest.mark.parametrize("name", GAMES)
def test_one_leaf_at_a_time_is_the_plain_search(name):
    """`simulate` with visits in flight, but for one leaf, chooses as it does without them."""
    game = named_game(name)
    states = random_positions(game, 10, seed=2)
    plain = searched(game, states, 40)
    search = make_search(game, 10, 40, leaves_per_step=2)
    search.reset(np.arange(10), states, 40)
    search.leaves_per_step = 1
    search.run()
    for row in range(10):
        num = plain.tree.num_nodes[row]
        assert search.tree.num_nodes[row] == num
        for field, ours, theirs in zip(plain.tree._fields, search.tree, plain.tree):
            if theirs.ndim > 1:
                assert np.array_equal(ours[row, :num], theirs[row, :num]), field


def test_a_search_with_several_leaves_is_repeatable():
    game = named_game("connect_x:4x4x3")
    states = game.initial_states(3)
    first, second = (searched(game, states, 80, leaves_per_step=8) for _ in range(2))
    assert np.array_equal(first.tree.children_visits, second.tree.children_visits)
