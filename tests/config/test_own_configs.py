"""Config files of the user's own: a mistake is named, every option sees the files."""

import pytest
from mostly_slow import mostly_slow

from alphazero.cli import main, match, serve
from alphazero.config.command_line import from_overrides
from alphazero.training.run_config import compose

HEADER = "# @package _global_\n"
FILES = {
    "experiment/mine": (
        f"{HEADER}defaults:\n  - override /game: connect_four\nlearner:\n  batch_size: 48\n"
    ),
    "experiment/child": f"{HEADER}defaults:\n  - mine\n  - _self_\nseed: 4\n",
    "experiment/wise": f"{HEADER}defaults:\n  - override /game: hard\n  - override /pit: null\n",
    "game/hard": f"{HEADER}defaults:\n  - othello_6x6\n  - _self_\nseed: 5\n",
    "learner/wild": "optimizer: sgd\nlearning_rate: 0.5\n",
}
#: Files with one mistake each, and what the message must name.
WRONG = {
    "section": (f"{HEADER}learner: 3\n", "learner=3", "section"),
    "nothing": (f"{HEADER}learner:\nseed: 1\n", "learner", "section"),
    "list": ("- a\n- b\n", "_global_"),
    "empty": ("", "_global_"),
    "no_package": ("defaults:\n  - override /game: othello\n", "_global_"),
    "choice": (f"{HEADER}defaults:\n  - override /game: chess\n", "game=chess", "othello"),
    "parent": (f"{HEADER}defaults:\n  - min\n", "min", "mean mine?"),
    "grandparent": (f"{HEADER}defaults:\n  - low\n", "learner.batch_size=0"),
    "low": (f"{HEADER}learner:\n  batch_size: 0\n", "learner.batch_size=0", "1 to"),
    "text": (f"{HEADER}learner:\n  batch_size: many\n", "learner.batch_size=many", "1 to"),
    "no_override": (f"{HEADER}defaults:\n  - /game: othello\n", "override game: othello"),
    "no_slash": (f"{HEADER}defaults:\n  - override game: othello\n", "override"),
    "group": (f"{HEADER}defaults:\n  - override /gme: othello\n", "gme"),
    "switch": (f"{HEADER}defaults:\n  - override /pit: off\n", "bool", "string"),
    "defaults": (f"{HEADER}defaults: mine\n", "defaults", "list"),
    "sections": (f"{HEADER}learners:\n  batch_size: 3\n", "learners", "mean learner?"),
    "key": (f"{HEADER}learner:\n  learn_rate: 3\n", "learner.learn_rate", "learner.learning_rate"),
    "dotted": (f"{HEADER}learner.batch_size: 3\n", "learner.batch_size", "'batch_size:'"),
    "broken": (f"{HEADER}learner: [\n", "line 3"),
    "dummy_run": (f"{HEADER}seed: 3\n", "dummy_run", "ships"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with config files, below the working one."""
    monkeypatch.chdir(tmp_path)
    wrong = {f"experiment/{name}": text for name, (text, *_) in WRONG.items()}
    for name, text in (FILES | wrong).items():
        path = tmp_path / "mine" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "mine"


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("is_multirun", mostly_slow([False, True]))
def test_a_mistake_in_a_config_file_is_named(name, is_multirun, folder, capsys):
    choice = f"mine,{name}" if is_multirun else name
    options = ["--multirun"] if is_multirun else []
    words = ["--config-dir", "mine", *options, f"experiment={choice}"]
    assert main(["train", *words]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert [part for part in WRONG[name][1:] if part not in message] == []


def test_settings_are_checked_before_they_are_printed(folder, capsys):
    for wrong in ("learner.batch_size=${replay.typo}", "experiment=low", "pit.num_games=3"):
        assert main(["train", "--config-dir", "mine", wrong, "--cfg", "job"]) == 2
        assert capsys.readouterr().out == ""


def test_a_game_file_of_ones_own_is_chosen_from_the_command_line_and_by_an_experiment(folder):
    for words in (["game=hard"], ["experiment=wise"]):
        settings = compose(words, "mine")
        assert (settings.game.name, settings.seed) == ("othello:6", 5)
    child = compose(["experiment=child", "learner=wild"], "mine")
    assert (child.seed, child.learner.batch_size, child.learner.optimizer) == (4, 48, "sgd")


def test_help_shows_what_ones_own_experiment_sets(folder, capsys):
    option = ["--config-dir", "mine"]
    for words in (["--help", "learner"], ["--help", "all"], ["--help", "learner.batch_size"]):
        assert main(["train", *option, "experiment=mine", *words]) == 0
        text = capsys.readouterr().out
        assert "learner.batch_size=48" in text
        assert ("learner.optimizer" in text) == (words[1] != "learner.batch_size")
    assert main(["train", *option, "--help"]) == 0
    assert "mine" in capsys.readouterr().out
    assert main(["train", "--help", "lerner"]) == 2
    assert "mean learner?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "parts"),
    {
        "--config-dir mine experiment=mien": ("mean mine?",),
        "experiment=adamw": ("mean ablation/adamw?",),
        "experiment=ablation/adm": ("mean ablation/",),
        "--config-dirr mine experiment=mine": ("--config-dirr", "--help"),
    }.items(),
)
def test_a_wrong_choice_is_named_with_the_likely_one(words, parts, folder, capsys):
    assert main(["train", *words.split()]) == 2
    message = capsys.readouterr().err
    assert [part for part in parts if part not in message] == [] and len(message) < 300


def test_a_tilde_before_a_path_is_the_home_folder_wherever_it_is_given(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "at_home.yaml").write_text(f"{HEADER}run:\n  root: ~/a\n")
    settings = compose(["resume=~/run", "experiment=at_home"], str(tmp_path))
    assert (settings.run.root, settings.resume) == (f"{tmp_path}/a", f"{tmp_path}/run")
    assert compose(["run.root=~", "run.name=a~b"]).run.root == str(tmp_path)
    for word, place in (("game=~/none.py", "none.py"), ("--config-dir=~/none", "none")):
        assert main(["train", word]) == 2
        assert f"{tmp_path}/{place}" in capsys.readouterr().err
    words = ["games=[~/a.py,b~/c.py,module:~Class]", "runs=~/r"]
    served = from_overrides(serve.Settings, words, "alphazero serve")
    assert served.games == [f"{tmp_path}/a.py", "b~/c.py", "module:~Class"]
    assert served.runs == f"{tmp_path}/r"
    played = from_overrides(match.Settings, ["a=network:~/r,num_simulations=5"], "alphazero match")
    assert played.a == f"network:{tmp_path}/r,num_simulations=5"
