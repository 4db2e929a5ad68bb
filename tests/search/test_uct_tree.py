"""The tree of the UCT search: UCB1, the textbook, laws of the statistics, shared positions."""

import math
from collections import Counter

import numpy as np
import pytest
from game_samples import TWICE, label
from mostly_slow import mostly_slow
from search_samples import make_uct

from alphazero.own_games.registry import make_game
from alphazero.runtime.random_generators import child_generator, kernel_rng, random_below
from alphazero.search.uct.tree import (
    NO_CHILDREN,
    ROOT_INDEX,
    TABLE_SIZE,
    children_of,
    find_position,
    make_tree,
    ucb1,
    wins_of,
)
from alphazero.textbook.game import PlainGame
from alphazero.textbook.uct import Uct

GAMES = ("tic_tac_toe", "connect_x:4x4x3", "connect_four", "othello:4", "othello", TWICE)
NAMES = mostly_slow(GAMES, 2)


def grown(name, num_simulations, moves=(), **settings):
    """Return a search that has just searched the position after ``moves``."""
    game = make_game(name)
    search = make_uct(game, num_simulations=num_simulations, **settings)
    search.run(game.play_moves(list(moves)))
    return search


def expanded(tree):
    """Return the nodes that have children."""
    return np.flatnonzero(tree.nodes["first_child"][: tree.sizes[0]] != NO_CHILDREN)


def find(tree, actions):
    """Return the node that a line of actions leads to from the root."""
    node = ROOT_INDEX
    for action in actions:
        legal, children = children_of(tree, node)
        node = int(children[list(legal).index(action)])
    return node


# --- UCB1 -----------------------------------------------------------------------------------------


def test_ucb1_is_the_formula():
    assert ucb1(2.0, 2, 6, math.sqrt(2.0)) == pytest.approx(2.3386, abs=5e-5)
    assert ucb1(1.0, 2, 6, math.sqrt(2.0)) == pytest.approx(1.8386, abs=5e-5)
    assert ucb1(1.5, 2, 6, 0.0) == 0.75
    assert ucb1(0.0, 1, 1, 5.0) == 0.0  # ln 1 = 0
    assert ucb1(0.0, 0, 6, math.sqrt(2.0)) == ucb1(0.0, 0, 1, 0.0) == math.inf


@pytest.mark.parametrize("visits", [1, 2, 3, TABLE_SIZE - 1, TABLE_SIZE, TABLE_SIZE + 1, 10**6])
@pytest.mark.parametrize("parent_visits", [2, TABLE_SIZE - 1, TABLE_SIZE, 10**8])
def test_ucb1_is_the_same_inside_its_tables_and_beyond(visits, parent_visits):
    formula = 0.3 * visits / visits + 1.1 * math.sqrt(math.log(parent_visits) / visits)
    assert ucb1(0.3 * visits, visits, parent_visits, 1.1) == pytest.approx(formula, rel=1e-14)


def test_wins_count_draws_as_half_and_belong_to_one_side():
    # Three simulations: the first player won one, drew one and lost one; or won all.
    assert (wins_of(0, 3, 3), wins_of(1, 3, 3)) == (1.5, 1.5)
    assert (wins_of(0, 6, 3), wins_of(1, 6, 3)) == (3.0, 0.0)


# --- the textbook ---------------------------------------------------------------------------------


class InKernelOrder(Uct):
    """The textbook's search with the random numbers of the kernels, in their order.

    They take one for each tie in the order of the actions, then those of the rollout. So both
    searches agree to the last visit.
    """

    def __init__(self, game, kernel_rng, **settings):
        super().__init__(game, rollout=self.kernel_rollout, **settings)
        self.kernel_rng = kernel_rng

    def random_best(self, scores):
        best_action, best_score, num_equal = None, -math.inf, 0
        for action, score in scores.items():
            if score > best_score:
                best_action, best_score, num_equal = action, score, 1
            elif score == best_score:
                num_equal += 1
                if random_below(self.kernel_rng, num_equal) == 0:
                    best_action = action
        return best_action

    def choose_missing(self, node, missing):
        return self.random_best(self.scores(node))

    def kernel_rollout(self, game, state, rng):
        result = int(game.game.playout(game.to_array(state), self.kernel_rng)[0])
        return result if game.player_to_move(state) == 0 else -result


@pytest.mark.parametrize("by_position", [False, True], ids=["node", "position"])
@pytest.mark.parametrize("name", NAMES, ids=label)
def test_trees_are_those_of_the_textbook(name, by_position):
    game, seed, num_simulations = make_game(name), 3, 250
    plain, rng = PlainGame(game), kernel_rng(child_generator(seed, "uct"))
    textbook = InKernelOrder(plain, rng, uct_c=0.9, table={} if by_position else None)
    root = textbook.search(plain.initial_state(), num_simulations)
    statistics = "position" if by_position else "node"
    settings = dict(uct_c=0.9, num_simulations=num_simulations, statistics=statistics)
    search = make_uct(game, seed, **settings)
    search.run(game.initial_states()[0])
    assert_same_tree(search.tree, root)


def assert_same_tree(tree, root):
    """Compare the nodes below the root of a search with those of the textbook.

    The kernels add all children of a node when it is visited again, the textbook one at a time.
    """
    stack = [(ROOT_INDEX, root)]
    while stack:
        index, node = stack.pop()
        visits, points = int(tree.nodes[index]["visits"]), int(tree.nodes[index]["points"])
        assert (visits, points / 2) == (node.visits, node.wins_of(0))
        if tree.nodes[index]["first_child"] == NO_CHILDREN:
            assert not node.children
            continue
        actions, children = children_of(tree, index)
        visits = tree.nodes[children]["visits"]
        visited = dict(zip(actions[visits > 0].tolist(), children[visits > 0].tolist()))
        linked = {action: visited[action] for action in node.children}
        # In a table, a position met elsewhere becomes a child when a walk comes by.
        assert linked == visited or len(tree.edges)
        stack += [(child, node.children[action]) for action, child in linked.items()]


# --- laws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES, ids=label)
def test_every_simulation_is_counted_once_on_each_level(name):
    tree = grown(name, 2000).tree
    assert tree.nodes[ROOT_INDEX]["visits"] == 2000
    for node in expanded(tree):
        children = tree.nodes[children_of(tree, node)[1]]
        own = 0 if node == ROOT_INDEX else 1  # its own rollout, before it was expanded
        assert tree.nodes[node]["visits"] == own + children["visits"].sum()
        assert 0 <= tree.nodes[node]["points"] - children["points"].sum() <= 2 * own
    used = tree.nodes[: tree.sizes[0]]
    assert (used["points"] >= 0).all() and (used["points"] <= 2 * used["visits"]).all()


def test_unvisited_moves_are_taken_in_random_order():
    # Each column is the first one with probability 1/7: of 700 seeds 100, with a standard error of
    # sqrt(700 * 1/7 * 6/7) = 9.3. Within five of them.
    game, start = make_game("connect_four"), make_game("connect_four").initial_states()[0]
    outputs = [make_uct(game, seed, num_simulations=1).run(start) for seed in range(700)]
    firsts = Counter(int(output.visits.argmax()) for output in outputs)
    assert all(abs(firsts[column] - 100) < 5 * 9.3 for column in range(7))


#: O has two free cells: 2 wins (2-4-6); after 8, X fills the board and wins (0-1-2).
TWO_ARMS = [0, 3, 1, 4, 7, 6, 5]


def arms_after(num_simulations, uct_c):
    """Return the visits of the arm that wins and of the arm that loses."""
    tree = grown("tic_tac_toe", num_simulations, moves=TWO_ARMS, uct_c=uct_c).tree
    return tuple(int(tree.nodes[find(tree, [action])]["visits"]) for action in (2, 8))


def test_without_exploration_the_best_arm_gets_all_visits_but_one():
    assert arms_after(50, uct_c=0.0) == (49, 1)


def test_the_bandit_of_two_sure_arms_is_played_as_worked_out_by_hand():
    # After N simulations the loser, visited once, is due when sqrt(ln N) > 1 + sqrt(ln N / (N -
    # 1)): 1.4823 < 1.5241 for N = 9, but 1.5174 > 1.5058 for N = 10. Visited twice, it is due when
    # sqrt(ln N / 2) > 1 + sqrt(ln N / (N - 2)): 1.3279 < 1.3320 for N = 34, but 1.3333 > 1.3282 for
    # N = 35.
    visits = {number: arms_after(number, uct_c=1.0) for number in (2, 10, 11, 35, 36)}
    assert visits == {2: (1, 1), 10: (9, 1), 11: (9, 2), 35: (33, 2), 36: (33, 3)}


# --- statistics by position -----------------------------------------------------------------------


def test_a_position_has_the_same_statistics_however_it_is_reached():
    shared = grown("tic_tac_toe", 20_000, statistics="position").tree
    apart = grown("tic_tac_toe", 20_000).tree
    first, second = [0, 4, 8], [8, 4, 0]
    assert find(shared, first) == find(shared, second)
    assert shared.nodes[find(shared, first)]["visits"] > 0
    assert find(apart, first) != find(apart, second)


@pytest.mark.parametrize("name", NAMES, ids=label)
def test_every_position_is_stored_once_and_edges_lead_to_its_successors(name):
    search = grown(name, 1500, statistics="position")
    tree, game = search.tree, search.game
    positions = tree.positions[: tree.sizes[0]]
    assert len({position.tobytes() for position in positions}) == len(positions)
    for node in expanded(tree):
        actions, children = children_of(tree, node)
        legal = np.flatnonzero(game.legal_action_mask(positions[node][None])[0])
        assert (actions == legal).all()
        parents = np.repeat(positions[node][None], len(actions), axis=0)
        assert (game.step(parents, actions).states == positions[children]).all()


@pytest.mark.parametrize("dtype", [np.uint64, np.int8, np.int32])
def test_positions_are_found_again_in_a_table_that_was_used_before(dtype):
    rng = np.random.default_rng(0)
    states = np.unique(rng.integers(0, 100, size=(600, 3)).astype(dtype), axis=0)
    tree = make_tree(600, 3, np.dtype(dtype), by_position=True)
    # The second search begins with the table of the first.
    for part in (states[:400], states[200:]):
        tree.sizes[:] = 0
        nodes = [int(find_position(tree, state)) for state in part]
        assert nodes == list(range(len(part)))
        assert [int(find_position(tree, state)) for state in part] == nodes
