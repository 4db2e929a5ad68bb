"""The ceilings of pyproject.toml: lines of code of each package, and of the page."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "alphazero"
TABLES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["alphazero"]
CEILINGS, PAGE_CEILINGS = TABLES["lines"], TABLES["page_lines"]


def lines_of_code(source):
    """Count the lines that are not blank, comments or docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    in_docstrings = set()
    for node in ast.walk(ast.parse(source)):
        first = node.body[0] if isinstance(node, documented) and node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            in_docstrings |= set(range(first.lineno, first.end_lineno + 1))
    lines = enumerate(map(str.strip, source.splitlines()), 1)
    return sum(bool(line) and line[0] != "#" and n not in in_docstrings for n, line in lines)


def test_lines_are_counted_without_blanks_comments_and_docstrings():
    source = (
        '"""Doc.\n\nMore."""\n\n# comment\nimport os\n\n\ndef f():\n    """Doc."""\n    return os\n'
    )
    assert lines_of_code(source) == 3


def test_every_package_has_a_ceiling():
    packages = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert packages == set(CEILINGS)


@pytest.mark.parametrize("package", CEILINGS)
def test_a_package_stays_below_its_ceiling(package):
    """Whoever raises a ceiling says why in the commit."""
    files = (PACKAGE / package).rglob("*.py")
    assert sum(lines_of_code(path.read_text()) for path in files) <= CEILINGS[package]


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
