"""A game of your own: the file with its rules, checked once for each version and run.

In: the path of a file. Out: the game, or a `ConfigError` that names the line or the law that is
broken. `GAME` in the file is compiled rules, or a game in plain Python as
`alphazero.games.own_game` takes it. The laws are checked in a process of its own, in plain Python
(`alphazero.games.checks.laws`): compiled code checks no array bounds, so that a mistake in a rule
could end this process without a word, and a rule may not return. `alphazero.games.registry` decides
whose word runs a file.
"""

import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.games.own_game import called, game_of_object, has_python_rules, importable_name
from alphazero.games.rule_errors import compiler_error_text
from alphazero.runtime import jit
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import kernel_rng

_SECONDS = 3.0  # of random games
TIME_LIMIT_S = 10.0  # for one position; rules that take longer do not return
_SILENT_S = 2.0  # before a line says what is going on
_PACKAGE_FOLDER = Path(__file__).parents[2]
_HELP = "docs/ADD_A_GAME.md lists common mistakes."


class _Findings(NamedTuple):
    """What the check of a version found."""

    broken: str | None  #: the first law that is broken, or the error of a rule
    notes: tuple[str, ...]  #: what is allowed but looks wrong


def load_checked_game(name: str) -> Game:
    """Check a game file, unless this version was checked before, run it, and return its game.

    Raises:
        ConfigError: if there is no such file, or its rules break a law or do not compile.
    """
    return _checked(existing(name), name, lambda: load_game_file(name))


def load_imported_game(source: Any, name: str | None = None) -> Game:
    """Return the game of an object, a class or a function; check compiled rules like a file.

    Args:
        source: what `game_of_object` takes, or compiled rules: the ``GAME`` of a module.
        name: the game's name; by default ``module:Class``.

    Raises:
        ConfigError: if it is no game; for compiled rules, if they are not the GAME of a file, break
            a law, or do not compile.
    """
    name = name or importable_name(source)
    if not has_python_rules(source) and callable(source):
        source = called(source, name)
    if not (isinstance(source, tuple) and hasattr(source, "_fields")):
        return game_of_object(source, name)
    module = sys.modules.get(type(source).__module__)
    path = Path(getattr(module, "__file__", None) or "")
    if not path.is_file() or getattr(module, "GAME", None) != source:
        raise ConfigError.of("game", name, reason="compiled rules must be the GAME of their file")
    return _checked(path, name, lambda: CompiledGame(name, source))


def _checked(path: Path, name: str, load: Callable[[], Game]) -> Game:
    """Return the game that ``load`` returns, unless the check of its file finds a broken law."""
    stored = _stored_findings_path(path)
    findings = _read_findings(stored)
    is_new = findings is None
    if findings is None:
        findings = _check_laws(path)
    if findings.broken is not None:
        message = f"the game file '{path}' cannot be played: {findings.broken} {_HELP}"
        raise _refusal(message, name)
    game = load()
    game.notes = findings.notes
    if is_new:
        if isinstance(game, CompiledGame):
            _compile(game, path)
        _write_findings(stored, findings)
    return game


def load_game_file(name: str) -> Game:
    """Run a game file and return its game, compiled or in plain Python; see `load_rules`."""
    source, path = load_rules(name), str(Path(name))
    return game_of_object(source, path) if has_python_rules(source) else CompiledGame(path, source)


def load_rules(name: str) -> Any:
    """Run a game file and return its `GAME`: the sizes of a compiled game, or a Python game.

    In a file without GAME, it is the only class with the methods of a game in plain Python.

    The file's path and text name its module, so that files of the same name are different games. A
    file that is edited while the process lives is run again by the next call, as a module of its
    own; games that were made before the edit keep the rules they were made with.

    Raises:
        ConfigError: if there is no such file, or it defines no game.
    """
    path = existing(name)
    place, source = path.resolve(), path.read_bytes()
    digest = hashlib.sha256(f"{place}\0".encode() + source).hexdigest()[:16]
    module_name = f"alphazero_game_{place.stem}_{digest}"
    if module_name not in sys.modules:
        module = types.ModuleType(module_name)
        module.__file__ = str(place)
        sys.modules[module_name] = module  # where its classes are looked up when they are unpickled
        try:
            # The import system would take two texts of the same second and size for the same text.
            exec(compile(source, str(place), "exec"), module.__dict__)
        except BaseException:
            del sys.modules[module_name]
            raise
    module = sys.modules[module_name]
    return module.GAME if hasattr(module, "GAME") else _only_class(module, name)


def _only_class(module: types.ModuleType, name: str) -> type:
    """Return the class of a file that is a game in plain Python, if there is one and no other."""
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and has_python_rules(value)
    ]
    if len(found) == 1:
        return found[0]
    message = f"the game file '{Path(name)}' defines no GAME"
    if found:
        names = ", ".join(one.__name__ for one in found)
        message += f", and several classes could be it ({names}): add GAME = {found[-1].__name__}"
    raise _refusal(f"{message}.", name)


def existing(name: str) -> Path:
    """Return the path of a game file; raise `ConfigError` if there is none."""
    path = Path(name)
    if not path.is_file():
        raise _refusal(f"there is no game file '{path}'.", name)
    return path


def _refusal(message: str, name: str) -> ConfigError:
    allowed = "the path of a file that defines GAME and obeys the laws of games"
    return ConfigError(message, key="game", value=name, allowed=allowed)


# --- the laws, in a process of its own ------------------------------------------------------------


def _check_laws(path: Path) -> _Findings:
    arguments = [str(path), str(_SECONDS), str(TIME_LIMIT_S)]
    found = run_check("alphazero.games.checks.laws", arguments, path)
    return _Findings(found["broken"], tuple(found["notes"]))


def run_check(
    module: str, arguments: list[str], *paths: Path, announce: bool = True
) -> dict[str, Any]:
    """Run a program that checks rules as plain Python, and return what it prints as JSON.

    Args:
        module: the program.
        paths: the files that it is about, to name the line of a rule that does not return.
        announce: whether a line says what is going on if it takes long.

    Returns:
        What it found: "broken", the law that is broken or None, and "notes" at least.
    """
    # A notebook may have found this package by a path that a new process does not know.
    search_path = [str(_PACKAGE_FOLDER), *sys.path]
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, search_path)),
    }
    command = [sys.executable, "-m", module, *arguments]
    text = f"Checking the rules of {paths[0]} ..." if announce else ""
    status, output, errors = _run(command, environment, text)
    lines = output.splitlines()
    if status == 0 and lines:
        return json.loads(lines[-1])
    places = "|".join(re.escape(str(path.resolve())) for path in paths)
    frame = re.search(rf'File "({places})", line (\d+) in (\w+)', errors)
    if "Timeout" in errors and frame:
        file = f"{Path(frame[1]).name}, " if len(paths) > 1 else ""
        text = f"{file}line {frame[2]}, in '{frame[3]}': it does not return (an endless loop?)."
        return {"broken": text, "notes": []}
    reason = (errors.strip().splitlines() or [f"exit status {status}"])[-1]
    return {"broken": f"the check of its rules ended with: {reason}.", "notes": []}


def _run(command: list[str], environment: dict, announcement: str) -> tuple[int, str, str]:
    """Run a program, announced if it takes long; return its exit status, output and errors."""
    pipes: dict[str, Any] = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    settings: dict[str, Any] = dict(stdin=subprocess.DEVNULL, text=True, errors="replace")
    with subprocess.Popen(command, env=environment, **pipes, **settings) as program:
        try:
            try:
                output, errors = program.communicate(timeout=_SILENT_S)
            except subprocess.TimeoutExpired:
                if announcement:
                    print(announcement, file=sys.stderr, flush=True)
                output, errors = program.communicate()
        except BaseException:  # such as Ctrl-C
            program.kill()
            raise
    return program.returncode, output, errors


# --- compiling ------------------------------------------------------------------------------------


def _compile(game: CompiledGame, path: Path) -> None:
    """Compile the rules; turn numba's error into a file, a line and a sentence."""
    try:
        states = game.initial_states()
        game.observe(states)
        game.step(states, game.legal_action_mask(states).argmax(axis=1))
        # Without positions: a mistake in the rules could make a game endless.
        game.playout(states[:0], kernel_rng(np.random.default_rng(0)))
    except (NumbaError, UnsupportedBytecodeError) as error:
        broken = compiler_error_text(str(error), path)
        message = f"the game file '{path}' does not compile: {broken} {_HELP}"
        raise _refusal(message, str(path)) from None


# --- findings on disk -----------------------------------------------------------------------------


def _stored_findings_path(path: Path) -> Path:
    """Return where the findings on this version of a file are stored."""
    digest = hashlib.sha256(f"{path.resolve()}\0".encode() + path.read_bytes())
    for check in sorted(Path(__file__).with_name("checks").glob("*.py")):
        digest.update(check.read_bytes())
    return jit.cache_directory().parent / f"game-{digest.hexdigest()[:16]}.json"


def _read_findings(path: Path) -> _Findings | None:
    try:
        notes = json.loads(path.read_text(encoding="utf-8"))["notes"]
        is_right = isinstance(notes, list) and all(isinstance(note, str) for note in notes)
        return _Findings(None, tuple(notes)) if is_right else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write_findings(path: Path, findings: _Findings) -> None:
    """Store that a version obeys the laws; where this is impossible, it is checked again."""
    with contextlib.suppress(OSError):
        jit.make_private(path.parent)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps({"notes": findings.notes}) + "\n")
        temporary.replace(path)
