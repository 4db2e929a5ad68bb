"""Exact leaves: what they answer is true, what they may cost is kept, and the search uses it."""

import functools
import math

import numpy as np
import pytest
from search_samples import random_positions, searched
from solver_samples import late_states

from alphazero.own_games.registry import make_game
from alphazero.search.tree import UNPROVEN
from alphazero.solvers import exact_leaves as solvers_exact_leaves
from alphazero.solvers import provers as solvers_provers
from alphazero.solvers.base import values_of
from alphazero.solvers.enumeration import ExactValues
from alphazero.solvers.exact_leaves import (
    ProvenLeaves,
    Tier,
    game_positions,
    leaf_budgets,
    leaf_costs,
    make_prover,
)
from alphazero.solvers.registry import make_solver

GAMES = ("connect_x:4x4x3", "connect_x:3x3x3", "othello:4")
MANY = 10**7


@functools.cache
def exact_values(name):
    return ExactValues(make_game(name))


def game_and_prover(name):
    game = make_game(name)
    return game, make_prover(game)


def proven_leaves(game, prover, nodes=MANY):
    """Return leaves that are proven at every stage."""
    return ProvenLeaves([prover], np.ones(prover.num_stages), [Tier(nodes, math.inf)])


def wrong_answers(prover, states, values, nodes=MANY):
    """Return the answers that are not UNPROVEN and not true, int64[M], and all answers."""
    results, _ = prover.prove(states, np.full(len(states), nodes), MANY)
    return np.flatnonzero((results != UNPROVEN) & (results != values)), results


# --- provers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_every_position_of_a_small_game_has_its_exact_result(name):
    game, prover = game_and_prover(name)
    positions = exact_values(game.name).positions
    rows = np.flatnonzero(~positions.over)
    rows = np.random.default_rng(0).permutation(rows)[:3000]
    wrong, results = wrong_answers(prover, positions.states[rows], positions.values[rows])
    assert not len(wrong) and (results != UNPROVEN).all()
    assert set(np.unique(results)) == {-1, 0, 1}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("nodes", (1, 7, 60))
def test_few_nodes_leave_positions_unproven_and_none_wrong(name, nodes):
    game, prover = game_and_prover(name)
    positions = exact_values(game.name).positions
    rows = np.flatnonzero(~positions.over)[:2000]
    states, values = positions.states[rows], positions.values[rows]
    wrong, results = wrong_answers(prover, states, values, nodes)
    assert not len(wrong)
    assert (results == UNPROVEN).any()


@pytest.mark.parametrize(("name", "empties"), (("connect_four", 14), ("othello:6", 9)))
def test_late_positions_of_large_games_have_the_result_of_the_solver(name, empties):
    game, prover = game_and_prover(name)
    states = late_states(name, empties, 60, seed=3)
    values = values_of(make_solver(game).scores(states)).max(axis=1)
    wrong, results = wrong_answers(prover, states, values)
    assert not len(wrong) and (results != UNPROVEN).all()


# --- budgets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ("connect_four", "othello:6"))
def test_costs_grow_with_the_distance_from_the_end_and_budgets_stop_where_they_are_too_dear(name):
    game, prover = game_and_prover(name)
    states = game_positions(game, 24, np.random.default_rng(2))
    costs = leaf_costs(prover, states, 500)
    measured = np.flatnonzero(costs <= 500)
    assert 3 < len(measured) < prover.num_stages and measured[:4].tolist() == [0, 1, 2, 3]
    assert costs[measured[-1]] > costs[measured[2]]
    budgets = leaf_budgets(costs, 100)
    assert (budgets > 0).tolist() == (costs <= 100).tolist()
    assert 0 < np.count_nonzero(budgets) < len(measured)
    assert not leaf_budgets(costs, 0.0)[-1]


def test_a_search_spends_its_first_tier_and_then_asks_for_cheaper_answers_only():
    game, prover = game_and_prover("connect_four")
    costs = np.where(np.arange(prover.num_stages) <= 20, np.arange(prover.num_stages), math.inf)
    leaves = ProvenLeaves([prover], costs, [Tier(20, 500), Tier(8, math.inf)])
    states = late_states("connect_four", 20, 200, seed=1)
    empties = np.array([np.count_nonzero(game.cells(state) == 0) for state in states])
    far = states[empties > 8]
    first = leaves.prove(far[:1])
    leaves.prove(far)
    spent = leaves.num_nodes
    assert (leaves.prove(far) == UNPROVEN).all() and leaves.num_nodes == spent > 0
    leaves.begin(1)  # a new search: the same answers, with the first tier's budget again
    assert leaves.prove(far[:1]) == first


def test_a_tier_never_spends_more_than_its_share():
    game, prover = game_and_prover("connect_four")
    states = late_states("connect_four", 24, 50, seed=2)
    for num_provers in (1, 2):
        provers = [make_prover(game) for _ in range(num_provers)]
        tiers = [Tier(100_000, 3000), Tier(1, math.inf)]
        leaves = ProvenLeaves(provers, np.ones(prover.num_stages), tiers)
        first = leaves.prove(states)
        assert 2000 < leaves.num_nodes <= 3000 + 2 * num_provers
        assert 0 < np.count_nonzero(first != UNPROVEN) < 50
        leaves.begin(2)  # two searches have twice as much
        leaves.num_nodes = 0
        leaves.prove(states)
        assert 5000 < leaves.num_nodes <= 6000 + 2 * num_provers


@pytest.mark.parametrize("name", ("connect_four", "othello:6"))
def test_a_search_that_pauses_finds_what_it_finds_in_one_piece(name, monkeypatch):
    game, prover = game_and_prover(name)
    states = late_states(game.name, 10, 40, seed=3)
    budgets = np.resize(np.array([0, 9, 50, 400]), len(states))

    def proven(piece, most_nodes):
        monkeypatch.setattr(solvers_provers, "NODES_PER_LOOK", piece)
        prover.forget()
        results, num_nodes = prover.prove(states, budgets, most_nodes)
        return results.tolist(), num_nodes

    for most_nodes in (MANY, 333):
        whole = proven(MANY, most_nodes)
        assert proven(1, most_nodes) == proven(7, most_nodes) == whole
        assert 0 < len(states) - whole[0].count(UNPROVEN) < 31 and whole[1] <= most_nodes


class Clock:
    """Stands in for `time`: each look at it takes ``step`` seconds."""

    def __init__(self, monkeypatch, step):
        self.now, self.step = 0.0, step
        for module in (solvers_provers, solvers_exact_leaves):
            monkeypatch.setattr(module, "time", self)

    def monotonic(self):
        self.now += self.step
        return self.now


@pytest.mark.parametrize("name", ("connect_four", "othello"))
@pytest.mark.parametrize(("nodes_per_s", "deadline"), ((MANY / 1.0, None), (None, 1.0)))
def test_an_answer_ends_by_the_clock_of_its_tier_or_of_the_move(
    name, nodes_per_s, deadline, monkeypatch
):
    """At the speed that was measured a tier of a second has 10^7 nodes, now it has few."""
    game, prover = game_and_prover(name)
    clock = Clock(monkeypatch, 0.125)
    tiers = [Tier(MANY, MANY), Tier(1, math.inf)]
    leaves = ProvenLeaves([prover], np.ones(prover.num_stages), tiers, nodes_per_s)
    leaves.begin(1, deadline)
    assert leaves.prove(game.initial_states())[0] == UNPROVEN
    assert 1.0 <= clock.now <= 1.5
    assert 5 <= leaves.num_nodes / solvers_provers.NODES_PER_LOOK <= 8


def test_what_a_tier_spent_above_its_fraction_is_taken_from_the_next_one(monkeypatch):
    game, prover = game_and_prover("connect_four")
    states = late_states("connect_four", 24, 50, seed=2)
    tiers = [Tier(100_000, 100), Tier(100_000, 100), Tier(0, math.inf)]
    Clock(monkeypatch, 0.9)  # the tier has a second, and its answers take 1.8
    leaves = ProvenLeaves([prover], np.ones(prover.num_stages), tiers, 100)
    leaves.prove(states)
    leaves.prove(states)
    spent = leaves.num_nodes
    assert (leaves.prove(states) == UNPROVEN).all() and 0 < leaves.num_nodes == spent < 120


def test_costs_are_extrapolated_as_they_grew():
    costs = np.full(20, np.inf)
    costs[:12] = 3.0 ** np.arange(12)
    assert np.allclose(solvers_exact_leaves._extrapolated(costs), 3.0 ** np.arange(20))
    costs[:12] = 10.0  # flat: still a little dearer from stage to stage
    assert (np.diff(solvers_exact_leaves._extrapolated(costs)[11:]) > 0).all() and (
        solvers_exact_leaves._extrapolated(costs)[:12] == 10
    ).all()
    costs[6:] = np.inf  # too few to tell
    assert np.array_equal(solvers_exact_leaves._extrapolated(costs), costs)


def test_several_provers_answer_as_one_does():
    game, prover = game_and_prover("othello:6")
    states = late_states("othello:6", 8, 50, seed=4)
    costs, tiers = np.ones(prover.num_stages), [Tier(MANY, math.inf)]
    one = ProvenLeaves([prover], costs, tiers)
    two = ProvenLeaves([make_prover(game), make_prover(game)], costs, tiers)
    results = one.prove(states)
    assert results.tolist() == two.prove(states).tolist() and (results != UNPROVEN).all()


# --- in the search --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ("connect_x:4x4x3", "othello:4"))
@pytest.mark.parametrize("leaves_per_step", (1, 4))
def test_the_search_keeps_every_result_and_plain_search_agrees_where_it_proves(
    name, leaves_per_step
):
    game, prover = game_and_prover(name)
    states = random_positions(game, 60, seed=5)
    exact = exact_values(name)
    plain = searched(game, states, 60)
    search = searched(
        game, states, 60, leaves_per_step=leaves_per_step, exact_leaves=proven_leaves(game, prover)
    )
    found = search.tree.proven_values[:, 0]  # a drawn root may keep moves that it never visits
    assert ((found == exact.values(states)) | (found == UNPROVEN)).all()
    assert np.count_nonzero(found != UNPROVEN) > 30
    output, before = search.output(np.arange(60)), plain.output(np.arange(60))
    values = exact.action_values(states)
    assert (values[np.arange(60), output.actions] == exact.values(states)).all()
    proven = (plain.tree.proven_values[:, 0] != UNPROVEN) & (found != UNPROVEN)
    assert proven.any()
    assert np.array_equal(output.root_values[proven], before.root_values[proven])
    assert search.counts.num_evaluations < plain.counts.num_evaluations


def test_a_root_that_was_a_proven_leaf_gets_its_moves():
    """After the move to a proven leaf the search begins afresh: the leaf has no children."""
    game, prover = game_and_prover("connect_x:4x4x3")
    states = random_positions(game, 40, seed=6)
    search = searched(game, states, 30, exact_leaves=proven_leaves(game, prover))
    rows = np.arange(40)
    actions = search.output(rows).actions
    after = game.step(states, actions)
    rows = rows[~after.over]
    search.advance(rows, actions[rows], after.states[rows], 30)
    search.run()
    output = search.output(rows)
    legal = after.legal_action_mask[rows]
    assert legal[np.arange(len(rows)), output.actions].all()
    assert (output.action_weights[~legal] == 0).all()
    values = exact_values("connect_x:4x4x3").values(after.states[rows])
    assert (search.tree.proven_values[rows, 0] == values).all()
