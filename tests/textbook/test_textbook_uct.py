"""The textbook's UCT: phases by hand, the table of positions, moves, drawings, perfect play."""

import math
import random
import re
import subprocess
import sys
from collections import Counter

import pytest
from plain_games import Fork, NotebookRace, Race, SevenStates

from alphazero.own_games.registry import make_game
from alphazero.textbook.drawing import tree_text
from alphazero.textbook.game import PlainGame
from alphazero.textbook.minimax import action_values, minimax, num_games
from alphazero.textbook.play import person, play_game
from alphazero.textbook.uct import Node, Uct, ucb1


@pytest.fixture(scope="module")
def tic_tac_toe():
    return PlainGame(make_game("tic_tac_toe"))


@pytest.fixture(scope="module")
def othello():
    return PlainGame(make_game("othello"))


def after(game, *actions):
    state = game.initial_state()
    for action in actions:
        state = game.step(state, action)
    return state


# --- phases by hand -------------------------------------------------------------------------------


def test_ucb1_of_nodes_built_by_hand(tic_tac_toe):
    uct = Uct(tic_tac_toe, rng=random.Random(0))
    parent = Node(after(tic_tac_toe), player=0, visits=6)
    parent.children[0] = Node(after(tic_tac_toe, 0), player=1, visits=2, wins=2)
    parent.children[1] = Node(after(tic_tac_toe, 1), player=1, visits=2, wins=1)
    scores = uct.scores(parent)
    assert scores[0] == ucb1(2, 2, 6) == pytest.approx(2.3386, abs=5e-5)
    assert scores[1] == ucb1(1, 2, 6) == pytest.approx(1.8386, abs=5e-5)
    assert {scores[action] for action in range(2, 9)} == {math.inf}
    assert ucb1(1, 1, 0) == 1.0  # visited from elsewhere in a table


BOARD = "--------\n--------\n--B-----\n---BB---\n---BW---\n" + 2 * "--------\n" + "--------"


def test_a_missing_child_appears_at_the_first_expansion(othello):
    uct = Uct(othello, rng=random.Random(0))
    parent = uct.make_node(othello.from_text(BOARD, player=0))
    legal = othello.legal_actions(parent.state)
    assert [divmod(action, 8) for action in legal] == [(1, 1), (2, 4), (4, 2)]
    parent.visits = 2
    for action, wins in zip(legal[:2], (1, 0)):
        child = uct.add_child(parent, action)
        child.visits, child.wins = 1, wins
    assert uct.select([parent]) == [parent]  # the first node that lacks a child
    third = uct.expand(parent)
    assert list(parent.children) == legal and third is parent.children[legal[2]]
    assert (third.visits, third.action, third.player) == (0, legal[2], 1)
    uct.backpropagate([parent, third], uct.simulate(third))
    path = uct.select([parent])
    assert len(path) == 2 and path[1].wins == 1  # complete: by the score
    replies = othello.legal_actions(parent.children[9].state)
    assert [divmod(action, 8) for action in replies] == [(2, 3), (3, 2), (4, 5), (5, 4)]


def test_missing_children_are_tried_in_random_order(tic_tac_toe):
    firsts = set()
    for seed in range(60):
        uct = Uct(tic_tac_toe, rng=random.Random(seed))
        root = uct.begin(tic_tac_toe.initial_state())
        firsts.add(uct.expand(root).action)
        assert len(root.children) == 1
    assert len(firsts) == 9


def test_a_printed_node_shows_its_board_its_move_and_its_wins(othello):
    uct = Uct(othello)
    root = uct.make_node(othello.from_text(BOARD, player=0))
    child = uct.add_child(root, 9)
    child.visits, child.wins = 4, 2.5
    board, _, last = str(child).rpartition("\n")
    assert board == othello.to_text(child.state) and board.split("\n")[1] == "-W------"
    assert re.findall(r"[\d./]+", last) == ["9", "2.5/4"]
    assert re.findall(r"[\d./]+", str(root).rpartition("\n")[2]) == ["0/0"]
    assert str(Node((3, 1), 1, visits=2)).startswith("(3, 1)\n")  # a game without boards


def test_a_tie_is_half_a_win_or_a_win_for_one_player_or_for_neither(tic_tac_toe):
    drawn = after(tic_tac_toe, 0, 4, 8, 1, 7, 6, 2, 5, 3)
    assert tic_tac_toe.result(drawn) == 0
    for tie_result, wins in ((0.0, (0.5, 0.5)), (-1.0, (0.0, 1.0)), (None, (0.0, 0.0))):
        uct = Uct(tic_tac_toe, tie_result=tie_result)
        node = uct.make_node(drawn)
        uct.backpropagate([node], uct.simulate(node))
        assert (node.wins_of(0), node.wins_of(1)) == wins
        assert node.value_sum == wins[node.player] - wins[1 - node.player] and node.visits == 1


def test_a_finished_game_is_not_expanded_and_its_rollout_is_its_result(othello):
    state = othello.from_text("BBBBBBBW\n" + 6 * "BBBBBBBB\n" + "BBBBBBB-", player=0)
    assert othello.legal_actions(state) == [63]
    final = othello.step(state, 63)
    assert othello.to_text(final) == "\n".join(8 * ["BBBBBBBW"])
    uct = Uct(othello, rng=random.Random(0))
    node = Node(final, player=1, visits=1)
    assert uct.simulate(node) == -1  # player 0, white, has lost
    assert uct.expand(node) is node and uct.select([node]) == [node] and not node.children
    root = uct.search(state, 5)
    assert (root.visits, root.wins_of(0)) == (5, 0)
    with pytest.raises(ValueError, match="over"):
        uct.search(final)


def test_backpropagation_counts_wins_for_the_player_who_moved():
    uct, path = Uct(Race()), [Node("a", player=0), Node("b", player=1), Node("c", player=1)]
    for result in (1, 1, 0, -1):
        uct.backpropagate(path, result)
    assert [(node.visits, node.wins) for node in path] == [(4, 1.5), (4, 2.5), (4, 2.5)]
    assert path[0].wins_of(0) == path[1].wins_of(0) == 2.5 and path[2].wins_of(1) == 1.5


def test_results_other_than_one_keep_their_size():
    uct = Uct(Fork(), rng=random.Random(0))
    root = uct.search("start", 10)
    values = {a: 2 * child.wins / child.visits - 1 for a, child in root.children.items()}
    assert values == {"left": 20, "right": -14}
    assert uct.best_action(root) == "left"


# --- searches -------------------------------------------------------------------------------------


def test_every_simulation_passes_one_child_of_the_root_and_equal_moves_are_tried_at_random():
    firsts = Counter()
    for seed in range(300):
        uct = Uct(Race(), rng=random.Random(seed))
        root = uct.search((0, 0), 1)
        firsts[next(iter(root.children))] += 1
        uct.run_simulation(root)
        assert [child.visits for child in root.children.values()] == [1, 1]
    assert abs(firsts[1] - 150) < 5 * math.sqrt(300 / 4)  # five standard errors


@pytest.mark.parametrize("table", [None, {}], ids=["tree", "table"])
@pytest.mark.parametrize("final_move", ["visits", "value"])
def test_a_learners_class_is_played_perfectly(table, final_move):
    uct = Uct(Race(), uct_c=20, final_move=final_move, table=table, rng=random.Random(1))
    assert uct.best_action(uct.search((0, 0), 600)) == 2
    assert action_values(Race(), (0, 0)) == {1: -20, 2: 20}


def test_the_final_move_is_by_visits_or_by_value():
    root = Node((0, 0), player=0, visits=10)
    root.children = {1: Node((1, 1), 1, visits=6, wins=3), 2: Node((2, 1), 1, visits=4, wins=3)}
    assert Uct(Race()).best_action(root) == 1
    assert Uct(Race(), final_move="value").best_action(root) == 2
    root.children[2].visits = root.children[1].visits = 6  # equal in both
    seen = {Uct(Race(), rng=random.Random(seed)).best_action(root) for seed in range(40)}
    assert seen == {1, 2}
    with pytest.raises(ValueError, match="final_move"):
        Uct(Race(), final_move="best")


def test_limits_end_a_search():
    reports = []
    uct = Uct(Race(), rng=random.Random(0))
    assert uct.search((0, 0), progress=lambda *report: reports.append(report)).visits == 1000
    assert reports[0] == (1, 1000) and reports[-1] == (1000, 1000)
    assert uct.search((0, 0), time_limit_s=0.0).visits == 1
    assert uct.search((0, 0), num_simulations=7, time_limit_s=1000.0).visits == 7


# --- the table ------------------------------------------------------------------------------------


def test_transpositions_share_a_node_in_a_table_only(tic_tac_toe):
    for table in (None, {}):
        uct = Uct(tic_tac_toe, table=table, rng=random.Random(0))
        root = uct.search(tic_tac_toe.initial_state(), 1500)
        one, other = (walk(root, actions) for actions in ([0, 4, 8], [8, 4, 0]))
        assert (one is other) == (table is not None)
    assert one is uct.table[after(tic_tac_toe, 0, 4, 8)]


def walk(node, actions):
    for action in actions:
        node = node.children[action]
    return node


def test_a_table_lives_from_move_to_move_and_from_search_to_search(tic_tac_toe):
    uct = Uct(tic_tac_toe, table={}, rng=random.Random(0))
    uct.search(tic_tac_toe.initial_state(), 400)
    state = after(tic_tac_toe, 4, 0)
    before = uct.lookup(state)
    assert before.visits > 0
    root = uct.search(state, 100)
    assert root.visits == before.visits + 100
    other = Uct(tic_tac_toe, table=uct.table, rng=random.Random(1))
    assert other.search(state, 100).visits == before.visits + 200
    assert Uct(tic_tac_toe).search(state, 100).visits == 100


def test_a_position_is_looked_up_with_its_count_wins_and_expected_value():
    uct = Uct(Race(), table={}, rng=random.Random(0))
    assert uct.lookup((0, 0)) is None
    uct.search((3, 1), 50)
    found = uct.lookup((3, 1))
    assert found.visits == 50 and found.value == pytest.approx(2 * found.wins / 50 - 1)
    assert uct.lookup((5, 0)).value == -20  # for the player who would be next
    uct.table[(9, 0)] = Node((9, 0), 0)
    assert math.isnan(uct.lookup((9, 0)).value)
    with pytest.raises(ValueError, match="table"):
        Uct(Race()).lookup((0, 0))


@pytest.mark.parametrize("seed", range(3))
def test_every_position_of_a_simulated_game_is_recorded(seed):
    uct = Uct(Race(), table={}, record_rollouts=True, rng=random.Random(seed))
    root = uct.search((0, 0), 1)
    line = sorted(uct.table.values(), key=lambda node: node.state[0])
    assert line[0] is root and Race().is_over(line[-1].state) and len(line) > 3
    for node, child in zip(line, line[1:]):
        assert child.state == Race().step(node.state, child.action)
        assert uct.lookup(child.state).value == -uct.lookup(node.state).value
    assert {node.visits for node in line} == {1}
    assert uct.lookup(line[-1].state).value == Race().result(line[-1].state)
    # Only a walk makes a recorded position a child; until then it is no unvisited one.
    assert len(root.children) == 1 and not line[1].children
    assert line[2].action not in uct.missing_actions(line[1]) and len(line[1].children) == 1


def test_a_class_in_the_notebooks_form_is_recorded_with_random_moves():
    uct = Uct(NotebookRace(), table={}, record_rollouts=True, rng=random.Random(0))
    uct.search(0, 200)
    assert (uct.lookup(0).visits, uct.lookup(5).value, uct.lookup(6).value) == (200, -20, 14)
    assert uct.lookup(5).visits + uct.lookup(6).visits == 200


# --- perfect play ---------------------------------------------------------------------------------


def test_perfect_play_of_tic_tac_toe_is_a_draw_and_its_counts_are_known(tic_tac_toe):
    start, known = tic_tac_toe.initial_state(), {}
    assert minimax(tic_tac_toe, start, known) == 0
    assert len(known) == 5478
    assert sum(not tic_tac_toe.is_over(state) for state in known) == 4520
    assert num_games(tic_tac_toe, start) == 255_168


# --- classes in the notebook's form ---------------------------------------------------------------


def statistics(root):
    """Return N and V of every node, by the actions that lead to it: visits and sums of results."""
    found, stack = {}, [((), root)]
    while stack:
        path, node = stack.pop()
        found[path] = (node.visits, node.value_sum)
        stack += [((*path, action), child) for action, child in node.children.items()]
    return found


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("table", [False, True], ids=["tree", "table"])
def test_the_published_test_of_the_search_passes_to_the_number(seed, table):
    """The root gets its children and is not simulated; an end that is met again counts its mean."""
    uct = Uct(SevenStates(), table={} if table else None, rng=random.Random(seed))
    root = uct.search("s0", 5)
    assert statistics(root) == {
        (): (5, -58.0),
        ("a1",): (1, 20.0),
        ("a1", "a3"): (0, 0.0),
        ("a1", "a4"): (0, 0.0),
        ("a2",): (4, 38.0),
        ("a2", "a5"): (2, -28.0),
        ("a2", "a6"): (1, 0.0),
    }
    assert uct.best_action(root) == "a2" and root.children["a1"].state == "s1"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("table", [False, True], ids=["tree", "table"])
def test_a_class_in_the_notebooks_form_gets_the_notebooks_tree(seed, table):
    """Every number by hand: from 4, adding 1 wins 20, and adding 2 loses 14."""
    uct = Uct(NotebookRace(), table={} if table else None, rng=random.Random(seed))
    # The first two simulations visit one child each, both final; the others the better one.
    root = uct.search(4, 5)
    assert statistics(root) == {(): (5, 66), (1,): (4, -80), (2,): (1, 14)}
    assert root.value == 66 / 5
    # mean outcome + c sqrt(ln N / n)
    assert uct.scores(root)[1] == pytest.approx(20 + math.sqrt(2 * math.log(5) / 4))
    assert uct.scores(root)[2] == pytest.approx(-14 + math.sqrt(2 * math.log(5)))
    # From 3 the simulations win at 4, and 5 is final: the first child loses, the second one wins.
    uct = Uct(NotebookRace(), table={} if table else None, rng=random.Random(seed))
    assert statistics(uct.search(3, 5)) == {
        (): (5, 60),  # -20 + 4 * 20
        (1,): (1, 20),
        (1, 1): (4, -80) if table else (0, 0),
        (1, 2): (0, 0),
        (2,): (4, -80),
    }
    assert uct.best_action(uct.search(3, 5)) == 2


def test_a_table_shares_positions_that_either_player_may_reach():
    """In `NotebookRace` a sum says nothing about who is to move: 4 is 3 + 1 and 2 + 2."""
    uct = Uct(NotebookRace(), table={}, rng=random.Random(0))
    root = uct.search(0, 2000)
    assert walk(root, (1, 1)) is walk(root, (2,))
    assert uct.best_action(root) == 2  # to 2, then always to 5
    expected = action_values(Race(), (0, 0))
    assert expected[2] == 20 and uct.lookup(2).value < -10 < 10 < uct.lookup(4).value
    before = uct.lookup(2).visits
    assert uct.search(2, 50).visits == before + 50


def test_mistakes_in_a_class_are_named():
    """Each wrong answer of `get_transitions` or `run_simulation`, and what is said of it."""

    def changed(**methods):
        return Uct(type("Changed", (NotebookRace,), methods)())

    for wrong in (({}, None), ({1: 4}, 0), [{1: 4}, None], ([4], None)):
        with pytest.raises(ValueError, match="get_transitions"):
            changed(get_transitions=lambda self, state, wrong=wrong: wrong).search(0, 3)
    with pytest.raises(ValueError, match="run_simulation"):
        changed(run_simulation=lambda self, state: None).search(0, 3)
    with pytest.raises(TypeError, match="hashable"):
        Uct(NotebookRace()).search([0], 3)
    with pytest.raises(TypeError, match=r"NotebookRace\(\)"):
        Uct(NotebookRace)
    with pytest.raises(ValueError, match="tie_result"):
        Uct(NotebookRace(), tie_result=None)
    with pytest.raises(ValueError, match="7"):
        uct = Uct(NotebookRace())
        uct.add_child(uct.begin(0), 7)


def test_by_hand_a_node_that_gets_all_its_children_is_the_one_to_simulate():
    uct = Uct(NotebookRace())
    root = uct.begin(1)
    assert set(root.children) == {1, 2}  # at once
    path = uct.select([root])
    leaf = path[-1]
    assert uct.expand(leaf) is leaf and len(path) == 2 and set(leaf.children) == {1, 2}
    with pytest.raises(ValueError):
        uct.backpropagate([*path, leaf], 20)
    uct.backpropagate(path, uct.simulate(leaf))
    outcome = {2: 20, 3: -20}[leaf.state]
    assert [(one.visits, one.value_sum) for one in path] == [(1, -outcome), (1, outcome)]
    assert f"mean outcome {outcome} " in str(leaf)


# --- drawings and games ---------------------------------------------------------------------------


def tree_by_hand():
    root = Node((0, 0), player=0, visits=3, wins=1)
    root.children = {1: Node((1, 1), 1), 2: Node((2, 1), 1, visits=3, wins=2)}
    shared = Node((4, 1), 1, visits=2, wins=1)
    root.children[2].children = {2: shared, 1: Node((3, 0), 0, visits=1)}
    root.children[2].children[1].children = {1: shared}
    return root


def test_a_tree_as_text():
    text = tree_text(Uct(Race()), tree_by_hand())
    assert [line.partition(",")[0] for line in text.split("\n")] == [
        "visits 3",
        "├─ 2: visits 3",
        "│  ├─ 2: visits 2",
        "│  └─ 1: visits 1",
        "│     ├─ 1: visits 2",
        "│     └─ not visited: 2",
        "└─ not visited: 1",
    ]
    assert len(tree_text(Uct(Race()), tree_by_hand(), max_depth=1).split("\n")) == 3


def test_a_game_between_a_person_and_a_search():
    game, shown, said = Race(), [], []
    typed = iter(["3", "one", " 2 ", "1"])
    read = person(game, read=lambda prompt: next(typed), say=said.append)
    actions, result = play_game(game, read, lambda state: 1, show=shown.append)
    assert actions == [2, 1, 1, 1] and result == -20
    assert shown[-1] == (5, 0) and len(shown) == 5
    assert len(said) == 2


def test_the_textbook_needs_neither_numba_nor_torch():
    modules = "game minimax uct alphazero evaluators drawing play".split()
    imports = ", ".join(f"alphazero.textbook.{module}" for module in modules)
    code = f"import sys, {imports}; print('numba' in sys.modules, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"]
