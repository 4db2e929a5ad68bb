"""The player behind GTP, against an engine that keeps a naive board in everybody else's layout and refuses what is not legal there."""

import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from naive import NaiveOthello

from alphazero.cli import match
from alphazero.evaluation.match import Openings, play_match
from alphazero.games.registry import make_game
from alphazero.players.gtp import GtpPlayer
from alphazero.players.random import RandomPlayer
from alphazero.players.registry import make_player

ENGINE = Path(__file__).with_name("gtp_engine.py")
COMMAND = f"{shlex.quote(sys.executable)} {shlex.quote(str(ENGINE))}"


def mirrored(action, size):
    row, column = divmod(action, size)
    return row * size + size - 1 - column


@pytest.mark.parametrize(
    "name, size, words", [("othello", 8, ""), ("othello:6", 6, ""), ("othello", 8, " --strict")]
)
def test_whole_games_are_legal_on_both_sides_and_every_move_is_the_engines(name, size, words):
    game = make_game(name)
    report = play_match(
        game, GtpPlayer(game, COMMAND + words), RandomPlayer(game, 3), 6, Openings(4, seed=5)
    )
    passes = 0
    for played in report.games:
        board = NaiveOthello(size)
        for ply, move in enumerate(played.moves):
            assert move in board.legal()
            if ply >= 4 and (ply % 2 == 0) == played.a_moves_first:
                # The engine's first legal square in its reading order is the last of a row here: the columns are mirrored.
                squares = board.disc_moves(board.player)
                assert move == (
                    mirrored(min(mirrored(square, size) for square in squares), size)
                    if squares
                    else size * size
                )
            passes += move == size * size
            board.play(move)
        assert board.over()
    assert passes > 0


def test_the_words_gtp_name_it_in_a_match(capsys):
    assert match.main(["game=othello:6", f"a=gtp:{COMMAND}", "b=random", "num_games=2"]) == 0
    assert "gtp_engine.py" in capsys.readouterr().out.replace("\n", "")


@pytest.mark.parametrize(
    "name, command, sentence",
    [
        ("connect_four", COMMAND, "an engine behind GTP plays Othello here, not connect_four."),
        ("othello:4", COMMAND, "refused 'boardsize 4': illegal move."),
        (
            "othello",
            "no-such-engine --level 3",
            "the engine 'no-such-engine --level 3' cannot be started: No such file or directory.",
        ),
        ("othello", "", "cannot be started: there is no command."),
        (
            "othello",
            "cat",
            "the engine 'cat' answered 'boardsize 8' at 'boardsize 8': that is not the Go Text Protocol.",
        ),
        (
            "othello",
            "true",
            "the engine 'true' ended at 'boardsize 8': that is not the Go Text Protocol.",
        ),
    ],
)
def test_what_cannot_be_played_with_is_one_sentence(name, command, sentence):
    with pytest.raises(ValueError) as raised:
        make_player(f"gtp:{command}", make_game(name))
    assert sentence in str(raised.value)


def test_an_engine_that_ends_in_a_game_is_one_sentence():
    game = make_game("othello")
    player = GtpPlayer(game, COMMAND + " --dies")
    with pytest.raises(ValueError, match="ended at 'clear_board'"):
        player.choose_after([[]], game.initial_states(1))
    with pytest.raises(ValueError, match="must be told how a position came about"):
        player.choose(np.zeros((1, game.state_size), game.state_dtype))
