"""The identity of a user's game: a digest of its rules, and what has changed between two versions.

In: a game that was just made, or the text of rules that a run has stored, which is parsed and never
run. Out: a digest, the same for texts that differ in comments, docstrings, layout and the order of
definitions alone; or the names of what differs.
"""

import ast
import hashlib
from collections.abc import Iterator
from typing import Any

from alphazero.games.batched_game import Game
from alphazero.games.rules_text import BEHAVIOUR, DEFINITIONS, SIZES, bound_names, rules_text

_MAX_NAMES = 6  # of changes
#: Fields of the syntax tree without a meaning; some are not in every version of Python.
_MEANINGLESS = {"ctx", "kind", "type_comment"}


def identify(game: Game) -> Game:
    """Give a game its `rules_text` and `rules_digest`; return it."""
    game.rules_text = rules_text(game)
    game.rules_digest = digest_of(game.rules_text)
    return game


def digest_of(text: str) -> str:
    """Return the digest of rules, "" for no text."""
    if not text:
        return ""
    parts = sorted((name, part) for name, found in _parts(text).items() for part in found)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def changes(old: str, new: str) -> str:
    """Return what has changed between two texts of rules: "changed: step; added: winner", or ""."""
    before, after = _parts(old), _parts(new)
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if names == [SIZES]:
        made_as = [_sizes(text)["made_as"] for text in (old, new)]
        if made_as[0] == made_as[1]:
            return "its start position or its actions differ"
        return f"{made_as[0]} has become {made_as[1]}"
    if BEHAVIOUR in names:
        if BEHAVIOUR in before and BEHAVIOUR in after:
            return "random games differ in their moves or results"
        return "one of the two has no source, as in a notebook, so that they cannot be compared"
    kinds = {
        "changed": [name for name in names if name in before and name in after],
        "added": [name for name in names if name not in before],
        "removed": [name for name in names if name not in after],
    }
    kinds = {kind: [name for name in found if name != SIZES] for kind, found in kinds.items()}
    return "; ".join(f"{kind}: {_listed(found)}" for kind, found in kinds.items() if found)


def network_shapes(text: str) -> tuple:
    """Return ((C, H, W), A): what a network for these rules takes and gives."""
    sizes = _sizes(text)
    return sizes["planes_shape"], sizes["num_actions"]


def is_rules_text(text: str) -> bool:
    """Return whether a stored text can be compared: it may be damaged."""
    try:
        return bool(digest_of(text) and network_shapes(text))
    except (SyntaxError, ValueError, KeyError, TypeError, RecursionError, MemoryError):
        return False


def _listed(names: list[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def _sizes(text: str) -> dict[str, Any]:
    """Return the last line of the text, a dictionary of literals."""
    sizes: dict[str, Any] = ast.literal_eval(text[text.rindex(f"{SIZES} = ") + len(SIZES) + 3 :])
    return sizes


# --- the meaning of a text ------------------------------------------------------------------------


def _parts(text: str) -> dict[str, list[str]]:
    """Return the meaning of each definition by its name; methods are parts of their own."""
    found: dict[str, list[str]] = {}
    for node in ast.parse(text).body:
        for name, part in _named_parts(node):
            found.setdefault(name, []).append(repr(_plain(part)))
    return {name: sorted(parts) for name, parts in found.items()}


def _named_parts(node: ast.stmt) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.ClassDef):
        methods = [part for part in node.body if isinstance(part, DEFINITIONS)]
        for method in methods:
            yield f"{node.name}.{method.name}", method
        node.body = [part for part in node.body if part not in methods]
    names = sorted(bound_names(node)) or [f"'{ast.unparse(node).splitlines()[0]}'"]
    yield ", ".join(names), node


def _plain(node: Any) -> Any:
    """Return a part of a syntax tree as lists and texts that are the same in every Python."""
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
