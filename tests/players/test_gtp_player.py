"""The player behind GTP, with a naive engine that uses the other starting position of Othello."""

import json
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from naive import NaiveOthello

from alphazero.cli import main
from alphazero.evaluation.match import Openings, play_match
from alphazero.own_games.registry import make_game
from alphazero.players import gtp
from alphazero.players.base import RESIGN
from alphazero.players.gtp import GtpError, GtpPlayer
from alphazero.players.registry import make_player
from alphazero.players.without_search import RandomPlayer
from alphazero.runtime.errors import ConfigError

ENGINE = Path(__file__).parents[1] / "gtp_engine.py"
COMMAND = f"{shlex.quote(sys.executable)} {shlex.quote(str(ENGINE))}"


def mirrored(action, size):
    row, column = divmod(action, size)
    return row * size + size - 1 - column


@pytest.mark.parametrize(
    ("name", "size", "option"),
    [
        ("othello:6", 6, ""),
        pytest.param("othello", 8, " --strict", marks=pytest.mark.slow),
        pytest.param("othello:10", 10, "", marks=pytest.mark.slow),
    ],
)
def test_games_are_legal_on_both_sides_and_the_moves_are_the_engines(name, size, option):
    game = make_game(name)
    engine, opponent = GtpPlayer(game, COMMAND + option), RandomPlayer(game, 3)
    report = play_match(game, engine, opponent, 4, Openings(4, seed=5))
    passes = 0
    for played in report.games:
        board = NaiveOthello(size)
        for ply, move in enumerate(played.moves):
            assert move in board.legal()
            if ply >= 4 and (ply % 2 == 0) == played.a_moves_first:
                # The engine plays the first legal square in its reading order; its columns are
                # the mirror image of ours.
                squares = [mirrored(square, size) for square in board.disc_moves(board.player)]
                assert move == (mirrored(min(squares), size) if squares else size * size)
            passes += move == size * size
            board.play(move)
        assert board.over()
    assert passes > 0


def test_a_game_of_a_user_is_not_othello_by_the_name_of_its_class():
    class Othello(NamedTuple):
        side: int

    game = SimpleNamespace(name="mine.py", num_actions=65, rules=Othello(8))
    with pytest.raises(ConfigError) as refused:
        GtpPlayer(game, COMMAND)
    assert (refused.value.key, refused.value.value) == ("game", "mine.py")


def test_another_game_is_refused():
    with pytest.raises(ConfigError) as refused:
        make_player(f"gtp:{COMMAND}", make_game("connect_four"))
    error = refused.value
    assert (error.key, error.value, error.allowed) == ("game", "connect_four", ["othello"])


@pytest.mark.parametrize("command", ["no-such-engine --level 3", "", "'unclosed"])
def test_an_engine_that_cannot_be_started_is_named(command):
    with pytest.raises(ConfigError) as refused:
        make_player(f"gtp:{command}", make_game("othello"))
    assert refused.value.value == command


@pytest.mark.parametrize(
    ("name", "command", "answer"),
    [
        ("othello:4", COMMAND, "illegal move"),
        ("othello", "cat", "boardsize 8"),
        ("othello", "true", "ended"),
    ],
)
def test_an_engine_that_refuses_the_board_or_speaks_something_else_is_named(name, command, answer):
    game = make_game(name)
    with pytest.raises(GtpError) as failed:
        make_player(f"gtp:{command}", game)
    for text in (command, answer, f"boardsize {game.rules.size}"):
        assert text in str(failed.value)


def player_that_answers(game, answer):
    """Return a player whose engine gives one answer to everything."""
    program = f"import sys; [print({answer!r}, end='', flush=True) for _ in sys.stdin]"
    return GtpPlayer(game, f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}")


@pytest.mark.parametrize(
    "answer", ["= i9\n\n", "= a1 b2\n\n", "= \x1b[2J\n\n", "=\0\n\n", "? no\n\n"]
)
def test_an_answer_that_is_no_move_is_refused_in_a_sentence(answer):
    game = make_game("othello")
    with pytest.raises(GtpError) as refused:
        player_that_answers(game, answer + "\n\n").choose_after([[]], game.initial_states(1))
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    "answer, action",
    [
        ("\n\n= D3\n\n", 20),
        ("# ready\n\n=d3 # the best\n\n", 20),
        ("=\r\nd3\r\nvalue 0.5\r\n\r\n", 20),
        ("= PASS\n\n", 64),
        ("= Resign\n\n", RESIGN),
    ],
)
def test_answers_are_read_in_every_form_that_the_protocol_allows(answer, action):
    game = make_game("othello")
    choice = player_that_answers(game, answer).choose_after([[]], game.initial_states(1))
    assert choice.actions.tolist() == [action]
    assert choice.action_weights.sum() == (action != RESIGN)


def test_an_engine_that_resigns_has_lost_the_game():
    game = make_game("othello:6")
    engine, opponent = player_that_answers(game, "= resign\n\n"), RandomPlayer(game, 3)
    for players, score in ((engine, opponent), 0.0), ((opponent, engine), 1.0):
        report = play_match(game, *players, 4, Openings(2, seed=5))
        assert [played.score for played in report.games] == [score] * 4
        assert {len(played.moves) for played in report.games} == {2, 3}


def test_the_games_before_an_engine_ends_are_reported(tmp_path, capsys):
    path = tmp_path / "match.json"
    words = ["game=othello:6", f"a=gtp:{COMMAND} --dies=70", "b=random", "num_games=10"]
    assert main(["match", *words, f"json={path}"]) == 2
    captured = capsys.readouterr()
    assert "--dies=70" in captured.err and captured.err.count("\n") == 1
    report = json.loads(path.read_text())
    assert report["num_games"] == len(report["games"]) == 4  # 15 or 16 moves of each player
    assert f"{report['wins']} won, {report['draws']} drawn, {report['losses']} lost" in captured.out


@pytest.mark.parametrize("command", ("sleep 100", "yes ''", "yes ="))
def test_an_engine_that_does_not_answer_is_named_after_a_while(command, monkeypatch):
    monkeypatch.setattr(gtp, "_ANSWER_LIMIT_S", 0.3)
    with pytest.raises(GtpError) as failed:
        GtpPlayer(make_game("othello"), command)
    for text in (command, "boardsize 8", "0.3"):
        assert text in str(failed.value)


def test_an_engine_may_think_longer_than_it_may_take_for_other_answers(monkeypatch):
    program = "import sys, time\nfor line in sys.stdin:"
    program += "\n time.sleep(0.5 * line.startswith('gen'))\n print('= d3\\n', flush=True)"
    game = make_game("othello")
    player = GtpPlayer(game, f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}")
    monkeypatch.setattr(gtp, "_ANSWER_LIMIT_S", 0.2)
    assert player.choose_after([[]], game.initial_states(1)).actions.tolist() == [20]
    monkeypatch.setattr(gtp, "_MOVE_LIMIT_S", 0.2)
    with pytest.raises(GtpError, match="genmove"):
        player.choose_after([[]], game.initial_states(1))


@pytest.mark.slow
def test_an_engine_is_not_asked_about_a_position_alone():
    game = make_game("othello")
    player = GtpPlayer(game, COMMAND)
    with pytest.raises(GtpError):
        player.choose(game.initial_states(1))
    with pytest.raises(GtpError):
        player.analyse(game.initial_states(1)[0])
