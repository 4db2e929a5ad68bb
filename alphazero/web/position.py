"""Positions: from a request to a game in progress, and from that to what the page draws.

A request holds the game, perhaps a start board, and the moves; nothing is kept between requests.

Shapes: H x W board, K state words.
"""

import re
from typing import Any, NamedTuple

import numpy as np

from alphazero.boards.notation import read_moves
from alphazero.boards.session import Session
from alphazero.boards.skin import Skin
from alphazero.boards.text import marked_cells
from alphazero.games.batched_game import Game
from alphazero.games.text import parse_board
from alphazero.web.fields import number_field, quoted, text_field
from alphazero.web.refusal import IMPOSSIBLE, MALFORMED, Refusal

#: The fields of a request that make a position.
FIELDS = ("game", "setup", "board", "to_move", "moves")
_MAX_BOARD, _MAX_MOVES_TEXT = 2_000, 8_000  # characters


class Position(NamedTuple):
    """A game in progress, and how the person at the page sees it."""

    game: Game
    skin: Skin
    session: Session

    @property
    def state(self) -> np.ndarray:
        """The current position, [K]."""
        return self.session.state


def read_position(game: Game, skin: Skin, request: dict[str, Any]) -> Position:
    """Return the position of a request.

    Raises:
        Refusal: for a board or moves that are none, or that are not possible.
    """
    start = _start(game, skin, request)
    moves = request.get("moves")
    try:
        if isinstance(moves, str):
            text = text_field(request, "moves", _MAX_MOVES_TEXT) or ""
            moves = read_moves(game, skin.notation, text, start)
        return Position(game, skin, Session(game, _actions(moves, game), start))
    except Refusal:
        raise
    except ValueError as error:
        raise Refusal(str(error), IMPOSSIBLE) from None


def unfinished(position: Position) -> Position:
    """Return the position; refuse it if the game is over."""
    if position.session.over:
        raise Refusal("the game is over: there is no move to find.")
    return position


def _start(game: Game, skin: Skin, request: dict[str, Any]) -> np.ndarray | None:
    """Return the state, [K], of the board of a request; None if it starts as the game does."""
    text = text_field(request, "board", _MAX_BOARD)
    to_move = number_field(request, "to_move", 0, 1)
    if text is None:
        return None
    try:
        board = parse_board(_tidy(text, skin), game.planes_shape[1:], skin.letters, skin.title)
        if skin.notation.mirrored:
            board = np.ascontiguousarray(board[:, ::-1])
        return game.cells_to_state(board, to_move or 0)
    except ValueError as error:
        raise Refusal(_by_lines(str(error)), IMPOSSIBLE) from None


def _by_lines(message: str) -> str:
    """Return a message about a board with the lines and letters of its text, counted from 1."""
    message = re.sub(r"\brow (\d+)", lambda found: f"line {int(found[1]) + 1}", message)
    return re.sub(r"\bcolumn (\d+)", lambda found: f"letter {int(found[1]) + 1}", message)


def _tidy(text: str, skin: Skin) -> str:
    """Return the text of a board in the letters of its game, however a person wrote them."""
    empty, *pieces = skin.letters
    if "".join(pieces).isupper():
        text = text.upper()
    for other in ".-_":
        if other not in skin.letters:
            text = text.replace(other, empty)
    return "\n".join(line.strip() for line in text.strip().splitlines())


def _actions(moves: Any, game: Game) -> list[int]:
    """Return the moves of a request as a list of whole numbers."""
    moves = [] if moves is None else moves
    if not isinstance(moves, list):
        message = f"moves={quoted(moves)} is not allowed: moves are a list such as [3, 3], or text."
        raise Refusal(message, MALFORMED)
    if len(moves) > game.max_plies:
        message = f"{len(moves)} moves are too many: a game has at most {game.max_plies}."
        raise Refusal(message, IMPOSSIBLE)
    return moves


def describe(position: Position, from_ply: int = 0) -> dict[str, Any]:
    """Return the answer of `api/position`: what the page needs to draw every position of a game.

    Args:
        from_ply: the first position to describe.
    """
    skin, session = position.skin, position.session
    plies = range(from_ply, len(session.states))
    return {
        "moves": session.actions,
        "texts": [skin.notation.text(action) for action in session.actions],
        "list": skin.notation.list_text(session.actions),
        "from_ply": from_ply,
        "positions": [_describe_ply(position, ply) for ply in plies],
    }


def _describe_ply(position: Position, ply: int) -> dict[str, Any]:
    game, skin, session = position
    state, previous = session.states[ply], session.states[ply - 1] if ply else None
    inspected = game.inspect(state[None])
    over, player = bool(inspected.over[0]), int(inspected.players[0])
    result, cells = float(inspected.results[0]), game.cells(state)
    legal = np.flatnonzero(inspected.legal_action_mask[0]).tolist()
    return {
        "ply": ply,
        "cells": cells.tolist(),
        "to_move": player,
        "legal": legal,
        "forced_pass": len(legal) == 1 and session.is_forced_pass(ply),
        "over": over,
        "winner": None if result == 0 else player if result > 0 else 1 - player,
        "marked": np.argwhere(marked_cells(game, skin, state, previous)).tolist(),
        "counts": [int((cells == piece).sum()) for piece in (1, 2)],
        "board": _board_text(skin, cells),
    }


def _board_text(skin: Skin, cells: np.ndarray) -> str:
    """Return the board as it is on the screen, with the letters of the set-up."""
    shown = cells[:, ::-1] if skin.notation.mirrored else cells
    return "\n".join("".join(skin.letters[cell] for cell in row) for row in shown)
