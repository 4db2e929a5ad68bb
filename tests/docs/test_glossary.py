"""The glossary of CONTRIBUTING.md against the identifiers of the package."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAD = "| concept | our name | not |"


def glossary():
    """Return the rows of the table: a concept, our names, and names that are not used for it."""
    lines = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()
    rows = []
    for line in lines[lines.index(HEAD) + 2 :]:
        if not line.startswith("|"):
            break
        concept, ours, others = line.strip("| ").split(" | ")
        rows.append((concept, re.findall(r"`(\w+)`", ours), re.findall(r"`(\w+)`", others)))
    return rows


def identifiers(source):
    """Return all names in a module: of variables, attributes, parameters, functions, classes."""
    fields = ("id", "attr", "arg", "name", "asname")
    return {
        name
        for node in ast.walk(ast.parse(source))
        for field in fields
        if isinstance(name := getattr(node, field, None), str)
    }


@pytest.fixture(scope="module")
def used():
    """Return the names that occur in the package."""
    files = (ROOT / "alphazero").rglob("*.py")
    return set().union(*(identifiers(path.read_text(encoding="utf-8")) for path in files))


@pytest.mark.parametrize(("concept", "ours", "others"), glossary())
def test_a_concept_has_the_name_of_the_glossary_and_no_other(concept, ours, others, used):
    assert ours and others, f"the row '{concept}' needs names in both columns"
    assert set(ours) <= used
    assert not used & set(others)
