"""A player behind the Go Text Protocol: another program's Othello engine, such as Debian's gtp-rhino.

In: the moves of a game so far. Out: the engine's move. Gunnar Farnebäck, "Specification of the Go Text Protocol", version 2, 2002: one command for a line;
the answer begins with = or, for an error, with ?, and ends with an empty line. Columns are letters from the left, rows are numbers, here from
the top, as Othello counts them; black moves first.

The board is mirrored on the way: elsewhere black begins with discs on e4 and d5, here on d4 and e5.
"""

import math
import shlex
import subprocess
from collections.abc import Sequence

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.base import Choice

_COLOURS = ("black", "white")


class GtpPlayer:
    """Asks an engine that runs beside this program, and lives as long as the player does.

    Args:
        command: the engine's command line, such as ``gtp-rhino --level 4``.

    Raises:
        ValueError: with one plain sentence if the game is not Othello, or the engine cannot be started, says no, or ends.
    """

    batch_size = 1

    def __init__(self, game: Game, command: str):
        self.game = game
        self.name = command
        self._process = None
        self._size = math.isqrt(game.num_actions - 1)
        if type(getattr(game, "rules", None)).__name__ != "Othello":
            raise ValueError(f"an engine behind GTP plays Othello here, not {game.name}.")
        try:
            self._process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        except (OSError, ValueError, IndexError) as error:
            raise ValueError(
                f"the engine '{command}' cannot be started: {getattr(error, 'strerror', None) or 'there is no command'}."
            ) from None
        self._ask(f"boardsize {self._size}")

    def __del__(self):
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def choose_after(self, histories: Sequence[Sequence[int]], states: np.ndarray) -> Choice:
        """Choose a move in each of B unfinished positions ([B, K]), which the moves of ``histories`` led to from the start of the game."""
        actions = np.array([self._move_after(moves) for moves in histories], np.int32)
        weights = np.eye(self.game.num_actions, dtype=np.float32)[actions]
        return Choice(actions, weights, np.full(len(actions), np.nan, np.float32))

    def choose(self, states: np.ndarray) -> Choice:
        raise ValueError(
            f"the engine '{self.name}' must be told how a position came about: it plays in 'alphazero match' and 'alphazero rate' only."
        )

    def analyse(self, state: np.ndarray, progress=None):
        self.choose(state[None])

    def limited(self, num_simulations: int | None, time_limit_s: float | None) -> "GtpPlayer":
        return self

    def _move_after(self, moves: Sequence[int]) -> int:
        """Return the engine's move after these. Passes are told too, though some engines make them by themselves and refuse the word."""
        self._ask("clear_board")
        for ply, move in enumerate(moves):
            self._ask(
                f"play {_COLOURS[ply % 2]} {self._vertex(move)}", may_refuse=move == self._pass
            )
        return self._action(self._ask(f"genmove {_COLOURS[len(moves) % 2]}"))

    @property
    def _pass(self) -> int:
        return self._size * self._size

    def _vertex(self, action: int) -> str:
        if action == self._pass:
            return "pass"
        row, column = divmod(action, self._size)
        return f"{chr(ord('a') + self._size - 1 - column)}{row + 1}"

    def _action(self, vertex: str) -> int:
        vertex = vertex.strip().lower()
        if vertex == "pass":
            return self._pass
        column, row = (
            ord(vertex[:1] or "?") - ord("a"),
            int(vertex[1:]) - 1 if vertex[1:].isdecimal() else -1,
        )
        if not (0 <= column < self._size and 0 <= row < self._size):
            raise ValueError(f"the engine '{self.name}' answered '{vertex}', which is no square.")
        return row * self._size + self._size - 1 - column

    def _ask(self, command: str, may_refuse: bool = False) -> str:
        """Return the text of the engine's answer; what it says beside answers goes to nobody."""
        try:
            self._process.stdin.write(command + "\n")
            self._process.stdin.flush()
            first = self._process.stdout.readline()
        except OSError:
            first = ""
        if not first.startswith(("=", "?")):
            found = f"answered '{first.strip()}'" if first else "ended"
            raise ValueError(
                f"the engine '{self.name}' {found} at '{command}': that is not the Go Text Protocol."
            )
        others = list(
            iter(lambda: self._process.stdout.readline().rstrip(), "")
        )  # up to the empty line, or to the end of all
        if first.startswith("?") and not may_refuse:
            raise ValueError(
                f"the engine '{self.name}' refused '{command}': {first[1:].strip() or 'no reason given'}."
            )
        return "\n".join([first[1:].strip(), *others]).strip()
