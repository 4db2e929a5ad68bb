"""The source of a user's game: its module, and the user's modules that it imports.

In: a module's file, which is read but never run. Out: the paths of its source files, their code
without comments, and a digest that ignores docstrings, layout and the order of definitions. The
digest identifies the rules in everything that is stored: compiled kernels, results of the rule
check, runs and networks. Libraries are not included.
"""

import ast
import contextlib
import hashlib
import importlib.util
import sys
import tokenize
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPOUND = (ast.Expr, ast.For, ast.While, ast.With, ast.If, ast.Try)
_PACKAGE_FOLDER = Path(__file__).parents[1]
_LIBRARIES = ("site-packages", "dist-packages")
#: Fields of the syntax tree that do not affect its meaning; some Python versions lack some of them.
_MEANINGLESS = {"ctx", "kind", "type_comment"}
#: The source of each module when first read, because editing a file changes no loaded module.
_LOADED: dict[Path, tuple[Any, str]] = {}


def source_files(file: Path) -> list[Path]:
    """Return a file and the user's files that it imports, directly or indirectly."""
    found = list[Path]()
    pending = [file]
    while pending:
        place = pending.pop()
        if place in found or place.is_relative_to(_PACKAGE_FOLDER):
            continue
        if place == file or _library(place) in ("", _library(file)):
            found.append(place)
            pending += _imported_files(place, file.parent)
    return found


def source_text(file: Path) -> str:
    """Return the code of a file and the user's files it imports, without comments and scripts."""
    return "\n\n\n".join(
        ast.unparse(ast.Module([node for node in _tree(place).body if _is_rule(node, place)], []))
        for place in source_files(file)
    )


def module_file(module_name: str) -> Path | None:
    """Return the source file of a loaded module, or None if it has none, as in a notebook."""
    file = getattr(sys.modules.get(module_name), "__file__", None)
    return Path(file) if file and Path(file).is_file() else None


def digest_of(text: str) -> str:
    """Return the digest of a game's rules, given as source code; "" for an empty text."""
    if not text:
        return ""
    return hashlib.sha256(repr(sorted(parts_of(text).items())).encode()).hexdigest()


def parts_of(text: str) -> dict[str, list[str]]:
    """Return the normalized code of each definition, by name; a method counts as a definition."""
    found: dict[str, list[str]] = {}
    for node in ast.parse(text).body:
        for name, part in _named_parts(node):
            found.setdefault(name, []).append(repr(_plain(part)))
    return found


def read_source(file: Path) -> str:
    """Read a source file in its declared encoding, without a byte order mark.

    Raises:
        OSError, SyntaxError: if it cannot be read, or decoded.
    """
    with tokenize.open(file) as opened:
        return opened.read()


# --- files ----------------------------------------------------------------------------------------


def _library(file: Path) -> str:
    """Return the name of the installed package that a file belongs to, or "" if none."""
    parts = file.parts
    places = [parts.index(name) for name in _LIBRARIES if name in parts]
    return parts[places[0] + 1] if places else ""


def _tree(file: Path) -> ast.Module:
    """Parse a file; return an empty syntax tree if it cannot be read or parsed."""
    try:
        return ast.parse(_text(file))
    except (OSError, SyntaxError, ValueError):
        return ast.Module([], [])


def _text(file: Path) -> str:
    """Return the source of a file; for a loaded module, the source when it was first read."""
    loaded = (vars(one) for one in list(sys.modules.values()) if hasattr(one, "__dict__"))
    spec = next((one.get("__spec__") for one in loaded if one.get("__file__") == str(file)), None)
    if spec is None:
        return read_source(file)
    if file not in _LOADED or _LOADED[file][0] is not spec:  # reloading makes a new spec
        _LOADED[file] = spec, read_source(file)
    return _LOADED[file][1]


def _is_rule(node: ast.stmt, file: Path) -> bool:
    """Return whether a statement belongs to the rules, not to a script or ``__main__`` block."""
    if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
        return False
    return not (isinstance(node, _COMPOUND) and module_file("__main__") == file)


def _imported_files(file: Path, folder: Path) -> Iterator[Path]:
    """Yield the files of the modules that a file imports.

    Args:
        folder: folder to search for modules that Python does not find.
    """
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            place = None
        elif isinstance(node, ast.ImportFrom):
            base = [node.module] if node.module else []
            names = [".".join([*base, *part]) for part in ([], *([a.name] for a in node.names))]
            place = file.parents[node.level - 1] if node.level else None
        else:
            continue
        for name in names:
            if found := _module_path(name, place, folder):
                yield found


def _module_path(name: str, place: Path | None, folder: Path) -> Path | None:
    """Find the file of the module ``name``; ``place`` is the folder of a relative import."""
    if place is None:
        top, _, name = name.partition(".")
        if top in sys.stdlib_module_names or (spec := _spec(top, folder)) is None:
            return None
        if not name or not spec.submodule_search_locations:
            return Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None
        place = Path(next(iter(spec.submodule_search_locations)))
    path = place.joinpath(*name.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((one for one in candidates if one.is_file()), None)


def _spec(name: str, folder: Path) -> Any:
    with contextlib.suppress(ImportError, ValueError):  # ValueError: raised for a script
        if found := importlib.util.find_spec(name):
            return found
    return PathFinder.find_spec(name, [str(folder)])


# --- the meaning of a text ------------------------------------------------------------------------


def bound_names(node: ast.AST) -> set[str]:
    """Return the names that a statement binds outside functions and classes."""
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


def _named_parts(node: ast.stmt) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.ClassDef):
        methods = [part for part in node.body if isinstance(part, DEFINITIONS)]
        for method in methods:
            yield f"{node.name}.{method.name}", method
        node.body = [part for part in node.body if part not in methods]
    names = sorted(bound_names(node)) or [f"'{ast.unparse(node).splitlines()[0]}'"]
    yield ", ".join(names), node


def _plain(node: Any) -> Any:
    """Convert part of a syntax tree to lists and strings that are equal in all Python versions."""
    if isinstance(node, list):
        return [_plain(part) for part in node if not _is_docstring(part)]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [(name, value) for name, value in ast.iter_fields(node) if name not in _MEANINGLESS]
    is_constant = isinstance(node, ast.Constant)
    has_value = [(n, v) for n, v in fields if is_constant or not (v is None or v == [])]
    return [type(node).__name__, *((name, _plain(value)) for name, value in has_value)]


def _is_docstring(node: Any) -> bool:
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant and isinstance(node.value.value, str)
