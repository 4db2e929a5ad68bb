"""`alphazero engine`: answer a JSON line on standard output for each one on standard input.

In: requests of another program, see `alphazero.play.json_engine`. Out: answers, and nothing else on
standard output.
"""

import contextlib
import dataclasses
import io
import os
import sys

from alphazero.games.registry import make_game, make_stored_game
from alphazero.play.json_engine import Engine, serve
from alphazero.players.base import PlayerSettings
from alphazero.runtime import jit
from alphazero.runtime.overrides import from_overrides
from alphazero.runtime.settings import option

COMMAND = "alphazero engine"
SUMMARY = (
    "Answer one JSON line on standard output for every JSON line on standard input. "
    "docs/PLAY.md describes requests and answers."
)
EXAMPLES = [
    """echo '{"game": "connect_four", "moves": [3, 3, 2]}' | alphazero engine""",
    "alphazero engine player=uct num_simulations=5000",
    """echo '{"game": "tic_tac_toe", "moves": [0]}' | alphazero engine player=solver""",
    "alphazero engine network=checkpoints/connect_four/RUN num_simulations=200",
]


@dataclasses.dataclass
class EngineOptions:
    """Who answers."""

    network: str | None = option(None, "the path of a network or a run, in place of a player")
    player: str = option(
        "auto",
        "who answers without network=: best is the network that ships with the game; auto is best, "
        "or uct where none ships; solver plays perfectly",
        choices=("auto", "best", "uct", "random", "solver"),
    )
    game: str | None = option(
        None, "the only game to play; needed for a game file of your own, also with network="
    )


@dataclasses.dataclass
class EngineSettings(PlayerSettings, EngineOptions):
    """The settings of the command; a request's own limits replace those given here."""


def main(arguments: list[str], requests=None, answers=None) -> int:
    """Answer requests until they end.

    Args:
        requests, answers: text streams in place of standard input and output.
    """
    if {"-h", "--help"} & set(arguments):
        from alphazero.cli.output.help_text import print_help

        print_help("engine", SUMMARY, EngineSettings(), EXAMPLES)
        return 0
    settings = from_overrides(EngineSettings, arguments, COMMAND)
    jit.announce_first_compilation()
    engine = _make_engine(settings)
    requests = requests or _tolerant(sys.stdin)
    answers = answers or sys.stdout
    # What a library prints must not appear between the answers.
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(KeyboardInterrupt):
        try:
            serve(engine, requests, answers)
        except BrokenPipeError:
            # The other program is gone. Without this the interpreter fails when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), answers.fileno())
    return 0


def _make_engine(settings: EngineSettings) -> Engine:
    if settings.network is None:
        game = None if settings.game is None else make_game(settings.game).name
        return Engine(settings.player, settings, game)
    from alphazero.players.network import network_file_game

    stored_game, source = network_file_game(settings.network), f"the network '{settings.network}'"
    game = make_stored_game(stored_game, source, settings.game).name
    engine = Engine(f"network:{settings.network}", settings, game)
    engine.warm_up(game)
    return engine


def _tolerant(stream):
    """Replace bytes that are not UTF-8, so that they make a bad line and do not end the engine."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="replace")
    return stream
