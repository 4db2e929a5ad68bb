"""`endgame=`: positions that players solve, what may be set, and that measurements stay pure."""

import json

import numpy as np
import pytest
from search_samples import HashEvaluator
from solver_samples import late_states

from alphazero.cli import main
from alphazero.own_games.registry import make_game
from alphazero.players import search_player
from alphazero.players.base import PlayerSettings, thinking_of
from alphazero.players.registry import make_player
from alphazero.players.search_player import SearchPlayer
from alphazero.runtime.errors import ConfigError
from alphazero.solvers.base import ILLEGAL_SCORE, UnsolvableError
from alphazero.solvers.endings import make_endings
from alphazero.solvers.othello import OthelloSolver

#: Three empty cells. Column 3 wins at once, but its prior is small, and column 2 draws.
WIN_AT_ONCE = "1 6 3 2 6 3 4 0 4 5 2 3 4 1 6 4 0 4 6 6 5 1 2 5 0 1 2 0 5 4 0 3 0 6 1 1 5 5 3"


@pytest.fixture(scope="module")
def game():
    return make_game("connect_x:4x5x4")


def exact_player(game, num_simulations, **options):
    evaluator = HashEvaluator(game.num_actions)
    return SearchPlayer(game, evaluator, num_simulations, endings=make_endings(game), **options)


def test_values_are_off_and_auto(capsys):
    with pytest.raises(ConfigError) as error:
        make_player("best,endgame=on", make_game("tic_tac_toe"))
    assert (error.value.key, error.value.value) == ("endgame", "on")
    for command in ("match", "play", "engine", "pettingzoo"):
        assert main([command, "endgame=on"]) == 2
        assert "off, auto" in capsys.readouterr().err


def test_a_move_that_wins_at_once_is_played_with_any_number_of_simulations():
    game = make_game("connect_four")
    state = game.initial_states()
    for action in map(int, WIN_AT_ONCE.split()):
        state = game.step(state, np.array([action])).states
    best = make_player("best", game, PlayerSettings(device="cpu", endgame="auto"))
    players = [best.limited(num) for num in range(1, 201)] + [best.limited(None, 0.005)]
    assert {player.analyse(state[0]).action for player in players} == {3}
    assert {int(player.choose(state).actions[0]) for player in players} == {3}


def test_solved_positions_among_others_get_the_best_exact_score_and_the_others_are_searched(game):
    states = np.concatenate([late_states(game.name, 12, 30, seed=8), game.initial_states(2)])
    states = states[np.random.default_rng(0).permutation(32)]
    player = exact_player(game, 1)
    scores = [player.endings.scores(state, search_player.NODES_PER_SIMULATION) for state in states]
    is_solved = np.array([one is not None for one in scores])
    assert 25 < is_solved.sum() < 32
    choice = player.choose(states)
    searched = SearchPlayer(game, player.evaluator, 1).choose(states[~is_solved])
    for field, expected in zip(choice, searched):
        np.testing.assert_array_equal(field[~is_solved], expected)
    for row in np.flatnonzero(is_solved):
        analysis = player.analyse(states[row])
        assert analysis.action == choice.actions[row] and analysis.value == choice.values[row]
        assert analysis.scores.tolist() == scores[row].tolist()
        assert scores[row][choice.actions[row]] == scores[row].max()
        assert np.sign(scores[row].max()) == choice.values[row]
        is_best = scores[row] == scores[row].max()
        assert ((choice.action_weights[row] > 0) == is_best).all()
        assert (np.isnan(analysis.values) == (scores[row] == ILLEGAL_SCORE)).all()
    np.testing.assert_allclose(choice.action_weights.sum(axis=1), 1.0, rtol=1e-5)


def test_the_limits_of_a_move_limit_what_is_solved(game, monkeypatch):
    player = exact_player(game, 50)
    asked = []
    monkeypatch.setattr(type(player.endings), "scores", lambda _, *given: asked.append(given[1]))
    state = game.initial_states()
    limits = [(50, None), (50, 3600.0), (50, 0.001), (None, 0.01), (None, 3600.0), (10**6, None)]
    for num_simulations, time_limit_s in limits:
        player.limited(num_simulations, time_limit_s)._exact_scores(state)
    most = search_player.MAX_NODES
    assert asked == [50_000, 50_000, 2_000, 20_000, most, most]


def test_a_player_says_how_it_thinks_and_limits_are_kept(game):
    player = exact_player(game, 50)
    assert thinking_of(player) == player.method == "search with exact endings"
    assert player.limited(20).method == "search with exact endings"
    assert player.limited(0).method == "network alone"


def test_networks_are_measured_without_exact_endings_and_play_with_them(tmp_path, capsys):
    assert PlayerSettings().endgame == "off"
    words = ["game=connect_four", "num_simulations=5", "device=cpu"]
    for command, endgame, method in (
        ("match", [], "search with exact endings"),
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
