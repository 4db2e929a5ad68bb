"""Run the JSON engine: other programs send one line per position and get back a line with a move.

    {"game": "connect_four", "moves": [3, 3, 2]}
    {"move": 3, "action_weights": [...], "value": 0.12, "legal_actions": [0, 1, ...]}

Each line of input, whatever it contains, is answered by one object with ``move``, ``result`` or
``error``. Equal lines get equal responses, regardless of earlier lines, unless a time limit ends
the search. This module does not depend on torch; `alphazero engine` passes in standard input and
output.
"""

import dataclasses
import functools
import json
import math
from collections.abc import Callable
from typing import IO

import numpy as np

from alphazero.boards.notation import Notation, read_moves
from alphazero.boards.skin import SETUPS, skin_of
from alphazero.games.batched_game import Game
from alphazero.own_games.registry import game_names, is_shipped_game, make_game
from alphazero.play.requests import (
    EngineRequest,
    Refusal,
    moves_of,
    not_allowed,
    read_json,
    read_request,
    shortened,
)
from alphazero.players.base import WARM_UP_SIMULATIONS, Analysis, Player, PlayerSettings, engine_of
from alphazero.players.registry import check_player, default_player, make_player
from alphazero.runtime.errors import ConfigError
from alphazero.solvers.base import ILLEGAL_SCORE

_CACHED_GAMES = 8


class Engine:
    """Answers JSON requests for moves, with one player per game.

    Args:
        spec: the player's specification (see `alphazero.players.registry.make_player`); "auto"
            means the default player for the request's game.
        settings: the player's settings, such as its number of simulations; None means the
            defaults.
        only_game: the only game that requests may name, such as a network's game; None means all of
            this package's games. A game file is executed, so its name must come from the user, not
            from a stored file.

    Raises:
        ConfigError: if there is no such player; a network is looked for when its game is known.
    """

    def __init__(
        self, spec: str, settings: PlayerSettings | None = None, only_game: str | None = None
    ):
        self._only_game = only_game
        if spec != "auto":
            check_player(spec, only_game or "")

        # Few games have a network, so all networks stay loaded. Other players are cheap to remake.
        @functools.lru_cache(_CACHED_GAMES)
        def player(name: str) -> Player:
            chosen = default_player(name) if spec == "auto" else spec
            game = self._game(name)
            player = make_player(chosen, game, settings)
            if engine_of(player):  # loading kernels must not use up the first move's time
                player.limited(WARM_UP_SIMULATIONS, None).analyse(game.initial_states()[0])
            return player

        self._game = functools.lru_cache(_CACHED_GAMES)(make_game)
        self._player = player

    def answer(self, line: str) -> dict:
        """Return the response to one line of input as a dict for JSON.

        Every exception becomes an error message, because the other program waits for a line.

        Returns:
            The move and the player's analysis, with values for the player to move; the "result" for
            the player who began, if the game is over; or {"error": message}, if the request is not
            valid or the player fails.
        """
        try:
            return self._answer(parse_request(line, self._only_game, self._game))
        except ValueError as error:
            message = str(error)
        except Exception as error:  # noqa: BLE001
            message = f"the engine failed on this request ({type(error).__name__}: {error})."
        return {"error": shortened(message)}

    def warm_up(self, game: str) -> None:
        """Load the player for a game, given by its name, so that the first request is not delayed.

        Raises:
            ValueError: if the game or the player cannot be loaded.
        """
        self._player(game)

    def _answer(self, request: EngineRequest) -> dict:
        game = self._game(request.game)
        state = _position(game, request)
        inspected = game.inspect(state[None])
        if inspected.over[0]:
            sign = 1 if inspected.players[0] == 0 else -1
            result = sign * float(inspected.results[0])
            plain = int(result) if result.is_integer() else result
            return {"result": plain, "legal_actions": []}
        assert request.game is not None  # see `parse_request`
        player = self._player(request.game)
        player = player.limited(request.num_simulations, request.time_limit_s)
        legal_actions = np.flatnonzero(inspected.legal_action_mask[0]).tolist()
        answer = _to_plain(player.analyse(state), legal_actions)
        if request.setup is not None or isinstance(request.moves, str):
            answer["square"] = _notation(game, request).text(answer["move"])
        return answer


def serve(engine: Engine, requests: IO[str], answers: IO[str]) -> None:
    """Answer each line of ``requests`` with one line of JSON in ``answers``, until the input ends.

    Each response is flushed at once, because the other program may wait for it.
    """
    for line in requests:
        answer = engine.answer(line.rstrip("\r\n"))
        answers.write(json.dumps(answer, allow_nan=False) + "\n")
        answers.flush()


def parse_request(
    line: str, only_game: str | None = None, game_of: Callable[[str], Game] = make_game
) -> EngineRequest:
    """Parse and validate one line of the JSON engine's input.

    Args:
        line: the request as JSON.
        only_game: the only game allowed, which requests need not name. None means all of this
            package's games; requests must then name one. A request can never run a game file.
        game_of: makes a game from its name, after the name has been checked.

    Returns:
        The request, with its game filled in; moves given as a list of square names are joined to
        one text, separated by commas.

    Raises:
        Refusal: if the line is not a valid request, or if its game or its kind of moves is not
            allowed.
    """
    request = read_request(EngineRequest, read_json(line))
    moves = moves_of(request)
    name = only_game if request.game is None else request.game
    is_allowed = is_shipped_game(name or "") if only_game is None else name == only_game
    if name is None or not is_allowed:
        shipped = ", ".join(filter(is_shipped_game, game_names()))
        raise not_allowed("game", name, only_game or f"one of {shipped}")
    try:
        game = game_of(name)
    except ConfigError as error:
        raise Refusal(str(error), key="game") from None
    has_names = bool(skin_of(game).notation.column_names)
    if isinstance(moves, str) and not has_names:
        raise not_allowed("moves", moves, "a list of numbers such as [3, 3, 2] for this game")
    has_text = isinstance(moves, list) and any(isinstance(move, str) for move in moves)
    if has_names and has_text:
        moves = ",".join(map(str, moves))
    return dataclasses.replace(request, game=name, moves=moves)


def _position(game: Game, request: EngineRequest) -> np.ndarray:
    """Play the moves of a request from the start of the game and return the final state: K words.

    Raises:
        ValueError: if a move is not legal, or if moves are given as numbers in the standard set-up,
            which requires squares.
    """
    notation = _notation(game, request)
    if isinstance(request.moves, str):
        return game.play_moves(read_moves(game, notation, request.moves))
    if request.moves and notation.mirrored:
        message = f"with setup={request.setup}, moves are squares such as d3, not numbers."
        raise Refusal(message, key="moves")
    return game.play_moves(request.moves or [])


def _notation(game: Game, request: EngineRequest) -> Notation:
    return skin_of(game, request.setup or SETUPS[0]).notation


def _to_plain(analysis: Analysis, legal_actions: list[int]) -> dict:
    value = None if math.isnan(analysis.value) else round(analysis.value, 6)
    answer = {
        "move": analysis.action,
        "action_weights": [round(float(weight), 6) for weight in analysis.action_weights],
        "value": value,
        "legal_actions": legal_actions,
    }
    if analysis.scores is not None:
        scores = analysis.scores.tolist()
        answer["scores"] = [None if score == ILLEGAL_SCORE else score for score in scores]
    return answer
