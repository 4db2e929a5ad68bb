"""A request to the JSON engine: one line of text, read and checked.

In: a line of any text. Out: a `Request`, or a `RequestError`. Moves are checked against the
rules of the game by whoever plays them.
"""

import dataclasses
import json
import re
from typing import Any

from alphazero.boards.skin import SETUPS
from alphazero.players.base import MAX_SIMULATIONS, MAX_TIME_S
from alphazero.runtime.errors import InputError

REQUEST_KEYS = ("game", "moves", "setup", "num_simulations", "time_limit_s")
#: The games that a request may name. A game file of the user's is never run because a request
#: names it.
_GAME_NAME = re.compile(
    r"tic_tac_toe|connect_four|connect_x:\d{1,3}x\d{1,3}x\d{1,3}|othello(:\d{1,3})?", re.ASCII
)
_GAMES = "tic_tac_toe, connect_four, connect_x:ROWSxCOLUMNSxLENGTH, othello, othello:6"
_MAX_QUOTED = 60


class RequestError(InputError):
    """A request that is refused.

    Attributes:
        key: the key of the request that is wrong; None if the line as a whole is.
        value: its value.
    """

    def __init__(self, message: str, *, key: str | None = None, value: Any = None):
        super().__init__(message)
        self.key = key
        self.value = value


@dataclasses.dataclass(frozen=True)
class Request:
    """A checked request."""

    game: str
    moves: list[int] | str  #: from the start of the game, perhaps not legal: actions or squares
    setup: str | None  #: of Othello, one of `alphazero.boards.skin.SETUPS`; None is the first
    num_simulations: int | None
    time_limit_s: float | None


def parse_request(line: str, only_game: str | None = None) -> Request:
    """Read and check one line.

    Args:
        only_game: the only game allowed, which a request need not name; None allows every game of
            ours, and a request must name one.

    Raises:
        RequestError: if the line is not a request.
    """
    try:
        request = json.loads(line, parse_constant=_refuse_constant)
    except RequestError:
        raise
    except json.JSONDecodeError as error:
        place = f"character {error.colno}"
        raise RequestError(f"the line is not JSON: {place} is not what JSON has there.") from None
    except (ValueError, RecursionError):  # an enormous number; thousands of brackets
        raise RequestError("the line is not JSON that can be read.") from None
    if not isinstance(request, dict):
        example = '{"game": "connect_four", "moves": [3, 3, 2]}'
        raise RequestError(f"a request is a JSON object such as {example}.", value=request)
    for key, value in request.items():
        if key not in REQUEST_KEYS:
            keys = ", ".join(REQUEST_KEYS)
            message = f"a request has no key {_quote(key)}; its keys are {keys}."
            raise RequestError(message, key=key, value=value)
    game = _checked_game(request.get("game", only_game), only_game)
    return Request(
        game,
        _checked_moves(request.get("moves", []), is_othello=game.startswith("othello")),
        _checked_setup(request.get("setup"), is_othello=game.startswith("othello")),
        _checked_number(request, "num_simulations", int, 1, MAX_SIMULATIONS),
        _checked_number(request, "time_limit_s", float, 0.001, MAX_TIME_S),
    )


def _refuse_constant(name: str):
    """Refuse NaN and Infinity, which Python reads but JSON does not have."""
    raise RequestError(f"{name} is not a number.", value=name)


def _checked_game(game: Any, only_game: str | None) -> str:
    if game is None:
        raise RequestError(f'the request names no game: add "game", one of {_GAMES}.', key="game")
    if only_game is not None and game != only_game:
        message = f"this engine plays {only_game}, not {_quote(game)}."
        raise RequestError(message, key="game", value=game)
    if only_game is None and not (isinstance(game, str) and _GAME_NAME.fullmatch(game)):
        message = f"there is no game {_quote(game)}; the games are {_GAMES}."
        raise RequestError(message, key="game", value=game)
    return game


def _checked_moves(moves: Any, is_othello: bool) -> list[int] | str:
    """Return a list of actions or, in Othello, a text with squares such as "e3f3"."""
    if is_othello and isinstance(moves, str):
        return moves
    if is_othello and isinstance(moves, list) and any(isinstance(move, str) for move in moves):
        return " ".join(map(str, moves))
    if not isinstance(moves, list):
        message = f"moves={_quote(moves)} is not a list of numbers such as [3, 3, 2]."
        raise RequestError(message, key="moves", value=moves)
    for index, move in enumerate(moves, 1):
        if isinstance(move, bool) or not isinstance(move, int):
            message = f"move {index} of the list is {_quote(move)}: a move is a whole number."
            raise RequestError(message, key="moves", value=move)
    return moves


def _checked_setup(setup: Any, is_othello: bool) -> str | None:
    if setup is not None and not is_othello:
        raise RequestError("setup is a key of requests for Othello.", key="setup", value=setup)
    if setup is not None and setup not in SETUPS:
        message = f"setup={_quote(setup)} is not allowed: setup is one of {', '.join(SETUPS)}."
        raise RequestError(message, key="setup", value=setup)
    return setup


def _checked_number(request: dict, key: str, kind: type, low, high):
    """Return a number of the request as an int or float, None if it is missing."""
    value = request.get(key)
    if value is None:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    is_of_kind = is_number and (kind is float or isinstance(value, int))
    if not is_of_kind or not low <= value <= high:
        name = "whole number" if kind is int else "number"
        message = (
            f"{key}={_quote(value)} is not allowed: {key} takes a {name} from {low} to {high}."
        )
        raise RequestError(message, key=key, value=value)
    return kind(value)


def _quote(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _MAX_QUOTED else text[: _MAX_QUOTED - 4] + " ..."
