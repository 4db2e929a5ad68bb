"""The rules of a user's game as text: the class with the rules, and all that it uses.

In: a game that was just made. Out: a text of definitions: the class, the functions, constants and
base classes that it uses, those of the user's other modules included, functions registered for it,
and last the sizes of the game. So neither the file's name nor the code around the rules counts, and
neither do libraries. `alphazero.games.rules_digest` compares such texts.

A class without source, as in a notebook, is described by its behaviour in random games.
"""

import ast
import hashlib
import inspect
import site
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.runtime.jit import with_written_names

#: Names in the text that are not the user's.
SIZES, BEHAVIOUR = "SIZES", "BEHAVIOUR"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPOUND = (ast.Expr, ast.For, ast.While, ast.With, ast.If, ast.Try)
_ALL = "*"
_PACKAGE = __name__.partition(".")[0]
_LIBRARIES = [Path(path) for path in {*sysconfig.get_paths().values(), site.getusersitepackages()}]
_NUM_GAMES, _MAX_PLIES = 8, 200  # of a digest of behaviour
#: The text of each module when it was first seen: an edit changes no module that is loaded.
_SOURCES: dict[str, tuple[Any, str]] = {}


def rules_text(game: Game) -> str:
    """Return the rules of a user's game as text; "" for games of this package."""
    rules = game.rules_object
    if type(rules).__module__.partition(".")[0] == _PACKAGE:
        return ""  # its name identifies it
    module = sys.modules.get(type(rules).__module__)
    body = _reached_text(module, {type(rules).__qualname__.partition(".")[0], "GAME"})
    sizes = {
        "made_as": _made_as(rules),
        "num_actions": int(game.num_actions),
        "planes_shape": tuple(map(int, game.planes_shape)),
    }
    if not isinstance(game, CompiledGame):  # whose rules would have to be compiled first
        start = game.initial_states()
        seen = game.observe(start).tobytes() + game.legal_action_mask(start).tobytes()
        sizes["start"] = hashlib.sha256(seen).hexdigest()[:16]
    return f"{body or f'{BEHAVIOUR} = {_behaviour(game)!r}'}\n\n\n{SIZES} = {sizes!r}\n"


def _made_as(rules: Any) -> str:
    """Return a call that makes the game: its class, and arguments that it keeps by their names."""
    if isinstance(rules, tuple):
        return with_written_names(repr(rules))
    try:
        names = list(inspect.signature(type(rules)).parameters)
    except (TypeError, ValueError):  # written in C
        names = []
    values = {name: getattr(rules, name, getattr(rules, f"_{name}", ...)) for name in names}
    kept = ", ".join(f"{name}={value!r}" for name, value in values.items() if _is_plain(value))
    return f"{type(rules).__qualname__}({kept})"


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def _behaviour(game: Game) -> str:
    """Return a digest of all that is seen in some random games."""
    rng, digest = np.random.default_rng(0), hashlib.sha256()
    states = game.initial_states(_NUM_GAMES)
    for _ in range(min(game.max_plies, _MAX_PLIES)):
        found = game.inspect(states)
        for seen in (found.legal_action_mask, found.results, found.players, game.observe(states)):
            digest.update(np.ascontiguousarray(seen).tobytes())
        states, legal = states[~found.over], found.legal_action_mask[~found.over]
        if not len(states):
            break
        states = game.step(states, (rng.random(legal.shape) * legal).argmax(axis=1)).states
    return digest.hexdigest()


# --- which statements are rules -------------------------------------------------------------------


class _Statement(NamedTuple):
    """A statement of a module, outside all functions and classes."""

    node: ast.stmt
    text: str
    binds: set[str]  #: names that it gives a value
    reads: set[str]
    registers: set[str]  #: names that it does something with, such as fill a table


def _reached_text(module: ModuleType | None, roots: set[str]) -> str:
    """Return the statements that some names of a module need; "" if it has no source.

    Statements of the user's other modules follow, those of each under a comment with its name.
    """
    if module is None or not (first := _statements(module)):
        return ""
    statements, kept = {module: first}, {module: set[int]()}
    roots = roots & set().union(*(statement.binds for statement in first))
    # Without roots, the class has no definition: a call, as of `namedtuple`, has made it.
    wanted = [(module, name) for name in sorted(roots) or [_ALL]]
    seen = set()
    while wanted:
        place, name = wanted.pop()
        if (place, name) in seen:
            continue
        seen.add((place, name))
        if place not in statements:
            statements[place], kept[place] = _statements(place), set()
        for index, statement in enumerate(statements[place]):
            names = statement.binds | statement.registers
            if name == _ALL or name in names or _ALL in names:
                kept[place].add(index)
                wanted += _imported(place, statement.node)
                wanted += [(place, read) for read in sorted(statement.reads)]
    texts = []
    for place, indices in kept.items():
        found = [statements[place][index] for index in sorted(indices)]
        lines = [one.text for one in found if not _imports_users(place, one.node)]
        texts += [f"# {place.__name__}"] * (place is not module and bool(lines)) + lines
    return "\n\n\n".join(texts)


def _statements(module: ModuleType) -> list[_Statement]:
    """Return the statements of a module; each imported name is one of its own."""
    source, found = _source(module), []
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return []
    is_script = module.__name__ == "__main__"  # whose training code is no rule
    for node in body:
        if isinstance(node, ast.If) and "__name__" in _read_names(node.test):
            continue  # a script below the rules
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                fields = {**dict(ast.iter_fields(node)), "names": [alias]}
                one = type(node)(**fields)
                found.append(_Statement(one, ast.unparse(one), bound_names(one), set(), set()))
            continue
        first = min([node.lineno, *(line.lineno for line in getattr(node, "decorator_list", []))])
        text = "\n".join(source.split("\n")[first - 1 : node.end_lineno])
        binds, reads = bound_names(node), _read_names(node)
        registers = _registered(node, reads)
        if is_script and isinstance(node, _COMPOUND):
            registers = _filled_names(node)
        found.append(_Statement(node, text, binds, reads, registers))
    bound = set().union(*(statement.binds for statement in found))
    return [one._replace(reads=one.reads & bound, registers=one.registers & bound) for one in found]


def _registered(node: ast.stmt, reads: set[str]) -> set[str]:
    """Return the names that a statement does something with other than reading them."""
    if isinstance(node, DEFINITIONS):
        return set().union(*(_read_names(decorator) for decorator in node.decorator_list))
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    gives_names_values = not isinstance(node, _COMPOUND) and all(
        isinstance(target, (ast.Name, ast.Tuple)) for target in targets
    )
    return set() if gives_names_values else reads


def _filled_names(node: ast.stmt) -> set[str]:
    """Return the names of tables and objects in which a statement stores something."""
    parts = [part for part in ast.walk(node) if isinstance(part, (ast.Subscript, ast.Attribute))]
    return set().union(*(_read_names(part) for part in parts if isinstance(part.ctx, ast.Store)))


def bound_names(node: ast.AST) -> set[str]:
    """Return the names that a statement gives a value, outside functions and classes."""
    if isinstance(node, DEFINITIONS):
        return {node.name}
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.add(part.id)
        elif isinstance(part, DEFINITIONS):
            found.add(part.name)
        elif isinstance(part, ast.alias):
            found.add(part.asname or part.name.partition(".")[0])
    return found


def _read_names(node: ast.AST) -> set[str]:
    """Return the names that a statement reads, and those that its functions declare global."""
    parts = list(ast.walk(node))
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return names.union(*(part.names for part in parts if isinstance(part, ast.Global)))


def _imported(module: ModuleType, statement: ast.stmt) -> list[tuple[ModuleType, str]]:
    """Return the names that a statement imports from the user's other modules."""
    found = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Import):
            pairs = [(alias.name, _ALL) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = (getattr(module, "__package__", None) or "").split(".")
                parents = parents[: len(parents) - node.level + 1]
                base = ".".join([*parents, *filter(None, [base])])
            names = [alias.name for alias in node.names]
            pairs = [
                (f"{base}.{name}", _ALL) if f"{base}.{name}" in sys.modules else (base, name)
                for name in names
            ]
        else:
            continue
        others = [(sys.modules.get(name), part) for name, part in pairs]
        found += [(other, part) for other, part in others if other and _is_users(other, module)]
    return found


def _imports_users(module: ModuleType, node: ast.stmt) -> bool:
    """Return whether a statement imports code of the user, which stands in the text itself."""
    return isinstance(node, (ast.Import, ast.ImportFrom)) and bool(_imported(module, node))


def _is_users(other: ModuleType, module: ModuleType) -> bool:
    """Return whether a module is code of the author of ``module``, and no library."""
    top, file = other.__name__.partition(".")[0], getattr(other, "__file__", None)
    if other is module or top == _PACKAGE or not file:
        return False
    is_library = any(Path(file).is_relative_to(folder) for folder in _LIBRARIES)
    return not is_library or top == module.__name__.partition(".")[0]


def _source(module: ModuleType) -> str:
    """Return the text of a module as it was loaded, "" if there is none."""
    spec = getattr(module, "__spec__", None)  # another one after a reload
    if module.__name__ not in _SOURCES or _SOURCES[module.__name__][0] is not spec:
        try:
            text = Path(module.__file__ or "").read_text(encoding="utf-8")
        except (AttributeError, OSError, UnicodeDecodeError):
            text = ""
        _SOURCES[module.__name__] = spec, text
    return _SOURCES[module.__name__][1]
