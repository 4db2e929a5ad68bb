"""`endgame=`: exact leaves of players, what may be set, and that measurements stay pure."""

import dataclasses
import json
import math

import numpy as np
import pytest
from search_samples import BanditGame, HashEvaluator
from solver_samples import late_states

from alphazero.cli import main
from alphazero.own_games.registry import make_game
from alphazero.players import exact_leaves
from alphazero.players.base import PlayerSettings, thinking_of
from alphazero.players.exact_leaves import (
    LeafPolicy,
    make_leaf_policy,
)
from alphazero.players.registry import make_player
from alphazero.players.search_player import SearchPlayer
from alphazero.runtime.errors import ConfigError
from alphazero.solvers.base import UnsolvableError, values_of
from alphazero.solvers.exact_leaves import make_prover
from alphazero.solvers.othello import OthelloSolver
from alphazero.solvers.registry import make_solver

MEASURED = exact_leaves.leaf_costs  # before `conftest.py` replaces it for all tests


@pytest.fixture(autouse=True)
def measured(monkeypatch):
    monkeypatch.setattr(exact_leaves, "leaf_costs", MEASURED)


@pytest.fixture(scope="module")
def game():
    return make_game("connect_x:4x5x4")


@pytest.fixture
def policy(game):
    return make_leaf_policy(game, "auto", 2)


def test_values_are_off_and_auto(capsys):
    with pytest.raises(ConfigError) as error:
        make_player("best,endgame=on", make_game("tic_tac_toe"))
    assert (error.value.key, error.value.value) == ("endgame", "on")
    for command in ("match", "play", "engine", "pettingzoo"):
        assert main([command, "endgame=on"]) == 2
        assert "off, auto" in capsys.readouterr().err


@pytest.mark.slow
def test_costs_are_the_same_for_everybody_and_grow_with_the_distance_from_the_end(game, policy):
    assert np.array_equal(policy.costs, make_leaf_policy(game, "auto", 1).costs)
    assert np.isfinite(policy.costs).all() and policy.costs[15] > 10 * policy.costs[5]


def test_off_and_other_games_have_no_exact_leaves(game):
    assert make_leaf_policy(game, "off", 1) is None
    for other in (BanditGame(3), make_game("tic_tac_toe"), make_game("connect_x:9x9x4")):
        assert make_prover(other) is None and make_leaf_policy(other, "auto", 1) is None


def test_more_time_allows_more_expensive_answers(game):
    costs = 4.0 ** np.arange(20)
    policy = LeafPolicy([make_prover(game)], costs)
    budgets = [policy.leaves(math.inf, seconds)._budgets for seconds in (0.1, 1.0, 50.0)]
    reach = [int(np.flatnonzero(each[0])[-1]) for each in budgets]
    assert reach[0] < reach[1] < reach[2]
    cheapest = [int(np.flatnonzero(each[-1])[-1]) for each in budgets]
    assert cheapest[0] == cheapest[1] == cheapest[2] < reach[0]
    none = LeafPolicy([make_prover(game)], np.full(20, math.inf))
    assert none.leaves(200, None) is None


def test_a_number_of_simulations_has_a_smaller_fraction_than_a_time_counted_in_nodes(game):
    policy = LeafPolicy([make_prover(game)] * 2, 2.0 ** np.arange(20))

    def nodes(*limits) -> float:
        return sum(tier.nodes_per_search for tier in policy.leaves(*limits)._tiers[:-1])

    of_a_second = 2 * exact_leaves._NODES_PER_S  # by both provers
    num_simulations = exact_leaves._NODES_PER_S / exact_leaves._NODES_PER_EVALUATION
    assert nodes(math.inf, 1.0) == pytest.approx(3 / 4 * of_a_second)
    assert nodes(num_simulations, None) == pytest.approx(1 / 4 * of_a_second)
    assert nodes(num_simulations, 60.0) == nodes(num_simulations, None)  # whichever ends first
    assert nodes(num_simulations, 0.5) == nodes(math.inf, 0.5)
    by_clock = [policy.leaves(num_simulations, limit)._nodes_per_s for limit in (None, 0.5)]
    assert by_clock == [0, of_a_second]


def test_the_room_of_a_timed_search_is_no_limit_of_its_exact_leaves(game, policy):
    player = SearchPlayer(game, HashEvaluator(game.num_actions), 50, exact_leaves=policy)
    timed = player.limited(None, 3600.0)._proven_leaves
    assert timed._nodes_per_s and timed._tiers == policy.leaves(math.inf, 3600.0)._tiers
    assert not player.limited(50, 3600.0)._proven_leaves._nodes_per_s


def test_late_positions_are_played_exactly(game, policy):
    states = late_states(game.name, 11, 40, seed=8)
    evaluator = HashEvaluator(game.num_actions)
    policy = dataclasses.replace(policy, nodes_per_evaluation=100_000)
    pure = SearchPlayer(game, evaluator, 20)
    exact = SearchPlayer(game, evaluator, 60, batches_leaves=True, exact_leaves=policy)
    values = values_of(make_solver(game).scores(states))

    def fraction_kept(actions) -> float:
        return float(np.mean(values[np.arange(40), actions] == values.max(axis=1)))

    assert fraction_kept([exact.analyse(state).action for state in states]) == 1.0
    assert fraction_kept(exact.choose(states).actions) == 1.0
    assert fraction_kept(pure.choose(states).actions) < 1.0


def test_a_player_says_how_it_thinks_and_limits_are_kept(game, policy):
    player = SearchPlayer(game, HashEvaluator(game.num_actions), 50, exact_leaves=policy)
    assert thinking_of(player) == player.method == "search with exact leaves"
    assert player.limited(20).method == "search with exact leaves"
    assert player.limited(0).method == "network alone"


def test_networks_are_measured_without_exact_leaves_and_play_with_them(tmp_path, capsys):
    assert PlayerSettings().endgame == "off"
    words = ["game=connect_four", "num_simulations=5", "device=cpu"]
    for command, endgame, method in (
        ("match", [], "search with exact leaves"),
        ("match", ["endgame=off"], "search"),
        ("match", ["with_search=false"], "network alone"),
    ):
        file = tmp_path / "report.json"
        sides = ["a=best", "b=random", "num_games=2", f"json={file}"]
        assert main([command, *words, *sides, *endgame]) == 0
        report = json.loads(file.read_text())
        assert report["method_a"] == method and report["method_b"] == ""
        assert method in capsys.readouterr().out
    player = make_player("best", make_game("connect_four"), PlayerSettings(device="cpu"))
    assert player.method == "search"


def test_an_othello_solver_gives_up_after_so_many_nodes():
    game = make_game("othello:6")
    states = late_states("othello:6", 12, 20, seed=5)
    whole, small = OthelloSolver(game), OthelloSolver(game, max_nodes=300)
    num_refused = 0
    for state in states:
        before = whole.num_nodes
        scores = whole.scores(state[None])
        try:
            assert np.array_equal(small.scores(state[None]), scores)
        except UnsolvableError:
            num_refused += 1
            assert whole.num_nodes - before > 100
    assert 0 < num_refused < 20
