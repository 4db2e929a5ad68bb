"""Parse and validate requests to the JSON engine and to the server of `alphazero serve`.

The fields of the resulting objects have valid types and are within their limits. Whether moves are
legal and boards reachable is checked later, when the moves are played.
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
        value: the refused value of that field.
    """

    def __init__(
        self, message: str, status: int = IMPOSSIBLE, *, key: str | None = None, value: Any = None
    ):
        super().__init__(message)
        self.status = status
        self.key = key
        self.value = value


class Request(BaseModel):
    """The base class of requests: all fields are optional, and unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class EngineRequest(Request):
    """A request to the JSON engine for a move: a position, and the limits of the search."""

    game: _Text | None = None  #: the game's name
    #: the moves from the start of the game: actions, or names of squares in games that have them
    moves: list[Any] | _Text | None = None
    setup: _Text | None = None  #: one of `alphazero.boards.skin.SETUPS`; None means the first
    num_simulations: Annotated[int, Field(ge=1, le=MAX_SIMULATIONS)] | None = None
    time_limit_s: Annotated[float, Field(ge=0.001, le=MAX_TIME_S)] | None = None


class PlayerRequest(Request):
    """The part of a request that names one of the page's players and its simulations per move."""

    id: _ShortText | None = None  #: `PlayerChoice.id` in `alphazero.web.catalogue`
    num_simulations: _NumSimulations | None = None  #: None means the default of the player's kind


class PositionRequest(Request):
    """A request about a position, given as a game, optionally a board to start from, and moves."""

    game: _ShortText | None = None  #: the game's name
    #: "white_first" or "standard"; None means "standard" if the game has this set-up
    setup: _ShortText | None = None
    #: the board before the moves, one line per row; None means the start of the game
    board: Annotated[str, Field(max_length=2_000)] | None = None
    #: the player to move on `board`: 0, the default, began the game
    to_move: Annotated[int, Field(ge=0, le=1)] | None = None
    #: actions, or moves as text in the game's notation
    moves: list[Any] | Annotated[str, Field(max_length=8_000)] | None = None


class DrawingRequest(PositionRequest):
    """A request for the boards, legal moves and status of the positions from a given ply on."""

    #: number of moves before the first position to describe; None means 0
    from_ply: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


class PositionsRequest(Request):
    """A request that contains several requests for positions, such as a game's variations."""

    requests: list[DrawingRequest] | None = None


class SearchRequest(PositionRequest):
    """A request to search a position, or every position of a game, with a player.

    A search for misplayed positions uses only the game and the player.
    """

    player: PlayerRequest | None = None  #: None means the game's default player for analyses


def read_json(text: str | bytes) -> Any:
    """Parse the JSON text of a request, in which NaN and infinite numbers are not allowed.

    Raises:
        Refusal: if the text is not valid JSON in UTF-8, or has more than 200 levels of nesting.
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
        plain: the request as parsed by `read_json`.

    Raises:
        Refusal: if the request is not a JSON object, a field is unknown, or a value has the wrong
            type or is outside its limits.
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
    """Check that the number in a request's field is between ``low`` and ``high``.

    Args:
        key: name of the field, for the message.
        value: the number in the request.
        low, high: the smallest and the largest number allowed.

    Raises:
        Refusal: if the number is too small or too large.
    """
    if not low <= value <= high:
        raise not_allowed(key, value, f"a whole number from {low} to {high}")


def not_allowed(key: str, value: Any, allowed: str, status: int = MALFORMED) -> Refusal:
    """Return, without raising it, the error that refuses the value of a request's field.

    Args:
        key: name of the field.
        value: the refused value, which the message quotes.
        allowed: what the field takes, such as "a list of numbers", for the message.
        status: the HTTP status code.
    """
    message = f"{key}={quoted(value)} is not allowed: {key} takes {allowed}."
    return Refusal(message, status, key=key, value=value)


def quoted(value: Any) -> str:
    """Write a value as JSON, cut to at most 60 characters, for use in an error message."""
    return shortened(json.dumps(value), _MAX_QUOTED)


def shortened(text: str, max_length: int = MAX_ERROR) -> str:
    """Cut a text to at most ``max_length`` characters, marking the cut with " ..."."""
    if len(text) <= max_length:
        return text
    return text[: max_length - 4] + " ..."
