"""A game at a terminal: people type their moves, engines answer, the board is drawn in between.

In: a game, the two players and a console. Out: the game on the console. Everything typed that is not a move or a command gets one plain
sentence and another try; the end of the input and Ctrl-C end the game politely.
"""

import math
import sys
import time
from collections.abc import Callable

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from alphazero.games.batched_game import Game
from alphazero.play.board import Medium, draw_board, side
from alphazero.play.session import Session
from alphazero.play.skin import skin_of
from alphazero.play.thinking import Thinking
from alphazero.play.view import analysis_view, line_text, value_text
from alphazero.players.base import Analysis, Player

COMMANDS = {
    "undo": ("u", "take back, to your own previous turn"),
    "hint": ("h", "what an engine would play here"),
    "view": ("v", "the engine's view of its last move: visits, value, expected line"),
    "moves": ("m", "the moves so far, to start another game from"),
    "board": ("b", "draw the board again"),
    "help": ("?", "this list"),
    "quit": ("q", "end the game"),
}
_NAMES = (
    {name: name for name in COMMANDS}
    | {short: name for name, (short, _) in COMMANDS.items()}
    | {"exit": "quit"}
)
MAX_TYPED = 80
_SIDE_WIDTH = 34


class HumanPlayer:
    """A person at the terminal; `TerminalGame` asks for the moves."""

    name = "human"


class TerminalGame:
    """One game between two players, people among them or not.

    Args:
        players: the one who moves first in the game at first; a `HumanPlayer` or a `Player`.
        console: where everything is printed.
        read_line: given a prompt, returns what a person typed; raises EOFError at the end of the input.
        adviser: makes the player that gives hints; called at the first hint.
        moves: actions to start from.
        every_board: whether the board is drawn after each move, or at the end alone.
    """

    def __init__(
        self,
        game: Game,
        players: tuple[HumanPlayer | Player, HumanPlayer | Player],
        console: Console,
        read_line: Callable[[str], str] | None = None,
        adviser: Callable[[], Player] | None = None,
        moves=(),
        every_board: bool = True,
    ):
        self.game = game
        self.players = players
        self.console = console
        self.skin = skin_of(game)
        self.medium = Medium.of(console)
        self.session = Session(game, moves)
        self.every_board = every_board
        self._read_line = read_line or line_reader(console)
        self._make_adviser = adviser
        self._adviser: Player | None = None
        self._last_analysis: tuple[int, Analysis] | None = (
            None  # the player who moved, and what it thought
        )

    def run(self) -> int | None:
        """Play to the end.

        Returns:
            The winner, 0 for the player who moved first in the game; None for a draw, and for a game that a person has ended.
        """
        self._print_start()
        try:
            while not self.session.over:
                self._play_turn()
        except (EOFError, KeyboardInterrupt):
            self._print_goodbye()
            return None
        return self._print_result()

    # --- turns --------------------------------------------------------------------------------------------------------------------------

    def _play_turn(self) -> None:
        session, player = self.session, self.session.player
        if session.is_forced_pass():
            self.console.print(Text.assemble(self._side(player), " has no legal move and passes."))
            session.play(session.legal_actions[0])
        elif self._is_human(player):
            self._human_turn(player)
        else:
            self._engine_turn(player)

    def _engine_turn(self, player: int) -> None:
        start_s = time.monotonic()
        analysis = self._think(self.players[player], f"{self.skin.sides[player]} is thinking")
        self._last_analysis = (player, analysis)
        self.session.play(analysis.action)
        notes = [f"value {value_text(analysis.value)}"] if not math.isnan(analysis.value) else []
        if analysis.num_simulations:
            notes += [
                f"{analysis.num_simulations:,} simulations",
                f"{time.monotonic() - start_s:.1f} s",
            ]
        self._print_move(player, analysis.action, ", ".join(notes))

    def _human_turn(self, player: int) -> None:
        """Ask until a move is played, the game goes back, or the person leaves."""
        while True:
            typed = self._read_line(
                f"{self.skin.sides[player]}, your move{self._what_to_type()}: "
            ).strip()
            command = _NAMES.get(typed.lower())
            if command == "quit":
                raise EOFError
            if command == "undo":
                if self._undo():
                    return
            elif command is not None:
                getattr(self, f"_{command}")()
            else:
                refusal = self._try_move(player, typed)
                if not refusal:
                    return
                self.console.print(Text(refusal, "yellow"))

    def _try_move(self, player: int, typed: str) -> str:
        """Play what was typed; return '' or a sentence that says why it is not played."""
        if not typed:
            return f"Type {self._a_move()}, or 'help' for the commands."
        if len(typed) > MAX_TYPED:
            return f"That is {len(typed)} characters long; type {self._a_move()}, or 'help' for the commands."
        try:
            action = self.game.text_to_action(typed)
        except ValueError as error:
            sentence = str(error)
            hint = (
                ""
                if any(character.isdigit() for character in typed)
                else " ('help' lists the commands.)"
            )
            return sentence[:1].upper() + sentence[1:] + hint
        if action not in self.session.legal_actions:
            return self._why_illegal(action)
        self.session.play(action)
        self._print_move(player, action, "")
        return ""

    def _why_illegal(self, action: int) -> str:
        board, text = self.game.cells(self.session.state), self.game.action_to_text(action)
        legal = [self.game.action_to_text(other) for other in self.session.legal_actions]
        choice = f"choose one of {', '.join(legal)}."
        if self.game.num_actions == board.shape[1]:
            return f"Column {text} is full: {choice}"
        if action == board.size:
            return f"You cannot pass while you have a move: {choice}"
        if action < board.size and self.game.num_actions >= board.size:
            if board.flat[action]:
                return f"Square {text} is taken: {choice}"
            if self.skin.counts_pieces:
                return f"A disc on {text} would turn none of the other colour: {choice}"
        return f"'{text}' is not legal here: {choice}"

    # --- commands -----------------------------------------------------------------------------------------------------------------------

    def _undo(self) -> bool:
        num_taken_back = self.session.take_back(self._is_human)
        if not num_taken_back:
            self.console.print(Text("There is no move of yours to take back.", "yellow"))
            return False
        self._last_analysis = None
        self.console.print(f"Took back {num_taken_back} move{'s' if num_taken_back > 1 else ''}.")
        self._print_board()
        return True

    def _hint(self) -> None:
        if self._adviser is None:
            engines = [player for player in self.players if not isinstance(player, HumanPlayer)]
            self._adviser = (
                self._make_adviser() if self._make_adviser else engines[0] if engines else None
            )
        if self._adviser is None:
            self.console.print(Text("There is no engine that could give a hint.", "yellow"))
            return
        try:
            analysis = self._think(self._adviser, "Looking for a hint")
        except ValueError as error:
            self.console.print(Text(f"There is no hint: {error}", "yellow"))
            return
        text = Text.assemble("Hint: ", (self.game.action_to_text(analysis.action), "bold"))
        if not math.isnan(analysis.value):
            text.append(f", value for you {value_text(analysis.value)}")
        self.console.print(
            text.append(f", expected line {line_text(self.game, analysis.principal_variation)}.")
        )

    def _view(self) -> None:
        if self._last_analysis is None:
            self.console.print(
                Text(
                    "No engine has moved since you last could ask: there is no view to show.",
                    "yellow",
                )
            )
            return
        player, analysis = self._last_analysis
        self.console.print(analysis_view(self.game, self.skin, player, analysis, self.medium))

    def _moves(self) -> None:
        numbers = ",".join(map(str, self.session.actions))
        self.console.print(f"moves=[{numbers}]", highlight=False, markup=False, soft_wrap=True)
        typed = " ".join(self.game.action_to_text(action) for action in self.session.actions)
        if typed and typed != numbers.replace(",", " "):
            self.console.print(
                f"as typed here: {typed}", highlight=False, style="dim", soft_wrap=True
            )

    def _board(self) -> None:
        self._print_board()

    def _help(self) -> None:
        self.console.print(f"Type {self._a_move()} to move, or one of these:")
        for name, (short, meaning) in COMMANDS.items():
            self.console.print(Text(f"  {name + ' or ' + short:<12}{meaning}"))

    # --- printing -----------------------------------------------------------------------------------------------------------------------

    def _print_start(self) -> None:
        title = Text(self.skin.title, "bold")
        self.console.print(
            Rule(
                title,
                align="left",
                characters="─" if self.medium.box else "-",
                style="bright_black",
            )
        )
        self.console.print(
            Text.assemble(self._side(0), "  against  ", self._side(1)), soft_wrap=True
        )
        if any(map(self._is_human, (0, 1))):
            self.console.print(
                Text(
                    "Type 'help' for the commands: take-back, hint, the engine's view and more.",
                    "dim",
                )
            )
        if (self.every_board or self.session.actions) and not self.session.over:
            self._print_board()

    def _print_move(self, player: int, action: int, notes: str) -> None:
        number = f"{len(self.session.actions):>3}. "
        line = Text.assemble(
            (number, "dim"),
            self._side(player),
            " plays ",
            (self.game.action_to_text(action), "bold"),
        )
        if notes:
            line.append(f"   {notes}", "dim")
        self.console.print(line, soft_wrap=True)
        # One board for each round is enough: an engine's answer to a person's move follows at once.
        answer_follows = (
            self._is_human(player)
            and not self.session.over
            and not self._is_human(self.session.player)
        )
        if self.every_board and not answer_follows and not self.session.over:
            self._print_board()

    def _print_board(self) -> None:
        human_to_move = not self.session.over and self._is_human(self.session.player)
        board = draw_board(
            self.game,
            self.skin,
            self.session.state,
            self.medium,
            self.session.previous_state,
            labels=human_to_move,
        )
        self.console.print()
        width = max(line.cell_len for line in board.split())
        if self.console.is_terminal and width + _SIDE_WIDTH + 6 <= self.console.width:
            grid = Table.grid(padding=(0, 3))
            grid.add_row(Text("  "), board, self._status())
            self.console.print(grid)
        else:
            self.console.print(board, soft_wrap=True)
        self.console.print()

    def _status(self) -> Text:
        """Return the lines beside the board."""
        session = self.session
        lines = [Text(), self._side(0), self._side(1), Text()]
        if self.skin.counts_pieces:
            lines.append(Text(self._count_text()))
        if session.over:
            lines.append(Text(f"The game is over after {len(session.actions)} moves."))
        else:
            lines.append(
                Text.assemble(
                    f"Move {len(session.actions) + 1}: ",
                    (f"{self.skin.sides[session.player]} to move", "bold"),
                )
            )
        if session.actions:
            lines.append(Text(f"Last move: {self.game.action_to_text(session.actions[-1])}", "dim"))
        if self._last_analysis is not None and not math.isnan(self._last_analysis[1].value):
            player, analysis = self._last_analysis
            lines.append(
                Text(f"{self.skin.sides[player]} expects: {value_text(analysis.value)}", "dim")
            )
        return Text("\n").join(lines)

    def _print_result(self) -> int | None:
        self._print_board()
        winner = self.session.winner
        counts = f" {self._count_text()}." if self.skin.counts_pieces else ""
        if winner is None:
            self.console.print(Text(f"The game is a draw.{counts}", "bold"))
        else:
            self.console.print(
                Text.assemble(
                    self._side(winner),
                    (f" wins after {len(self.session.actions)} moves.{counts}", "bold"),
                )
            )
        return winner

    def _print_goodbye(self) -> None:
        self.console.print()
        self.console.print("The game ends here. To go on with it another time, start with:")
        self._moves()

    def _count_text(self) -> str:
        board = self.game.cells(self.session.state)
        return ", ".join(
            f"{side} {int((board == player + 1).sum())}"
            for player, side in enumerate(self.skin.sides)
        )

    # --- words --------------------------------------------------------------------------------------------------------------------------

    def _is_human(self, player: int) -> bool:
        return isinstance(self.players[player], HumanPlayer)

    def _side(self, player: int) -> Text:
        name = (
            "you"
            if self._is_human(player) and not self._is_human(1 - player)
            else self.players[player].name
        )
        return Text.assemble(side(self.game, self.skin, player, self.medium), (f" ({name})", "dim"))

    def _a_move(self) -> str:
        if " " in self.skin.move_range:
            return self.skin.move_range
        return (
            f"a {self.skin.move_word} ({self.skin.move_range})"
            if self.skin.move_range
            else f"a {self.skin.move_word}"
        )

    def _what_to_type(self) -> str:
        word, choice = self.skin.move_word, self.skin.move_range
        if not choice:
            return ""
        return f" ({choice})" if " " in choice else f" ({word} {choice})"

    def _think(self, player: Player, text: str) -> Analysis:
        settings = getattr(player, "settings", None)
        with Thinking(self.console, text, getattr(settings, "time_limit_s", None)) as thinking:
            return player.analyse(self.session.state, thinking)


def line_reader(console: Console, stream=None) -> Callable[[str], str]:
    """Return a reader of typed lines: with the terminal's own line editing, or from a stream, whose lines are then echoed.

    Raises (when called): EOFError at the end of the input.
    """
    stream = stream or sys.stdin

    def read(prompt: str) -> str:
        if stream is sys.stdin and stream.isatty():
            return console.input(Text(prompt, "bold"))
        console.print(Text(prompt, "bold"), end="")
        line = stream.readline()
        console.print(line.rstrip("\r\n"), markup=False, highlight=False, soft_wrap=True)
        if not line:
            raise EOFError
        return line

    return read
