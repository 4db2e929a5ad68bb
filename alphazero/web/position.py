"""Convert a request to a game in progress, and a game to the data from which the page draws it.

A request contains the game, optionally a board to start from, and the moves. The server keeps no
state between requests.

Shapes: H x W board, K state words.
"""

from typing import Any, NamedTuple

import numpy as np

from alphazero.boards.notation import read_moves
from alphazero.boards.session import Session
from alphazero.boards.skin import Skin
from alphazero.boards.text import marked_cells
from alphazero.games.batched_game import Game
from alphazero.games.text import parse_board
from alphazero.play.requests import PositionRequest, Refusal


class Position(NamedTuple):
    """A game in progress, and the appearance in which the page shows it."""

    game: Game
    skin: Skin
    session: Session

    @property
    def state(self) -> np.ndarray:
        """The current position, [K]."""
        return self.session.state


def read_position(game: Game, skin: Skin, request: PositionRequest) -> Position:
    """Set up the game and play the moves of a request.

    Raises:
        Refusal: if the board or the moves are not possible in this game.
    """
    try:
        start = None
        if request.board is not None:
            start = _start(game, skin, request.board, request.to_move or 0)
        moves = request.moves or []
        if isinstance(moves, str):
            moves = read_moves(game, skin.notation, moves, start)
        return Position(game, skin, Session(game, moves, start))
    except ValueError as error:
        raise Refusal(str(error)) from None


def unfinished(position: Position) -> Position:
    """Return ``position`` itself, or raise `Refusal` if the game is over."""
    if position.session.over:
        raise Refusal("the game is over, so there is no move to find.")
    return position


def _start(game: Game, skin: Skin, text: str, to_move: int) -> np.ndarray:
    """Convert a board that a user typed as text to a state, [K]."""
    shape = game.planes_shape[1:]
    board = parse_board(_normalized(text, skin), shape, skin.letters, skin.title)
    if skin.notation.mirrored:
        board = np.ascontiguousarray(board[:, ::-1])
    return game.cells_to_state(board, to_move)


def _normalized(text: str, skin: Skin) -> str:
    """Normalize a typed board: use the letters of the game, and strip spaces around lines."""
    empty = skin.letters[0]
    pieces = skin.letters[1:]
    if pieces.isupper():
        text = text.upper()
    for other in ".-_":
        if other not in skin.letters:
            text = text.replace(other, empty)
    return "\n".join(line.strip() for line in text.strip().splitlines())


def describe(position: Position, from_ply: int) -> dict[str, Any]:
    """Return the `api/position` response: the data from which the page draws positions.

    Args:
        from_ply: the ply of the first position to describe; all later ones follow.
    """
    session = position.session
    plies = range(from_ply, len(session.states))
    return {
        "moves": session.actions,
        "positions": [_describe_ply(position, ply) for ply in plies],
    }


def _describe_ply(position: Position, ply: int) -> dict[str, Any]:
    game, skin, session = position
    state = session.states[ply]
    previous = session.states[ply - 1] if ply else None
    action = session.actions[ply - 1] if ply else None
    inspected = game.inspect(state[None])
    player = int(inspected.players[0])
    result = float(inspected.results[0])
    winner = None
    if result != 0:
        winner = player if result > 0 else 1 - player
    cells = game.cells(state)
    legal = np.flatnonzero(inspected.legal_action_mask[0]).tolist()
    marked = marked_cells(game, skin, state, previous, action)
    return {
        "ply": ply,
        "cells": cells.tolist(),
        "to_move": player,
        "legal": legal,
        "forced_pass": len(legal) == 1 and session.is_forced_pass(ply),
        "over": bool(inspected.over[0]),
        "winner": winner,
        "marked": np.argwhere(marked).tolist(),
        "counts": [int((cells == piece).sum()) for piece in (1, 2)],
        "board": _board_text(skin, cells),
        "drawn": game.drawn(state),
    }


def _board_text(skin: Skin, cells: np.ndarray) -> str:
    """Draw the board as text in the page's orientation, with the letters of the set-up."""
    shown = cells[:, ::-1] if skin.notation.mirrored else cells
    lines = ["".join(skin.letters[cell] for cell in row) for row in shown]
    return "\n".join(lines)
