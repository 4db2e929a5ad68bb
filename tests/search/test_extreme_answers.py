"""Searches end with every answer that is allowed: huge logits, one-hot priors, certain values."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from search_samples import GAMES, make_search, named_game, random_positions

from alphazero.inference.evaluator import Evaluator
from alphazero.search.simulate import MAX_WALKS

LARGEST, SMALLEST = float(np.finfo(np.float32).max), 1e-45
#: What the logits and the values of one search are drawn from.
LOGITS = ((0.0,), (-LARGEST, LARGEST), (-3e38, 0.0, 3e38), (SMALLEST, -SMALLEST), (-88.0, 88.0))
VALUES = ((1.0,), (-1.0,), (-1.0, 1.0), (0.0, -0.0), (SMALLEST, -SMALLEST), (-1.0, 0.3, 1.0))


class ExtremeEvaluator(Evaluator):
    """Answers with numbers drawn from two tuples; with ``one_hot``, one action has all the prior.

    ``num_calls`` counts the batches.
    """

    def __init__(self, num_actions, logits, values, one_hot, seed):
        self._num_actions, self._one_hot, self.num_calls = num_actions, one_hot, 0
        self._logits, self._values = np.float32(logits), np.float32(values)
        self._generator = np.random.default_rng(seed)

    def evaluate(self, planes):
        self.num_calls += 1
        shape = len(planes), self._num_actions
        logits = self._generator.choice(self._logits, shape)
        if self._one_hot:
            logits = np.full(shape, -LARGEST, np.float32)
            likeliest = self._generator.integers(self._num_actions, size=shape[0])
            logits[np.arange(shape[0]), likeliest] = LARGEST
        return logits, self._generator.choice(self._values, shape[0])


SETTINGS = st.fixed_dictionaries(
    dict(
        root=st.sampled_from(("puct", "puct", "gumbel")),
        mcts_solver=st.booleans(),
        reuse_tree=st.booleans(),
        count_kept_visits=st.booleans(),
        forced_playouts_k=st.sampled_from((0.0, 2.0, 100.0)),
        dirichlet_alpha=st.sampled_from((1e-3, 1.0, 1e3)),
        dirichlet_fraction=st.sampled_from((0.0, 0.25, 1.0)),
        root_prior_temperature=st.sampled_from((0.1, 1.0, 10.0)),
        gumbel_scale=st.sampled_from((0.0, 1.0, 10.0)),
        max_num_considered_actions=st.sampled_from((1, 2, 16)),
        value_scale=st.sampled_from((0.0, 0.1, 100.0)),
        pb_c_init=st.sampled_from((0.0, 1.25, 1e6)),
        first_play_urgency=st.sampled_from((0.0, 0.25, 1e6)),
    )
)


def assert_allowed(search, rows, states):
    """Check policies and values of finished searches."""
    output, legal = search.output(rows), search.game.legal_action_mask(states)
    assert legal[np.arange(len(rows)), output.actions].all()
    for weights in (output.action_weights, output.move_weights):
        np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=0, atol=1e-5)
        assert (weights >= 0).all() and not weights[~legal].any()
    assert (np.abs(output.root_values) <= 1 + 1e-6).all()
    tree = search.tree
    for row in rows:
        used = slice(tree.num_nodes[row])
        for numbers in (tree.node_values, tree.children_values, tree.children_priors):
            assert np.isfinite(numbers[row, used]).all()
    return output.actions


CASES = st.fixed_dictionaries(
    dict(
        game=st.sampled_from(GAMES),
        logits=st.sampled_from(LOGITS),
        values=st.sampled_from(VALUES),
        one_hot=st.booleans(),
        explores=st.booleans(),
        leaves_per_step=st.sampled_from((1, 1, 5)),
        num_games=st.sampled_from((1, 3)),
        num_simulations=st.integers(1, 40),
    )
)


@hypothesis_settings(max_examples=40, deadline=None)
@given(case=CASES, settings=SETTINGS, seed=st.integers(0, 2**32))
def test_a_search_ends_within_its_budget_whatever_the_answers(case, settings, seed):
    game, budget = named_game(case["game"]), case["num_simulations"]
    answers = (case[name] for name in ("logits", "values", "one_hot"))
    evaluator = ExtremeEvaluator(game.num_actions, *answers, seed)
    states, rows = random_positions(game, case["num_games"], seed), np.arange(case["num_games"])
    leaves = 1 if settings["root"] == "gumbel" else case["leaves_per_step"]
    options = dict(leaves_per_step=leaves, explores=case["explores"], **settings)
    search = make_search(game, len(rows), budget, evaluator, seed, **options)
    search.reset(rows, states, budget)
    for _ in range(3):  # moves
        evaluator.num_calls = 0
        for _ in range(budget + 1):  # steps, each with a visit of every root
            search.step()
        assert set(rows) <= set(search.finished_rows())
        assert evaluator.num_calls <= budget + 1
        actions = assert_allowed(search, rows, states)
        after = game.step(states, actions)
        search.stop(rows[after.over])
        rows, actions, states = (part[~after.over] for part in (rows, actions, after.states))
        if not len(rows):
            return
        search.advance(rows, actions, states, budget)


@pytest.mark.parametrize("leaves_per_step", (1, 4))
def test_a_step_without_a_new_leaf_is_short(leaves_per_step):
    """Nearly all visits end at finished games; Ctrl-C and deadlines count between two steps."""
    game, budget = named_game("tic_tac_toe"), 3 * MAX_WALKS
    states = game.initial_states(1)
    for action in (0, 1, 2, 4, 3, 5, 7):  # X O X / O X O / _ O _, X to move: 6 and 8 remain
        states = game.step(states, np.array([action])).states
    evaluator = ExtremeEvaluator(9, (0.0,), (0.0,), one_hot=False, seed=0)
    search = make_search(
        game, 1, budget, evaluator, leaves_per_step=leaves_per_step, mcts_solver=False
    )
    search.reset(np.arange(1), states, budget)
    visits = [0]
    while not len(search.finished_rows()):
        search.step()
        visits.append(int(search.tree.node_visits[0, 0]))
    assert 1 <= np.diff(visits).min() and np.diff(visits).max() <= 2 * MAX_WALKS
    assert search.tree.num_nodes[0] < 6 and visits[-1] == budget + 1

    search.reset(np.arange(1), states, budget)
    search.run(deadline=time.monotonic())
    assert 1 < search.tree.node_visits[0, 0] < budget
