"""The engine: one JSON line out for every line in, so that other programs can ask for moves.

    {"game": "connect_four", "moves": [3, 3, 2]}   ->   {"move": 3, "action_weights": [...], "value": 0.12, "legal_actions": [0, 1, ...]}

In: lines of text, whatever they hold. Out: one object for each, with ``move`` or ``result`` or ``error``. The same line gets the same answer
whatever was asked before (a time limit breaks this). This file knows neither standard input nor torch: `alphazero engine` brings them.
"""

import dataclasses
import functools
import json
import math
import re
from typing import IO

from alphazero.games.registry import make_game
from alphazero.players.base import MAX_SIMULATIONS, MAX_TIME_S, Player, PlayerSettings
from alphazero.players.registry import default_player, make_player
from alphazero.solvers.base import ILLEGAL_SCORE

REQUEST_KEYS = ("game", "moves", "num_simulations", "time_limit_s")
#: The games that a request may name; a file of somebody's own is never loaded because a request says so.
_GAME_NAME = re.compile(
    r"tic_tac_toe|connect_four|connect_x:\d{1,3}x\d{1,3}x\d{1,3}|othello(:\d{1,3})?", re.ASCII
)
_GAME_HINT = "tic_tac_toe, connect_four, connect_x:ROWSxCOLUMNSxLENGTH, othello, othello:6"
MAX_LINE = 1_000_000
MAX_ERROR = 300
_CACHED_GAMES = 8


class RequestError(ValueError):
    """A request that is refused; the message is one plain sentence."""


@dataclasses.dataclass(frozen=True)
class Request:
    """What a line asks for, checked."""

    game: str
    moves: list[int]
    num_simulations: int | None
    time_limit_s: float | None


class Engine:
    """Answers requests with one player for each game.

    Args:
        spec: who plays, as `alphazero.players.registry.make_player` reads it; "auto" is the default player of the request's game.
        settings: of the player.
        network_game: the only game to play, such as that of a network; None plays all of ours. A game file
            is run, so its name must come from the user and not from a stored file.
    """

    def __init__(
        self,
        spec: str = "uct",
        settings: PlayerSettings | None = None,
        network_game: str | None = None,
    ):
        self._network_game = network_game
        # A network is loaded once, when its game is first asked about: few games have one. The others are light, and old ones make room for new ones.
        self._game = functools.lru_cache(_CACHED_GAMES)(make_game)
        self._player = functools.lru_cache(_CACHED_GAMES)(
            lambda name: make_player(
                default_player(name) if spec == "auto" else spec, self._game(name), settings
            )
        )

    def answer(self, line: str) -> dict:
        """Return the answer to one line, as plain data for JSON; a line that cannot be answered gets {"error": sentence}."""
        try:
            return self._answer(parse_request(line, self._network_game))
        except Exception as error:  # noqa: BLE001 (whatever it is, the program at the other end waits for a line)
            sentence = (
                str(error)
                if isinstance(error, ValueError)
                else f"the engine failed on this request ({type(error).__name__}: {error})."
            )
            return {
                "error": sentence
                if len(sentence) <= MAX_ERROR
                else sentence[: MAX_ERROR - 4] + " ..."
            }

    def warm_up(self, game: str) -> None:
        """Load the player of a game before the first request comes."""
        self._player(game)

    def _answer(self, request: Request) -> dict:
        game = self._game(request.game)
        state = game.play_moves(request.moves)
        inspected = game.inspect(state[None])
        if inspected.over[0]:
            sign = 1 if inspected.players[0] == 0 else -1
            return {"result": sign * int(inspected.results[0]), "legal_actions": []}
        player: Player = self._player(request.game).limited(
            request.num_simulations, request.time_limit_s
        )
        analysis = player.analyse(state)
        answer = {
            "move": analysis.action,
            "action_weights": [round(float(weight), 6) for weight in analysis.action_weights],
            "value": None if math.isnan(analysis.value) else round(analysis.value, 6),
            "legal_actions": [
                action
                for action in range(game.num_actions)
                if inspected.legal_action_mask[0, action]
            ],
        }
        if analysis.scores is not None:
            answer["scores"] = [
                None if score == ILLEGAL_SCORE else int(score) for score in analysis.scores
            ]
        return answer


def serve(engine: Engine, requests: IO[str], answers: IO[str]) -> None:
    """Answer every line of ``requests`` with one line of ``answers``, at once, until the former end."""
    for line in read_lines(requests):
        answer = (
            {"error": f"the line is longer than {MAX_LINE} characters."}
            if line is None
            else engine.answer(line)
        )
        answers.write(json.dumps(answer, allow_nan=False) + "\n")
        answers.flush()


def read_lines(stream: IO[str]):
    """Yield the lines of a stream without their ends, None in place of one that is longer than `MAX_LINE`."""
    while line := stream.readline(MAX_LINE + 1):
        too_long = len(line) > MAX_LINE and not line.endswith("\n")
        while too_long and line and not line.endswith("\n"):
            line = stream.readline(MAX_LINE)
        yield None if too_long else line.rstrip("\r\n")


def parse_request(line: str, default_game: str | None = None) -> Request:
    """Read and check one line.

    Args:
        default_game: the game of a request that names none, and the only one allowed; None allows every game and wants it named.

    Raises:
        RequestError: with one plain sentence on what is wrong and what would be right.
    """
    try:
        request = json.loads(line, parse_constant=_refuse_constant)
    except RequestError:
        raise
    except ValueError as error:
        raise RequestError(f"the line is not JSON: {str(error)[:100]}.") from None
    if not isinstance(request, dict):
        raise RequestError(
            'a request is an object such as {"game": "connect_four", "moves": [3, 3, 2]}.'
        )
    for key in request:
        if key not in REQUEST_KEYS:
            raise RequestError(
                f"a request has no key {_quote(key)}; its keys are {', '.join(REQUEST_KEYS)}."
            )
    return Request(
        _checked_game(request.get("game", default_game), default_game),
        _checked_moves(request.get("moves", [])),
        _checked_number(request, "num_simulations", 1, MAX_SIMULATIONS, whole=True),
        _checked_number(request, "time_limit_s", 0.001, MAX_TIME_S, whole=False),
    )


def _refuse_constant(name: str):
    raise RequestError(f"{name} is not a number.")


def _quote(value) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:56] + " ..."


def _checked_game(game, network_game: str | None) -> str:
    if game is None:
        raise RequestError(f'the request names no game: add "game", one of {_GAME_HINT}.')
    if network_game is not None and game != network_game:
        raise RequestError(f"this engine plays {network_game}, not {_quote(game)}.")
    if network_game is None and not (isinstance(game, str) and _GAME_NAME.fullmatch(game)):
        raise RequestError(f"there is no game {_quote(game)}; there are {_GAME_HINT}.")
    return game


def _checked_moves(moves) -> list[int]:
    if not isinstance(moves, list):
        raise RequestError(
            f"moves is {_quote(moves)}: it takes a list of numbers, such as [3, 3, 2]."
        )
    for index, move in enumerate(moves):
        if isinstance(move, bool) or not isinstance(move, int):
            raise RequestError(
                f"move {index + 1} of the list is {_quote(move)}: a move is a whole number."
            )
    return moves


def _checked_number(request: dict, key: str, low, high, whole: bool):
    value = request.get(key)
    if value is None:
        return None
    kinds = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
        raise RequestError(
            f"{key} is {_quote(value)}: it takes a {'whole ' if whole else ''}number from {low} to {high}."
        )
    return value if whole else float(value)
