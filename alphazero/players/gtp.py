"""A player whose moves come from an external Othello engine, such as gtp-rhino.

The player sends the moves of the game so far and receives the engine's next move, using the Go Text
Protocol (Gunnar Farnebäck, "Specification of the Go Text Protocol", version 2, 2002). A command is
one line; the answer begins with = or, for an error, with ?, and ends with an empty line. Empty
lines and comments, which begin with #, may come before the answer. In names of squares, columns are
letters from the left, and rows are numbers, here counted from the top, as usual in Othello.

The engine plays from the usual start position, in which the player who moves first is black; see
`alphazero.games.square_names`.
"""

import queue
import shlex
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import TextIO

import numpy as np

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.games.othello import Othello
from alphazero.games.othello_large import LargeOthello
from alphazero.games.square_names import named_square, square_name
from alphazero.players.base import RESIGN, Analysis, Choice, SearchProgress
from alphazero.runtime.errors import ConfigError, InputError

_COLORS = ("black", "white")
_MAX_SHOWN = 200  # maximum characters of an answer that an error message quotes
# Seconds in which an engine must choose a move, and answer any other command.
_MOVE_LIMIT_S = 1800
_ANSWER_LIMIT_S = 60


class GtpError(InputError):
    """An engine has broken the protocol or the rules of the game, or cannot do what is asked.

    Args:
        engine: the engine's command line.
        reason: what went wrong, as a clause that follows the engine's name in the message.
    """

    def __init__(self, engine: str, reason: str):
        super().__init__(f"the engine '{engine}' {reason}.")


class GtpPlayer:
    """A player whose moves come from an engine in a separate process; see `Player`.

    The process ends when the player is deleted. The engine needs the moves of the game, so only
    `choose_after` works; `choose` and `analyse` raise an error.

    Args:
        game: Othello, on a board size that the engine plays.
        command: the engine's command line, such as ``gtp-rhino --level 4``.

    Raises:
        ConfigError: if the game is not Othello, or the engine cannot be started.
        GtpError: if the engine refuses the board size, or does not follow the protocol.
    """

    batch_size = 1
    _process: subprocess.Popen[str] | None = None

    def __init__(self, game: Game, command: str):
        self.game = game
        self.name = command
        if not (isinstance(game, CompiledGame) and isinstance(game.rules, Othello | LargeOthello)):
            reason = "a GTP engine plays only Othello here"
            raise ConfigError.of("game", game.name, ["othello"], reason)
        self._size = game.rules.size
        self._process = _start(command)
        self._lines = queue.Queue[str](1000)
        arguments = self._process.stdout, self._lines
        threading.Thread(target=_read, args=arguments, daemon=True).start()
        self._ask(f"boardsize {self._size}")

    def __del__(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def choose_after(self, histories: Sequence[Sequence[int]], states: np.ndarray) -> Choice:
        """Choose a move in each of B unfinished positions, given the moves that led there.

        Args:
            histories: B sequences of actions from the start of the game.
            states: [B, K], the positions after these actions; they are not used.

        Returns:
            The engine's moves, `RESIGN` where it resigns; all values are NaN.

        Raises:
            GtpError: if the engine refuses a move, exits, or returns anything but a square.
        """
        actions = np.array([self._move_after(moves) for moves in histories], np.int32)
        is_chosen = np.arange(self.game.num_actions) == actions[:, None]
        values = np.full(len(actions), np.nan, np.float32)
        return Choice(actions, is_chosen.astype(np.float32), values)

    def choose(self, states: np.ndarray) -> Choice:
        """Raise `GtpError`, because the engine needs the moves that led to a position."""
        raise self._needs_moves()

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """Raise `GtpError`, because the engine needs the moves that led to a position."""
        raise self._needs_moves()

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> "GtpPlayer":
        """Return this player unchanged: an engine's limits are set on its command line."""
        return self

    def _move_after(self, moves: Sequence[int]) -> int:
        self._ask("clear_board")
        for ply, move in enumerate(moves):
            # Some engines pass on their own and then refuse the command to pass.
            vertex = square_name(move, self._size, mirrored=True)
            self._ask(f"play {_COLORS[ply % 2]} {vertex}", may_refuse=vertex == "pass")
        answer = self._ask(f"genmove {_COLORS[len(moves) % 2]}")
        first_line = answer.partition("\n")[0]
        word = first_line.partition("#")[0].strip().lower()
        if word == "resign":
            return RESIGN
        square = named_square(word, self._size, mirrored=True)
        if square is None:
            reason = f"answered '{_shown(answer)}', which is not a square"
            raise GtpError(self.name, reason)
        return square

    def _needs_moves(self) -> GtpError:
        reason = "needs the moves that led to a position: it plays only in 'alphazero match' and "
        return GtpError(self.name, f"{reason}'alphazero rate'")

    def _ask(self, request: str, may_refuse: bool = False) -> str:
        """Send a command to the engine and return the text of its answer.

        Args:
            request: the command, one line.
            may_refuse: whether the engine may answer with an error; the error's text is then
                returned.

        Raises:
            GtpError: if the engine refuses a command that it may not refuse, exits, breaks the
                protocol, or does not answer in time.
        """
        first, *others = [line.strip() for line in self._exchange(request)]
        if not first:
            raise GtpError(self.name, f"ended at '{request}'")
        if not first.startswith(("=", "?")):
            reason = f"answered '{_shown(first)}' at '{request}', which is not the Go Text Protocol"
            raise GtpError(self.name, reason)
        if first.startswith("?") and not may_refuse:
            reason = _shown(first[1:].strip()) or "no reason given"
            raise GtpError(self.name, f"refused '{request}': {reason}")
        return "\n".join([first[1:].strip(), *others]).strip()

    def _exchange(self, request: str) -> list[str]:
        """Send a command to the engine and return the lines of its answer.

        Args:
            request: the command, one line.

        Returns:
            The lines up to the empty line that ends the answer; [""] if the engine has exited.
        """
        process = self._process
        assert process and process.stdin
        limit_s = _MOVE_LIMIT_S if request.startswith("genmove") else _ANSWER_LIMIT_S
        end = time.monotonic() + limit_s
        lines: list[str] = []
        try:
            process.stdin.write(request + "\n")
            process.stdin.flush()
            # Read up to the empty line after the answer, or to the end of the output.
            while not lines or (lines[0].startswith(("=", "?")) and lines[-1].strip()):
                line = self._lines.get(timeout=end - time.monotonic())
                if not line:
                    self._lines.put(line)  # the end stays the end
                if lines or not (line.isspace() or line.startswith("#")):
                    lines.append(line)
        except OSError:
            return [""]
        except (queue.Empty, ValueError):  # no line in time, or no time left for another
            process.kill()
            reason = f"did not answer '{request}' within {limit_s:g} seconds"
            raise GtpError(self.name, reason) from None
        return lines


def _shown(answer: str) -> str:
    """Cut an engine's answer to 200 characters and drop unprintable ones, for an error message."""
    return "".join(letter for letter in answer[:_MAX_SHOWN] if letter.isprintable())


def _start(command: str) -> subprocess.Popen[str]:
    """Start an engine's process, discarding what it writes to standard error.

    Args:
        command: the engine's command line.

    Raises:
        ConfigError: if the process cannot be started.
    """
    try:
        return subprocess.Popen(
            shlex.split(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
        )
    except (OSError, ValueError, IndexError) as error:
        reason = getattr(error, "strerror", None) or "there is no command"
        message = f"the engine '{command}' cannot be started: {reason}."
        raise ConfigError(message, value=command) from None


def _read(output: TextIO, lines: queue.Queue[str]) -> None:
    """Put the lines of an engine's output into a queue, and "" at its end.

    Args:
        output: the engine's standard output.
        lines: the queue, which can be read with a time limit on every system.
    """
    for line in output:
        lines.put(line)
    lines.put("")
