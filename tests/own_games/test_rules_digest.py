"""The digest of a user's rules: what changes it, and what does not."""

import linecache
import sys
import types
from pathlib import Path

import pytest
from game_samples import TWICE

from alphazero.own_games import checked_game
from alphazero.own_games.registry import make_game
from alphazero.own_games.rules_digest import digest_of, is_rules_text, network_shapes

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
    monkeypatch.setattr(checked_game, "_check_laws", lambda name: ())
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


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("pile.py", "[: self.heap]", "[: self.heap - 1]"),
        ("pile.py", "2, 8", "2, 9"),
        ("pile.py", "number + 1", "number + 2"),
        ("base.py", "LAST = -1", "LAST = 1"),
        ("base.py", "<= 0", "<= 1"),
        ("pile.py", "(Heaps)", "(Heaps, object)"),
    ],
)
def test_a_change_of_the_rules_changes_the_digest(folder, file, old, new):
    before = make_game("pile:Pile")
    after = edited(folder / file, old, new)
    assert before.rules_digest != after.rules_digest
    assert digest_of(after.rules_text) == after.rules_digest and len(after.rules_digest) == 64


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("pile.py", "return LAST", "return (LAST)  # who moved last has won"),
        ("pile.py", '"""Take one or two; who takes the last one wins."""', '"""Nim."""'),
        ("pile.py", "print(Pile())", "print(Pile(), 'again')"),
    ],
)
def test_what_is_no_rule_does_not_change_it(folder, file, old, new):
    before = make_game("pile:Pile")
    after = edited(folder / file, old, new)
    assert before.rules_digest == after.rules_digest


def test_a_module_of_another_name_is_the_same_game(folder):
    before = make_game("pile:Pile")
    (folder / "pile.py").rename(folder / "heap.py")
    assert make_game("heap:Pile").rules_digest == before.rules_digest


@pytest.mark.slow
def test_a_compiled_file_is_its_rules_and_its_sizes(folder):
    path = folder / "mine.py"
    text = Path(TWICE).read_text()
    path.write_text(text)
    before = make_game("mine.py")
    assert network_shapes(before.rules_text) == ((1, 1, 6), 6)
    for old, new, is_same in (
        ("def is_over(game, state):", "# a comment\n\ndef is_over(game, state):", True),
        ("sign = 0 if total == 0", "sign = 0 if total == 1", False),
        ("GAME = Twice(6)", "GAME = Twice(5)", False),
    ):
        assert old in text
        path.write_text(text.replace(old, new))
        after = make_game("mine.py")
        assert (after.rules_digest == before.rules_digest) == is_same
    path.write_text(text)
    path.rename(folder / "yours.py")
    assert make_game("yours.py").rules_digest == before.rules_digest


def test_a_class_in_a_notebook_is_identified_by_its_methods_or_by_its_sizes(folder, monkeypatch):
    def digest(text, is_known):
        module = types.ModuleType("notebook")
        monkeypatch.setitem(sys.modules, "notebook", module)
        cell = f"<cell {is_known} {hash(text)}>"
        if is_known:  # as Python knows the cells of IPython
            lines = text.splitlines(keepends=True)
            monkeypatch.setitem(linecache.cache, cell, (len(text), None, lines, cell))
        exec(compile(text, cell, "exec"), module.__dict__)
        return make_game(module.Pile()).rules_digest

    monkeypatch.syspath_prepend(folder)
    texts = [
        PILE.replace("return LAST", new) for new in ("return LAST", "return (LAST)", "return 1")
    ]
    known = [digest(text, is_known=True) for text in texts]
    assert known[0] == known[1] != known[2]
    assert len({digest(text, is_known=False) for text in texts}) == 1
    larger = PILE.replace("max_plies = 2", "max_plies = 3")
    assert digest(larger, is_known=False) != digest(PILE, is_known=False)


@pytest.mark.parametrize("text", ["", "def", "SIZES = 3", "x = 1", "SIZES = {}", "(" * 1000])
def test_a_damaged_text_cannot_be_compared(text):
    assert not is_rules_text(text)
