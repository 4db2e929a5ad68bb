"""Mistakes in a game of one's own: each is a sentence, before anything is compiled or played."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from game_samples import EXAMPLE
from mostly_slow import mostly_slow

from alphazero.own_games import checked_game, rule_check
from alphazero.own_games.checks.laws import BrokenLaw, Laws
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError

SNORT = Path(EXAMPLE).read_text()

#: A mistake: what of Snort is replaced by what, and what the message must name.
MISTAKES = {
    "no action is ever legal": (
        "mask[square] = is_legal(game, state, square)",
        "mask[square] = False",
        "'legal_actions' allows no action",
    ),
    "illegal actions are left as they were": (
        "mask[square] = is_legal(game, state, square)",
        "mask[square] |= is_legal(game, state, square)",
        "'legal_actions' does not write mask[",
    ),
    "a result of 2": ("return -1  # the", "return 2  # the", "'result' returns 2"),
    "the second player begins": ("state[:] = 0", "state[:] = 0\n    state[-1] = 1", "player 0"),
    "a rule that plays": (
        "    for square in range(game.side * game.side):\n        mask",
        "    state[0] = 1\n    for square in range(game.side * game.side):\n        mask",
        "changes the state",
    ),
    "a misspelled name": ("state[action] = 1 + mover", "state[action] = 1 + mver", "mver"),
    "a missing rule": (
        "@rules.implement(Snort)\ndef observe",
        "def observe",
        "rule 'observe'",
    ),
    "a rule without the game": (
        "def is_over(game, state)",
        "def is_over(state)",
        "'is_over' takes (game, state)",
    ),
    "a board of the wrong shape": (
        "return state[:-1].reshape(game.side, game.side).copy()",
        "return state[:-1].copy()",
        "'cells'",
    ),
}

_MOVER = "    mover = state[game.side * game.side]\n"

#: Mistakes that only the compiler notices: the replacement, and what the message must name.
UNCOMPILABLE = {
    "a list in a helper without allocates=True": (
        "    side = game.side\n    row, column",
        "    side = len([game.side] * game.side)\n    row, column",
        "allocates=True",
    ),
    "a rule called by its bare name": (
        "def result(game, state):\n    return -1",
        "def result(game, state):\n    return -1 if is_over(game, state) else 0",
        "'is_over'",
    ),
    "a function of numpy that kernels do not know": (
        _MOVER,
        f"    np.pad(state, 1)\n{_MOVER}",
        "'numpy.pad'",
    ),
}


def write(folder, old="", new=""):
    assert old in SNORT
    path = folder / "snort.py"
    path.write_text(SNORT.replace(old, new, 1))
    return path


@pytest.fixture
def checks(monkeypatch, tmp_path):
    """A fresh cache folder; the list of the files whose laws are checked. None is compiled."""
    monkeypatch.setenv("ALPHAZERO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(checked_game, "_compile", lambda game, path: None)
    checked, check = [], checked_game._check_laws
    monkeypatch.setattr(
        checked_game, "_check_laws", lambda *names: checked.append(names) or check(*names)
    )
    return checked


@pytest.mark.parametrize("name", mostly_slow(MISTAKES, 6))
def test_a_mistake_is_named_before_anything_is_played(checks, tmp_path, monkeypatch, name):
    monkeypatch.setattr(checked_game, "_SECONDS", 20.0)  # a busy machine is slow
    old, new, named = MISTAKES[name]
    path = write(tmp_path, old, new)
    with pytest.raises(ConfigError) as refused:
        make_game(str(path))
    assert (refused.value.key, refused.value.value) == ("game", str(path))
    message = str(refused.value)
    assert named in message and str(path) in message and "\n" not in message


@pytest.mark.slow
@pytest.mark.parametrize("name", UNCOMPILABLE)
def test_what_does_not_compile_is_named_with_its_line(monkeypatch, tmp_path, name):
    monkeypatch.setenv("ALPHAZERO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(checked_game, "_check_laws", lambda name: ())
    old, new, named = UNCOMPILABLE[name]
    path = write(tmp_path, old, new)
    with pytest.raises(ConfigError) as refused:
        make_game(str(path))
    message = str(refused.value)
    line = 1 + path.read_text().split(new)[0].count("\n") + new.count("\n")
    found = re.search(r"line (\d+)", message)
    assert "\n" not in message and found and abs(int(found[1]) - line) <= 3, message
    assert named in message and "pipeline" not in message and "Snort_" not in message


@pytest.mark.slow
def test_slow_rules_are_checked_for_a_while_and_played(checks, monkeypatch, tmp_path):
    """A game that takes minutes in plain Python is not refused: only a position has a limit."""
    monkeypatch.setattr(checked_game, "TIME_LIMIT_S", 2.0)
    slow = "    if NUMBA_IS_OFF:\n        time.sleep(0.02)\n    return np.int64(state[game.side"
    path = write(tmp_path, "    return np.int64(state[game.side", slow)
    header = "import os\nimport time\n\nNUMBA_IS_OFF = os.environ.get('NUMBA_DISABLE_JIT') == '1'\n"
    path.write_text(header + path.read_text())
    game = make_game(str(path))  # numba leaves out the branch that sleeps
    assert game.num_actions == 25 and len(checks) == 1


def test_sizes_that_no_rule_states_are_named():
    class Right(NamedTuple):
        side: int

    with pytest.raises(BrokenLaw, match="num_actions"):
        Laws(Right(3))


@pytest.mark.slow
def test_each_version_is_checked_once(checks, tmp_path):
    path = write(tmp_path)
    for _ in range(2):
        game = make_game(str(path))
        assert game.notes == () and np.array_equal(game.initial_states(1)[0], np.zeros(26))
    assert len(checks) == 1
    path.write_text(SNORT + "\nVERSION = 2\n")
    make_game(str(path))
    assert len(checks) == 2
    path.write_text(SNORT.replace("return -1  # the", "return 2  # the"))
    for number in (3, 4):  # what is refused is checked again
        with pytest.raises(ConfigError):
            make_game(str(path))
        assert len(checks) == number


def test_the_watch_ends_before_the_report_is_printed(monkeypatch, capsys):
    """It would end the process of a check that has found nothing wrong."""
    calls = []
    watch = SimpleNamespace(
        dump_traceback_later=lambda *_, **__: calls.append("watched"),
        cancel_dump_traceback_later=lambda: calls.append(capsys.readouterr().out),
    )
    monkeypatch.setattr(rule_check, "faulthandler", watch)
    rule_check.main(json.dumps({"game": "tic_tac_toe", "num_positions": 50}), "10")
    assert "watched" in calls and calls[-1] == ""
    assert json.loads(capsys.readouterr().out)["fault"] is None
