"""What users of other programs type: each key leads to the setting that is meant."""

import io

import pytest
from rich.console import Console

from alphazero.cli import main, play
from alphazero.cli.match import report_table
from alphazero.config.hints import nearest_key_hint
from alphazero.config.settings import types_of
from alphazero.evaluation.report import MatchGame, MatchReport
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError
from alphazero.training.settings import TrainSettings

HINTS = {
    play.Settings: {
        "maxSimulations": "num_simulations",
        "max-simulations": "num_simulations",
    },
    TrainSettings: {
        "iterations": "run.num_iterations",
        "n_epochs": "learner.epochs",
        "resume_from": "resume",
    },
}


@pytest.mark.parametrize("cls", HINTS, ids=lambda cls: cls.__module__)
def test_a_key_of_another_program_leads_to_ours(cls):
    known = list(types_of(cls))
    found = {key: nearest_key_hint(key, known) for key in HINTS[cls]}
    assert found == {key: f" Did you mean {meant}?" for key, meant in HINTS[cls].items()}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Connect4", "connect_four"),
        ("connect-four", "connect_four"),
        ("connect_four_v3", "connect_four"),
        ("TicTacToe", "tic_tac_toe"),
        ("Othello", "othello"),
        ("othello-6x6", "othello:6"),
    ],
)
def test_a_game_under_another_name_leads_to_ours(name, meant):
    with pytest.raises(ConfigError) as refused:
        make_game(name)
    assert f"Did you mean {meant}?" in str(refused.value)


def test_an_option_with_dashes_is_shown_as_a_setting(capsys):
    assert main(["match", "--num_games", "5"]) == 2
    assert "num_games=" in capsys.readouterr().err


# --- names with brackets and colons ---------------------------------------------------------------

NAME = "uct:100 [red] :100:"


def test_names_are_printed_as_they_are():
    games = (MatchGame((0, 1), True, 1.0, 0), MatchGame((0, 1), False, 0.0, 0))
    report = MatchReport("[bold] :100:", NAME, "b", 0, 0, games)
    out = io.StringIO()
    Console(file=out, width=100, emoji=False).print(report_table(report))
    assert NAME in out.getvalue() and "[bold] :100:" in out.getvalue()


def test_a_match_in_an_environment_has_no_emoji(capsys):
    pytest.importorskip("pettingzoo")
    words = "pettingzoo env=tictactoe_v3 first=random second=uct:100 num_games=1"
    assert main(words.split()) == 0
    assert "player_1 = random, player_2 = uct:100: " in capsys.readouterr().out
