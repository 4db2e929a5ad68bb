"""What a person may type for a move, and why a move is refused, as text.

In: a game's skin, a session and an action. Out: text; nothing is printed.
"""

from alphazero.play.session import Session
from alphazero.play.skin import Skin

MAX_TYPED = 80  #: characters


def move_name(skin: Skin) -> str:
    """Return what to type, such as "a column (1-7)"."""
    if " " in skin.move_range:
        return f"a {skin.move_word} {skin.move_range}"
    return f"a {skin.move_word}" + (f" ({skin.move_range})" if skin.move_range else "")


def prompt(skin: Skin, player: int) -> str:
    """Return the question for a move, such as "Yellow, your move (column 1-7): "."""
    choice = skin.move_range
    if choice and " " not in choice:
        choice = f"{skin.move_word} {choice}"
    return f"{skin.sides[player]}, your move{f' ({choice})' if choice else ''}: "


def read_move(session: Session, skin: Skin, typed: str) -> int:
    """Return the action that a person typed.

    Raises:
        ValueError: if it is no legal move; the message says what to type.
    """
    if not typed:
        raise ValueError(f"Type {move_name(skin)}, or 'help' for the commands.")
    if len(typed) > MAX_TYPED:
        what = f"type {move_name(skin)}, or 'help' for the commands"
        raise ValueError(f"That is {len(typed)} characters long; {what}.")
    try:
        action = skin.notation.action(typed)
    except ValueError as error:
        message = str(error)
        has_digit = any(character.isdigit() for character in typed)
        hint = "" if has_digit else " ('help' lists the commands.)"
        raise ValueError(message[:1].upper() + message[1:] + hint) from None
    if action not in session.legal_actions:
        raise ValueError(_why_illegal(session, skin, typed, action))
    return action


def count_text(session: Session, skin: Skin) -> str:
    """Return the number of pieces of each side."""
    board = session.game.cells(session.state)
    counts = (int((board == player + 1).sum()) for player in range(2))
    return ", ".join(f"{name} {count}" for name, count in zip(skin.sides, counts))


def _why_illegal(session: Session, skin: Skin, text: str, action: int) -> str:
    game, board = session.game, session.game.cells(session.state)
    legal = [skin.notation.text(other) for other in session.legal_actions]
    choice = f"choose one of {', '.join(legal)}."
    if game.num_actions == board.shape[1]:
        return f"Column {text} is full: {choice}"
    if action == board.size:
        return f"You cannot pass while you have a move: {choice}"
    if action < board.size <= game.num_actions:
        if board.flat[action]:
            return f"Square {text} is taken: {choice}"
        if skin.counts_pieces:
            return f"A disc on {text} would flip no disc of the other colour: {choice}"
    return f"'{text}' is not legal here: {choice}"
