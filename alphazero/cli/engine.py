"""`alphazero engine`: answers one JSON line on standard output for every JSON line on standard input."""

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
    "Answer one JSON line on standard output for every JSON line on standard input (docs/PLAY.md)."
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

    network: str | None = option(
        None, "the path of a network or of a run; without it the player below answers"
    )
    game: str | None = option(
        None, "the only game to play; your own game's file must be named here, also for a network"
    )
    player: str = option(
        "auto",
        "who answers where no network is named: best is the network that ships with the game, auto is best or, where none ships, uct; solver plays perfectly",
        choices=("auto", "best", "uct", "random", "solver"),
    )


@dataclasses.dataclass
class EngineSettings(PlayerSettings, EngineOptions):
    """The settings of the command; ``num_simulations`` and ``time_limit_s`` of a request replace those given here."""


def main(words: list[str], requests=None, answers=None) -> int:
    """Answer requests until they end.

    Args:
        requests, answers: text streams in place of standard input and output.
    """
    if {"-h", "--help"} & set(words):
        from alphazero.cli.help_text import print_help

        print_help("engine", SUMMARY, EngineSettings(), EXAMPLES)
        return 0
    settings = from_overrides(EngineSettings, words, COMMAND)
    jit.announce_first_compilation()
    engine = _make_engine(settings)
    requests = requests or _tolerant(sys.stdin)
    answers = answers or sys.stdout
    # Whatever a library prints must not end up between the answers.
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(KeyboardInterrupt):
        try:
            serve(engine, requests, answers)
        except BrokenPipeError:  # the other program is gone; the interpreter must not complain when it flushes at its end
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
    """Let bytes that are not UTF-8 arrive as marks of replacement: they make a bad line, not the end of the engine."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="replace")
    return stream
