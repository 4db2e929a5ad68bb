"""JSON text that others wrote, read so that whoever looks at the values can rely on their depth.

Python reads text that is nested almost as deeply as its stack is; to show such a value in a
message, or to walk through it, then fails in the middle of something else.
"""

import json
from collections.abc import Callable
from typing import Any

MAX_DEPTH = 50  #: of lists and objects inside each other


def parse_json(text: str, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """Return what JSON text holds.

    Args:
        parse_constant: see `json.loads`.

    Raises:
        ValueError: if it is not JSON (json.JSONDecodeError, which names the place), has an enormous
            number, or is nested more than `MAX_DEPTH` deep.
    """
    try:
        value = json.loads(text, parse_constant=parse_constant)
    except RecursionError:
        value, depth = None, MAX_DEPTH + 1
    else:
        depth = _depth(value)
    if depth > MAX_DEPTH:
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep")
    return value


def _depth(value: Any) -> int:
    """Return how deeply lists and objects are nested, as far as `MAX_DEPTH` + 1."""
    level, depth = [value], 0
    while depth <= MAX_DEPTH:
        level = [one for one in level if isinstance(one, (list, dict)) and one]
        if not level:
            return depth
        level = [x for one in level for x in (one.values() if isinstance(one, dict) else one)]
        depth += 1
    return depth
