"""What a game at the terminal prints: the title, boards, moves and the result.

In: a session, its players' names and a console. Out: text on the console.
`alphazero.play.terminal` decides what is printed when.
"""

import math

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from alphazero.play.board import Medium, draw_board, side
from alphazero.play.move_text import count_text
from alphazero.play.session import Session
from alphazero.play.skin import skin_of
from alphazero.play.view import analysis_view, expectation_text
from alphazero.players.base import Analysis

_STATUS_WIDTH = 34


class Screen:
    """The console of one game.

    Args:
        names: the players' names, first the one who moves first in the game; None is a person.
    """

    def __init__(self, session: Session, names: tuple[str | None, str | None], console: Console):
        self.console = console
        self.skin = skin_of(session.game)
        self._session, self._names = session, names
        self._medium = Medium.of(console)
        self._last_analysis: tuple[int, Analysis] | None = None

    def note_analysis(self, player: int | None, analysis: Analysis | None = None) -> None:
        """Keep a player's analysis of its move for the status and the view; None drops it."""
        self._last_analysis = None if player is None else (player, analysis)

    def print_start(self) -> None:
        """Print the title and who plays."""
        line = "─" if self._medium.box else "-"
        title = Text(self.skin.title, "bold")
        self.console.print(Rule(title, align="left", characters=line, style="bright_black"))
        sides = Text.assemble(self.side_text(0), "  against  ", self.side_text(1))
        self.console.print(sides, soft_wrap=True)
        if None in self._names:
            text = "Type 'help' for the commands: take back, hint, the engine's view and more."
            self.console.print(Text(text, "dim"))

    def print_move(self, player: int, action: int, notes: str) -> None:
        """Print the move just made."""
        number, move = len(self._session.actions), self._session.game.action_to_text(action)
        line = Text.assemble((f"{number:>3}. ", "dim"), self.side_text(player), " plays ")
        line.append(move, "bold")
        if notes:
            line.append(f"   {notes}", "dim")
        self.console.print(line, soft_wrap=True)

    def print_pass(self, player: int) -> None:
        """Say that a player has no move."""
        self.console.print(Text.assemble(self.side_text(player), " has no legal move and passes."))

    def print_board(self) -> None:
        """Print the position, with the status beside it where the terminal is wide enough."""
        session = self._session
        is_asked = not session.over and self._names[session.player] is None
        previous = session.previous_state
        board = draw_board(
            session.game, self.skin, session.state, self._medium, previous, labels=is_asked
        )
        self.console.print()
        width = max(line.cell_len for line in board.split())
        if self.console.is_terminal and width + _STATUS_WIDTH + 6 <= self.console.width:
            grid = Table.grid(padding=(0, 3))
            grid.add_row(Text("  "), board, self._status())
            self.console.print(grid)
        else:
            self.console.print(board, soft_wrap=True)
        self.console.print()

    def print_view(self) -> None:
        """Print what the last engine to move thought."""
        if self._last_analysis is None:
            self.warn("No engine has moved since your last turn, so there is no view to show.")
            return
        player, analysis = self._last_analysis
        view = analysis_view(self._session.game, self.skin, player, analysis, self._medium)
        self.console.print(view)

    def print_moves(self) -> None:
        """Print the moves so far as ``moves=`` reads them, and as a person types them."""
        actions = self._session.actions
        numbers = ",".join(map(str, actions))
        plain = {"highlight": False, "markup": False, "soft_wrap": True}
        self.console.print(f"moves=[{numbers}]", **plain)
        typed = " ".join(map(self._session.game.action_to_text, actions))
        if typed and typed != numbers.replace(",", " "):
            self.console.print(f"as typed here: {typed}", style="dim", **plain)

    def print_result(self) -> None:
        """Print the final board and the winner."""
        self.print_board()
        winner = self._session.winner
        counts = ""
        if self.skin.counts_pieces:
            counts = f" {count_text(self._session, self.skin)}."
        if winner is None:
            self.console.print(Text(f"The game is a draw.{counts}", "bold"))
            return
        text = f" wins after {len(self._session.actions)} moves.{counts}"
        self.console.print(Text.assemble(self.side_text(winner), (text, "bold")))

    def print_goodbye(self) -> None:
        """Say how to continue an unfinished game."""
        self.console.print()
        self.console.print("The game ends here. To continue it another time, start with:")
        self.print_moves()

    def warn(self, text: str) -> None:
        """Print why nothing was done."""
        self.console.print(Text(text, "yellow"))

    def side_text(self, player: int) -> Text:
        """Return a player's piece, side and name."""
        name = self._names[player]
        if name is None:
            name = "human" if self._names[1 - player] is None else "you"
        mark = side(self._session.game, self.skin, player, self._medium)
        return Text.assemble(mark, (f" ({name})", "dim"))

    def _status(self) -> Text:
        """Return the lines beside the board."""
        session = self._session
        lines = [Text(), self.side_text(0), self.side_text(1), Text()]
        if self.skin.counts_pieces:
            lines.append(Text(count_text(session, self.skin)))
        if session.over:
            lines.append(Text(f"The game is over after {len(session.actions)} moves."))
        else:
            mover = f"{self.skin.sides[session.player]} to move"
            lines.append(Text.assemble(f"Move {len(session.actions) + 1}: ", (mover, "bold")))
        if session.actions:
            last = session.game.action_to_text(session.actions[-1])
            lines.append(Text(f"Last move: {last}", "dim"))
        if self._last_analysis is not None and not math.isnan(self._last_analysis[1].value):
            player, analysis = self._last_analysis
            expects = expectation_text(analysis.value)
            lines.append(Text(f"{self.skin.sides[player]} expects: {expects}", "dim"))
        return Text("\n").join(lines)
