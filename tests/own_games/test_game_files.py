"""Files with a user's own game: each has its own rules, whatever it and its classes are called."""

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from breakthrough_python import Breakthrough
from game_samples import TWICE

from alphazero.games.batched_game import _step_rows
from alphazero.own_games import checked_game
from alphazero.own_games.registry import make_game, make_stored_game, same_game
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.own_code import own_files
from alphazero.workers.unit_player import game_here


@pytest.fixture(autouse=True)
def _kernels_go_to_a_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ALPHAZERO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(checked_game, "_compile", lambda game, path: None)  # only what a test calls


def rules_text(size: int, increment: int) -> str:
    """Return a game file: `twice_game` with another size and other numbers for its pieces."""
    text = Path(TWICE).read_text().replace("GAME = Twice(6)", f"GAME = Twice({size})")
    piece = "2 * rules.player_to_move(game, state) - 1"
    return text.replace(piece, f"{increment} * ({piece})")


def write_rules(path: Path, size: int = 5, increment: int = 1) -> str:
    """Write a game file and return its path."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(rules_text(size, increment))
    return str(path)


def one_step(game) -> int:
    """Return the number that one compiled step writes: the increment."""
    states = game.initial_states()
    _step_rows(game.rules, states, np.zeros(1, np.int32))  # `game.step` compiles more than this
    return abs(int(states[0, 0]))


def test_a_class_may_be_named_by_its_file_in_place_of_its_module():
    game = make_game("breakthrough_python.py:Breakthrough")
    assert game.num_actions == make_game(Breakthrough).num_actions
    with pytest.raises(ConfigError) as refused:
        make_game("breakthrough_python.py:NoSuchClass")
    assert refused.value.key == "game" and "NoSuchClass" in str(refused.value)


STEPS = """
import sys
from pathlib import Path
import numpy as np
from alphazero.games.batched_game import _step_rows
from alphazero.own_games.registry import make_game

def one_step(name):
    game = make_game(name)
    states = game.initial_states()
    _step_rows(game.rules, states, np.zeros(1, np.int32))
    return abs(int(states[0, 0]))

found = [one_step(sys.argv[1])]
for edited in sys.argv[2:]:
    Path(sys.argv[1]).write_text(Path(edited).read_text())
    found.append(one_step(sys.argv[1]))
one_step("tic_tac_toe")
print(found, sum(_step_rows.stats.cache_hits.values()), sep=", loaded from disk: ")
"""


def run_steps(*paths, cache: Path) -> str:
    """Step the first file's game, then with each other file's text, then tic-tac-toe, in a process.

    Args:
        cache: where the process keeps its compiled kernels.

    Returns:
        The counts after one step each, and how many kernels were loaded rather than compiled.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "ALPHAZERO_CACHE_DIR": str(cache),
    }
    command = [sys.executable, "-c", STEPS, *map(str, paths)]
    done = subprocess.run(
        command, check=True, env=environment, stdout=subprocess.PIPE, text=True, timeout=300
    )
    return done.stdout.strip()


@pytest.mark.slow
def test_kernels_on_disk_belong_to_one_path_and_text_and_others_are_shared(tmp_path):
    rules, twin = tmp_path / "rules.py", tmp_path / "twin.py"
    write_rules(rules, increment=1)
    write_rules(twin, increment=2)
    cache = tmp_path / "cache"
    assert run_steps(rules, twin, cache=cache) == "[1, 2], loaded from disk: 0"
    assert rules.read_text() == twin.read_text()
    assert run_steps(rules, cache=cache) == "[2], loaded from disk: 2"
    assert run_steps(twin, cache=cache) == "[2], loaded from disk: 1"  # that of tic-tac-toe


def import_again(folder: Path, increment: int):
    """Return the game of a package whose rules call a function of another module, as edited."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "stepping"]:
        del sys.modules[name]
    importlib.invalidate_caches()
    text = rules_text(5, 1).replace("1 * (2 *", "increment() * (2 *")
    assert "increment()" in text
    (folder / "rules.py").write_text(f"from .helper import increment\n{text}")
    helper = "from alphazero.games import rules\n\n\n@rules.njit\ndef increment():\n"
    (folder / "helper.py").write_text(f"{helper}    return {increment}\n")
    return make_game("stepping.rules:GAME")


@pytest.mark.slow
def test_kernels_follow_the_modules_that_the_rules_import(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(checked_game, "_check_laws", lambda name: ())
    (tmp_path / "stepping").mkdir()
    games = [import_again(tmp_path / "stepping", increment) for increment in (1, 2)]
    assert [one_step(game) for game in games] == [1, 2]
    assert games[0].rules_digest != games[1].rules_digest


# --- what is beside a file ------------------------------------------------------------------------

BESIDE = """\ufeffimport atexit
import os
import random

import numpy as np
from race_limits import LIMIT

print("hello from the game")
if os.environ.get("NUMBA_DISABLE_JIT"):  # in the process of the check
    atexit.register(print, "goodbye from the game")


class Race:
    num_actions, max_plies = 2, LIMIT

    def __init__(self):
        self.left, self.player = LIMIT, 0

    def player_to_move(self):
        return self.player

    def legal_actions(self):
        return (0, 1)[: self.left]

    def step(self, action):
        self.left, self.player = self.left - action - 1, 1 - self.player

    def is_over(self):
        return self.left == 0

    def result(self):
        return -1

    def cells(self):
        return np.array([[self.left > number for number in range(LIMIT)]])
"""


@pytest.fixture
def race(tmp_path, monkeypatch):
    """The path of a game file that prints, and needs a module beside it."""
    folder = tmp_path / "race"
    folder.mkdir()
    (folder / "race.py").write_text(BESIDE, encoding="utf-8")
    (folder / "race_limits.py").write_text("LIMIT = 5\n")
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield folder / "race.py"
    sys.modules.pop("race_limits", None)


@pytest.mark.slow
def test_a_file_is_checked_with_what_is_beside_it_and_nothing_else(race, tmp_path, monkeypatch):
    """What it prints, at the exit too, is not taken for findings; a byte order mark is skipped."""
    monkeypatch.chdir(tmp_path)
    Path("random.py").write_text("open('marker', 'w').close()\n")
    game = make_game(str(race))
    assert game.max_plies == 5 and not Path("marker").exists()


def test_a_file_is_sent_with_the_modules_beside_it(race, tmp_path, monkeypatch):
    monkeypatch.setattr(checked_game, "_check_laws", lambda name: ())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "elsewhere"))
    game, files = make_game(str(race)), own_files(str(race))
    shutil.rmtree(race.parent)
    del sys.modules["race_limits"]
    sys.path.remove(str(race.parent))
    again = game_here(game.name, files, game.rules_digest)
    assert Path(again.name).is_relative_to(tmp_path / "elsewhere") and again.max_plies == 5


def test_a_file_that_does_not_return_is_named_with_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(checked_game, "TIME_LIMIT_S", 0.1)
    path = tmp_path / "loop.py"
    path.write_text("x = 1\nwhile True: x += 1\n")
    with pytest.raises(ConfigError, match="loop.py.* line 2: "):
        make_game(str(path))


# --- names ----------------------------------------------------------------------------------------


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Two folders with a game file of the same name, in the current folder."""
    write_rules(tmp_path / "mine" / "rules.py")
    write_rules(tmp_path / "yours" / "rules.py")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "stored_name", "same"),
    [
        ("mine/rules.py", "mine/rules.py", True),
        ("mine/../mine/rules.py", "mine/rules.py", True),
        ("{folder}/mine/rules.py", "mine/rules.py", True),
        ("yours/rules.py", "mine/rules.py", False),
        # Stored in another folder or on another machine: the path leads nowhere from here.
        ("mine/rules.py", "rules.py", True),
        ("mine/rules.py", "/elsewhere/games/rules.py", True),
        ("mine/rules.py", "/elsewhere/games/other.py", False),
        ("mine/rules.py", "mine/\0rules.py", False),
        ("mine/rules.py", "connect_four", False),
        ("connect_four", "connect_four", True),
        ("othello", "othello:6", False),
        ("othello_6x6", "othello:6", True),
    ],
)
def test_a_stored_name_means_the_same_game_however_its_path_is_spelled(
    folders, name, stored_name, same
):
    names = [text.format(folder=folders) for text in (name, stored_name)]
    assert same_game(*names) == same


def test_a_stored_name_never_runs_a_file_that_the_user_does_not_name(folders):
    path = folders / "mine" / "rules.py"
    path.write_text(path.read_text() + "\nopen('marker', 'w').close()\n")
    for named, value in ((None, None), ("connect_four", "connect_four"), ("yours/rules.py",) * 2):
        with pytest.raises(ConfigError) as error:
            make_stored_game("mine/rules.py", "the network 'x'", named, key="game.name")
        assert (error.value.key, error.value.value) == ("game.name", value)
        assert error.value.allowed == "mine/rules.py"
    assert not Path("marker").exists()
    assert make_stored_game("mine/rules.py", "the network 'x'", "./mine/rules.py").num_actions == 5
    assert Path("marker").exists()


def test_a_path_that_is_not_utf8_is_refused_by_name_and_its_file_works_from_inside(
    tmp_path, monkeypatch
):
    folder = tmp_path / os.fsdecode(b"b\xe9z")
    try:
        path = write_rules(folder / "mine.py")
    except OSError:
        pytest.skip("the file system has only names in UTF-8")
    with pytest.raises(ConfigError) as refused:
        make_game(path)
    assert (refused.value.key, refused.value.value) == ("game", path)
    assert "UTF-8" in str(refused.value)
    monkeypatch.chdir(folder)
    assert make_game("mine.py").name == "mine.py"
