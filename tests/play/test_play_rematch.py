"""After the last move: taking it back, and a rematch."""

import io
import re

import pytest
from test_play_terminal import ScriptedPlayer

from alphazero.own_games.registry import make_game
from alphazero.play.screen import line_reader
from alphazero.play.terminal import HumanPlayer, TerminalGame
from alphazero.runtime.console import Console

X_WINS = "1 4 2 5 3".split()


def _play(typed: list[str], second=(), first=(), **options):
    """Play, with people where no moves are given; return what was printed, the game, the winner."""
    game, console = make_game("tic_tac_toe"), Console(file=io.StringIO(), width=100)
    sides = (first, second)
    players = tuple(ScriptedPlayer(game, moves) if moves else HumanPlayer() for moves in sides)
    lines = io.StringIO("".join(f"{line}\n" for line in typed))
    terminal = TerminalGame(game, players, console, line_reader(console, lines), **options)
    winner = terminal.run()
    return console.file.getvalue(), terminal, winner


# --- after the last move --------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["undo", "u", " U "])
def test_a_finished_game_can_be_taken_back_and_continued(word):
    _, terminal, winner = _play([*X_WINS, word, "9", "6"])
    assert terminal.session.actions == [0, 3, 1, 4, 8, 5]
    assert winner == 1


def test_a_loss_against_an_engine_is_taken_back_to_ones_own_move():
    _, terminal, winner = _play(["1", "2", "9", "undo", "3"], second=[3, 4, 5])
    assert terminal.session.actions == [0, 3, 1, 4, 2]
    assert winner == 0


@pytest.mark.parametrize(
    ("word", "names"), [("r", ("you", "scripted")), ("s", ("scripted", "you"))]
)
def test_a_rematch_has_the_same_sides_or_swaps_them(word, names):
    engine_moves = [3, 4, 8, 7]  # in the rematch it moves 9 and 8
    text, terminal, winner = _play(["1", "2", "3", word, "4"], second=engine_moves)
    assert winner is None  # the person left the second game
    assert re.findall(r"X \((\w+)\) +against +O \((\w+)\)", text) == [
        ("you", "scripted"),
        names,
    ]
    assert terminal.session.actions == ([3, 8] if word == "r" else [8, 3, 7])


def test_at_the_end_a_move_is_refused_and_q_leaves():
    text, terminal, winner = _play([*X_WINS, "9", "", "hint", "m", "q", "r"])
    assert terminal.session.actions == [0, 3, 1, 4, 2]
    assert winner == 0
    assert "moves=1,4,2,5,3" in text
