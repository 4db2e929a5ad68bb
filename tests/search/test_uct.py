"""The UCT search: solved positions, ties, limits, seeds, refused settings."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from game_samples import TWICE
from interpreted import printed_without_compiler
from search_samples import make_uct

from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.uct import UctPlayer
from alphazero.runtime.errors import ConfigError
from alphazero.search.uct import search as uct
from alphazero.search.uct.tree import TABLE_SIZE

ROOT = Path(__file__).parents[2]
FULL_OF_BLACK = "BBBBBBBW\n" + 6 * "BBBBBBBB\n" + "BBBBBBB-"


def search(name, moves=(), **settings):
    """Return what a search finds after a list of moves."""
    game = make_game(name)
    return make_uct(game, **settings).run(game.play_moves(list(moves)))


# --- moves ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistics", ["node", "position"])
@pytest.mark.parametrize("final_move", ["visits", "value"])
def test_a_winning_move_is_found_and_its_value_is_exact(statistics, final_move):
    moves, settings = [0, 1, 2, 0, 2, 1, 1, 1], dict(statistics=statistics, final_move=final_move)
    found = search("connect_x:4x3x3", moves, num_simulations=200, **settings)
    assert found.action == 2
    assert found.values[2] == 1.0


@pytest.mark.parametrize(
    ("name", "moves", "answer"),
    [
        ("connect_four", [0, 6, 1, 6, 2, 5], 3),  # three in the bottom row and the fourth cell free
        ("connect_four", [0, 6, 0, 6, 0], 0),  # three on top of each other: block them
        ("connect_four", [3, 3, 2, 0, 2, 0, 2, 0, 6], 0),  # win rather than block column 2
        ("tic_tac_toe", [0, 4, 8, 2], 6),  # X: block 2-4-6
        ("tic_tac_toe", [0, 3, 1, 4], 2),  # X: 0-1-2 wins, and 5 would only block 3-4-5
    ],
)
@pytest.mark.parametrize("statistics", ["node", "position"])
def test_wins_and_blocks_in_one_move_are_found(name, moves, answer, statistics):
    assert search(name, moves, num_simulations=2000, statistics=statistics).action == answer


def test_the_only_move_that_ends_the_game_has_its_exact_result():
    game = make_game("othello")
    search = make_uct(game, num_simulations=30)
    found = search.run(game.text_to_state(FULL_OF_BLACK, player=0))
    assert found.action == 63
    assert search.principal_variation() == [63]
    assert found.value == found.values[63] == -1.0  # white turns the last column and has lost
    assert found.visits[63] == found.num_simulations == 30


# --- the output -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "othello:6"])
@pytest.mark.parametrize("statistics", ["node", "position"])
def test_the_fields_of_the_output_agree(name, statistics):
    game = make_game(name)
    state = game.initial_states()[0]
    search = make_uct(game, num_simulations=500, statistics=statistics)
    found, line = search.run(state), search.principal_variation()
    legal = game.legal_action_mask(state[None])[0]
    assert found.num_simulations == found.visits.sum() == 500
    assert found.action == found.visits.argmax() == line[0]
    assert not found.visits[~legal].any() and found.visits[legal].all()
    assert np.isnan(found.values[~legal]).all() and (abs(found.values[legal]) <= 1).all()
    np.testing.assert_allclose(found.action_weights, found.visits / 500, atol=1e-6)
    # Every simulation went through one of the root's moves.
    mean = (found.visits[legal] * found.values[legal]).sum() / 500
    assert found.value == pytest.approx(mean, abs=1e-6)
    game.play_moves(line)  # legal from the first move to the last


def test_the_final_move_is_the_most_visited_one_or_the_one_with_the_best_value():
    # With little exploration the rules disagree for about a quarter of the seeds.
    disagreements = 0
    for seed in range(30):
        settings = {"num_simulations": 60, "uct_c": 0.3, "seed": seed}
        by_visits = search("tic_tac_toe", **settings, final_move="visits")
        by_value = search("tic_tac_toe", **settings, final_move="value")
        assert (by_visits.visits == by_value.visits).all()
        assert by_visits.visits[by_visits.action] == by_visits.visits.max()
        assert by_value.values[by_value.action] == np.nanmax(by_value.values)
        disagreements += by_visits.action != by_value.action
    assert disagreements > 0


def test_equal_moves_are_chosen_at_random():
    # O's two moves, 6 (2-4-6) and 8 (0-4-8), both win: equal in visits and value.
    moves = [1, 0, 3, 2, 5, 4, 7]
    outputs = [search("tic_tac_toe", moves, num_simulations=2, seed=seed) for seed in range(40)]
    for found in outputs:
        assert found.visits[6] == found.visits[8] == found.values[6] == found.values[8] == 1
    assert {found.action for found in outputs} == {6, 8}


# --- limits ---------------------------------------------------------------------------------------


def run_with_reports(**settings):
    """Search the first position of tic-tac-toe; return the output and the progress reports."""
    game, reports = make_game("tic_tac_toe"), []
    search = make_uct(game, **settings)
    found = search.run(game.initial_states()[0], lambda *report: reports.append(report))
    return found, reports


def test_a_time_limit_ends_the_search():
    found, reports = run_with_reports(num_simulations=None, time_limit_s=0.2, max_nodes=10_000)
    assert found.visits.sum() == found.num_simulations >= 1
    assert reports[-1] == (found.num_simulations, None)


def test_of_two_limits_the_one_reached_first_ends_the_search():
    few = search("tic_tac_toe", num_simulations=50, time_limit_s=1000.0)
    assert few.num_simulations == 50
    short = search("tic_tac_toe", num_simulations=10**8, time_limit_s=0.01, max_nodes=5000)
    assert short.num_simulations < 10**8


def test_progress_is_reported_with_the_number_to_do(monkeypatch):
    monkeypatch.setattr(uct, "PROGRESS_S", 0.0)
    _, reports = run_with_reports(num_simulations=20_000)
    done, totals = zip(*reports)
    assert len(done) > 2 and list(done) == sorted(done) and done[-1] == 20_000
    assert set(totals) == {20_000}


@pytest.mark.parametrize("statistics", ["node", "position"])
def test_a_full_tree_stops_growing_and_simulations_continue(statistics):
    game = make_game("connect_four")
    small = make_uct(game, num_simulations=3000, max_nodes=200, statistics=statistics)
    found = small.run(game.initial_states()[0])
    assert found.visits.sum() == found.num_simulations == 3000
    assert 200 - 7 < small.tree.sizes[0] <= 200 or 200 - 7 < small.tree.sizes[1] <= 200
    assert len(small.tree.nodes) == 200
    assert found.action == 3  # the middle, also seen with a tree of a few plies


def test_the_memory_is_bounded():
    def memory_of(search) -> int:
        return sum(array.nbytes for array in search.tree)

    game = make_game("connect_four")
    by_node = make_uct(game, num_simulations=10**9, max_nodes=1000)
    assert memory_of(by_node) == 20 * 1000 + 8
    by_position = make_uct(game, num_simulations=10**9, max_nodes=1000, statistics="position")
    assert memory_of(by_position) == (20 + 8 + 4 + 3 * 8) * 1000 + 4 * 2048 + 8
    # A short search takes only what it can use: 7 moves for the root and each of 10 simulations.
    assert memory_of(make_uct(game, num_simulations=10)) == 20 * (1 + 11 * 7) + 8


# --- seeds, compiled and interpreted --------------------------------------------------------------


@pytest.mark.parametrize("statistics", ["node", "position"])
def test_a_seed_fixes_the_search_and_another_changes_it(statistics):
    settings = dict(num_simulations=300, statistics=statistics)
    first, same, other = (search("connect_four", [3], seed=seed, **settings) for seed in (1, 1, 2))
    assert (first.visits == same.visits).all() and first.value == same.value
    assert (first.visits != other.visits).any()


def test_the_size_of_the_chunks_changes_nothing(monkeypatch):
    whole = search("connect_four", num_simulations=700)
    monkeypatch.setattr(uct, "FIRST_CHUNK", 1)
    monkeypatch.setattr(uct, "CHUNK_S", 0.0)
    assert (search("connect_four", num_simulations=700).visits == whole.visits).all()


@pytest.mark.parametrize("statistics", ["node", "position"])
def test_a_search_does_not_depend_on_the_one_before_it(statistics):
    game = make_game("tic_tac_toe")
    first, second = game.play_moves([0]), game.play_moves([4])
    used, fresh = (make_uct(game, num_simulations=400, statistics=statistics) for _ in range(2))
    used.run(first)
    fresh.rng[0] = used.rng[0]
    assert (used.run(second).visits == fresh.run(second).visits).all()


POSITION = {"statistics": "position"}
CASES = [
    ("tic_tac_toe", [], {"num_simulations": 300}),
    ("tic_tac_toe", [], {"num_simulations": 300, "final_move": "value", **POSITION}),
    # Beyond the tables of UCB1; three plies from the end, where simulations are short.
    ("tic_tac_toe", [0, 4, 8, 2, 6, 3], {"num_simulations": TABLE_SIZE + 100, **POSITION}),
    ("connect_x:9x9x4", [], {"num_simulations": 50}),
    ("connect_four", [], {"num_simulations": 70}),
    ("othello:4", [], {"num_simulations": 150, "rollout": "weighted"}),
    ("othello:6", [], {"num_simulations": 40, "max_nodes": 100, **POSITION}),
    (TWICE, [], {"num_simulations": 200, **POSITION}),
]


def describe(name, moves, settings):
    """Return a line that depends on everything that a search returns."""
    game = make_game(name)
    search = make_uct(game, **settings)
    found = search.run(game.play_moves(moves))
    lists = [found.visits.tolist(), found.values.tolist(), search.principal_variation()]
    return f"{name} {found.action} {found.value!r} {lists}"


@pytest.mark.slow
def test_the_interpreted_search_is_the_compiled_one_and_warns_of_nothing():
    assert printed_without_compiler(__file__) == [describe(*case) for case in CASES]


RUN_ONCE = """
from alphazero.own_games.registry import make_game
from alphazero.search.uct import search as uct

game = make_game("tic_tac_toe")
uct.UctSearch(game, uct.UctSettings(num_simulations=1)).run(game.initial_states()[0])
kernels = (uct.run_simulations, uct.start_tree)
print([sum(kernel.stats.cache_misses.values()) for kernel in kernels])
"""


@pytest.mark.slow
def test_a_second_process_finds_the_kernels_compiled():
    # Two new processes: in this one other tests may have added a game file to the kernels' sources.
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", RUN_ONCE]
    options = dict(check=True, env=environment, capture_output=True, text=True, timeout=300)
    _, second = (subprocess.run(command, **options) for _ in range(2))
    assert second.stdout.strip() == "[0, 0]"


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "key", "allowed"),
    [
        ({"rollout": "weighted"}, "rollout", "random"),  # tic-tac-toe has no weights
        ({"rollout_weights": [1.0]}, "rollout_weights", ""),
    ],
)
def test_impossible_settings_are_refused(settings, key, allowed):
    with pytest.raises(ConfigError) as error:
        make_uct(make_game("tic_tac_toe"), **settings)
    assert error.value.key == key and allowed in (error.value.allowed or "")
    assert error.value.value == settings[key]


def test_a_finished_game_is_refused():
    with pytest.raises(ValueError, match="over"):
        search("tic_tac_toe", [0, 3, 1, 4, 2])


def test_the_uct_player_plays_what_the_search_says():
    game = make_game("connect_four")
    state = game.play_moves([3, 3])
    choice = UctPlayer(game, PlayerSettings(num_simulations=100, seed=5)).choose(state[None])
    found = search("connect_four", [3, 3], num_simulations=100, seed=5)
    assert (choice.action_weights[0] == found.action_weights).all()


if __name__ == "__main__":
    for case in CASES:
        print(describe(*case))
