"""Show a game at the terminal (boards, moves, messages) and read typed lines and moves.

Lines and boards are printed one below another; `alphazero.play.terminal` decides which.
"""

import shlex
import sys
from collections.abc import Callable
from typing import IO

from rich.rule import Rule
from rich.text import Text

from alphazero.boards.notation import check_legal
from alphazero.boards.session import Session
from alphazero.boards.skin import SETUPS, Skin
from alphazero.boards.text import Medium, draw_board, result_name, side
from alphazero.runtime.console import Console, counted

Names = tuple[str | None, str | None]

_HELP = "Type 'help' for the commands: undo, hint, moves and more."


def line_reader(console: Console, stream: IO[str] | None = None) -> Callable[[str], str]:
    """Make a function that prints a prompt, reads a line and returns it.

    Terminals edit and show the line themselves; lines from any other stream are echoed. The
    function raises EOFError at the end of the input.

    Args:
        console: where the prompt is printed.
        stream: the input stream; None means standard input.
    """
    stream = stream or sys.stdin

    def read(prompt: str) -> str:
        question = Text(prompt, "bold")
        if stream is sys.stdin and stream.isatty():
            typed = console.input(question)
            return "".join(filter(str.isprintable, typed))  # drops the codes of function keys
        console.print(question, end="")
        line = stream.readline()
        console.print(Text(line.rstrip("\r\n")))
        if not line:
            raise EOFError
        return line

    return read


class Screen:
    """Shows a game on a console.

    Args:
        session: the game to show.
        skin: how the game is drawn.
        names: the names of the player who begins the game and of the other; None for a person.
        console: the console to draw on.
    """

    def __init__(self, session: Session, skin: Skin, names: Names, console: Console):
        self.console = console
        self.skin = skin
        self._medium = Medium.of(console)
        self._session = session
        self._names = names

    # --- events of the game -----------------------------------------------------------------------

    def print_start(self, introduction: str) -> None:
        """Print the game's title, its players, an introduction and hints for people.

        Args:
            introduction: text printed before the hints; "" if there is none.
        """
        line = "─" if self._medium.box else "-"
        title = Text(self.skin.title, "bold")
        players = range(self._session.game.num_players)
        notes = [introduction]
        if None in self._names:
            notes += [self.skin.note, _HELP]
        self.console.print(Rule(title, align="left", characters=line, style="bright_black"))
        self.console.print(Text("  against  ").join(map(self.side_text, players)))
        for note in filter(None, notes):
            self.console.print(Text(note, "dim"))

    def print_move(self, player: int, action: int, notes: str) -> None:
        """Print the move just played.

        Args:
            player: the player who moved, 0 or 1.
            action: the number of the move.
            notes: text shown after the move in a dim style, such as the engine's value of the
                position; "" if there are none.
        """
        number = len(self._session.actions)
        line = Text.assemble((f"{number:>3}. ", "dim"), self.side_text(player), " plays ")
        line.append(self.skin.notation.text(action), "bold")
        if notes:
            line.append(f"   {notes}", "dim")
        self.console.print(line)

    def print_pass(self, player: int) -> None:
        """Print that a player, 0 or 1, passes because there is no legal move."""
        text = " has no legal move and passes."
        self.console.print(Text.assemble(self.side_text(player), text))

    def print_taken_back(self, num_moves: int) -> None:
        """Print how many moves were taken back, and draw the board."""
        self.console.print(Text(f"Took back {counted(num_moves, 'move')}."))
        self.print_board()

    def print_result(self) -> None:
        """Draw the final board and print the result of the game."""
        session = self._session
        num_moves = counted(len(session.actions), "move")
        counts = ""
        if self.skin.counts_pieces:
            counts = f" {count_text(session, self.skin)}."
        result = Text(f"The game is a draw.{counts}", "bold")
        if session.game.num_players == 1:
            name = result_name(session.game, session.result)
            result = Text(f"The game ends after {num_moves} with a {name}.", "bold")
        elif session.winner is not None:
            text = f" wins after {num_moves}.{counts}"
            result = Text.assemble(self.side_text(session.winner), (text, "bold"))
        self.print_board()
        self.console.print(result)

    def print_goodbye(self) -> None:
        """Print, below the prompt, how to continue an unfinished game later."""
        self.console.print()
        if self._session.actions and not self._session.over:
            self.console.print(Text("The game ends here. To continue it later, start with:"))
            self.print_moves()

    # --- output of commands -----------------------------------------------------------------------

    def print_board(self) -> None:
        """Draw the position, and list the legal moves if the board does not show them."""
        session = self._session
        notation = self.skin.notation
        is_human_turn = not session.over and self._names[session.player] is None
        position = (session.game, self.skin, session.state, self._medium, session.previous_state)
        is_drawn = session.game.drawn(session.state) is not None
        has_no_labels = not notation.column_names and (is_drawn or notation.kind == "other")
        self.console.print()
        self.console.print(draw_board(*position, is_human_turn, True, session.last_action))
        if self.skin.counts_pieces and not session.over:
            self.console.print(Text(count_text(session, self.skin), "dim"))
        if is_human_turn and has_no_labels:
            moves = f"{notation.separator} ".join(map(notation.text, session.legal_actions))
            self.console.print(Text(f"Legal moves: {moves}"))
        self.console.print()

    def print_moves(self) -> None:
        """Print the moves so far as a setting ``moves=...`` that starts another game from here."""
        setup = "" if self.skin.setup == SETUPS[0] else f"setup={self.skin.setup} "
        moves = self.skin.notation.list_text(self._session.actions)
        self.console.print(Text(setup + shlex.quote(f"moves={moves}")))

    def warn(self, text: str) -> None:
        """Print in red why a command or move had no effect."""
        self.console.print(Text(text, "red"))

    def side_text(self, player: int) -> Text:
        """Return a text with a player's piece, side and name, in one line.

        A person is named "you", or "human" if both players are people.
        """
        person = "human" if self._names == (None, None) else "you"
        name = self._names[player] or person
        mark = side(self.skin, player, self._medium)
        return Text.assemble(mark, (f" ({name})", "dim"))


# --- moves ----------------------------------------------------------------------------------------


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
