"""The fields of a request: JSON text in, checked values out.

Every refusal names the field, its value and what it takes. What a move or a board means is for
`alphazero.web.position` to say.
"""

import json
from typing import Any

from alphazero.web.refusal import MALFORMED, Refusal

_MAX_QUOTED = 60


def read_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a request's body.

    Raises:
        Refusal: if it is none.
    """
    try:
        request = json.loads(body.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise Refusal("the request is not text in UTF-8.", MALFORMED) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, character {error.colno}"
        raise Refusal(f"the request is not JSON: see {place}.", MALFORMED) from None
    except Refusal:
        raise
    except (ValueError, RecursionError):  # an enormous number; thousands of brackets
        raise Refusal("the request is not JSON that can be read.", MALFORMED) from None
    if not isinstance(request, dict):
        raise Refusal('a request is a JSON object, such as {"game": "othello"}.', MALFORMED)
    return request


def _refuse_constant(name: str):
    raise Refusal(f"{name} is not a number of JSON.", MALFORMED)


def quoted(value: Any) -> str:
    """Return a value as JSON, not too long for a sentence."""
    text = json.dumps(value)
    return text if len(text) <= _MAX_QUOTED else text[: _MAX_QUOTED - 4] + " ..."


def check_keys(request: dict[str, Any], *allowed: str) -> None:
    """Refuse a request with other fields than the listed ones."""
    for key in request:
        if key not in allowed:
            fields = ", ".join(allowed)
            message = f"{quoted(key)} is not a field of this request: it takes {fields}."
            raise Refusal(message, MALFORMED)


def text_field(request: dict[str, Any], key: str, max_length: int) -> str | None:
    """Return a field that is text, None if it is missing or null."""
    value = request.get(key)
    if value is None or (isinstance(value, str) and len(value) <= max_length):
        return value
    message = f"{key}={quoted(value)} is not allowed: it is text of up to {max_length} characters."
    raise Refusal(message, MALFORMED)


def number_field(request: dict[str, Any], key: str, low: int, high: int) -> int | None:
    """Return a field that is a whole number from ``low`` to ``high``, None if missing or null."""
    value = request.get(key)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    message = f"{key}={quoted(value)} is not allowed: it is a whole number from {low} to {high}."
    raise Refusal(message, MALFORMED)


def object_field(request: dict[str, Any], key: str) -> dict[str, Any] | None:
    """Return a field that is a JSON object, None if it is missing or null."""
    value = request.get(key)
    if value is None or isinstance(value, dict):
        return value
    raise Refusal(f"{key}={quoted(value)} is not allowed: it is a JSON object.", MALFORMED)
