"""The ceilings of pyproject.toml: tokens of each package, the sum, and lines of the page."""

import ast
import functools
import io
import re
import tokenize
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "alphazero"
TABLES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["alphazero"]
CEILINGS, TOTALS, PAGE_CEILINGS = (TABLES[name] for name in ("tokens", "total", "page_lines"))
LAYOUT = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def size_of_code(source):
    """Count lines and tokens, without blanks, comments, docstrings and layout."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    in_docstrings = set()
    for node in ast.walk(ast.parse(source)):
        first = node.body[0] if isinstance(node, documented) and node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            in_docstrings |= set(range(first.lineno, first.end_lineno + 1))
    lines = enumerate(map(str.strip, source.splitlines()), 1)
    num_lines = sum(bool(line) and line[0] != "#" and n not in in_docstrings for n, line in lines)
    unseen = LAYOUT | {tokenize.COMMENT, tokenize.NL}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    num_tokens = sum(one.type not in unseen and one.start[0] not in in_docstrings for one in tokens)
    return num_lines, num_tokens


@functools.cache
def size_of_file(path):
    return size_of_code(path.read_text("utf-8"))


def size_of_files(folder):
    return tuple(map(sum, zip(*map(size_of_file, folder.rglob("*.py")))))


@pytest.mark.parametrize("package", CEILINGS)
def test_a_package_stays_below_its_ceiling(package):
    """Whoever raises a ceiling names a cut elsewhere in the same commit.

    Tokens are counted, so that nobody packs code into fewer lines.
    """
    assert size_of_files(PACKAGE / package)[1] <= CEILINGS[package]


def test_the_whole_stays_below_its_ceilings():
    num_lines, num_tokens = size_of_files(PACKAGE)
    assert num_lines <= TOTALS["lines"] and num_tokens <= TOTALS["tokens"]


@pytest.mark.parametrize("kind, suffixes", [("typescript", (".ts", ".tsx")), ("css", (".css",))])
def test_the_page_stays_below_its_ceiling(kind, suffixes):
    files = [path for path in (ROOT / "page" / "src").rglob("*") if path.suffix in suffixes]
    num_lines = sum(len(path.read_text("utf-8").splitlines()) for path in files)
    assert 0 < num_lines <= PAGE_CEILINGS[kind]


def test_the_table_of_contents_lists_the_packages_in_the_order_of_the_layers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    above = [name.removeprefix("alphazero.") for line in layers for name in line.split(" | ")]
    packages = [name for name in reversed(above) if (PACKAGE / name / "__init__.py").exists()]
    listed = re.findall(r"^    (\w+)/  ", (PACKAGE / "__init__.py").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(packages) and len(listed) > 20
    listed.remove("textbook")  # beside search
    packages.remove("textbook")
    assert listed == packages
