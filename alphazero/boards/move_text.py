"""Compose the prompt for a move, and parse the move that a person typed in reply."""

from alphazero.boards.notation import check_legal
from alphazero.boards.session import Session
from alphazero.boards.skin import Skin


def move_name(session: Session, skin: Skin) -> str:
    """Describe what a person can type for a move, such as "a column (1-7)"."""
    legal = session.legal_actions
    name = skin.notation.what_to_type(legal)
    last = len(skin.notation.numbered(legal)) - 1
    if last < 0:
        return name
    numbers = f"0-{last}" if last else "0"
    return f"{numbers}, or {name}"


def prompt(session: Session, skin: Skin) -> str:
    """Return the prompt that asks for a move, such as "X to move. Type a column (1-7): "."""
    return f"{skin.sides[session.player]} to move. Type {move_name(session, skin)}: "


def read_move(session: Session, skin: Skin, typed: str) -> int:
    """Parse a typed move, which is a number shown on the board or a move in the game's notation.

    Raises:
        ValueError: if the text is not a legal move; the message says what to type.
    """
    numbered = skin.notation.numbered(session.legal_actions)
    if not (numbered and typed.isascii() and typed.isdigit()):
        action = skin.notation.action(typed, session.legal_actions)
        check_legal(session, skin.notation, typed, action)
        return action
    if len(typed) > 9 or int(typed) >= len(numbered):  # Python refuses thousands of digits
        allowed = move_name(session, skin)
        raise ValueError(f"there is no number {typed} on the board: type {allowed}.")
    return numbered[int(typed)]


def count_text(session: Session, skin: Skin) -> str:
    """Format the number of pieces of each side, such as "White 12, Black 9"."""
    board = session.game.cells(session.state)
    texts = []
    for player, name in enumerate(skin.sides):
        count = int((board == player + 1).sum())
        texts.append(f"{name} {count}")
    return ", ".join(texts)
