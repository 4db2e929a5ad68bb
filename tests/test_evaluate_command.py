"""`alphazero evaluate`, `alphazero make_evaluation_set` and `alphazero plot what=exact`: what they print, write and refuse."""

import importlib.util
import io
import json
import re

import pytest
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from alphazero.cli import evaluate, make_evaluation_set, plot
from alphazero.cli import main as cli_main
from alphazero.evaluation.exact.sets import read_set
from alphazero.games.registry import make_game
from alphazero.runtime.errors import ConfigError

GAME = "connect_x:4x3x3"
needs_matplotlib = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed"
)


@pytest.fixture(scope="module")
def set_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("sets") / "set.csv"
    assert (
        make_evaluation_set.main([f"game={GAME}", "num_positions=40", "seed=3", f"out={path}"]) == 0
    )
    return path


def run(*words) -> str:
    console = Console(file=io.StringIO(), width=100, highlight=False)
    assert evaluate.main(list(words), console) == 0
    return console.file.getvalue()


def test_a_made_set_can_be_made_again(set_file, tmp_path, capsys):
    notes = read_set(set_file, make_game(GAME)).notes
    assert notes["seed"] == "3"
    command, name, *words = notes["made by"].split()
    assert cli_main([name, *words, f"out={tmp_path / 'again.csv'}"]) == 0
    assert "40 positions of plies" in capsys.readouterr().out
    assert (tmp_path / "again.csv").read_bytes() == set_file.read_bytes()


def test_the_table_and_the_file_tell_the_same(set_file, tmp_path):
    text = run(f"game={GAME}", "network=uct:30", f"set={set_file}", f"json={tmp_path / 'x.json'}")
    figures = json.loads((tmp_path / "x.json").read_text())["players"]["uct:30"]
    assert (
        figures["num_positions"]
        == 40
        > figures["accuracy"]["count"]
        > figures["optimal"]["count"]
        > 0
    )
    (everything,) = [line.split() for line in text.splitlines() if line.startswith("all")]
    assert everything[1:3] == ["40", f"{100 * figures['accuracy']['fraction']:.1f}"]
    assert everything[-1] == f"{100 * figures['optimal']['fraction']:.1f}"
    for heading in ("kind", "source", "ply"):
        assert f"by {heading}" in text
        assert all(f"\n  {label} " in text for label in figures[heading])
    assert f"mean error {figures['value_error']:.3f}" in text


def test_misplayed_positions_are_shown(set_file):
    assert "misplayed" not in run(f"game={GAME}", "network=random", f"set={set_file}")
    text = run(f"game={GAME}", "network=random", f"set={set_file}", "show=3")
    assert (
        text.count("misplayed: ") == text.count("would have kept a ") == text.count("moves=[") == 3
    )
    first = r"\nmisplayed: [XO] (Red|Yellow) played [0-2], a (draw|loss), where [0-2, ]+ would have kept a (win|draw)\n  [0 ]   [1 ]   [2 ]  \n╭"
    assert re.search(first, text)


def test_a_set_is_not_written_over_unasked(tmp_path):
    words, path = (
        [f"game={GAME}", "num_positions=10", f"out={tmp_path / 'x.csv'}"],
        tmp_path / "x.csv",
    )
    path.write_text("mine")
    with pytest.raises(
        ConfigError,
        match="x.csv is there already: name another file by out=, or let replace=true write over it",
    ):
        make_evaluation_set.main(words)
    assert path.read_text() == "mine"
    assert (
        make_evaluation_set.main([*words, "replace=true"]) == 0
        and len(read_set(path, make_game(GAME))) == 10
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return the folder of a run of two iterations of a game with a set that ships, measured after both."""
    root = tmp_path_factory.mktemp("runs")
    words = f"experiment=dummy_run game=connect_x network=2x32 network.channels=4 pit=off run.root={root} run.name=one device=cpu run.num_threads=1"
    fixed = "evaluator.engine=torch evaluator.precision=float32 learner.precision=float32 evaluation.num_games=0 evaluation.final_num_games=0"
    assert cli_main(["train", *words.split(), *fixed.split()]) == 0
    return root / "connect_x_5x5x4" / "one"


def test_a_network_is_measured_alone_and_with_search(trained, tmp_path):
    text = run(f"network={trained}", "num_simulations=16", f"json={tmp_path / 'x.json'}")
    assert "one/000002 on 500 positions of the set that ships" in text
    players = json.loads((tmp_path / "x.json").read_text())["players"]
    assert list(players) == ["network alone", "16 simulations"]
    (everything,) = [line.split() for line in text.splitlines() if line.startswith("all")]
    assert [everything[2], everything[5]] == [
        f"{100 * figures['accuracy']['fraction']:.1f}" for figures in players.values()
    ]
    assert (
        players["network alone"]["accuracy"]["count"]
        < players["16 simulations"]["accuracy"]["count"]
    )
    alone = run(f"network={trained}", "with_search=false")
    assert "network alone" in alone and "16 simulations" not in alone


def test_a_run_tells_what_the_command_finds(trained, tmp_path):
    rows = [json.loads(line) for line in (trained / "metrics.jsonl").read_text().splitlines()]
    assert [row["exact.num_positions"] for row in rows] == [500, 500]
    run(f"network={trained}", "num_simulations=4", f"json={tmp_path / 'x.json'}")
    alone, searched = json.loads((tmp_path / "x.json").read_text())["players"].values()
    # The run's search has a root prior temperature of its own, which plays no part without noise.
    for key, expected in (
        ("raw_accuracy", alone["accuracy"]["fraction"]),
        ("raw_optimal", alone["optimal"]["fraction"]),
        ("accuracy", searched["accuracy"]["fraction"]),
        ("optimal", searched["optimal"]["fraction"]),
        ("value_error", alone["value_error"]),
        ("result_accuracy", alone["result_accuracy"]["fraction"]),
    ):
        assert rows[1][f"exact.{key}"] == pytest.approx(
            expected, abs=0.0041
        )  # two positions, where rounding decides between equals
    events = EventAccumulator(str(trained))
    events.Reload()
    for tag, key in (
        ("error_search", "accuracy"),
        ("error_network", "raw_accuracy"),
        ("not_best_search", "optimal"),
        ("not_best_network", "raw_optimal"),
    ):
        assert [event.value for event in events.Scalars(f"exact/{tag}")] == pytest.approx(
            [1 - row[f"exact.{key}"] for row in rows]
        )


def test_a_set_names_its_game(set_file):
    assert f"{GAME}: random on 40 positions" in run("network=random", f"set={set_file}")


@needs_matplotlib
def test_the_picture_is_written(set_file, tmp_path):
    run(f"game={GAME}", "network=random", f"set={set_file}", f"plot={tmp_path / 'x.png'}")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["game=othello:4", "network=random"], "othello:4"),  # no set ships
        (["network=random", "set=README.md"], "README.md"),
        (["network=random", "set=none.csv"], "none.csv"),
        (["network=human"], "human"),
        (["network=deep_blue"], "deep_blue"),
        (["network=random", "json=no/such/folder/x.json"], "no/such/folder"),
        (["network=random", "plot=no/such/folder/x.png"], "no/such/folder"),
        (["network=random", "show=-1"], "-1"),
        (["player=random"], "player"),
    ],
)
def test_a_wrong_setting_is_an_error_that_names_it(words, value):
    with pytest.raises(ValueError) as error:
        run(*words)
    assert value in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("words", "key", "value"),
    [
        (["num_positions=1"], "num_positions", "1"),
        (["game=chess"], "game", "chess"),
        (["out=no/such/folder/x.csv"], "out", "no/such/folder"),
        (["game=tic_tac_toe", "num_positions=100000", "out=/dev/null"], "num_positions", "100000"),
    ],
)
def test_a_set_that_cannot_be_made_is_an_error_that_names_the_setting(words, key, value):
    with pytest.raises(ValueError) as error:
        make_evaluation_set.main(words)
    assert key in str(error.value) and value in str(error.value)
    assert "\n" not in str(error.value)


# --- the curves of training runs ----------------------------------------------------------------


@pytest.fixture
def runs(tmp_path):
    """Return the folders of three runs: two that were measured, the last one twice as slow, and one that was not."""
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
        rows[-1] |= (
            {"exact.accuracy": 1.0} if speed else {}
        )  # no error at all, which has no logarithm
        (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@needs_matplotlib
@pytest.mark.filterwarnings("error")  # such as the logarithm of 0
@pytest.mark.parametrize(
    "words", [["run={0}/a"], ["run={0}/a,{0}/b"], ["run={0}/a,{0}/b", "lines=median"]]
)
def test_the_curves_are_drawn(runs, words):
    assert (
        plot.main(
            [word.format(runs) for word in words] + ["what=exact", f"output={runs / 'x.svg'}"]
        )
        == 0
    )
    picture = (runs / "x.svg").read_text()
    assert "<svg" in picture and "tic_tac_toe" in picture


@needs_matplotlib
@pytest.mark.filterwarnings("error")
def test_a_runs_own_picture_shows_what_it_measured(trained, tmp_path, capsys):
    rows = [json.loads(line) for line in (trained / "metrics.jsonl").read_text().splitlines()]
    for name, more in (
        ("exact", {}),
        (
            "both",
            {f"strength.{key}": 0.5 for key in ("score", "score_low", "score_high")}
            | {"strength.opponent": "uct:50"},
        ),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "metrics.jsonl").write_text(
            "".join(json.dumps(row | more) + "\n" for row in rows)
        )
        assert plot.main([f"run={folder}", f"output={folder / 'x.svg'}"]) == 0
        picture = (folder / "x.svg").read_text()
        shown = [
            "losses",
            "accuracy, 4 simulations",
            "self-play speed",
            "score against uct:50",
        ]
        assert [words in picture for words in shown] == [True, True, True, name == "both"]
    assert plot.main([f"run={trained}"]) == 0
    assert (
        capsys.readouterr().out.splitlines()[-1] == str(trained / "plot.png")
        and (trained / "plot.png").is_file()
    )


@needs_matplotlib
def test_the_picture_goes_into_the_first_run(runs, capsys):
    plot.main([f"run={runs}/b,{runs}/a", "what=exact"])
    assert capsys.readouterr().out.strip() == str(runs / "b" / "exact.png")
    assert (runs / "b" / "exact.png").is_file()


def test_runs_that_cannot_be_drawn_get_one_sentence(runs):
    for words, message in (
        (
            [f"run={runs}/a,{runs}/none", "what=exact"],
            "the run none was never measured",
        ),
        ([f"run={runs}/a,{runs}/zzz", "what=exact"], "is not the folder of a run"),
        ([f"run={runs}/a,{runs}/b"], "is not the folder of a run"),
        ([f"run={runs}/a", "what=else"], "what takes one of run, exact"),
        (
            [f"run={runs}/a", "what=exact", "output=no/such/folder/x.png"],
            "there is no folder no/such/folder",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            plot.main(words)
