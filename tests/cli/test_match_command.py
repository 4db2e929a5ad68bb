"""`alphazero match`: its table, its file and its errors."""

import io
import json
import re

import pytest
from rich.console import Console

from alphazero.cli import match
from alphazero.cli.command import run_command
from alphazero.cli.players import make_pair
from alphazero.own_games.registry import make_game
from alphazero.play.terminal import HumanPlayer
from alphazero.players.base import PlayerSettings


def _match(words: str) -> str:
    console = Console(file=io.StringIO(), width=100, highlight=False)
    assert run_command(match, words.split(), console) == 0
    return console.file.getvalue()


def _report(tmp_path, words: str) -> dict:
    _match(f"{words} json={tmp_path / 'match.json'}")
    return json.loads((tmp_path / "match.json").read_text())


def test_the_table_and_the_file_have_the_same_result(tmp_path):
    path = tmp_path / "match.json"
    words = "game=tic_tac_toe a=uct:100,uct_c=0.7 b=random num_games=20 opening_plies=2"
    text = _match(f"{words} json={path}")
    report = json.loads(path.read_text())
    assert report["wins"] + report["draws"] + report["losses"] == 20
    lines = [re.findall(r"[\d.%]+", line) for line in text.splitlines()]
    for tally in (report, report["as_first"], report["as_second"]):
        assert [str(tally[result]) for result in ("wins", "draws", "losses")] in lines
    low, high = report["score_interval"]
    score = [f"{report['score']:.1%}", f"{low:.1%}", f"{high:.1%}"]
    assert any(set(score) <= set(line) for line in lines)
    assert [str(report["num_distinct_games"]), "20", "2"] in lines
    assert report["drawn_openings"] and "drawn" in text
    assert "uct:100,uct_c=0.7" in text
    game = make_game("tic_tac_toe")
    assert all(game.over(game.play_moves(played["moves"])[None])[0] for played in report["games"])


def test_the_same_seed_gives_the_same_match(tmp_path):
    def games(seed):
        words = f"game=connect_x:4x4x3 a=uct:20 b=uct:20 num_games=10 seed={seed}"
        return _report(tmp_path, words)["games"]

    assert games(1) == games(1)
    openings = [[played["moves"][:4] for played in games(seed)] for seed in (1, 2)]
    assert openings[0] != openings[1]


def test_both_players_are_checked_before_one_is_made(tmp_path):
    game, path = make_game("tic_tac_toe"), tmp_path / "missing.safetensors"

    def make(*_):
        pytest.fail("a player was made")

    for refused in ("human", str(path), "uct,uct_c=x"):
        with pytest.raises(ValueError):
            make_pair(("uct", refused), game, PlayerSettings(), make)
    with pytest.raises(ValueError):
        make_pair(("human", str(path)), game, PlayerSettings(), make, make_person=HumanPlayer)


def test_an_unbeatable_player_loses_no_game_by_default(tmp_path):
    report = _report(tmp_path, "game=tic_tac_toe a=best b=solver num_games=40")
    assert (report["wins"], report["draws"], report["losses"]) == (0, 40, 0)
    assert report["num_distinct_games"] == 40
