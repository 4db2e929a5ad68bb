"""No stored file runs a program: a game file that it names is run only if the user names it too."""

import dataclasses
import io
import json
import shlex
import shutil
from pathlib import Path

import pytest
import ship_network
from game_samples import EXAMPLE
from network_samples import SMALL, small_network

import alphazero
from alphazero.cli import engine, main, train
from alphazero.cli.command import read_settings
from alphazero.evaluation.ratings import RatingFile
from alphazero.network.weights import network_arrays, network_game, save_network
from alphazero.own_games import checked_game
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError
from alphazero.storage import pretrained
from alphazero.storage.checkpoint import save_state
from alphazero.storage.run_folder import RunFolder, folder_name
from alphazero.training.settings import TrainSettings

NETWORK = SMALL | {"kind": "tiny"}


def make_run(folder: Path, name: str, game_name: str) -> Path:
    """Write the folder of a run of one iteration of Snort, stored under any name of the game."""
    run = RunFolder(folder / name)
    settings = TrainSettings()
    settings.game.name = game_name
    run.path.mkdir(parents=True)
    run.write_config(dataclasses.asdict(settings))
    weights = network_arrays(small_network(make_game(EXAMPLE), trained=False, **NETWORK))
    info = {"iteration": 1, "elapsed_s": 1.0}
    save_network(run.network(1), weights, game_name, NETWORK, info)
    save_state(run.state, {"iteration": 1})
    exact = dict.fromkeys(
        ("accuracy", "raw_accuracy", "optimal", "raw_optimal", "value_error", "result_accuracy"),
        0.9,
    ) | {"num_positions": 10, "num_simulations": 64}
    measured = info | {f"exact.{key}": value for key, value in exact.items()}
    run.metrics.write_text(json.dumps(measured) + "\n")
    RatingFile(run.path / "ratings.json", game_name, 4).write()
    return run.path


def write_set(folder: Path, game_name: str) -> Path:
    """Write an evaluation set of the start position of Snort, under any name of the game."""
    path = folder / "set.csv"
    scores = " ".join(f"{action}:{-(action != 12)}" for action in range(25))
    path.write_text(f"# game: {game_name}\nmoves,scores,source\n,{scores},random\n")
    return path


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A folder with runs, networks and a set that name a game file; run, it writes a marker."""
    game = tmp_path / "trap.py"
    game.write_text(f"open({str(tmp_path / 'marker')!r}, 'w').close()\n{Path(EXAMPLE).read_text()}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pretrained, "shipped_folder", lambda: tmp_path / "best")
    for name in ("first", "second"):
        make_run(tmp_path / "checkpoints" / "trap", name, str(game))
    run = tmp_path / "checkpoints" / "trap" / "first"
    shutil.copytree(run / "networks", tmp_path / "best")
    (tmp_path / "best" / "000001.safetensors").rename(tmp_path / "best" / "trap.safetensors")
    write_set(tmp_path, str(game))
    return tmp_path


RUN = "checkpoints/trap/first"
FILE = f"{RUN}/networks/000001.safetensors"
COMMANDS = {
    "play run": f"play second={RUN}",
    "play file": f"play first={FILE} second=random",
    "match": f"match a={RUN} b=random num_games=2",
    "match second": f"match a=random b={FILE} num_games=2",
    "evaluate network": f"evaluate player={RUN}",
    "evaluate set": "evaluate player=random set=set.csv",
    "evaluate baseline": f"evaluate player=random baseline={RUN}",
    "rate": f"rate run={RUN} num_games=0",
    "rate latest": "rate num_games=0",
    "engine": f"engine player={RUN}",
    "resume": f"train resume={RUN}",
    "resume latest": "train resume=latest run.num_iterations=3",
    "prove": f"prove player={RUN}",
    "named another game": f"match game=tic_tac_toe a={RUN} b=random",
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_no_command_runs_a_game_file_that_only_a_stored_file_names(command, trap, capsys):
    assert main(command.split()) == 2
    assert not (trap / "marker").exists()
    assert "trap.py" in capsys.readouterr().err


def test_a_plot_needs_no_game_and_runs_none(trap):
    assert main(f"plot what=exact run={RUN} output=out.png".split()) == 0
    assert not (trap / "marker").exists()


def test_the_python_api_runs_no_game_file_that_only_a_run_names(trap):
    assert alphazero.load_run(RUN).settings.game.name == str(trap / "trap.py")
    for use in (
        lambda: next(alphazero.train(resume=RUN)),
        lambda: alphazero.load_player(RUN, "tic_tac_toe"),
        lambda: alphazero.load_player("best", "tic_tac_toe"),
    ):
        with pytest.raises(ValueError):
            use()
    assert not (trap / "marker").exists()


def test_a_request_to_the_engine_runs_no_game_file(trap):
    answers = io.StringIO()
    requests = io.StringIO('{"game": "trap.py", "moves": []}\n')
    engine.answer(engine.Settings(player="random"), requests, answers)
    assert "error" in answers.getvalue() and not (trap / "marker").exists()


@pytest.mark.slow
def test_the_fixture_would_notice(trap):
    make_game("trap.py")
    assert (trap / "marker").exists()


# --- a user who names the file --------------------------------------------------------------------


@pytest.fixture
def snort(tmp_path, monkeypatch):
    """The name under which two runs and a set are stored: a path that leads nowhere from here."""
    monkeypatch.chdir(tmp_path)
    for name in ("first", "second"):
        make_run(tmp_path / "checkpoints" / "snort", name, "examples/snort.py")
    write_set(tmp_path, "examples/snort.py")
    return "examples/snort.py"


SNORT = "checkpoints/snort/first"
NAMED = {
    "match": f"match game={EXAMPLE} a={SNORT},with_search=false b=random num_games=2",
    "evaluate": f"evaluate game={EXAMPLE} player={SNORT} set=set.csv num_simulations=2",
    "evaluate baseline": f"evaluate game={EXAMPLE} player=random baseline={SNORT} set=set.csv "
    "num_simulations=2",
    "rate": f"rate game={EXAMPLE} run={SNORT} num_games=0",
}


@pytest.mark.parametrize("command", NAMED.values(), ids=NAMED)
def test_commands_take_the_game_file_from_the_user(command, snort, capsys):
    assert main(command.split()) == 0, capsys.readouterr().err
    without = [word for word in command.split() if not word.startswith("game=")]
    assert main(without) == 2
    assert snort in capsys.readouterr().err


def test_a_shipped_network_keeps_the_stored_name_and_says_how_to_train_it_again(snort):
    words = [f"run={SNORT}", "into=."]
    assert ship_network.main([*words, f"game={EXAMPLE}"]) == 0
    assert network_game(Path("snort.safetensors")) == snort
    assert f"game={EXAMPLE}" in Path("snort.md").read_text()
    assert ship_network.main(words) == 2


def test_the_engine_plays_the_game_file_that_the_user_names(snort):
    for words in ([f"player={SNORT}", "with_search=false"], ["player=random"]):
        answers = io.StringIO()
        settings = read_settings(engine, [f"game={EXAMPLE}", *words])
        engine.answer(settings, io.StringIO('{"moves": [12]}\n'), answers)
        assert "legal_actions" in answers.getvalue()


@pytest.mark.parametrize("run", [SNORT, "latest"])
def test_a_run_resumes_with_the_game_file_that_the_user_names(snort, run):
    settings, _, folder = train._resumed([f"resume={run}", f"game={EXAMPLE}"])
    assert settings.game.name == EXAMPLE
    assert folder.path.parent == Path("checkpoints/snort")


def test_the_words_that_resume_a_run_name_its_game_file():
    folder = RunFolder(Path("checkpoints/snort/first"))
    assert folder.resume_words("examples/snort.py").split() == [
        "resume=checkpoints/snort/first",
        "game=examples/snort.py",
    ]
    assert folder.resume_words("othello:6") == "resume=checkpoints/snort/first"
    words = folder.resume_words("pettingzoo:mine:Heap(heap=5)")  # to be pasted into a shell
    assert shlex.split(words)[1] == "game=pettingzoo:mine:Heap(heap=5)" and "'" in words


@pytest.mark.slow
def test_a_resumed_run_keeps_its_game(snort, tmp_path):
    shutil.copy(EXAMPLE, tmp_path / "other.py")
    with pytest.raises(ConfigError) as error:
        train._resumed([f"resume={SNORT}", "game=other.py"])
    assert (error.value.key, error.value.value) == ("game", "other.py")
    assert folder_name(error.value.allowed) == "snort"


@pytest.mark.slow
def test_a_compiled_game_is_its_rules_and_not_its_files_name(snort, tmp_path, monkeypatch):
    monkeypatch.setattr(checked_game, "_compile", lambda game, path: None)
    RunFolder(SNORT).write_rules(make_game(EXAMPLE).rules_text)
    (tmp_path / "other.py").write_text("# my copy\n" + Path(EXAMPLE).read_text())
    settings, *_ = train._resumed([f"resume={SNORT}", "game=other.py"])
    assert settings.game.name == "other.py"
    text = Path(EXAMPLE).read_text()
    assert "return -1" in text
    (tmp_path / "snort.py").write_text(text.replace("return -1", "return 1"))
    words = [f"resume={SNORT}", "game=snort.py"]
    with pytest.raises(ConfigError) as error:
        train._resumed(words)
    assert error.value.key == "resume" and "run.drop_games=true" in str(error.value)
    settings, *_ = train._resumed([*words, "run.drop_games=true"])
    assert settings.run.drop_games
