"""The digest of a user's rules: what changes it, what does not, and what is said about a change."""

import importlib
import subprocess
import sys
import types
from pathlib import Path

import pytest
from game_samples import EXAMPLE, TWICE

from alphazero.own_games import checked_game
from alphazero.own_games.registry import make_game
from alphazero.own_games.rules_digest import changes, digest_of, is_rules_text, network_shapes

BASE = '''"""What games of heaps share."""

LAST = -1
OTHER = 0


class Heaps:
    def player_to_move(self):
        return self.player

    def is_over(self):
        return self.heap <= 0
'''
PILE = '''"""A game of one heap."""

import math

import numpy as np
from base import LAST, OTHER, Heaps

TAKEN = {}


class Pile(Heaps):
    """Take one or two; who takes the last one wins."""

    num_actions, max_plies = 2, 8

    def __init__(self, heap=8):
        self.heap, self.player = heap, 0

    def step(self, action):
        self.heap -= TAKEN[action]
        self.player = 1 - self.player

    def result(self):
        return LAST

    def legal_actions(self):
        return [0, 1][: self.heap]

    def cells(self):
        return np.array([[1] * max(self.heap, 0) + [0] * (8 - max(self.heap, 0))])


for number in range(2):
    TAKEN[number] = number + 1


def small():
    return Pile(7)


if __name__ == "__main__":
    print(Pile())
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with the module `pile`, which imports the module `base`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("ALPHAZERO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(checked_game, "_compile", lambda game, path: None)
    monkeypatch.setattr(checked_game, "_check_laws", lambda name, file: ())
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "pile.py").write_text(PILE)
    yield tmp_path
    forget()


def forget():
    """Let the next import read the files again, as in a new process."""
    for name in ("base", "pile", "heap"):
        sys.modules.pop(name, None)


def edited(path, old, new, name="pile:Pile"):
    """Edit a file; return the game as a new process makes it."""
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    forget()
    return make_game(name)


@pytest.mark.parametrize("name", ["connect_four", "othello:6", "connect_x:9x9x5"])
def test_games_of_this_package_are_identified_by_their_names(name):
    game = make_game(name)
    assert game.rules_digest == game.rules_text == ""


@pytest.mark.parametrize(
    ("file", "old", "new", "found"),
    [
        ("pile.py", "[: self.heap]", "[: self.heap - 1]", "changed: Pile.legal_actions"),
        ("pile.py", "2, 8", "2, 9", "changed: Pile"),
        ("pile.py", "number + 1", "number + 2", "changed: number"),
        ("base.py", "LAST = -1", "LAST = 1", "changed: LAST"),
        ("base.py", "OTHER = 0", "OTHER = 1", "changed: OTHER"),
        ("base.py", "<= 0", "<= 1", "changed: Heaps.is_over"),
        ("pile.py", "(Heaps)", "(Heaps, object)", "changed: Pile"),
        (
            "pile.py",
            "for number in range(2):",
            "def taken(number):\n    return number + 1\n\n\nfor number in map(taken, range(2)):",
            "changed: number, taken",
        ),
    ],
)
def test_a_change_of_the_rules_changes_the_digest_and_is_named(folder, file, old, new, found):
    before = make_game("pile:Pile")
    after = edited(folder / file, old, new)
    assert before.rules_digest != after.rules_digest
    assert changes(before.rules_text, after.rules_text).startswith(found)
    assert digest_of(after.rules_text) == after.rules_digest and len(after.rules_digest) == 64


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("pile.py", "return LAST", "return (LAST)  # who moved last has won"),
        ("pile.py", '"""Take one or two; who takes the last one wins."""', '"""Nim."""'),
        ("pile.py", "print(Pile())", "print(Pile(), 'again')"),
        ("pile.py", "import math\n\nimport numpy as np", "import numpy as np\nimport math"),
        ("base.py", "LAST = -1\nOTHER = 0", "OTHER = 0\nLAST = -1"),
    ],
)
def test_what_is_no_rule_does_not_change_it(folder, file, old, new):
    before = make_game("pile:Pile")
    after = edited(folder / file, old, new)
    assert before.rules_digest == after.rules_digest
    assert changes(before.rules_text, after.rules_text) == ""


def test_a_module_of_another_name_is_the_same_game(folder):
    before = make_game("pile:Pile")
    (folder / "pile.py").rename(folder / "heap.py")
    assert make_game("heap:Pile").rules_digest == before.rules_digest


def test_another_size_is_another_game(folder):
    games = [make_game(name) for name in ("pile:Pile", "pile:small")]
    assert games[0].rules_digest != games[1].rules_digest
    assert changes(*(game.rules_text for game in games)) == "Pile(heap=8) has become Pile(heap=7)"


def test_an_edit_counts_when_the_module_is_loaded_again(folder):
    before = make_game("pile:Pile")
    path = folder / "pile.py"
    path.write_text(path.read_text().replace("return LAST", "return 0"))
    assert make_game("pile:Pile").rules_digest == before.rules_digest
    importlib.reload(sys.modules["pile"])
    assert make_game("pile:Pile").rules_digest != before.rules_digest


@pytest.mark.slow
def test_a_compiled_file_is_its_rules_and_its_sizes(folder):
    path = folder / "mine.py"
    text = Path(TWICE).read_text()
    path.write_text(text)
    before = make_game("mine.py")
    assert network_shapes(before.rules_text) == ((1, 1, 6), 6)
    for old, new, found in (
        ("def is_over(game, state):", "# a comment\n\ndef is_over(game, state):", ""),
        ("sign = 0 if total == 0", "sign = 0 if total == 1", "changed: result"),
        ("GAME = Twice(6)", "GAME = Twice(5)", "changed: GAME"),
        ("return game.squares\n", "return int(game.squares)\n", "changed: max_plies, num_actions"),
    ):
        assert old in text
        path.write_text(text.replace(old, new))
        after = make_game("mine.py")
        assert (after.rules_digest == before.rules_digest) == (not found)
        assert sorted(changes(before.rules_text, after.rules_text)) == sorted(found)
    path.write_text(text)
    path.rename(folder / "yours.py")
    assert make_game("yours.py").rules_digest == before.rules_digest


def test_every_rule_of_a_compiled_file_is_in_the_text():
    text = make_game(EXAMPLE).rules_text
    for line in Path(EXAMPLE).read_text().splitlines():
        if line.startswith("def "):
            assert line in text


def test_a_class_without_source_is_identified_by_its_behaviour(folder, monkeypatch):
    digests = []
    monkeypatch.syspath_prepend(folder)
    edits = ("(LAST)", "(LAST)"), ("(LAST)", "LAST"), ("(LAST)", "-LAST"), ("[0, 1]", "[1, 0]")
    for old, new in edits:
        module = types.ModuleType("notebook")
        sys.modules["notebook"] = module
        text = PILE.replace("return LAST", "return (LAST)")
        assert old in text
        exec(text.replace(old, new), module.__dict__)
        game = make_game(module.Pile())
        del sys.modules["notebook"]
        digests.append(game.rules_digest)
        assert game.rules_text.startswith("BEHAVIOUR = ")
    assert len(set(digests)) == 3 and digests[0] == digests[1]
    assert changes(game.rules_text, game.rules_text) == ""
    assert "source" in changes(make_game("pile:Pile").rules_text, game.rules_text)


@pytest.mark.slow
def test_the_training_code_of_a_script_is_no_rule(folder):
    digests = []
    for size in (1, 2):
        script = folder / "script.py"
        tail = f"game = make_game(Pile())\nfor _ in range({size}):\n    print(game.rules_digest)\n"
        script.write_text(f"from alphazero.own_games.registry import make_game\n{PILE}\n{tail}")
        command = [sys.executable, str(script)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        digests.append(text.split()[-1])
    assert digests[0] == digests[1]


@pytest.mark.parametrize("text", ["", "def", "SIZES = 3", "x = 1", "SIZES = {}", "(" * 1000])
def test_a_damaged_text_cannot_be_compared(text):
    assert not is_rules_text(text)
