"""Forced playouts and target pruning, solved by hand; whole games are in `test_gumbel`."""

import numpy as np
from search_samples import pull_arms

from alphazero.search import forced_playouts, puct
from alphazero.search import tree as trees

#: pb_c stays 1, and priors are as given.
PLAIN = dict(pb_c_init=1.0, pb_c_base=1e9, first_play_urgency=0.0, dirichlet_fraction=0.0)
FORCED = dict(forced_playouts_k=2.0, **PLAIN)


def test_forced_playouts_by_hand():
    # Priors .62, .38; arm 0 pays .5, arm 1 -.5; k = 2; n the visits of all arms; an arm that was
    # visited is owed sqrt(2 * prior * n) visits.
    # n=0: arm 0;  n=1: PUCT .938, .787: arm 0;  n=2: .858, .991: arm 1
    # n=3: owed 1.93 of 2, 1.51 of 1: arm 1 (PUCT: arm 0)   n=4: owed 2.23 of 2: arm 0
    # n=5: owed 2.49 of 3, 1.95 of 2: PUCT, arm 0           n=6: owed 2.14 of 2: arm 1 (PUCT: arm 0)
    # n=7: owed 2.95 of 5, 2.31 of 3: PUCT, arm 0
    expected = {3: [2, 1], 4: [2, 2], 5: [3, 2], 6: [4, 2], 7: [4, 3], 8: [5, 3]}
    for num_simulations, visits in expected.items():
        search, output = pull_arms([0.62, 0.38], 0.0, [0.5, -0.5], num_simulations, **FORCED)
        assert search.tree.children_visits[0, 0].tolist() == visits
    # Of arm 1's three visits two were forced (sqrt(.76 * 8) = 2.47); the single one that is left
    # goes too. A move is sampled from all of them.
    assert output.action_weights.tolist() == [[1.0, 0.0]]
    assert output.move_weights.tolist() == [[0.625, 0.375]]
    assert output.actions.tolist() == [0] and not output.is_sampled


def test_pruning_by_hand():
    # pb_c = 1 and 20 visits: the score is Q + 4.472 * P / (1 + n), that of action 0 .3 + .163 =
    # .463. Forced: sqrt(2 * P * 19) = 3.9 for actions 0 and 1, 2.76 for action 2.
    # Row 0: action 1 with 5 visits: .2 + 1.789 / 6 = .498, more than .463: it keeps its 6.
    #        Action 2 with 1 visit: -.4 + .894 / 2 = .047: it is left with 1, and so with 0.
    # Row 1: action 1 with 4 visits: .1 + 1.789 / 5 = .458; with 3: .547: it keeps 4.
    # Row 2: 18 visits, action 0 scores .454. Action 2 was visited once, and sqrt(2 * .01 * 17) =
    # .58        is less than a visit: it keeps it.
    # Row 3 is proven: its fractions stay.
    priors = [[0.4, 0.4, 0.2]] * 2 + [[0.4, 0.59, 0.01], [0.4, 0.4, 0.2]]
    values = [[0.3, 0.2, -0.4], [0.3, 0.1, -0.4], [0.3, 0.2, -0.4], [0.0, 0.0, 0.0]]
    visits = np.array([[10, 6, 3], [10, 6, 3], [10, 6, 1], [10, 6, 3]])
    tree, rows = trees.make_tree(4, 1, 3), np.arange(4, dtype=np.int32)
    tree.children_priors[:, 0] = priors
    tree.children_values[:, 0] = values
    tree.children_visits[:, 0] = visits
    tree.node_visits[:, 0] = visits.sum(axis=1) + 1
    tree.proven_values[:, 0] = [trees.UNPROVEN] * 3 + [0]
    weights = (visits / visits.sum(axis=1, keepdims=True)).astype(np.float32)
    exploration = puct.Exploration(1.0, 1e9, 0.0, 0.0, forced_playouts_k=2.0)
    forced_playouts.prune_forced(tree, rows, exploration, weights)
    expected = np.array([[10, 6, 0], [10, 4, 0], [10, 6, 1], [10, 6, 3]])
    np.testing.assert_allclose(weights, expected / expected.sum(axis=1, keepdims=True), rtol=1e-6)


def test_a_root_without_visits_keeps_its_equal_weights():
    _, output = pull_arms([0.7, 0.3], 0.0, [0.0, 0.0], 0, **FORCED)
    assert output.action_weights.tolist() == [[0.5, 0.5]]
