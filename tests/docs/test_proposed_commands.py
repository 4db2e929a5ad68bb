"""Commands that pages, help texts and the program itself propose are run, with tiny settings."""

import importlib
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from proposed_commands import proposals, run, tiny
from python_games import write_small
from run_samples import make_trainer, reports
from test_docs import PAGES, PLACEHOLDERS, ROOT, commands

from alphazero.cli import COMMANDS, main

#: Commands that need no other program, network connection or folder than these tests have.
RUNNABLE = ("check_game", "engine", "evaluate", "match", "play", "plot", "prove")
ELSEWHERE = re.compile(
    rf"{'|'.join(PLACEHOLDERS)}|my_module|OWNER|pgx:|open_spiel:|pettingzoo:|fresh|docs/|--help"
)
#: What stands for the user's own run or network on a page.
OWN = re.compile(
    r"checkpoints/\w+/\w+|(?<==)(RUN(_\w+)?|OTHER|[ABC]|latest|\w+\.safetensors)(?=,|$)"
    r"|(?<=,)[BC](?=,|$)"
)
GTP = f"{shlex.quote(sys.executable)} {shlex.quote(str(ROOT / 'tests/gtp_engine.py'))}"
#: Parts of commands that take seconds: networks, and rules in plain Python.
SLOW = re.compile(r"best|examples|gtp:|what=|/RUN|seconds=|play (game=\w+ )?\w+=2$")


def proposed():
    """Return the commands of pages and help texts that can be run, with tiny settings."""
    texts = [page.read_text() for page in PAGES]
    texts += [importlib.import_module(f"alphazero.cli.{name}").__doc__ for name in COMMANDS]
    found = {}
    for words in (words for text in texts for words in commands(text)):
        if words[0] in RUNNABLE and len(words) > 1 and not ELSEWHERE.search(" ".join(words)):
            words = [re.sub(r"gtp:[^']*", f"gtp:{GTP}", word) for word in words]
            words = [OWN.sub(f"checkpoints/{game_of(words)}/RUN", word) for word in words]
            words = [word for word in tiny(*words) if not word.startswith(("seed=", "output="))]
            words = list(dict.fromkeys(words))
            found[" ".join(words)] = words
    return [
        pytest.param(words, marks=pytest.mark.slow if SLOW.search(text) else ())
        for text, words in sorted(found.items())
    ]


def game_of(words):
    """Return the name of the folder with a run of a command's game."""
    text = " ".join(words)
    named = re.search(r"\bgame=(\S+)|checkpoints/(\w+)/", re.sub("endgame=", "", text))
    default = "tic_tac_toe" if words[0] == "prove" else "connect_four"
    game = (named[1] or named[2]) if named else default
    return re.sub(r"\W", "_", Path(game).stem)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the examples and a tiny run of each game of which pages name one."""
    folder = tmp_path_factory.mktemp("pages")
    shutil.copytree(ROOT / "examples", folder / "examples")
    return folder


def make_run(path, name):
    """Train a tiny run of the game whose folder has a name, unless it is there."""
    own = ROOT / "examples" / f"{name}.py"
    game = f"examples/{name}.py" if own.is_file() else name.replace("othello_", "othello:")
    if not path.exists():
        measured = ["evaluation.exact=true", "evaluation.every=1", "run.num_iterations=1"]
        trainer = make_trainer(path, *measured, game=game)
        with trainer.folder.locked():
            reports(trainer)


@pytest.mark.parametrize("words", proposed(), ids=" ".join)
def test_a_command_of_a_page_runs(words, folder, monkeypatch, capsys):
    if "openvino" in " ".join(words):
        pytest.importorskip("openvino")
    if words[0] == "plot":
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(folder)
    for path, name in re.findall(r"(checkpoints/(\w+)/RUN)", " ".join(words)):
        make_run(Path(path), name)
    # `prove` reports misplayed positions, here of networks that have learned little, by 1.
    assert run(*words) in ((0, 1) if words[0] == "prove" else (0,)), capsys.readouterr().err


# --- what the program prints ----------------------------------------------------------------------

QUICK = (
    "network.blocks=1 network.channels=4 device=cpu selfplay.num_simulations=2 run.num_threads=1 "
    "selfplay.games_per_iteration=4 selfplay.num_parallel_games=4 run.num_iterations=1 "
    "evaluation.num_games=0 evaluation.final_num_games=0 evaluation.prove=false pit.every=0"
).split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "expected"),
    {
        "game=tic_tac_toe seed=1,2": {"play", "serve", "match", "train"},
        "game=connect_four seed=1,2": {"play", "serve", "evaluate", "train"},
        "game=small.py seed=1,2": {"play", "serve", "match", "train"},
        "game=examples/peg_solitaire.py seed=1,2": {"play", "match", "train"},
        "game=tic_tac_toe,small.py": {"play", "serve", "train"},
    }.items(),
)
def test_what_a_sweep_proposes_runs(words, expected, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    write_small(folder / "small.py")
    assert main(["train", "-m", *words.split(), *QUICK]) == 0
    found = proposals(capsys.readouterr().out)
    assert {command for command, *_ in found} == expected
    assert {shlex.join(one): status for one in found if (status := run(*one))} == {}
