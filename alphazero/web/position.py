"""Convert a request to a game in progress, and such a game to the `api/position` response.

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
from alphazero.play.requests import PositionRequest, Refusal, moves_of


class Position(NamedTuple):
    """A game in progress, and the appearance with which the page shows it."""

    game: Game
    skin: Skin
    session: Session


def read_position(game: Game, skin: Skin, request: PositionRequest) -> Position:
    """Set up the position of a request: its board, or the start of the game, and then its moves.

    Args:
        skin: the game's appearance in the request's set-up; its letters and its notation are used
            to read the board and the moves.
        request: the validated request.

    Raises:
        Refusal: if the board cannot be read or is not reachable, or a move is illegal.
    """
    moves = moves_of(request)
    try:
        start = None
        if request.board is not None:
            start = _start(game, skin, request.board, request.to_move or 0)
        if isinstance(moves, str):
            moves = read_moves(game, skin.notation, moves, start)
        return Position(game, skin, Session(game, moves, start))
    except ValueError as error:
        raise Refusal(str(error)) from None


def unfinished(position: Position) -> Position:
    """Return ``position`` unchanged if its game is still in progress.

    Raises:
        Refusal: if the game is over.
    """
    if position.session.over:
        raise Refusal("the game is over, so there is no move to find.")
    return position


def _start(game: Game, skin: Skin, text: str, to_move: int) -> np.ndarray:
    """Convert a board that a user typed as text to a state.

    Args:
        skin: the game's appearance, whose letters the text uses.
        text: the board, one line per row, in the letters of ``skin``.
        to_move: the player to move, 0 for the player who begins the game, or 1.

    Returns:
        The state, an array of K words.

    Raises:
        ValueError: if the text is not a board of this game, or the board is not reachable.
    """
    shape = game.planes_shape[1:]
    board = parse_board(_normalized(text, skin), shape, skin.letters, skin.title)
    if skin.notation.mirrored:
        board = np.ascontiguousarray(board[:, ::-1])
    return game.cells_to_state(board, to_move)


def _normalized(text: str, skin: Skin) -> str:
    """Normalize a board typed as text: use the game's own letters, and strip each line.

    The signs ".", "-" and "_" become the game's letter for an empty square, unless the game uses
    them for something else; letters become upper case if the game's are.
    """
    empty = skin.letters[0]
    pieces = skin.letters[1:]
    if pieces.isupper():
        text = text.upper()
    for other in ".-_":
        if other not in skin.letters:
            text = text.replace(other, empty)
    return "\n".join(line.strip() for line in text.strip().splitlines())


def describe(position: Position, from_ply: int) -> dict[str, Any]:
    """Return the `api/position` response: the board, legal moves and status of each position.

    Args:
        position: the game in progress, whose positions are described.
        from_ply: number of moves before the first position to describe; all later positions of the
            game are described too.
    """
    session = position.session
    plies = range(from_ply, len(session.states))
    return {"moves": session.actions, "positions": [_describe_ply(position, ply) for ply in plies]}


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
        "legal_texts": game.legal_texts(state) if legal else None,
    }


def _board_text(skin: Skin, cells: np.ndarray) -> str:
    """Format a board as lines of text, with the letters and the column order of ``skin``.

    Args:
        skin: the game's appearance in one of its set-ups.
        cells: int8[H, W], the content of each square, as `Game.cells` numbers it.
    """
    shown = cells[:, ::-1] if skin.notation.mirrored else cells
    lines = ["".join(skin.letters[cell] for cell in row) for row in shown]
    return "\n".join(lines)
