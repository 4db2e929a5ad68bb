"""What Hydra reads of the command line of `alphazero train`: its options, folders and sweeps."""

import json
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from alphazero.cli import main, train
from alphazero.config.hydra import runs_of_sweep
from alphazero.runtime.errors import ConfigError
from alphazero.training.run_config import compose

QUICK = (
    "experiment=dummy_run network.blocks=1 network.channels=4 network.value_units=4 device=cpu "
    "evaluation.prove=false evaluation.every=0 evaluation.final_num_games=0 pit.every=0 "
    "run.num_iterations=1 run.num_threads=1 evaluator.engine=torch evaluator.precision=float32 "
    "learner.precision=float32"
).split()


@pytest.fixture
def own_configs(tmp_path, monkeypatch):
    """Return a folder with an experiment and a learner of the user's own, below the working one."""
    monkeypatch.chdir(tmp_path)
    files = {
        "experiment/mine": (
            "# @package _global_\n"
            "defaults:\n  - override /game: connect_four\n"
            "learner:\n  batch_size: 48\n"
        ),
        "learner/wild": "optimizer: sgd\nlearning_rate: 0.5\n",
        "experiment/low": "# @package _global_\nlearner:\n  batch_size: 0\n",
    }
    for name, text in files.items():
        path = tmp_path / "mine" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "mine"


def config_of(capsys, *words):
    """Return the config that ``--cfg job`` prints."""
    assert main(["train", *words, "--cfg", "job"]) == 0
    return OmegaConf.create(capsys.readouterr().out)


def names_in(folder) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ("--config-dir mine", "--config-dir=mine", "-cd mine"))
def test_config_files_of_ones_own(option, own_configs, capsys):
    config = config_of(capsys, *option.split(), "experiment=mine", "learner=wild")
    assert (config.game.name, config.learner.optimizer) == ("connect_four", "sgd")
    assert (config.learner.learning_rate, config.learner.batch_size) == (0.5, 48)


@pytest.mark.parametrize(
    ("words", "parts"),
    {
        "experiment=nowhere": ("experiment=nowhere", "mine", "dummy_run"),
        "--multirun experiment=mine,low": ("learner.batch_size=0",),
        "--multirun seed=1,2 pit.num_games=2,3": ("pit.num_games=3", "even"),
        "--multirun seed=1,2 learner=typo,wild": ("learner=typo", "wild"),
        "--multirun othello": ("othello", "key=value"),
        "--config-dir nowhere": ("nowhere",),
        "--cfg nonsense": ("--cfg", "job"),
        "--cfg hydra": ("--cfg", "job"),
        "--cfg job --multirun": ("--cfg", "--multirun"),
        "--nonsense": ("--nonsense", "--help"),
        "hydra.run.dir=/proc/x": ("hydra.run.dir",),
        "hydra.typo=1": ("hydra.typo",),
        "seed=${typo}": ("seed", "typo"),
        "resume=latest --cfg job": ("--cfg", "resume="),
    }.items(),
)
def test_what_is_wrong_gets_one_line_and_no_folder(words, parts, own_configs, capsys):
    arguments = words.split()
    if "--config-dir" not in arguments:
        arguments += ["--config-dir", "mine"]
    if "resume=latest" in arguments:
        arguments = words.split()
    assert main(["train", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ") and captured.err.count("\n") == 1
    assert [part for part in parts if part not in captured.err] == []
    assert captured.out == "" and names_in(own_configs.parent) == ["mine"]


# --- sweeps ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_sweep_over_games_of_every_spelling(tmp_path, monkeypatch):
    trained = []

    def note(settings, game, folder, resumed):
        trained.append((settings.game.name, folder.path.relative_to(tmp_path).as_posix()))
        return 0

    monkeypatch.setattr(train, "_train", note)
    words = ["game=othello:6,connect_x:4x4x3,examples/snort.py,tic_tac_toe", "run.name=s"]
    monkeypatch.chdir(Path(__file__).parents[2])
    assert main(["train", "--multirun", f"run.root={tmp_path}", *words]) == 0
    assert trained == [
        ("othello:6", "othello_6/s_game=othello_6"),
        ("connect_x:4x4x3", "connect_x_4x4x3/s_game=connect_x_4x4x3"),
        ("examples/snort.py", "snort/s_game=examples_snort.py"),
        ("tic_tac_toe", "tic_tac_toe/s_game=tic_tac_toe"),
    ]


def store(folder):
    """Store what a finished iteration leaves in the folder of a run."""
    folder.state.touch()
    row = {"iteration": 1, "elapsed_s": 1.0, "strength.score": 0.125}
    folder.metrics.write_text(f"{json.dumps(row)}\n")


def sweep(capsys, *words):
    """Return the exit status, the rows of the final table without the heading, and the errors."""
    status = main(["train", "-m", *words])
    captured = capsys.readouterr()
    return status, captured.out.partition("strength, %")[2].splitlines()[1:], captured.err


def test_the_other_runs_of_a_sweep_go_on_if_some_fail(tmp_path, monkeypatch, capsys):
    tried = []

    def try_run(settings, game, folder, resumed):
        tried.append(settings.seed)
        if settings.seed == 2:
            raise ConfigError("this run cannot be")
        if settings.seed == 3:
            raise KeyError("a bug")
        store(folder)
        return 0

    monkeypatch.setattr(train, "_train", try_run)
    (tmp_path / "tic_tac_toe" / "s_seed=4").mkdir(parents=True)
    status, rows, errors = sweep(capsys, f"run.root={tmp_path}", "run.name=s", "seed=range(1,6)")
    assert status == 2 and tried == [1, 2, 3, 5]
    names = ["s_seed=1", "seed=2", "seed=3", "seed=4", "s_seed=5"]
    assert [row.split()[0] for row in rows[:5]] == names
    assert rows[0].split()[1:] == rows[4].split()[1:] == ["12.5"]
    reasons = ["this run cannot be", "KeyError: 'a bug'", "run.name=s"]
    assert all(reason in row for reason, row in zip(reasons, rows[1:4]))
    assert all(reason in errors for reason in reasons) and "Traceback" in errors


def test_ctrl_c_ends_a_sweep_after_its_table(tmp_path, monkeypatch, capsys):
    def try_run(settings, game, folder, resumed):
        if settings.seed == 2:
            raise KeyboardInterrupt
        store(folder)
        return 130 if settings.seed == 4 else 0

    monkeypatch.setattr(train, "_train", try_run)
    for seeds in ("1,2,3", "3,4,5"):
        status, rows, _ = sweep(capsys, f"run.root={tmp_path}", f"seed={seeds}")
        assert status == 130
        assert sum("12.5" in row for row in rows) == 1 + seeds.startswith("3")


@pytest.mark.parametrize(
    ("word", "values"),
    {
        "learner.batch_size=choice(64,128)": ["64", "128"],
        "seed=range(3,6)": ["3", "4", "5"],
        "search.pb_c_init=range(0.5,2,0.5)": ["0.5", "1.0", "1.5"],
        "game=choice(othello:6,'my games/a.py')": ["othello:6", "my games/a.py"],
        "seed=sort(3,1,2,reverse=true)": ["3", "2", "1"],
        "search.reuse_tree=choice(true,false)": ["true", "false"],
        "learner=glob(*)": ["adamw", "sgd"],
        "learner=glob([*],exclude=s*)": ["adamw"],
        "game=open_spiel:hex(board_size=5),othello:6": [
            "open_spiel:hex(board_size=5)",
            "othello:6",
        ],
    }.items(),
)
def test_every_form_of_a_sweep_gives_its_values(word, values):
    runs = [words for words, _ in runs_of_sweep([word], {"learner": ["adamw", "sgd"]})]
    assert runs == [[f"{word.partition('=')[0]}={value}"] for value in values]


@pytest.mark.parametrize(
    "value", ("interval(0,1)", "range(6,3)", "range(1,4,0)", "choice(1", "choice()", "glob(*)")
)
def test_a_sweep_without_values_is_refused_with_those_that_work(value):
    with pytest.raises(ConfigError) as refused:
        list(runs_of_sweep([f"seed={value}"], {}))
    assert (refused.value.key, refused.value.value) == ("seed", value)
    assert "range(" in refused.value.allowed


# --- grammar --------------------------------------------------------------------------------------


def test_a_plus_before_a_known_key_and_a_tilde_before_a_group_are_understood():
    settings = compose(["++seed=4", "+experiment=dummy_run", "~pit", "+learner.batch_size=7"])
    assert (settings.seed, settings.learner.batch_size, settings.pit.every) == (4, 7, 1)
    assert compose(["experiment=dummy_run", "~experiment"]).pit.every == 0
    assert compose(["experiment=dummy_run", "+game=othello:6"]).game.name == "othello:6"


def test_interpolations_are_resolved():
    settings = compose(["seed=${learner.batch_size}", "learner.batch_size=32"])
    assert settings.seed == 32
