"""Load games that users define, checking each version of their rules before it is first played.

A mistake raises a `ConfigError` that names the faulty line or the broken law. The laws of games
(`alphazero.own_games.checks.laws`) are checked in plain Python. A game given by its name is checked
in a separate process: compiled code checks no array bounds, so a mistake in a rule could crash this
process, and a rule may never return. A game given as an object is checked in this process.
`alphazero.own_games.registry` decides who may run a file or a module.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.own_games.checks.laws import Laws, error_text
from alphazero.own_games.checks.report import CheckOptions, RuleReport, examine
from alphazero.own_games.game_file import (
    ALLOWED,
    file_of,
    game_of,
    is_compiled,
    is_game_file,
    load_source,
    made,
    refusal,
)
from alphazero.own_games.python_game import unusable
from alphazero.own_games.rules_digest import constructor_repr
from alphazero.runtime import jit
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import write_atomically
from alphazero.runtime.random_generators import kernel_rng
from alphazero.runtime.source_text import digest_of, module_file, source_text

_SECONDS = 3.0  # time limit for the check, not counting the check of the symmetries
_NUM_POSITIONS = 300  # number of positions to check
#: Time limit in seconds for checking one position; slower rules are reported as never returning.
TIME_LIMIT_S = 10.0
_PACKAGE_FOLDER = Path(__file__).parents[2]
#: Matches paths of files without rules: of this package, Python's library, numpy and numba.
_NOT_RULES = "|".join(
    map(re.escape, (str(_PACKAGE_FOLDER / "alphazero"), os.path.dirname(os.__file__)))
)
_NOT_RULES += "|.*/num(?:py|ba)/"
_HELP = "docs/COMPILED_RULES.md lists common mistakes"
#: The check's warnings about rules whose class is not in a file, by class.
_CHECKED: dict[type, tuple[str, ...]] = {}


def load_named_game(name: str) -> Game:
    """Load a user's game by its name; check its rules first unless this version was checked before.

    Args:
        name: the path of a game file, ``module:Class``, or the name of an entry point.

    Raises:
        ConfigError: if there is no such game, or its rules break a law or do not compile.
    """
    # A file may never return, so its rules are checked before it runs in this process.
    source = None if is_game_file(name) else load_source(name)
    return _named(name, name, source, file_of(name, source))


def load_object(source: Any, name: str) -> Game:
    """Make the game that an object, a class or a function defines, and check its rules.

    Args:
        source: anything that `alphazero.own_games.game_file.game_of` accepts.
        name: the name to give the game.

    Raises:
        ConfigError: if ``source`` does not define a game or its rules break a law; for compiled
            rules, also if they are not the GAME of a file, or do not compile.
    """
    source = made(source, name)
    module_name = type(source).__module__
    file = module_file(module_name)
    if not is_compiled(source):
        return _checked_here(source, name, file)
    module = sys.modules[module_name]
    if file is None or getattr(module, "GAME", None) != source:
        raise ConfigError.of("game", name, reason="compiled rules must be the GAME of their file")
    checked = f"{module_name}:GAME" if module.__spec__ else str(file)
    return _named(name, checked, source, file)


def _named(name: str, checked: str, source: Any, file: Path | None) -> Game:
    """Load a game by its name, after checking its rules in another process unless done before.

    Args:
        name: the name to give the returned game.
        checked: the name by which the other process loads the game.
        source: what `load_source` returned; None to load it only after the check.
        file: the file that defines the rules; None if there is none.

    Raises:
        ConfigError: if the rules break a law or do not compile.
    """
    stored = file and _stored_notes_path(file, checked.partition(":")[2])
    notes = _read_notes(stored) if stored else None
    is_new = notes is None
    if notes is None:
        notes = _check_laws(checked)
    if source is None:
        source = load_source(name)
    game = game_of(source, name)
    game.notes = notes
    if is_new:
        if isinstance(game, CompiledGame) and file:
            _compile(game, file)
        _write_notes(stored, notes)
    return game


def _checked_here(source: Any, name: str, file: Path | None) -> Game:
    """Make the game that an object defines, and check its rules in this process.

    Args:
        source: the object, its class, or a function that makes it.
        name: the name to give the game.
        file: the file that defines the object's class; None for a class defined in a notebook.

    Raises:
        ConfigError: if ``source`` does not define a game, or its rules break a law or raise an
            error.
    """
    try:
        game = game_of(source, name)
        rules = game.rules_object
        stored = file and _stored_notes_path(file, constructor_repr(rules))
        notes = _read_notes(stored) if stored else _CHECKED.get(type(rules))
        if notes is None:
            report = examine(Laws(game), None, _quick(name))
            notes = _notes_of(report, name)
            _write_notes(stored, notes)
            _CHECKED[type(rules)] = notes
    except ConfigError:
        raise
    except Exception as error:  # raised by the user's own code
        raise _broken(error_text(error), name) from error
    game.notes = notes
    return game


def _quick(name: str) -> CheckOptions:
    return CheckOptions(name, num_positions=_NUM_POSITIONS, seconds=_SECONDS)


def _notes_of(report: RuleReport, name: str) -> tuple[str, ...]:
    """Return a report's warnings about suspicious rules.

    Args:
        report: the report of the check.
        name: the game's name, for the error message.

    Raises:
        ConfigError: if the report describes a fault.
    """
    if report.fault is None:
        return tuple(report.notes)
    text = report.fault
    if report.actions:
        text = f"after {len(report.actions):,} actions, ending with {report.actions[-30:]}: {text}"
    raise _broken(text, name)


def _broken(text: str, name: str) -> ConfigError:
    return unusable(name, f"{text} {_HELP}", name, ALLOWED)


# --- the laws, in another process -----------------------------------------------------------------


def _check_laws(name: str) -> tuple[str, ...]:
    return _notes_of(run_check(_quick(name)), name)


def run_check(options: CheckOptions) -> RuleReport:
    """Check the rules of a game in another process, which runs them as plain Python.

    Args:
        options: the game to check and the limits of the check.

    Returns:
        The report of the check. If a rule never returns or the process fails, its ``fault`` says
        so.
    """
    # A notebook may have imported this package from a path that a new process does not search.
    search_path = [str(_PACKAGE_FOLDER), *sys.path]
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, search_path)),
    }
    # -P keeps the current folder off the search path: a file random.py there would be imported.
    arguments = [json.dumps(dataclasses.asdict(options)), str(TIME_LIMIT_S)]
    command = [sys.executable, "-P", "-m", "alphazero.own_games.rule_check", *arguments]
    program = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    errors = program.stderr
    lines = program.stdout.splitlines()
    if program.returncode == 0 and lines:
        return RuleReport(**json.loads(lines[-1]))
    frame = re.search(rf'File "(?!{_NOT_RULES})(.+\.py)", line (\d+) in (\S+)', errors)
    if "Timeout" in errors and frame:
        path, line, function = frame.groups()
        rule = "" if function == "<module>" else f", in '{function}'"
        where = f"{Path(path).name}, line {line}{rule}"
        return RuleReport(f"{where}: it does not return (an endless loop?).")
    error_lines = errors.strip().splitlines() or [f"exit status {program.returncode}"]
    return RuleReport(f"the check of its rules failed: {error_lines[-1]}.")


# --- compiling ------------------------------------------------------------------------------------


def _compile(game: CompiledGame, path: Path) -> None:
    """Compile a game's rules by calling each of the game's batched operations once.

    Args:
        path: the file that contains the rules.

    Raises:
        ConfigError: if the compiler rejects the rules; the message names the file, line and cause.
    """
    try:
        states = game.initial_states()
        game.observe(states)
        game.step(states, game.legal_action_mask(states).argmax(axis=1))
        # Without positions this only compiles: a mistake in the rules could make a game endless.
        game.playout(states[:0], kernel_rng(np.random.default_rng(0)))
    except (NumbaError, UnsupportedBytecodeError) as error:
        broken = compiler_error_text(str(error), path)
        message = f"the game file '{path}' does not compile: {broken} {_HELP}."
        raise refusal(message, str(path)) from None


def compiler_error_text(text: str, path: Path) -> str:
    """Shorten a numba compiler error to its cause, with the line of the rules that it names.

    An example is "line 12: Untyped global name 'helper': Cannot determine Numba type."

    Args:
        text: numba's message.
        path: the file that contains the rules.
    """
    uncoloured = re.sub(r"\x1b\[\d*m", "", text)
    text = jit.with_written_names(uncoloured).partition(" Raised from ")[0]
    line = re.search(rf'{re.escape(path.name)}(?:", line |:| \()(\d+)', text)
    where = f"line {line[1]}: " if line else ""
    if re.search("NRT required but not enabled|Only accept returning of array passed", text):
        return f"{where}a helper that creates an array or a list needs @rules.njit(allocates=True)."
    # Messages are nested: each level says "Failed in ...", and the innermost names the cause.
    reasons = re.findall(r"(?:\w+Error: |Failed in [^\n]*\n\s*)(?!Failed in)(\S.+)", text)
    reasons = reasons or [text.strip().partition("\n")[0]]
    return f"{where}{reasons[-1].rstrip('. ')}."


# --- notes on disk --------------------------------------------------------------------------------


def _stored_notes_path(file: Path, constructor: str) -> Path:
    """Return the path of the file that stores the check's warnings about this version of a game.

    The path depends on the rules' text and on the code of the check. The file exists once this
    version has been checked without a fault.

    Args:
        file: the file that defines the rules.
        constructor: the name of the class, or the call that makes the game, which distinguishes
            several games defined in one file.
    """
    source_digest = digest_of(source_text(file))
    digest = hashlib.sha256(f"{constructor}\0{source_digest}".encode())
    for check in sorted(Path(__file__).with_name("checks").glob("*.py")):
        digest.update(check.read_bytes())
    return jit.cache_directory().parent / f"game-{digest.hexdigest()[:16]}.txt"


def _read_notes(path: Path) -> tuple[str, ...] | None:
    """Read a check's warnings from ``path``; None if this version of the game was never checked."""
    try:
        return tuple(path.read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError):
        return None


def _write_notes(path: Path | None, notes: tuple[str, ...]) -> None:
    """Store the check's warnings in ``path``, which marks this version of the game as checked.

    If the file cannot be written, the game will be checked again next time. If ``path`` is None,
    nothing is written.
    """
    if path is None:
        return
    with contextlib.suppress(OSError):
        jit.make_private(path.parent)
        write_atomically(path, "\n".join(notes).encode())
