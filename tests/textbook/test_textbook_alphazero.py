"""The textbook's AlphaZero: PUCT by hand, exact results, noise, reuse, a game of self-play."""

import math
import random

import numpy as np
import pytest
from notebook_tic_tac_toe import TicTacToe
from plain_games import Fork, NotebookRace, Race
from search_samples import HashEvaluator

from alphazero.own_games.registry import make_game
from alphazero.textbook import evaluators
from alphazero.textbook.alphazero import NOTEBOOK, AlphaZero, Node, play_episode
from alphazero.textbook.drawing import tree_text
from alphazero.textbook.game import PlainGame


def make(game=None, evaluate=evaluators.uniform, **settings):
    return AlphaZero(game or Race(), evaluate, rng=random.Random(0), **settings)


def test_puct_by_hand():
    search = make(pb_c_init=math.sqrt(2), pb_c_base=1e12, first_play_urgency=0.5)
    parent = Node((0, 0), player=0, visits=9, value_sum=0.9)
    parent.children[1] = Node((1, 1), 1, prior=0.64, visits=3, value_sum=-1.5)
    parent.children[2] = Node((2, 1), 1, prior=0.36)
    scores = search.scores(parent)
    assert scores[1] == pytest.approx(0.5 + math.sqrt(2) * 0.64 * 3 / (1 + 3))
    # Not visited: its parent's value, less 0.5 * sqrt(.64).
    assert scores[2] == pytest.approx(0.1 - 0.5 * 0.8 + math.sqrt(2) * 0.36 * 3)
    parent.value_sum = -9.0
    assert search.unvisited_value(parent) == -1.0
    search.root, search.root_first_play_urgency = parent, 0.1
    parent.value_sum = 0.9
    assert search.unvisited_value(parent) == pytest.approx(0.1 - 0.1 * 0.8)


def test_pb_c_grows_with_the_visits():
    search = make(pb_c_init=1.0, pb_c_base=10.0)
    growth = math.log((29 + 10 + 1) / 10)
    found = search.exploration(Node((0, 0), 0, visits=29), prior=0.5, visits=1)
    assert found == pytest.approx((1 + growth) * 0.5 * math.sqrt(29) / 2)


def test_one_simulation_phase_by_phase():
    search = make(evaluate=lambda game, state: ({1: 0.25, 2: 0.75}, 0.5))
    assert (search.root.visits, search.root.value) == (1, 0.5)  # evaluated at once
    assert [child.prior for child in search.root.children.values()] == [0.25, 0.75]
    path = search.simulate()
    assert path == [search.root, search.root.children[2]]
    search.backward(path, search.expand(path[-1]))
    assert (search.root.visits, search.root.value) == (2, 0.0)
    assert path[1].value == 0.5 and path[1].value_for(0) == -0.5


def test_the_value_of_a_final_position_is_exact_and_outcomes_keep_their_size():
    def evaluate(game, state):
        assert state == "start"
        return {"left": 0.5, "right": 0.5}, 0.0

    search = make(Fork(), evaluate, pb_c_init=10.0, lowest_value=-20.0)
    output = search.search(30)
    children = search.root.children
    assert (children["left"].value_for(0), children["right"].value_for(0)) == (20, -14)
    visits = {action: child.visits for action, child in children.items()}
    assert output.action == "left" and sum(visits.values()) == 30
    assert output.action_weights == {action: number / 30 for action, number in visits.items()}
    assert output.root_value == pytest.approx((20 * visits["left"] - 14 * visits["right"]) / 31)


def test_a_learners_class_is_played_perfectly():
    search = make(pb_c_init=20.0, lowest_value=-20.0)
    assert search.search(300).action == 2


def test_a_class_in_the_notebooks_form_gets_the_notebooks_tree():
    """Every number by hand: from 4, adding 1 wins 20, and adding 2 loses 14."""
    search = make(NotebookRace(), **NOTEBOOK)
    search.reset(4)
    assert search.root.visits == 1  # its evaluation, which is 0
    search.search(5)
    children = search.root.children
    # The final child 1 has all simulations.
    assert (search.root.visits, search.root.value_sum) == (6, 5 * 20)
    assert (children[1].visits, children[1].value, children[2].visits) == (5, -20, 0)
    # PUCT = Q + sqrt(2) P sqrt(N) / (1 + n), with Q = 0 for what was not visited.
    scores = search.scores(search.root)
    assert scores[1] == pytest.approx(20 + math.sqrt(2) * 0.5 * math.sqrt(6) / 6)
    assert scores[2] == pytest.approx(math.sqrt(2) * 0.5 * math.sqrt(6))
    search.search(3)  # on top of the visits that the root has
    assert search.root.visits == 9
    samples = play_episode(search, 50, 0)
    assert [s.outcome * (-1) ** (len(samples) - 1 - s.ply) for s in samples] == [20] * len(samples)


def test_an_evaluator_sees_the_learners_own_class_and_states():
    game, seen = TicTacToe(), []

    def evaluate(rules, state):
        transitions, outcome = rules.get_transitions(state)
        seen.append((rules.canonicalize(state), outcome))
        return dict.fromkeys(transitions, 1 / len(transitions)), 0.0

    output = make(game, evaluate, **NOTEBOOK).search(40)
    assert sum(output.action_weights.values()) == pytest.approx(1)
    assert seen[0] == ((game.start_state()), None) and len(seen) > 20
    with_rollouts = make(game, evaluators.rollouts(2, random.Random(0)), **NOTEBOOK)
    assert with_rollouts.search(20).action in range(9)


def test_noise_is_fresh_at_each_root_and_priors_still_sum_to_one():
    game = PlainGame(make_game("tic_tac_toe"))
    search = make(game, dirichlet_fraction=0.25)
    search.search(20, add_noise=True)
    first = {action: child.prior for action, child in search.root.children.items()}
    assert sum(first.values()) == pytest.approx(1) and min(first.values()) >= 0.75 / 9 - 1e-12
    search.search(40, add_noise=True)  # the same root keeps its noise
    assert {action: child.prior for action, child in search.root.children.items()} == first
    search.advance(4)
    assert {child.prior for child in search.root.children.values()} == {1 / 8}
    search.search(20, add_noise=True)
    assert len({child.prior for child in search.root.children.values()}) == 8
    quiet = make(game)
    quiet.search(20)
    assert {child.prior for child in quiet.root.children.values()} == {1 / 9}


def test_the_tree_is_kept_and_its_visits_count():
    search = make(PlainGame(make_game("tic_tac_toe")))
    output = search.search(100)
    kept = search.root.children[output.action]
    search.advance(output.action)
    assert search.root is kept and kept.visits > 1
    search.search(100)
    assert sum(child.visits for child in kept.children.values()) == kept.visits - 1 == 100


def test_without_simulations_all_moves_weigh_the_same_and_a_finished_game_is_refused():
    search = make()
    assert search.search(0).action_weights == {1: 0.5, 2: 0.5}
    search.advance(1)  # also to a position without visits, which is evaluated once
    assert search.root.visits == 1
    search.reset((5, 0))
    with pytest.raises(ValueError, match="over"):
        search.search(1)


def test_an_episode_has_a_sample_for_each_move_with_the_outcome_of_its_player():
    search = make(pb_c_init=20.0, lowest_value=-20.0)
    lengths = set()
    for _ in range(20):
        samples = play_episode(search, 20)
        assert [sample.ply for sample in samples] == list(range(len(samples)))
        last = samples[-1]
        assert last.outcome == (20 if search.root.state[0] == 5 else -14)
        for sample in samples:
            assert sample.outcome == last.outcome * (-1) ** (last.ply - sample.ply)
            assert sum(sample.action_weights.values()) == pytest.approx(1)
        lengths.add(len(samples))
    assert len(lengths) > 1
    greedy = {tuple(s.state for s in play_episode(make(), 30, 0)) for _ in range(3)}
    assert len(greedy) == 1  # the same seed, and no move is sampled


def test_a_table_learns_to_play_from_self_play():
    game, table = PlainGame(make_game("connect_x:3x3x3")), evaluators.Table()
    search = make(game, table)
    assert table(game, game.initial_state()) == ({0: 1 / 3, 1: 1 / 3, 2: 1 / 3}, 0.0)
    for _ in range(30):
        table.learn(play_episode(search, 30))
    priors, value = table(game, game.initial_state())
    assert sum(priors.values()) == pytest.approx(1) and abs(value) <= 1
    assert len(set(priors.values())) > 1


def test_rollouts_and_networks_evaluate():
    game = PlainGame(make_game("connect_x:4x3x3"))
    state = game.initial_state()
    for action in (0, 1, 2, 0, 2, 1, 1, 1):
        state = game.step(state, action)
    priors, value = evaluators.rollouts(50, random.Random(0))(game, state)
    assert set(priors.values()) == {1 / len(priors)} and -1 <= value <= 1
    won = game.step(state, 2)
    assert evaluators.rollouts(3)(game, state)[1] <= 1 and game.is_over(won)
    evaluator = HashEvaluator(3)
    priors, value = evaluators.network(evaluator)(game, state)
    logits, values = evaluator.evaluate(game.game.observe(game.to_array(state)))
    weights = np.exp(logits[0][list(priors)])
    np.testing.assert_allclose(list(priors.values()), weights / weights.sum(), rtol=1e-6)
    assert value == values[0]


@pytest.mark.parametrize(
    "answer, named",
    [
        ((0.5, {1: 0.5, 2: 0.5}), "action: prior"),
        (0.5, "priors, value"),
        (([0.5, 0.5], 0.0), "{action: prior}"),
        (({1: 1.0}, 0.0), "action 2"),
        (({1: math.nan, 2: 0.5}, 0.0), "action 1"),
        (({1: -0.5, 2: 1.5}, 0.0), "action 1"),
        (({1: 0.0, 2: 0.0}, 0.0), "sum"),
        (({1: 0.5, 2: 0.5}, math.nan), "nan"),
        (({1: 0.5, 2: 0.5}, 1.5), "1.5"),
        (({1: 0.5, 2: 0.5}, None), "value"),
    ],
)
def test_an_evaluator_that_answers_wrongly_is_told_what_to_return(answer, named):
    with pytest.raises(ValueError) as refused:
        make(evaluate=lambda game, state: answer).search(1)
    assert named in str(refused.value)


def test_a_tree_as_text_leaves_out_what_no_one_has_visited():
    search = make(PlainGame(make_game("tic_tac_toe")))
    search.search(3)
    lines = tree_text(search, search.root).split("\n")
    assert len(lines) == 5 and lines[0].startswith("visits 4, value +0.000")
    assert lines[-1].startswith("└─ not visited: 3")
