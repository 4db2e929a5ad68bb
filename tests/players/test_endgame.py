"""`endgame=`: exact leaves of players, what may be set, and that measurements stay pure."""

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
    LeafSpeed,
    check_setting,
    make_leaf_policy,
)
from alphazero.players.registry import make_player
from alphazero.players.search_player import SearchPlayer
from alphazero.runtime.errors import ConfigError
from alphazero.solvers.base import UnsolvableError, values_of
from alphazero.solvers.exact_leaves import make_prover
from alphazero.solvers.othello import OthelloSolver
from alphazero.solvers.registry import make_solver

#: As it is before `conftest.py` replaces it for all tests.
measure, read = exact_leaves.leaf_speed, exact_leaves.known_speed


@pytest.fixture(autouse=True)
def measured(monkeypatch):
    monkeypatch.setattr(exact_leaves, "leaf_speed", measure)
    monkeypatch.setattr(exact_leaves, "known_speed", read)


@pytest.fixture(scope="module")
def game():
    return make_game("connect_x:4x5x4")


@pytest.fixture
def policy(game, tmp_path):
    return make_leaf_policy(
        game, HashEvaluator(game.num_actions), "auto", 2, tmp_path / "speed.json"
    )


@pytest.mark.parametrize("text", ("", "0", "1.5", "on", "²", "99999999999"))
def test_values_are_off_auto_or_a_number(text):
    assert [check_setting(allowed) for allowed in ("off", "auto", "1")] == ["off", "auto", "1"]
    with pytest.raises(ConfigError) as error:
        check_setting(text)
    assert error.value.key == "endgame"


def test_speeds_are_measured_once(game, policy, tmp_path, caplog):
    path = tmp_path / "speed.json"
    stored = read(path)
    assert stored.nodes_per_s > 0 and stored.evaluations_per_s > 0
    caplog.clear()
    evaluator = HashEvaluator(game.num_actions)
    make_leaf_policy(game, evaluator, "auto", 1, path)
    assert not caplog.records and read(path) == stored
    path.write_text('{"nodes_per_s": 1}')  # of another version
    make_leaf_policy(game, evaluator, "auto", 1, path)
    assert len(caplog.records) == 1 and read(path) is not None


def test_off_and_other_games_have_no_exact_leaves(game, tmp_path):
    evaluator = HashEvaluator(game.num_actions)
    assert make_leaf_policy(game, evaluator, "off", 1, tmp_path / "x") is None
    assert not (tmp_path / "x").exists()
    for other in (BanditGame(3), make_game("tic_tac_toe"), make_game("connect_x:9x9x4")):
        assert make_prover(other) is None


def test_more_time_allows_dearer_answers(game):
    costs = [2.0**stage for stage in range(20)]
    policy = LeafPolicy([make_prover(game)], LeafSpeed(costs, 1e5, 1e4), None)
    budgets = [policy.leaves(200_000, seconds)._budgets for seconds in (0.1, 1.0, 5.0)]
    reach = [int(np.flatnonzero(each[0])[-1]) for each in budgets]
    assert reach[0] < reach[1] < reach[2]
    assert all(len(each) == 4 for each in budgets)
    cheapest = [int(np.flatnonzero(each[-1])[-1]) for each in budgets]
    assert cheapest[0] == cheapest[1] == cheapest[2] < reach[0]
    fixed = LeafPolicy([make_prover(game)], LeafSpeed(costs, 1e5, 1e4), 64.0)
    assert np.flatnonzero(fixed.leaves(10, None)._budgets[0])[-1] == 6
    none = LeafPolicy([make_prover(game)], LeafSpeed([math.inf], 1e7, 1e4), None)
    assert none.leaves(200, None) is None


def test_a_number_of_simulations_has_a_smaller_fraction_than_a_time_counted_in_nodes(game):
    costs = [2.0**stage for stage in range(20)]
    policy = LeafPolicy([make_prover(game)] * 2, LeafSpeed(costs, 1e5, 1e4), None)

    def nodes(*limits) -> float:
        return sum(tier.nodes_per_search for tier in policy.leaves(*limits)._tiers[:-1])

    of_a_second = 1e5 * 2  # by both provers
    assert nodes(math.inf, 1.0) == pytest.approx(3 / 4 * of_a_second)
    assert nodes(10_000, None) == pytest.approx(1 / 4 * of_a_second)  # a second's evaluations
    assert nodes(10_000, 60.0) == nodes(10_000, None)  # whichever ends first
    assert nodes(10_000, 0.5) == nodes(math.inf, 0.5)
    by_clock = [policy.leaves(*limits)._nodes_per_s for limits in ((10_000, None), (10_000, 0.5))]
    assert by_clock == [0, of_a_second]


def test_the_room_of_a_timed_search_is_no_limit_of_its_exact_leaves(game, policy):
    player = SearchPlayer(game, HashEvaluator(game.num_actions), 50, exact_leaves=policy)
    timed = player.limited(None, 3600.0)._proven_leaves
    assert timed._nodes_per_s and timed._tiers == policy.leaves(math.inf, 3600.0)._tiers
    assert not player.limited(50, 3600.0)._proven_leaves._nodes_per_s


def test_late_positions_are_played_exactly(game, tmp_path):
    states = late_states(game.name, 11, 40, seed=8)
    evaluator = HashEvaluator(game.num_actions)
    policy = make_leaf_policy(game, evaluator, "100000", 2, tmp_path / "speed.json")
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
        except UnsolvableError as error:
            num_refused += 1
            assert error.unit == "nodes" and error.limit == 300
            assert whole.num_nodes - before > 100
    assert 0 < num_refused < 20
