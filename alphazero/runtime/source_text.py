"""Read the source code of a user's game: its module, and the user's modules that it imports.

The files are parsed but never run. The digest of their code identifies the game's rules in
everything that is stored: compiled kernels, results of rule checks, runs and networks. The digest
ignores comments, docstrings and layout. Libraries are not included.
"""

import ast
import contextlib
import functools
import hashlib
import importlib.util
import sys
import tokenize
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

_PACKAGE_FOLDER = Path(__file__).parents[1]
_LIBRARIES = ("site-packages", "dist-packages")


def source_files(file: Path) -> list[Path]:
    """Return the paths of a Python file and of the user's files that it imports, even indirectly.

    Files of this package and of installed libraries are left out, except those of the library to
    which ``file`` itself belongs.
    """
    sources = list[Path]()
    pending = [file]
    while pending:
        path = pending.pop()
        if path in sources or path.is_relative_to(_PACKAGE_FOLDER):
            continue
        if path == file or _library(path) in ("", _library(file)):
            sources.append(path)
            pending += _imported_files(path, file.parent)
    return sources


def source_text(file: Path) -> str:
    """Return the code of a file and of the files that `source_files` finds, without comments.

    Blocks that run only when a file is started as a program, such as ``if __name__ == "__main__"``,
    are left out.
    """
    texts = list[str]()
    for path in source_files(file):
        statements = [node for node in _tree(path).body if not _is_script(node)]
        texts.append(ast.unparse(ast.Module(statements, [])))
    return "\n\n\n".join(texts)


def module_file(module_name: str) -> Path | None:
    """Return the source file of an imported module, or None if the module has no source file.

    The module of a notebook, for example, has none.
    """
    file = getattr(sys.modules.get(module_name), "__file__", None)
    return Path(file) if file and Path(file).is_file() else None


@functools.lru_cache(32)  # many runs are of the same rules
def digest_of(text: str) -> str:
    """Return the SHA-256 hex digest of a game's rules, given as source code; "" for an empty text.

    Comments, docstrings and layout do not affect the digest.

    Raises:
        SyntaxError, ValueError: if the text is not Python.
    """
    if not text:
        return ""
    tree = _WithoutDocstrings().visit(ast.parse(text))
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


class _WithoutDocstrings(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node


def read_source(file: Path) -> str:
    """Read a source file in the encoding that it declares, without a byte order mark.

    Raises:
        OSError: if the file cannot be read.
        SyntaxError, UnicodeDecodeError: if the file cannot be decoded.
    """
    with tokenize.open(file) as opened:
        return opened.read()


# --- files ----------------------------------------------------------------------------------------


def _library(file: Path) -> str:
    """Return the name of the installed package that a file belongs to; "" for a user's file."""
    parts = file.parts
    for name in _LIBRARIES:
        if name in parts:
            return parts[parts.index(name) + 1]
    return ""


def _tree(file: Path) -> ast.Module:
    """Parse a source file; return an empty syntax tree if it cannot be read or parsed."""
    try:
        return ast.parse(read_source(file))
    except (OSError, SyntaxError, ValueError):
        return ast.Module([], [])


def _is_script(node: ast.stmt) -> bool:
    """Return whether a statement is an ``if`` block that depends on ``__name__``.

    Such a block runs only if its file is started as a program.
    """
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def _imported_files(file: Path, folder: Path) -> Iterator[Path]:
    """Yield the source files of the modules that a file imports directly.

    Args:
        file: the Python file whose import statements are read.
        folder: where to look for modules that are not on Python's search path.
    """
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            base = None
        elif isinstance(node, ast.ImportFrom):
            prefix = f"{node.module}." if node.module else ""
            names = [node.module or ""]  # each name may be a module, too
            names += [prefix + alias.name for alias in node.names]
            base = file.parents[node.level - 1] if node.level else None
        else:
            continue
        for name in names:
            path = _module_path(name, base, folder)
            if path is not None:
                yield path


def _module_path(name: str, base: Path | None, folder: Path) -> Path | None:
    """Find the source file of a module.

    Args:
        name: the dotted name of the module.
        base: the folder that a relative import starts from; None for an absolute import.
        folder: where to look for modules that are not on Python's search path.

    Returns:
        The path; None for a module of Python's own library, a module without Python source, or one
        that does not exist.
    """
    if base is None:
        top, _, name = name.partition(".")
        spec = None if top in sys.stdlib_module_names else _spec(top, folder)
        if spec is None:
            return None
        if not name or not spec.submodule_search_locations:
            is_python = spec.origin and spec.origin.endswith(".py")
            return Path(spec.origin) if is_python else None
        base = Path(next(iter(spec.submodule_search_locations)))
    path = base.joinpath(*name.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def _spec(name: str, folder: Path) -> Any:
    with contextlib.suppress(ImportError, ValueError):  # ValueError: raised for a script
        spec = importlib.util.find_spec(name)
        if spec is not None:
            return spec
    return PathFinder.find_spec(name, [str(folder)])
