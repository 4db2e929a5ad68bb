"""Play a game at the terminal: people type moves, engines reply, and boards are drawn in between.

Input that is neither a move nor a command gets a one-line explanation, and the user can try again.
The end of the input and Ctrl-C end the game.
"""

import functools
import math
import time
from collections.abc import Callable, Iterable, Sequence

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from alphazero.boards.session import Session
from alphazero.boards.skin import Skin, skin_of
from alphazero.boards.text import expectation_text
from alphazero.games.batched_game import Game
from alphazero.play.screen import Screen, line_reader, move_name, prompt, read_move
from alphazero.players.base import Analysis, Player
from alphazero.runtime.console import Console, counted

#: The commands: name -> (short name, help text).
COMMANDS = {
    "undo": ("u", "take back moves to your previous turn, even when the game is over"),
    "hint": ("h", "show what an engine would play here"),
    "moves": ("m", "list the moves so far, to start another game from here"),
    "board": ("b", "draw the board again"),
    "rematch": ("r", "play another game, when this one is over"),
    "swap": ("s", "play another game with the sides swapped, when this one is over"),
    "help": ("?", "show this list"),
    "quit": ("q", "leave the game"),
}
_END_PROMPT = "r: rematch, s: rematch with sides swapped, u: undo, q: quit > "
DELAY_S = 1.0  #: number of seconds after which a search shows a progress bar
_MAX_LINE = 12  # most moves of an expected line that are shown
_NAMES = {name: name for name in COMMANDS} | {"exit": "quit"}
_NAMES |= {short: name for name, (short, _) in COMMANDS.items()}


class HumanPlayer:
    """A person at the terminal, whom `TerminalGame` asks for moves."""

    name = "human"


class TerminalGame:
    """A game at the terminal between two players, each a person or an engine.

    Args:
        game: the game to play.
        players: the player who begins the game, then the other.
        console: the console on which boards, moves and messages are printed.
        read_line: prints a prompt and returns a typed line; raises EOFError at the end of the
            input. None means that lines are read from standard input.
        adviser: makes the player that gives hints, when the first hint is requested; it returns
            None if there is none.
        moves: actions already played at the start of the game, and of each rematch.
        skin: how the game is drawn; None means the game's default skin.
        introduction: text to print at the start.
    """

    def __init__(
        self,
        game: Game,
        players: tuple[HumanPlayer | Player, HumanPlayer | Player],
        console: Console,
        read_line: Callable[[str], str] | None,
        adviser: Callable[[], Player | None] = lambda: None,
        moves: Iterable[int] = (),
        skin: Skin | None = None,
        introduction: str = "",
    ):
        self.game = game
        self.players = players
        self.session = Session(game, moves)
        self._start = list(self.session.actions)
        skin = skin or skin_of(game)
        self._screen = Screen(self.session, skin, self._names(), console)
        self._has_person = any(map(self._is_human, (0, 1)))
        self._introduction = introduction
        self._read_line = read_line or line_reader(console)
        self._adviser = functools.cache(adviser)

    def run(self) -> int | None:
        """Play the game, and continue as long as a person takes back moves or starts a rematch.

        Returns:
            The winner of the last game, 0 for the player who began it, or 1; None for a draw, or if
            a person quit before its end.
        """
        self._begin(self._introduction)
        try:
            self._play_on()
            while self._has_person:
                self._ask(_END_PROMPT)
                self._play_on()
        except (EOFError, KeyboardInterrupt):
            self._screen.print_goodbye()
        return self.session.winner if self.session.over else None

    def _begin(self, introduction: str) -> None:
        self._screen.print_start(introduction)
        if (self._has_person or self.session.actions) and not self.session.over:
            self._screen.print_board()

    def _play_on(self) -> None:
        """Play from the current position to the end of the game, and print the result."""
        while not self.session.over:
            self._play_turn()
        self._screen.print_result()

    def _names(self) -> tuple[str | None, str | None]:
        """Return the names of both players, with None for a person."""
        first, second = self.players
        return (
            None if isinstance(first, HumanPlayer) else first.name,
            None if isinstance(second, HumanPlayer) else second.name,
        )

    # --- turns ------------------------------------------------------------------------------------

    def _play_turn(self) -> None:
        session = self.session
        player = session.player
        engine = self.players[player]
        if session.is_forced_pass():
            self._screen.print_pass(player)
            session.play(session.legal_actions[0])
        elif isinstance(engine, HumanPlayer):
            self._ask(prompt(session, self._screen.skin))
        else:
            self._engine_turn(player, engine)

    def _engine_turn(self, player: int, engine: Player) -> None:
        start_s = time.monotonic()
        text = f"{self._screen.skin.sides[player]} is thinking"
        analysis = self._think(engine, text)
        seconds = time.monotonic() - start_s
        notes = []
        if not math.isnan(analysis.value):
            notes.append(f"value {expectation_text(analysis.value, self.game)}")
        if analysis.num_simulations:
            notes.append(f"{counted(analysis.num_simulations, 'simulation')}, {seconds:.1f} s")
        self._play(player, analysis.action, ", ".join(notes))

    def _ask(self, question: str) -> None:
        """Ask a person for moves and commands until one of them has changed the position.

        Raises:
            EOFError: if the person quits, or the input ends.
        """
        while True:
            typed = self._read_line(question).strip()
            command = _NAMES.get(typed.lower())
            if command:
                has_changed = self._run_command(command)
            else:
                has_changed = self._play_typed(typed)
            if has_changed:
                return

    def _play_typed(self, typed: str) -> bool:
        """Play the move that a person typed, or print why it is not a legal move.

        Returns:
            Whether a move was played.
        """
        session = self.session
        if session.over:
            self._screen.warn("The game is over: type r, s, u, q or 'help'.")
            return False
        try:
            action = read_move(session, self._screen.skin, typed)
        except ValueError as error:
            message = str(error)
            self._screen.warn(message[:1].upper() + message[1:])
            return False
        self._play(session.player, action, "")
        return True

    def _play(self, player: int, action: int, notes: str) -> None:
        """Play a move and print it, and draw the board if a person is asked for the next one.

        Args:
            player: the player who moves, 0 or 1.
            action: the number of the move.
            notes: text to print after the move, such as the engine's value of the position; "" if
                there are none.
        """
        session = self.session
        session.play(action)
        self._screen.print_move(player, action, notes)
        answer_follows = self._is_human(player) and not self._is_human(session.player)
        if self._has_person and not session.over and not answer_follows:
            self._screen.print_board()

    # --- commands ---------------------------------------------------------------------------------

    def _run_command(self, command: str) -> bool:
        """Run a command of `COMMANDS`; return whether it changed the position."""
        commands = {
            "undo": self._undo,
            "hint": self._hint,
            "moves": self._screen.print_moves,
            "board": self._screen.print_board,
            "rematch": lambda: self._rematch(is_swapped=False),
            "swap": lambda: self._rematch(is_swapped=True),
            "help": self._help,
            "quit": self._quit,
        }
        return bool(commands[command]())

    def _undo(self) -> bool:
        """Take back moves to a person's previous turn; return whether that was possible.

        If there is no such turn, a warning is printed.
        """
        num_taken_back = self.session.take_back(self._is_human)
        if not num_taken_back:
            self._screen.warn("You have no move to take back.")
            return False
        self._screen.print_taken_back(num_taken_back)
        return True

    def _rematch(self, is_swapped: bool) -> bool:
        """If the game is over, start another one from the same starting position.

        Args:
            is_swapped: whether the players swap sides.

        Returns:
            Whether a game was started; if not, the reason was printed.
        """
        if not self.session.over:
            self._screen.warn("A rematch is possible only when the game is over.")
            return False
        if is_swapped:
            self.players = self.players[::-1]
        self.session = Session(self.game, self._start)
        screen = self._screen
        self._screen = Screen(self.session, screen.skin, self._names(), screen.console)
        after = f"This game also starts after {counted(len(self._start), 'move')}."
        self._begin(after if self._start else "")
        return True

    def _quit(self) -> None:
        raise EOFError

    def _hint(self) -> None:
        adviser = None if self.session.over else self._adviser()
        if adviser is None:
            self._screen.warn("No hint: the game is over, or no engine is available.")
            return
        try:
            analysis = self._think(adviser, "Looking for a hint")
        except ValueError as error:
            self._screen.warn(f"No hint: {error}")
            return
        skin = self._screen.skin
        text = Text.assemble("Hint: ", (skin.notation.text(analysis.action), "bold"))
        if not math.isnan(analysis.value):
            text.append(f", value for you {expectation_text(analysis.value, self.game)}")
        text.append(f", expected line {_line_text(skin, analysis.principal_variation)}.")
        self._screen.console.print(text)

    def _help(self) -> None:
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        for name, (short, meaning) in COMMANDS.items():
            table.add_row(f"  {name} or {short}", meaning)
        text = f"Type {move_name(self.session, self._screen.skin)} to move, or one of these:"
        self._screen.console.print(Text(text))
        self._screen.console.print(table)

    def _is_human(self, player: int) -> bool:
        return isinstance(self.players[player], HumanPlayer)

    def _think(self, player: Player, text: str) -> Analysis:
        """Let a player analyse the position, showing a progress bar after `DELAY_S` seconds.

        If the player is limited by time alone, the bar moves without showing progress.

        Args:
            player: the player that analyses.
            text: description of the work, such as "White is thinking", shown beside the bar.
        """
        console = self._screen.console
        start_s = time.monotonic()
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TaskProgressColumn())
        bar = Progress(*columns, TimeRemainingColumn(), console=console, transient=True)
        task = bar.add_task(text, total=None)

        def show(done: int, total: int | None) -> None:
            if console.is_terminal and time.monotonic() - start_s >= DELAY_S:
                description = f"{text}: {counted(done, 'simulation')}"
                bar.update(task, completed=done, total=total, description=description)
                bar.start()

        try:
            return player.analyse(self.session.state, show)
        finally:
            if bar.live.is_started:
                bar.stop()


def _line_text(skin: Skin, actions: Sequence[int]) -> str:
    """Format the first moves of an expected line in a skin's notation, as in "d3 c5"."""
    texts = [skin.notation.text(int(action)) for action in actions[:_MAX_LINE]]
    return " ".join(texts) + (" ..." if len(actions) > _MAX_LINE else "")
