"""Requests of other programs: to the JSON engine, and to the page of `alphazero serve`.

In: JSON text. Out: models whose fields have the types and limits that they declare. Whether moves
and boards are possible is checked by whoever plays them.
"""

import json
import re
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from alphazero.players.base import MAX_SIMULATIONS, MAX_TIME_S
from alphazero.runtime.errors import InputError

#: The status of a refusal, as in HTTP.
MALFORMED, UNKNOWN, IMPOSSIBLE = 400, 404, 422
MAX_ERROR = 300  #: characters of an error message
_MAX_QUOTED = 60
#: What a field takes, by its type in JSON Schema.
_ALLOWED = {
    "integer": "a whole number from {minimum} to {maximum}",
    "number": "a number from {minimum} to {maximum}",
    "string": "text of up to {maxLength} characters",
    "array": "a list",
    "object": "a JSON object",
}

R = TypeVar("R", bound="Request")
_Text = Annotated[str, Field(max_length=1_000_000)]
_ShortText = Annotated[str, Field(max_length=500)]
_NumSimulations = Annotated[int, Field(ge=0, le=MAX_SIMULATIONS)]


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


class Request(BaseModel):
    """The base of all requests. Every field may be left out."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class EngineRequest(Request):
    """A line of the JSON engine's input."""

    game: _Text | None = None
    moves: list[Any] | _Text | None = None  #: actions or, where actions name squares, their names
    setup: _Text | None = None  #: one of `alphazero.boards.skin.SETUPS`
    num_simulations: Annotated[int, Field(ge=1, le=MAX_SIMULATIONS)] | None = None
    time_limit_s: Annotated[float, Field(ge=0.001, le=MAX_TIME_S)] | None = None


class PlayerRequest(Request):
    """A player of the page's catalogue; how many simulations it may make depends on the player."""

    id: _ShortText | None = None
    num_simulations: _NumSimulations | None = None


class MisplayedRequest(Request):
    """Whose mistakes in a game the page looks for."""

    game: _ShortText | None = None
    player: PlayerRequest | None = None


class PositionRequest(Request):
    """A position: a game, perhaps a board to start from, and the moves after it."""

    game: _ShortText | None = None
    setup: _ShortText | None = None
    board: Annotated[str, Field(max_length=2_000)] | None = None
    to_move: Annotated[int, Field(ge=0, le=1)] | None = None
    moves: list[Any] | Annotated[str, Field(max_length=8_000)] | None = None


class DrawingRequest(PositionRequest):
    """The positions of a game that the page draws, from a ply on."""

    from_ply: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


class RunRequest(Request):
    """The query of `api/run`: the rows of a training run, from one on."""

    id: _Text | None = None
    from_row: Annotated[int, Field(ge=0, le=1_000_000_000, strict=False)] | None = None
    version: _ShortText | None = None  #: of the rows that the page has


class SearchRequest(PositionRequest):
    """A position for a player."""

    player: PlayerRequest | None = None


def read_json(text: str | bytes) -> Any:
    """Return what JSON text holds.

    Raises:
        Refusal: if it is not JSON in UTF-8, or is nested more than 200 deep.
    """
    try:
        if isinstance(text, str):
            text = text.removeprefix("\ufeff").encode()  # some programs begin with a BOM
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        place = re.search(r"line (\d+) column (\d+)", str(error))
        where = "see line {}, character {}".format(*place.groups()) if place else "half a letter"
        raise Refusal(f"the request is not JSON: {where}.", MALFORMED) from None


def read_request(cls: type[R], plain: Any) -> R:
    """Return a request of one of the classes above.

    Args:
        plain: from JSON.

    Raises:
        Refusal: for an unknown field, or a value of the wrong type or outside its limits.
    """
    try:
        return cls.model_validate(plain)
    except ValidationError as error:
        raise _refusal(cls, plain, error.errors(include_url=False)[0]["loc"]) from None


def _refusal(cls: type[Request], plain: Any, place: tuple[int | str, ...]) -> Refusal:
    """Return the refusal of the value at a place in a request, as the schema describes it."""
    schema = cls.model_json_schema()
    key, kinds = None, [schema]
    for part in place:
        if (fields := kinds[0].get("properties")) is None:
            break  # the other parts are types that the field may have
        key, plain = str(part), plain[part]
        if part not in fields:
            message = (
                f"{quoted(part)} is not a field of this request: it takes {', '.join(fields)}."
            )
            return Refusal(message, MALFORMED, key=key, value=plain)
        kinds = [
            schema["$defs"][kind["$ref"].rpartition("/")[2]] if "$ref" in kind else kind
            for kind in fields[part]["anyOf"]
        ]
    if key is None:
        message = 'a request is a JSON object, such as {"game": "connect_four", "moves": [3, 3]}.'
        return Refusal(message, MALFORMED, value=plain)
    allowed = [_ALLOWED[kind["type"]].format(**kind) for kind in kinds if kind["type"] in _ALLOWED]
    return not_allowed(key, plain, " or ".join(allowed))


def check_number(key: str, value: int, low: int, high: int) -> None:
    """Refuse a number outside limits that depend on the rest of the request."""
    if not low <= value <= high:
        raise not_allowed(key, value, _ALLOWED["integer"].format(minimum=low, maximum=high))


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
