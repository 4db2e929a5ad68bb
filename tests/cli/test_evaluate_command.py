"""`evaluate`, `plot what=exact` and `scripts/make_evaluation_set.py`: output, files, errors."""

import importlib.util
import io
import json
import re

import make_evaluation_set
import pytest
from rich.console import Console

from alphazero.cli import evaluate, plot
from alphazero.cli import main as cli_main
from alphazero.cli.command import run_command
from alphazero.evaluation.exact.set_file import read_set
from alphazero.own_games.registry import make_game

GAME = "connect_x:4x3x3"
needs_matplotlib = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed"
)


@pytest.fixture(scope="module")
def set_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("sets") / "set.csv"
    words = [f"game={GAME}", "num_positions=40", "seed=3", f"out={path}"]
    assert make_evaluation_set.main(words) == 0
    return path


def run(*words) -> str:
    console = Console(file=io.StringIO(), width=100, highlight=False)
    assert run_command(evaluate, list(words), console) == 0
    return console.file.getvalue()


def test_the_table_and_the_file_have_the_same_figures(set_file, tmp_path):
    text = run(f"game={GAME}", "player=uct:30", f"set={set_file}", f"json={tmp_path / 'x.json'}")
    figures = json.loads((tmp_path / "x.json").read_text())["players"]["uct:30"]
    counts = figures["accuracy"]["count"], figures["optimal"]["count"]
    assert figures["num_positions"] == 40 > counts[0] > counts[1] > 0
    (everything,) = (line.split() for line in text.splitlines() if line.startswith("all"))
    assert everything[1:3] == ["40", f"{100 * figures['accuracy']['fraction']:.1f}"]
    assert everything[-1] == f"{100 * figures['optimal']['fraction']:.1f}"
    assert "by ply" in text and all(f"\n  {label} " in text for label in figures["ply"])
    assert f"{figures['value_error']:.3f}" in text


def test_misplayed_positions_are_shown(set_file):
    words = f"game={GAME}", "player=random", f"set={set_file}"
    assert "moves=" not in run(*words)
    text = run(*words, "show=3")
    blocks = text.split("misplayed: ")[1:]
    assert len(blocks) == text.count("moves=") == 3
    positions = read_set(set_file, make_game(GAME))
    for block in blocks:
        head, board = block.split("\n", 1)
        assert head[0] in "XO" and "╭" in board
        # The exact results of the move played, and of the best moves.
        results = re.findall(r"\b(win|draw|loss)\b", head)
        assert results in (["draw", "win"], ["loss", "draw"], ["loss", "win"])
        columns = re.search(r"moves=([\d,]*)", block)[1].split(",")
        moves = tuple(int(column) - 1 for column in columns if column)
        value = positions.values[positions.moves.index(moves)]
        assert results[1] == {1: "win", 0: "draw"}[value]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return the folder of a run of two iterations, both evaluated on the set of the game."""
    root = tmp_path_factory.mktemp("runs")
    words = (
        "experiment=dummy_run game=connect_x network=2x32 network.channels=4 pit=off device=cpu "
        "run.num_threads=1 evaluator.engine=torch evaluator.precision=float32 "
        "learner.precision=float32 evaluation.num_games=0 evaluation.final_num_games=0"
    )
    assert cli_main(["train", *words.split(), f"run.root={root}", "run.name=one"]) == 0
    return root / "connect_x_5x5x4" / "one"


def test_a_network_is_measured_alone_and_with_search(trained, tmp_path):
    text = run(f"player={trained}", "num_simulations=16", f"json={tmp_path / 'x.json'}")
    assert "one/000002" in text and "500 positions" in text
    players = json.loads((tmp_path / "x.json").read_text())["players"]
    assert list(players) == ["network alone", "16 simulations"]
    (everything,) = [line.split() for line in text.splitlines() if line.startswith("all")]
    assert [everything[2], everything[5]] == [
        f"{100 * figures['accuracy']['fraction']:.1f}" for figures in players.values()
    ]
    counts = [figures["accuracy"]["count"] for figures in players.values()]
    assert counts[0] < counts[1]
    alone = run(f"player={trained}", "with_search=false")
    assert "network alone" in alone and "16 simulations" not in alone


@pytest.mark.slow
def test_two_players_are_compared_position_by_position(trained, set_file, tmp_path):
    words = f"player={trained},num_simulations=16", f"baseline={trained},num_simulations=2"
    text = run(*words, f"json={tmp_path / 'x.json'}")
    figures = json.loads((tmp_path / "x.json").read_text())
    differences = figures["baseline"]["differences"]
    assert differences.pop("network alone") == {"mean": 0, "low": 0, "high": 0}
    ((label, difference),) = differences.items()
    assert label == "16 simulations against 2 simulations"
    accuracies = [
        players[name]["accuracy"]["fraction"]
        for players, name in (
            (figures["players"], "16 simulations"),
            (figures["baseline"]["players"], "2 simulations"),
        )
    ]
    assert difference["mean"] == pytest.approx(accuracies[0] - accuracies[1])
    assert difference["low"] < difference["mean"] < difference["high"]
    (row,) = (line for line in text.splitlines() if line.startswith(label))
    for fraction in accuracies:
        assert f" {100 * fraction:.1f} (" in row
    assert f"{100 * difference['mean']:+.1f} (" in row


# --- the curves of training runs ----------------------------------------------------------------


@pytest.fixture
def runs(tmp_path):
    """Return the folder of three runs: two that were evaluated, `b` half as fast, and one not."""
    for name, speed in (("a", 1), ("b", 2), ("none", 0)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "config.yaml").write_text("game:\n  name: tic_tac_toe\n")
        rows = [{"iteration": i, "elapsed_s": 60.0 * i * max(speed, 1)} for i in range(1, 7)]
        for row in rows if speed else []:
            row |= {
                "exact.num_positions": 1000,
                "exact.num_simulations": 64,
                "exact.accuracy": 1 - 0.5 ** row["iteration"],
                "exact.raw_accuracy": 0.5,
            }
        if speed:
            rows[-1]["exact.accuracy"] = 1.0  # no error at all, which has no logarithm
        (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@needs_matplotlib
@pytest.mark.filterwarnings("error")  # such as the logarithm of 0
@pytest.mark.parametrize("words", [["run={0}/a"], ["run={0}/a,{0}/b"]])
def test_the_curves_are_plotted(runs, words):
    words = [word.format(runs) for word in words]
    assert run_command(plot, [*words, "what=exact", f"output={runs / 'x.svg'}"]) == 0
    picture = (runs / "x.svg").read_text()
    assert "<svg" in picture and "tic_tac_toe" in picture
