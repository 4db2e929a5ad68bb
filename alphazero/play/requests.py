"""Requests of other programs: to the JSON engine, and to the page of `alphazero serve`.

In: JSON text. Out: dataclasses whose fields have the types and limits that they declare. Whether
moves and boards are possible is checked by whoever plays them.
"""

import dataclasses
import json
import typing
from typing import Any, ClassVar, Never, TypeVar

from alphazero.players.base import MAX_SIMULATIONS, MAX_TIME_S
from alphazero.runtime.errors import InputError
from alphazero.runtime.json_text import parse_json

#: The status of a refusal, as in HTTP.
MALFORMED, UNKNOWN, IMPOSSIBLE, BUSY = 400, 404, 422, 503
MAX_ERROR = 300  #: characters of an error message
_MAX_QUOTED = 60
_MAX_TEXT = 1_000_000  #: characters
_ALLOWED = {
    int: "a whole number from {low} to {high}",
    float: "a number from {low} to {high}",
    str: "text of up to {high} characters",
    list: "a list",
}

R = TypeVar("R", bound="Request")


class Refusal(InputError):
    """A request that is refused.

    Attributes:
        status: as in HTTP, 4xx or 5xx.
        key: the field of the request that is wrong; None if the error does not concern one field.
        value: the refused value.
    """

    def __init__(
        self, message: str, status: int = IMPOSSIBLE, *, key: str | None = None, value: Any = None
    ):
        super().__init__(message)
        self.status = status
        self.key = key
        self.value = value


def _limited(low: float = 0, high: float = _MAX_TEXT) -> Any:
    """Declare a field with bounds, of a number or of the length of a text; None is the default."""
    return dataclasses.field(default=None, metadata={"low": low, "high": high})


class Request:
    """The base of all requests, dataclasses whose fields are made with `_limited`."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


@dataclasses.dataclass(frozen=True)
class EngineRequest(Request):
    """A line of the JSON engine's input."""

    game: str | None = _limited()
    moves: list | str | None = _limited()  #: actions or, where actions name squares, their names
    setup: str | None = _limited()  #: one of `alphazero.boards.skin.SETUPS`
    num_simulations: int | None = _limited(1, MAX_SIMULATIONS)
    time_limit_s: float | None = _limited(0.001, MAX_TIME_S)


@dataclasses.dataclass(frozen=True)
class PlayerRequest(Request):
    """A player of the page's catalogue; how many simulations it may make depends on the player."""

    id: str | None = _limited(0, 500)
    num_simulations: int | None = _limited(0, MAX_SIMULATIONS)


@dataclasses.dataclass(frozen=True)
class MisplayedRequest(Request):
    """Whose mistakes in a game the page looks for."""

    game: str | None = _limited()
    player: PlayerRequest | None = _limited()


@dataclasses.dataclass(frozen=True)
class PositionRequest(Request):
    """A position: a game, perhaps a board to start from, and the moves after it."""

    game: str | None = _limited()
    setup: str | None = _limited(0, 40)
    board: str | None = _limited(0, 2_000)
    to_move: int | None = _limited(0, 1)
    moves: list | str | None = _limited(0, 8_000)


@dataclasses.dataclass(frozen=True)
class DrawingRequest(PositionRequest):
    """The positions of a game that the page draws, from a ply on."""

    from_ply: int | None = _limited(0)


@dataclasses.dataclass(frozen=True)
class SearchRequest(PositionRequest):
    """A position for a player."""

    player: PlayerRequest | None = _limited()


def read_json(text: str | bytes) -> Any:
    """Return what JSON text holds.

    Raises:
        Refusal: if it is not JSON.
    """
    try:
        text = text.decode() if isinstance(text, bytes) else text
        return parse_json(text, _refuse_constant)
    except UnicodeDecodeError:
        raise Refusal("the request is not text in UTF-8.", MALFORMED) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, character {error.colno}"
        raise Refusal(f"the request is not JSON: see {place}.", MALFORMED) from None
    except Refusal:
        raise
    except ValueError:  # an enormous number; dozens of brackets
        raise Refusal("the request is not JSON that can be read.", MALFORMED) from None


def _refuse_constant(name: str) -> Never:
    """Refuse NaN and Infinity, which Python reads but JSON does not have."""
    raise Refusal(f"{name} is not a number of JSON.", MALFORMED, value=name)


def read_request(cls: type[R], plain: Any) -> R:
    """Return a request of one of the classes above.

    Args:
        plain: from JSON. Every field may be left out.

    Raises:
        Refusal: for an unknown field, or a value of the wrong type or outside its limits.
    """
    if not isinstance(plain, dict):
        message = 'a request is a JSON object, such as {"game": "connect_four", "moves": [3, 3]}.'
        raise Refusal(message, MALFORMED, value=plain)
    fields = cls.__dataclass_fields__
    for key, value in plain.items():
        if key not in fields:
            message = f"{quoted(key)} is not a field of this request: it takes {', '.join(fields)}."
            raise Refusal(message, MALFORMED, key=key, value=value)
    return cls(**{key: _checked(fields[key], value) for key, value in plain.items()})


def _checked(field: dataclasses.Field, value: Any) -> Any:
    """Return the value of a field; JSON objects become requests of their own."""
    kinds, limits = typing.get_args(field.type), field.metadata
    kind = float if type(value) is int and float in kinds else type(value)
    inner = [one for one in kinds if issubclass(one, Request)]
    if inner and kind is dict:
        return read_request(inner[0], value)
    size = len(value) if kind is str else value if kind in (int, float) else limits["low"]
    if kind in kinds and limits["low"] <= size <= limits["high"]:
        return value
    allowed = [_ALLOWED[one].format(**limits) for one in kinds if one in _ALLOWED]
    raise not_allowed(field.name, value, " or ".join(allowed) or "a JSON object")


def check_number(key: str, value: int, low: int, high: int) -> None:
    """Refuse a number outside limits that depend on the rest of the request."""
    if not low <= value <= high:
        raise not_allowed(key, value, _ALLOWED[int].format(low=low, high=high))


def not_allowed(key: str, value: Any, allowed: str, status: int = MALFORMED) -> Refusal:
    """Return the refusal of a field's value."""
    message = f"{key}={quoted(value)} is not allowed: {key} takes {allowed}."
    return Refusal(message, status, key=key, value=value)


def quoted(value: Any) -> str:
    """Return a value as JSON, not too long for a sentence."""
    return shortened(json.dumps(value), _MAX_QUOTED)


def shortened(text: str, most: int = MAX_ERROR) -> str:
    """Return a text of at most so many characters."""
    return text if len(text) <= most else text[: most - 4] + " ..."
