"""What a game at the terminal shows: the title, boards, moves, messages and the result.

In: a session, its players' names and a console. Out: text on the console, each thing below the one
before; or in place, with the board at the top of the terminal, and below it the latest moves and
one message. `alphazero.play.terminal` decides what is shown when.
"""

import math

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from alphazero.boards.move_text import count_text
from alphazero.boards.session import Session
from alphazero.boards.skin import SETUPS, Skin
from alphazero.boards.text import Medium, draw_board, side
from alphazero.play.in_place import InPlace
from alphazero.play.view import analysis_view, expectation_text
from alphazero.players.base import Analysis
from alphazero.runtime.line_wrap import print_line, wrapped
from alphazero.runtime.wording import counted

Names = tuple[str | None, str | None]

_STATUS_WIDTH = 34
_MAX_RECENT = 2  #: moves shown below a board that is drawn in place
_PROMPT_LINES = 2  #: the question, and the line on which the cursor is after the answer
_HELP = "Type 'help' for the commands: take back, hint, the engine's view and more."


class Screen:
    """The console of a game, or of several games one after the other.

    Args:
        names: the players' names, first the one who moves first in the game; None is a person.
        in_place: draw each board over the last one, where the terminal is high enough.
    """

    def __init__(
        self, session: Session, skin: Skin, names: Names, console: Console, in_place: bool = False
    ):
        self.console = console
        self.skin = skin
        self._medium = Medium.of(console)
        self._place = InPlace(console) if in_place else None
        self.show(session, names)

    @property
    def is_in_place(self) -> bool:
        """Whether boards are drawn one over the other."""
        return self._place is not None

    def show(self, session: Session, names: Names) -> None:
        """Show this game from now on."""
        self._session, self._names = session, names
        self._last_analysis: tuple[int, Analysis] | None = None
        self._recent: list[Text] = []

    def note_analysis(self, player: int | None, analysis: Analysis | None = None) -> None:
        """Keep a player's analysis of its move for the status and the view; None drops it."""
        self._last_analysis = None if player is None else (player, analysis)

    # --- what happens in the game -----------------------------------------------------------------

    def print_start(self, introduction: str = "") -> None:
        """Print the title, who plays, and an introduction."""
        notes = [introduction, *([self.skin.note, _HELP] if None in self._names else [])]
        text = Text("\n".join(filter(None, notes)), "dim")
        if self.is_in_place:
            self.print_board(text)
            return
        self.console.print(self._title())
        print_line(self.console, self._sides())
        if text:
            print_line(self.console, text)

    def print_move(self, player: int, action: int, notes: str) -> None:
        """Print the move just made."""
        number = len(self._session.actions)
        line = Text.assemble((f"{number:>3}. ", "dim"), self.side_text(player), " plays ")
        line.append(self.skin.notation.text(action), "bold")
        if notes:
            line.append(f"   {notes}", "dim")
        self._print_event(line)

    def print_pass(self, player: int) -> None:
        """Say that a player has no move."""
        line = Text.assemble(self.side_text(player), " has no legal move and passes.")
        self._print_event(line)

    def print_taken_back(self, num_moves: int) -> None:
        """Say that moves were taken back, and draw the board."""
        self.note_analysis(None)
        self._recent = []
        self._print_event(Text(f"Took back {counted(num_moves, 'move')}."))
        self.print_board()

    def print_result(self) -> None:
        """Print the final board and the winner."""
        winner, counts = self._session.winner, ""
        if self.skin.counts_pieces:
            counts = f" {count_text(self._session, self.skin)}."
        result = Text(f"The game is a draw.{counts}", "bold")
        if winner is not None:
            text = f" wins after {counted(len(self._session.actions), 'move')}.{counts}"
            result = Text.assemble(self.side_text(winner), (text, "bold"))
        if self.is_in_place:
            self._recent = [*self._recent, result]
        self.print_board()
        if not self.is_in_place:
            print_line(self.console, result)

    def print_goodbye(self) -> None:
        """Say how to continue an unfinished game."""
        self.console.print()
        text = "The game ends here. To continue it another time, start with:"
        print_line(self.console, f"{text}\n{self._moves_text()}")

    # --- what a person asks for -------------------------------------------------------------------

    def print_board(self, message: RenderableType | None = None) -> None:
        """Draw the position, with the status beside it where the terminal is wide enough.

        Args:
            message: shown below it.
        """
        if self._draw_in_place(message):
            return
        board = self._board()
        self.console.print()
        self.console.print(board, soft_wrap=isinstance(board, Text))
        self.console.print()
        if message:
            self._print(message)

    def print_view(self) -> None:
        """Print what the last engine to move thought."""
        if self._last_analysis is None:
            self.warn("No engine has moved since your last turn, so there is no view to show.")
            return
        player, analysis = self._last_analysis
        self.say(analysis_view(self.skin, player, analysis, self._medium))

    def print_moves(self) -> None:
        """Print the moves so far as ``moves=`` reads them."""
        self.say(self._moves_text())

    def warn(self, text: str) -> None:
        """Print why nothing was done."""
        self.say(Text(text, "red"))

    def say(self, message: RenderableType) -> None:
        """Print a message; in place, below the board."""
        if not self._draw_in_place(message):
            self._print(message)

    def side_text(self, player: int) -> Text:
        """Return a player's piece, side and name."""
        name = self._names[player]
        if name is None:
            name = "human" if self._names[1 - player] is None else "you"
        mark = side(self.skin, player, self._medium)
        return Text.assemble(mark, (f" ({name})", "dim"))

    # --- drawing ----------------------------------------------------------------------------------

    def _print(self, message: RenderableType) -> None:
        if isinstance(message, str | Text):
            print_line(self.console, message)
        else:
            self.console.print(message)

    def _print_event(self, line: Text) -> None:
        """Print what happened; in place it is shown below the next board."""
        self._recent = [*self._recent[1 - _MAX_RECENT :], line]
        if not self.is_in_place:
            print_line(self.console, line)

    def _draw_in_place(self, message: RenderableType | None) -> bool:
        """Draw the screen anew; return False if that is not wanted, or the screen is too low.

        A message that leaves no line for the latest moves replaces them.
        """
        if self._place is None:
            return False
        top = [self._title(), self._board()]
        recent, below = Text("\n").join(self._recent), [message] if message else []
        for parts in [[*top, recent, *below], [*top, *below]]:
            shown = [self._wrapped(part) for part in parts if part]
            if self._place.draw(shown, _PROMPT_LINES):
                return True
        return False

    def _wrapped(self, part: RenderableType) -> RenderableType:
        text = Text(part) if isinstance(part, str) else part
        if isinstance(text, Text) and not text.no_wrap:
            return wrapped(text, self.console.width)
        return text

    def _title(self) -> Rule:
        line = "─" if self._medium.box else "-"
        return Rule(
            Text(self.skin.title, "bold"), align="left", characters=line, style="bright_black"
        )

    def _sides(self) -> Text:
        return Text.assemble(self.side_text(0), "  against  ", self.side_text(1))

    def _moves_text(self) -> str:
        setup = "" if self.skin.setup == SETUPS[0] else f"setup={self.skin.setup} "
        return f"{setup}moves={self.skin.notation.list_text(self._session.actions)}"

    def _board(self) -> RenderableType:
        session = self._session
        is_asked = not session.over and self._names[session.player] is None
        previous = session.previous_state
        board = draw_board(
            session.game,
            self.skin,
            session.state,
            self._medium,
            previous,
            labels=is_asked,
            numbered=True,
        )
        width = max(line.cell_len for line in board.split())
        if not self.console.is_terminal or width + _STATUS_WIDTH + 6 > self.console.width:
            return board
        grid = Table.grid(padding=(0, 3))
        grid.add_column()
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True, overflow="ellipsis")
        grid.add_row(Text("  "), board, self._status())
        return grid

    def _status(self) -> Text:
        """Return the lines beside the board."""
        session = self._session
        lines = [Text(), self.side_text(0), self.side_text(1), Text()]
        if self.skin.counts_pieces:
            lines.append(Text(count_text(session, self.skin)))
        if session.over:
            lines.append(Text(f"The game is over after {counted(len(session.actions), 'move')}."))
        else:
            mover = f"{self.skin.sides[session.player]} to move"
            lines.append(Text.assemble(f"Move {len(session.actions) + 1}: ", (mover, "bold")))
        if session.actions:
            last = self.skin.notation.text(session.actions[-1])
            lines.append(Text(f"Last move: {last}", "dim"))
        if self._last_analysis is not None and not math.isnan(self._last_analysis[1].value):
            player, analysis = self._last_analysis
            expects = expectation_text(analysis.value)
            lines.append(Text(f"{self.skin.sides[player]} expects: {expects}", "dim"))
        return Text("\n").join(lines)
