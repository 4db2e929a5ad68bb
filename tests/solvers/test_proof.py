"""Proofs: a player against every possible play of the opponent."""

import re

import numpy as np
import pytest
from game_samples import EXAMPLE
from naive import naive_twin
from network_samples import SMALL, small_network

from alphazero.cli import main
from alphazero.games.batched_game import CompiledGame
from alphazero.network.weights import network_arrays, save_network
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import InputError
from alphazero.solvers import proof
from alphazero.solvers.enumeration import ExactValues, enumerate_positions
from alphazero.solvers.proof import prove
from alphazero.storage.run_folder import RunFolder


@pytest.fixture(scope="module")
def exact():
    return ExactValues(make_game("tic_tac_toe"))


def perfect(exact):
    return lambda states: exact.action_values(states).argmax(axis=1)


def lowest_key(exact):
    return lambda states: exact.game.legal_action_mask(states).argmax(axis=1)


def test_a_poor_player_is_proven_beatable(exact):
    report = prove(exact.game, lowest_key(exact), exact)
    assert not report.unbeatable and not report.perfect
    assert all(side.games[2] > 0 for side in report.sides)
    assert len(report.failures) == report.num_not_final - report.num_accurate > 0
    for failure in report.failures[::100]:
        assert failure.value < failure.best_value
        assert failure.action not in failure.best_actions
        assert failure.best_actions == exact.best_actions(failure.state)
        assert failure.value == exact.action_values(failure.state[None])[0, failure.action]


def test_the_numbers_of_a_proof_agree_with_playing_every_game(exact):
    choose = lowest_key(exact)
    report = prove(exact.game, choose, exact)
    for color, side in enumerate(report.sides):
        seen, ends = set(), []
        play_every_game(exact.game, choose, color, [], seen, ends)
        assert side.color == color
        assert side.num_positions == len(seen)
        assert side.games == tuple(map(ends.count, (1, 0, -1)))


def play_every_game(game, choose, color, line, seen, ends):
    """Play all games one by one, replaying each from its start with the naive implementation."""
    twin = naive_twin("tic_tac_toe")
    for action in line:
        twin.play(action)
    seen.add((str(twin.board), twin.player, twin.over()))
    if twin.over():
        ends.append(twin.result() if twin.player == color else -twin.result())
    elif twin.player == color:
        play_every_game(
            game, choose, color, [*line, int(choose(game.play_moves(line)[None])[0])], seen, ends
        )
    else:
        for action in twin.legal():
            play_every_game(game, choose, color, [*line, action], seen, ends)


def test_positions_are_asked_about_once_and_in_batches(exact, monkeypatch):
    monkeypatch.setattr(proof, "_BATCH", 1000)
    batches = []

    def choose(states):
        batches.append(states.copy())
        states[:] = 0  # a player may overwrite the states that it is given
        return perfect(exact)(batches[-1])

    report = prove(exact.game, choose, exact)
    assert report.unbeatable and report.perfect
    assert (report.num_accurate, report.num_not_final, report.failures) == (4520, 4520, [])
    assert [len(states) for states in batches] == [1000] * 4 + [520]
    assert len({state.tobytes() for states in batches for state in states}) == 4520


@pytest.mark.parametrize("action", [0, -1, 9])
def test_an_illegal_choice_is_named(exact, action):
    with pytest.raises(InputError, match=f"action {action} "):
        prove(exact.game, lambda states: np.full(len(states), action), exact)


def test_a_proof_is_told_also_of_a_game_that_is_lost_from_the_start(capsys):
    assert main(["prove", "game=tic_tac_toe", "player=solver"]) == 0
    assert "\n  unbeatable" in capsys.readouterr().out
    assert main(["prove", "game=connect_x:3x4x3", "player=solver"]) == 0
    out = capsys.readouterr().out
    assert "\n  perfect" in out and "beatable" not in out and "4,631 of 4,631" in out
    lost = re.findall(r"(\d[\d,]*) lost\n", out)  # games, moving first and second
    loser = {(True, False): "first", (False, True): "second"}[lost[0] != "0", lost[1] != "0"]
    assert re.search(rf"\n  perfect.* moves {loser} ", out)
    assert main(["prove", "game=connect_x:3x3x3", "player=random", "show=1"]) == 1
    out = capsys.readouterr().out
    assert "\n  beatable" in out
    assert re.search(r"\nmisplayed: .* played [1-3], .*(draw|loss).* [1-3].*(win|draw)\n", out)


def test_the_game_is_that_of_the_network(tmp_path, capsys):
    game = make_game("connect_x:3x3x3")
    run = RunFolder(tmp_path / "run")
    run.network(1).parent.mkdir(parents=True)
    weights = network_arrays(small_network(game))
    save_network(run.network(1), weights, game.name, SMALL, {})
    assert main(["prove", f"player={run.path}", "num_simulations=2", "show=0"]) in (0, 1)
    assert "(connect_x:3x3x3)" in capsys.readouterr().out


def test_a_game_too_large_to_prove_is_refused(capsys, monkeypatch):
    monkeypatch.setattr(enumerate_positions, "__defaults__", (1000,))
    assert main(["prove", "game=connect_four", "player=random"]) == 2
    message = capsys.readouterr().err
    assert "connect_four" in message and "1,000" in message


def test_passes_are_followed():
    exact = ExactValues(make_game("othello:4"))
    first, second = prove(exact.game, perfect(exact), exact).sides
    # Whoever moves second wins on 4x4, so a perfect second player wins every game.
    assert second.games[1:] == (0, 0)
    assert first.games[2] > 0


def test_taking_the_middle_and_answering_opposite_wins_snort_on_an_odd_board():
    game = CompiledGame("snort:3", type(make_game(EXAMPLE).rules)(3))

    def opposite(states):
        legal = game.legal_action_mask(states)
        opposite_taken = np.array([game.cells(state).ravel()[::-1] != 0 for state in states])
        answer = legal & opposite_taken
        answer[:, 4] |= legal[:, 4]
        return np.where(answer.any(axis=1), answer.argmax(axis=1), legal.argmax(axis=1))

    report = prove(game, opposite)
    assert report.sides[0].games[1:] == (0, 0)
    assert report.sides[0].games[0] > 0
