"""Parse and validate requests to the JSON engine and to the server of `alphazero serve`.

The fields of the resulting objects have valid types and are within their limits. Whether moves and
boards are possible is checked later, when they are played.
"""

import json
import re
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from alphazero.players.base import MAX_SIMULATIONS, MAX_TIME_S
from alphazero.runtime.errors import InputError

# HTTP status codes of refusals.
MALFORMED = 400
UNKNOWN = 404
IMPOSSIBLE = 422
MAX_ERROR = 300  #: maximum number of characters in an error message
_MAX_QUOTED = 60
R = TypeVar("R", bound="Request")
_Text = Annotated[str, Field(max_length=1_000_000)]
_ShortText = Annotated[str, Field(max_length=500)]
_NumSimulations = Annotated[int, Field(ge=0, le=MAX_SIMULATIONS)]


class Refusal(InputError):
    """Raised to refuse a request; its message is shown to the user.

    Attributes:
        status: the HTTP status code, 4xx or 5xx.
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
    """Base class of all requests. Every field is optional."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class EngineRequest(Request):
    """A request to the JSON engine: a position, and limits of the search for a move."""

    game: _Text | None = None
    moves: list[Any] | _Text | None = None  #: actions, or names of squares in games that have them
    setup: _Text | None = None  #: one of `alphazero.boards.skin.SETUPS`
    num_simulations: Annotated[int, Field(ge=1, le=MAX_SIMULATIONS)] | None = None
    time_limit_s: Annotated[float, Field(ge=0.001, le=MAX_TIME_S)] | None = None


class PlayerRequest(Request):
    """A player that the page offers, and its number of simulations."""

    id: _ShortText | None = None
    num_simulations: _NumSimulations | None = None


class PositionRequest(Request):
    """A position, given by a game, an optional board to start from, and the moves from there."""

    game: _ShortText | None = None
    setup: _ShortText | None = None
    board: Annotated[str, Field(max_length=2_000)] | None = None
    to_move: Annotated[int, Field(ge=0, le=1)] | None = None
    moves: list[Any] | Annotated[str, Field(max_length=8_000)] | None = None


class DrawingRequest(PositionRequest):
    """A request for the data from which the page draws a game, from a given ply on."""

    from_ply: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


class SearchRequest(PositionRequest):
    """A request to search a position, or every position of a game, with a player.

    A search for misplayed positions uses only the game and the player.
    """

    player: PlayerRequest | None = None


def read_json(text: str | bytes) -> Any:
    """Parse JSON text into plain data.

    Raises:
        Refusal: if the text is not JSON in UTF-8, or has more than 200 levels of nesting.
    """
    try:
        if isinstance(text, str):
            text = text.removeprefix("\ufeff").encode()  # some programs send a byte order mark
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        place = re.search(r"line (\d+) column (\d+)", str(error))
        where = "invalid Unicode"
        if place:
            where = f"line {place[1]}, character {place[2]}"
        raise Refusal(f"the request is not valid JSON: {where}.", MALFORMED) from None


def read_request(cls: type[R], plain: Any) -> R:
    """Validate a request and convert it to an object of class ``cls``.

    Args:
        plain: the request as plain data, from `read_json`.

    Raises:
        Refusal: if a field is unknown, or its value has the wrong type or is outside its limits.
    """
    try:
        return cls.model_validate(plain)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
    if not wrong["loc"]:
        message = 'a request must be a JSON object, such as {"game": "connect_four", "moves": [3]}.'
        raise Refusal(message, MALFORMED, value=plain)
    key = ""
    value = plain
    for part in wrong["loc"]:  # the last parts may name a type instead of a field
        if isinstance(value, dict) and part in value:
            key = str(part)
            value = value[part]
    message = f"{quoted(key)} cannot be {quoted(value)}: {wrong['msg'].lower()}."
    raise Refusal(message, MALFORMED, key=key, value=value)


def check_number(key: str, value: int, low: int, high: int) -> None:
    """Raise `Refusal` if the number in field ``key`` is not between ``low`` and ``high``."""
    if not low <= value <= high:
        raise not_allowed(key, value, f"a whole number from {low} to {high}")


def not_allowed(key: str, value: Any, allowed: str, status: int = MALFORMED) -> Refusal:
    """Return the error that refuses the value of a field and says what is allowed."""
    message = f"{key}={quoted(value)} is not allowed: {key} takes {allowed}."
    return Refusal(message, status, key=key, value=value)


def quoted(value: Any) -> str:
    """Write a value as JSON, shortened to fit into an error message."""
    return shortened(json.dumps(value), _MAX_QUOTED)


def shortened(text: str, max_length: int = MAX_ERROR) -> str:
    """Cut a text to at most ``max_length`` characters."""
    if len(text) <= max_length:
        return text
    return text[: max_length - 4] + " ..."
