"""Show a game at the terminal (boards, moves, messages) and read typed lines.

Text is either printed line after line or drawn in place: the board at the top of the terminal, with
the latest moves and one message below it. Earlier contents of the terminal are scrolled up and stay
available; the alternate screen is not used, because its contents vanish when the program ends.
`alphazero.play.terminal` decides what to show.
"""

import math
import shlex
import sys
from collections.abc import Callable
from typing import IO

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from alphazero.boards.move_text import count_text
from alphazero.boards.session import Session
from alphazero.boards.skin import SETUPS, Skin
from alphazero.boards.text import Medium, draw_board, expectation_text, result_name, side
from alphazero.play.view import analysis_view
from alphazero.players.base import Analysis
from alphazero.runtime.console import counted, wrapped

Names = tuple[str | None, str | None]

_HOME = "\x1b[H"
_CLEAR_LINE = "\x1b[K"
_CLEAR_BELOW = "\x1b[J"
_STATUS_WIDTH = 34
_MAX_RECENT = 2  #: maximum number of moves shown below a board drawn in place
_PROMPT_LINES = 2  #: lines kept free for the prompt and for the cursor after the typed line
_HELP = "Type 'help' for the commands: undo, hint, view and more."


def can_draw_in_place(console: Console, stream: IO[str] | None = None) -> bool:
    """Return whether input and output are a terminal whose cursor can be moved.

    Args:
        console: the console on which the game is drawn.
        stream: the input stream; None means standard input.
    """
    if console.is_dumb_terminal or console.legacy_windows:
        return False
    return (stream or sys.stdin).isatty() and console.file.isatty()


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
        if console.is_terminal:
            question = wrapped(question, console.width)
        if stream is sys.stdin and stream.isatty():
            typed = console.input(question)
            return "".join(filter(str.isprintable, typed))  # drops the codes of function keys
        console.print(question, end="", soft_wrap=True)
        line = stream.readline()
        console.print(Text(line.rstrip("\r\n")), soft_wrap=True)
        if not line:
            raise EOFError
        return line

    return read


class Screen:
    """Shows a game, or several games in sequence, on a console.

    Args:
        session: the game to show first.
        skin: how the game is drawn.
        names: the names of the player who begins the game and of the other; None for a person.
        console: the console to draw on.
        in_place: whether to draw each board over the previous one if the terminal is tall enough.
    """

    def __init__(
        self, session: Session, skin: Skin, names: Names, console: Console, in_place: bool = False
    ):
        self.console = console
        self.skin = skin
        self._medium = Medium.of(console)
        self.is_in_place = in_place
        self._has_room = False  # whether earlier contents of the terminal were scrolled up
        self.show(session, names)

    def show(self, session: Session, names: Names) -> None:
        """Switch to showing another game; the arguments are those of the constructor."""
        self._session = session
        self._names = names
        #: The player of the last engine move, and its analysis.
        self.last_analysis: tuple[int, Analysis] | None = None
        self._recent: list[Text] = []

    # --- events of the game -----------------------------------------------------------------------

    def print_start(self, introduction: str = "") -> None:
        """Print the game's title, its players and an introduction.

        If boards are drawn in place, the board is drawn too, with the introduction below it.

        Args:
            introduction: text printed before the hints for people; if "", only the hints are
                printed.
        """
        notes = [introduction]
        if None in self._names:
            notes += [self.skin.note, _HELP]
        text = Text("\n".join(filter(None, notes)), "dim")
        if self.is_in_place:
            self.print_board(text)
            return
        sides = Text("  against  ").join(self._side_texts())
        self._print(self._title(), sides)
        if text:
            self._print(text)

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
        self._print_event(line)

    def print_pass(self, player: int) -> None:
        """Print that a player, 0 or 1, passes because there is no legal move."""
        line = Text.assemble(self.side_text(player), " has no legal move and passes.")
        self._print_event(line)

    def print_taken_back(self, num_moves: int) -> None:
        """Print how many moves were taken back, and draw the board."""
        self.last_analysis = None
        self._recent = []
        self._print_event(Text(f"Took back {counted(num_moves, 'move')}."))
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
        self.print_board(result)

    def print_goodbye(self) -> None:
        """Print, below the prompt, how to continue an unfinished game later."""
        self._print(Text())
        if not self._session.over:
            text = "The game ends here. To continue it later, start with:"
            self._print(Text(f"{text}\n{self._moves_text()}"))

    # --- output of commands -----------------------------------------------------------------------

    def print_board(self, message: RenderableType | None = None) -> None:
        """Draw the position, with the game's status beside it if the terminal is wide enough.

        Args:
            message: a message to show below the board; None if there is none.
        """
        if self._draw_in_place(message):
            return
        self._print(Text(), *self._position(), Text())
        if message:
            self._print(message)

    def print_view(self) -> None:
        """Print the analysis that led to the engine's last move, or a warning if there is none."""
        if self.last_analysis is None:
            self.warn("No engine has moved since your last turn, so there is no view to show.")
            return
        player, analysis = self.last_analysis
        self.say(analysis_view(self._session.game, self.skin, player, analysis, self._medium))

    def print_moves(self) -> None:
        """Print the moves so far as a setting ``moves=...`` that starts another game from here."""
        self.say(Text(self._moves_text()))

    def warn(self, text: str) -> None:
        """Print in red why a command or move had no effect."""
        self.say(Text(text, "red"))

    def say(self, message: RenderableType) -> None:
        """Print a message, which appears below the board if boards are drawn in place."""
        if not self._draw_in_place(message):
            self._print(message)

    def side_text(self, player: int) -> Text:
        """Return a text with a player's piece, side and name, in one line.

        A person is named "you", or "human" if both players are people.
        """
        person = "human" if self._names == (None, None) else "you"
        name = self._names[player] or person
        mark = side(self.skin, player, self._medium)
        return Text.assemble(mark, (f" ({name})", "dim"))

    # --- drawing ----------------------------------------------------------------------------------

    def _print(self, *parts: RenderableType) -> None:
        """Print texts or other renderables, each on its own lines, without breaking words."""
        for part in parts:
            if isinstance(part, Text) and self.console.is_terminal and not part.no_wrap:
                part = wrapped(part, self.console.width)
            self.console.print(part, soft_wrap=isinstance(part, Text))

    def _print_event(self, line: Text) -> None:
        """Print a line about an event of the game, unless boards are drawn in place.

        The line is kept in any case: the latest ones appear below the next board drawn in place.
        """
        self._recent = [*self._recent[1 - _MAX_RECENT :], line]
        if not self.is_in_place:
            self._print(line)

    def _draw_in_place(self, message: RenderableType | None) -> bool:
        """Redraw the board at the top of the terminal, with a message below it.

        Args:
            message: a message to show instead of the latest moves; if None, the moves are shown.

        Returns:
            False, with nothing drawn, if drawing in place is off or the terminal is not tall
            enough.
        """
        if not self.is_in_place:
            return False
        below = message or Text("\n").join(self._recent)
        with self.console.capture() as captured:
            self._print(self._title(), *self._position(), below)
        text = captured.get()
        if text.count("\n") + _PROMPT_LINES > self.console.height:
            return False
        room = "" if self._has_room else "\n" * self.console.height
        self._has_room = True
        lines = text.replace("\n", _CLEAR_LINE + "\n")
        self.console.file.write(f"{room}{_HOME}{lines}{_CLEAR_BELOW}")
        self.console.file.flush()
        return True

    def _title(self) -> Rule:
        title = Text(self.skin.title, "bold")
        line = "─" if self._medium.box else "-"
        return Rule(title, align="left", characters=line, style="bright_black")

    def _moves_text(self) -> str:
        setup = "" if self.skin.setup == SETUPS[0] else f"setup={self.skin.setup} "
        moves = self.skin.notation.list_text(self._session.actions)
        return setup + shlex.quote(f"moves={moves}")

    def _position(self) -> list[RenderableType]:
        """Draw the board, and list the legal moves if a person cannot read them off the board."""
        session = self._session
        notation = self.skin.notation
        is_human_turn = not session.over and self._names[session.player] is None
        parts = [self._board(is_human_turn)]
        is_drawn = session.game.drawn(session.state) is not None
        has_no_labels = not notation.column_names and (is_drawn or notation.kind == "other")
        if is_human_turn and has_no_labels:
            moves = f"{notation.separator} ".join(map(notation.text, session.legal_actions))
            parts.append(Text(f"Legal moves: {moves}"))
        return parts

    def _board(self, labels: bool) -> RenderableType:
        session = self._session
        arguments = (session.game, self.skin, session.state, self._medium, session.previous_state)
        last_action = session.last_action
        board = draw_board(*arguments, labels=labels, numbered=True, last_action=last_action)
        width = max(line.cell_len for line in board.split())
        if not self.console.is_terminal or width + _STATUS_WIDTH + 6 > self.console.width:
            return board
        grid = Table.grid(padding=(0, 3))
        grid.add_column()
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True, overflow="ellipsis")
        grid.add_row(Text("  "), board, self._status())
        return grid

    def _side_texts(self) -> list[Text]:
        return [self.side_text(player) for player in range(self._session.game.num_players)]

    def _status(self) -> Text:
        """Return the text beside the board: the players, the side to move and the last move."""
        session = self._session
        lines = [Text(), *self._side_texts(), Text()]
        if self.skin.counts_pieces:
            lines.append(Text(count_text(session, self.skin)))
        num_moves = len(session.actions)
        if session.over:
            lines.append(Text(f"The game is over after {counted(num_moves, 'move')}."))
        else:
            mover = f"{self.skin.sides[session.player]} to move"
            lines.append(Text.assemble(f"Move {num_moves + 1}: ", (mover, "bold")))
        if session.actions:
            last = self.skin.notation.text(session.actions[-1])
            lines.append(Text(f"Last move: {last}", "dim"))
        if self.last_analysis is not None:
            player, analysis = self.last_analysis
            if not math.isnan(analysis.value):
                expects = expectation_text(analysis.value, session.game)
                lines.append(Text(f"{self.skin.sides[player]} expects: {expects}", "dim"))
        return Text("\n").join(lines)
