"""`alphazero rate`: its table, its growing file, its picture and its errors."""

import io
import json
import re
import shutil

import pytest
from rich.console import Console

from alphazero.cli import main as alphazero
from alphazero.cli import rate
from alphazero.cli.command import run_command
from alphazero.cli.rate_players import choose_networks
from alphazero.evaluation.ratings import RatingFile
from alphazero.network.interface import NetworkSettings
from alphazero.network.registry import make_network
from alphazero.network.weights import network_arrays, save_network
from alphazero.own_games.registry import make_game
from alphazero.storage.run_folder import RunFolder

SETTINGS = NetworkSettings(blocks=1, channels=4, value_units=4)
QUICK = [
    "players=[random,uct:5,uct:50]",
    "anchor=uct:50",
    "num_networks=2",
    "num_simulations=4",
    "opening_plies=2",
    "games_per_match=4",
    "device=cpu",
]


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory):
    """Return the folder of a run with five untrained networks of tic-tac-toe."""
    path = tmp_path_factory.mktemp("runs") / "tic_tac_toe" / "tiny"
    folder = RunFolder(path)
    for iteration in range(3, 8):
        network = make_network(make_game("tic_tac_toe"), SETTINGS, iteration)
        info = {"run": "tiny", "iteration": iteration, "elapsed_s": 60.0 * iteration}
        save_network(
            folder.network(iteration), network_arrays(network), "tic_tac_toe", vars(SETTINGS), info
        )
    folder.state.write_bytes(b"")
    return path


@pytest.fixture
def run(finished_run, tmp_path):
    return shutil.copytree(finished_run, tmp_path / "tiny")


def _rate(run, *words) -> str:
    console = Console(file=io.StringIO(), width=120, highlight=False)
    assert run_command(rate, [f"run={run}", *QUICK, *words], console) == 0
    return console.file.getvalue()


def _stored(run) -> dict:
    return json.loads((run / "ratings.json").read_text())


@pytest.mark.slow
def test_the_table_and_the_file_have_the_same_ratings(run):
    text = _rate(run, "num_games=40")
    stored = _stored(run)
    ratings = {rating["player"]: rating for rating in stored["ratings"]}
    networks = {"network 3, 4 simulations", "network 7, 4 simulations"}
    assert set(ratings) == {"random", "uct:5", "uct:50"} | networks
    assert stored["networks"]["network 7, 4 simulations"] == {"iteration": 7, "elapsed_s": 420.0}
    anchor = ratings["uct:50"]
    assert anchor["elo"] == pytest.approx(1000.0) and anchor["elo_stderr"] == 0.0
    assert sum(rating["num_games"] for rating in ratings.values()) == 2 * 40
    assert sum(len(match["scores"]) for match in stored["matches"]) == 40
    assert stored["drawn_openings"] is True and "drawn" in text.splitlines()[0]
    rows = {
        cells[1].strip(): [cell.strip() for cell in cells[2:]]
        for line in text.splitlines()
        if len(cells := line.split("│")) > 6 and cells[1].strip() != "player"
    }
    assert len(rows) == 5
    for player, rating in ratings.items():
        cells = rows[player]
        assert (cells[0], cells[3], cells[4]) == (
            f"{rating['elo']:.0f}",
            str(rating["num_games"]),
            f"{rating['score']:.1%}",
        )
        assert cells[1] == (
            "" if player == "uct:50" or rating["is_bound"] else f"{rating['elo_stderr']:.0f}"
        )
    assert list(rows) == sorted(ratings, key=lambda player: -ratings[player]["elo"])
    assert re.search(r"network 7 .*network 3.*[+-]\d+", text)


@pytest.mark.slow
def test_a_second_call_adds_games_and_networks(run):
    _rate(run, "num_games=40")
    before = _stored(run)
    text = _rate(run, "num_games=8", "num_networks=3")
    after = _stored(run)
    assert after["matches"][: len(before["matches"])] == before["matches"]
    assert sum(len(match["scores"]) for match in after["matches"]) == 48
    assert "network 5" in text
    assert _rate(run, "num_games=0") == text
    assert _stored(run) == after


def test_few_games_reach_every_player(run):
    """Matches become shorter: two of twenty games would rate two players of five."""
    words = [word for word in QUICK if not word.startswith("games_per_match")]
    console = Console(file=io.StringIO(), width=120, highlight=False)
    assert run_command(rate, [f"run={run}", *words, "num_games=40"], console) == 0
    rated = {rating["player"] for rating in _stored(run)["ratings"]}
    assert len(rated) == 5 and all(len(match["scores"]) == 4 for match in _stored(run)["matches"])


@pytest.mark.slow
def test_ctrl_c_keeps_all_finished_matches(run, monkeypatch):
    write = RatingFile.write
    num_written = []

    def interrupted(self, ratings):
        write(self, ratings)
        num_written.append(len(self.matches))
        if len(num_written) == 7:
            raise KeyboardInterrupt

    monkeypatch.setattr(RatingFile, "write", interrupted)
    console = Console(file=io.StringIO(), width=120, highlight=False)
    with pytest.raises(KeyboardInterrupt):
        run_command(rate, [f"run={run}", *QUICK, "num_games=400"], console)
    assert "28" in console.file.getvalue()
    assert len(_stored(run)["matches"]) == 7


def test_networks_are_evenly_spaced_and_include_both_ends(finished_run):
    folder = RunFolder(finished_run)
    chosen = {
        number: [int(path.stem) for path in choose_networks(folder, number)]
        for number in (1, 2, 3, 4, 5, 99)
    }
    assert chosen[1] == [7] and chosen[2] == [3, 7] and chosen[3] == [3, 5, 7]
    assert chosen[4] in ([3, 4, 6, 7], [3, 4, 5, 7]) and chosen[5] == chosen[99] == [3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("words", "key", "value"),
    [
        (["players=[human]"], "human", "play"),  # names the command that takes it
        (["anchor=deep_blue"], "player", "deep_blue"),
        (["opening_plies=9", "num_games=20"], "opening_plies", "9"),
    ],
)
def test_a_wrong_setting_is_an_error_that_names_it(run, capsys, words, key, value):
    assert alphazero(["rate", f"run={run}", *QUICK, *words]) == 2
    error = capsys.readouterr().err
    assert key in error and value in error
    assert error.startswith("error: ") and error.count("\n") == 1
