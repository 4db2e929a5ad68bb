"""What a person may type for a move, and why a move is refused, as text.

In: a session, its game's skin, and what was typed. Out: an action, or text; nothing is printed.
"""

from alphazero.boards.session import Session
from alphazero.boards.skin import Skin

MAX_TYPED = 80  #: characters


def move_name(session: Session, skin: Skin) -> str:
    """Return what to type, such as "a column (1-7)" or "0-3 or a square such as d3"."""
    if " " in skin.move_range:
        name = f"a {skin.move_word} {skin.move_range}"
        numbers = _number_range(session, skin)
        return f"{numbers} or {name}" if numbers else name
    return f"a {skin.move_word}" + (f" ({skin.move_range})" if skin.move_range else "")


def prompt(session: Session, skin: Skin) -> str:
    """Return the question for a move.

    Example: ``Yellow, your move (column 1-7): ``, or with numbers on the board
    ``White, your move [0-3, or a square such as d3]: ``.
    """
    choice = f" ({skin.move_word} {skin.move_range})" if skin.move_range else ""
    if numbers := _number_range(session, skin):
        choice = f" [{numbers}, or a {skin.move_word} {skin.move_range}]"
    return f"{skin.sides[session.player]}, your move{choice}: "


def read_move(session: Session, skin: Skin, typed: str) -> int:
    """Return the action that a person typed.

    Raises:
        ValueError: if it is no legal move; the message says what to type.
    """
    if not typed:
        raise ValueError(f"Type {move_name(session, skin)}, or 'help' for the commands.")
    if len(typed) > MAX_TYPED:
        what = f"type {move_name(session, skin)}, or 'help' for the commands"
        raise ValueError(f"That is {len(typed)} characters long; {what}.")
    try:
        action = _typed_action(session, skin, typed)
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


def _number_range(session: Session, skin: Skin) -> str:
    """Return which numbers are on the board, such as "0-3"; "" if there are none."""
    last = len(skin.notation.numbered(session.legal_actions)) - 1
    return f"0-{last}" if last > 0 else "0" if last == 0 else ""


def _typed_action(session: Session, skin: Skin, typed: str) -> int:
    """Return the action of a number on the board, or of a move as it is written.

    Raises:
        ValueError: if the text is neither; the action may still be illegal.
    """
    numbered = skin.notation.numbered(session.legal_actions)
    if not numbered:
        return skin.notation.action(typed)
    allowed = f"type {move_name(session, skin)}"
    if typed.isascii() and typed.isdigit():
        if int(typed) < len(numbered):
            return numbered[int(typed)]
        raise ValueError(f"there is no number {int(typed)} on the board: {allowed}.")
    try:
        return skin.notation.action(typed)
    except ValueError:
        message = f"'{typed}' is not a {skin.move_word} of this board: {allowed}."
        raise ValueError(message) from None


def _why_illegal(session: Session, skin: Skin, text: str, action: int) -> str:
    game, board = session.game, session.game.cells(session.state)
    legal = skin.notation.numbered(session.legal_actions) or session.legal_actions
    numbers = _number_range(session, skin)
    choice = f"choose one of {', '.join(map(skin.notation.text, legal))}"
    choice += f" ({numbers} on the board)." if numbers else "."
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
