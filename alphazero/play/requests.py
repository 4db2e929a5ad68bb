"""Parse and validate requests to the JSON engine and to the server of `alphazero serve`.

The fields of the resulting objects have valid types and are within their limits. Whether moves are
legal and boards reachable is checked later, when the moves are played.
"""

import dataclasses
import json
from typing import Any, TypeVar

from alphazero.config.settings import from_plain, option
from alphazero.players.base import MAX_SIMULATIONS, MAX_TIME_S
from alphazero.runtime.errors import ConfigError, InputError

# HTTP status codes of refusals.
MALFORMED = 400
UNKNOWN = 404
IMPOSSIBLE = 422
MAX_ERROR = 300  #: maximum number of characters in an error message
_MAX_QUOTED = 60
_MAX_DEPTH = 200  # levels of nesting in a request
R = TypeVar("R", bound="Request")


class Refusal(InputError):
    """Raised to refuse a request; its message is shown to the user.

    Attributes:
        status: the HTTP status code, 4xx or 5xx.
        key: the field of the request that is wrong; None if the error does not concern one field.
    """

    def __init__(self, message: str, status: int = IMPOSSIBLE, *, key: str | None = None):
        super().__init__(message)
        self.status = status
        self.key = key


@dataclasses.dataclass
class Request:
    """The base class of requests: all fields are optional, and unknown fields are refused."""


@dataclasses.dataclass
class EngineRequest(Request):
    """A request to the JSON engine for a move: a position, and the limits of the search."""

    game: str | None = None  #: the game's name
    #: the moves from the start of the game: actions, or names of squares in games that have them
    moves: Any = None
    setup: str | None = None  #: one of `alphazero.boards.skin.SETUPS`; None means the first
    num_simulations: int | None = option(None, "simulations of the search", 1, MAX_SIMULATIONS)
    time_limit_s: float | None = option(None, "seconds of the search", 0.001, MAX_TIME_S)


@dataclasses.dataclass
class PlayerRequest(Request):
    """The part of a request that names one of the page's players and its simulations per move."""

    id: str | None = None  #: `PlayerChoice.id` in `alphazero.web.catalogue`
    num_simulations: int | None = None  #: None means the default of the player's kind


@dataclasses.dataclass
class PositionRequest(Request):
    """A request about a position, given as a game, optionally a board to start from, and moves."""

    game: str | None = None  #: the game's name
    #: "white_first" or "standard"; None means "standard" if the game has this set-up
    setup: str | None = None
    #: the board before the moves, one line per row; None means the start of the game
    board: str | None = None
    to_move: int | None = option(None, "the player to move on `board`: 0 began the game", 0, 1)
    #: actions, or moves as text in the game's notation
    moves: Any = None


@dataclasses.dataclass
class DrawingRequest(PositionRequest):
    """A request for the boards, legal moves and status of the positions from a given ply on."""

    #: number of moves before the first position to describe; None means 0
    from_ply: int | None = None


@dataclasses.dataclass
class PositionsRequest(Request):
    """A request that contains several requests for positions, such as a game's variations."""

    requests: list[Any] | None = None  #: each is a `DrawingRequest`


@dataclasses.dataclass
class SearchRequest(PositionRequest):
    """A request to search a position, or every position of a game, with a player.

    A search for misplayed positions uses only the game and the player.
    """

    #: a `PlayerRequest`; None means the game's default player for analyses
    player: dict[str, Any] | None = None


def read_json(text: str | bytes) -> Any:
    """Parse the JSON text of a request, in which NaN and infinite numbers are not allowed.

    Raises:
        Refusal: if the text is not valid JSON in UTF-8, or has more than 200 levels of nesting.
    """
    try:
        if isinstance(text, str):
            text = text.removeprefix("\ufeff")  # some programs send a byte order mark
        plain = json.loads(text, parse_constant=int)
        _check_depth(plain)
        json.dumps(plain, ensure_ascii=False).encode()  # fails for half of a surrogate pair
        return plain
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, character {error.colno}"
    except (ValueError, RecursionError):
        where = "a number or a character is not allowed, or it is nested too deeply"
    raise Refusal(f"the request is not valid JSON: {where}.", MALFORMED)


def _check_depth(plain: Any, levels: int = _MAX_DEPTH) -> None:
    if not levels:
        raise RecursionError
    parts = plain.values() if isinstance(plain, dict) else plain
    for part in parts if isinstance(plain, (dict, list)) else ():
        _check_depth(part, levels - 1)


def read_request(cls: type[R], plain: Any) -> R:
    """Validate a request and convert it to an object of class ``cls``.

    Args:
        plain: the request as parsed by `read_json`.

    Raises:
        Refusal: if the request is not a JSON object, a field is unknown, or a value has the wrong
            type or is outside its limits.
    """
    if not isinstance(plain, dict):
        message = 'a request must be a JSON object, such as {"game": "connect_four", "moves": [3]}.'
        raise Refusal(message, MALFORMED)
    try:
        return from_plain(cls, plain)
    except ConfigError as error:
        raise Refusal(str(error), MALFORMED, key=error.key) from None


def moves_of(request: EngineRequest | PositionRequest) -> list | str:
    """Return the moves of a request: a list or, in the game's notation, text.

    Raises:
        Refusal: if they are neither.
    """
    moves = request.moves or []
    if not isinstance(moves, (list, str)):
        raise not_allowed("moves", moves, "a list or text")
    return moves


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


def not_allowed(key: str, value: Any, allowed: str) -> Refusal:
    """Return, without raising it, the error that refuses the value of a request's field.

    Args:
        key: name of the field.
        value: the refused value, which the message quotes.
        allowed: what the field takes, such as "a list of numbers", for the message.
    """
    message = f"{key}={quoted(value)} is not allowed: {key} takes {allowed}."
    return Refusal(message, MALFORMED, key=key)


def quoted(value: Any) -> str:
    """Write a value as JSON, cut to at most 60 characters, for use in an error message."""
    return shortened(json.dumps(value), _MAX_QUOTED)


def shortened(text: str, max_length: int = MAX_ERROR) -> str:
    """Cut a text to at most ``max_length`` characters, marking the cut with " ..."."""
    if len(text) <= max_length:
        return text
    return text[: max_length - 4] + " ..."
