"""Answer one JSON line on standard output for every JSON line on standard input. docs/engine.md
describes requests and answers.

    echo '{"game": "connect_four", "moves": [3, 3, 2]}' | alphazero engine
    alphazero engine player=uct num_simulations=5000
    echo '{"game": "tic_tac_toe", "moves": [0]}' | alphazero engine player=solver
    alphazero engine player=checkpoints/connect_four/RUN num_simulations=200

Nothing but responses is written to standard output. `alphazero.play.json_engine` computes them.
"""

import contextlib
import dataclasses
import io
import sys
from typing import TextIO

from alphazero.cli.players import PLAYER_HELP
from alphazero.config.settings import option
from alphazero.own_games.registry import make_game
from alphazero.play.json_engine import Engine, serve
from alphazero.players.base import PlayerSettings, endgame_option
from alphazero.players.registry import existing_network, is_path, read_spec
from alphazero.runtime.console import Console
from alphazero.runtime.process import claim_output


@dataclasses.dataclass
class Settings(PlayerSettings):
    """Settings of the `engine` command: the player, its search limits and the only game allowed.

    Search limits in a request replace those given here.
    """

    player: str = option("auto", f"who answers: {PLAYER_HELP}; auto is best, otherwise uct")
    game: str | None = option(None, "the only game to play; a game file of your own must be named")
    endgame: str = endgame_option("auto")


def run(settings: Settings, console: Console) -> None:
    """Answer each line of JSON on standard input with one on standard output, until input ends.

    Raises:
        ConfigError: if the player or the game does not exist.
    """
    if isinstance(sys.stdin, io.TextIOWrapper):
        # Invalid UTF-8 spoils its line, but does not stop the engine. A carriage return, which JSON
        # allows between values, does not end a line.
        sys.stdin.reconfigure(encoding="utf-8", errors="replace", newline="\n")
    answer(settings, sys.stdin, claim_output())


def answer(settings: Settings, requests: TextIO, answers: TextIO) -> None:
    """Read requests from one stream and write responses to another, until end of input or Ctrl-C.

    Args:
        settings: the player that answers, its search limits, and the only game allowed, if any.
        requests: the stream of requests, one JSON object per line.
        answers: the stream of responses, one JSON object per line.

    Raises:
        ConfigError: if the player or the game does not exist.
    """
    # Text printed by a library or a game must not appear between the responses.
    with contextlib.redirect_stdout(sys.stderr):
        engine = make_engine(settings)
        with contextlib.suppress(KeyboardInterrupt):
            serve(engine, requests, answers)


def make_engine(settings: Settings) -> Engine:
    """Make the JSON engine; if the game is already known, load and warm up its player.

    The game is known if the settings name one or if the player is the path of a network.

    Raises:
        ConfigError: if the player or the game does not exist.
    """
    kind, _ = read_spec(settings.player, settings)
    game = None
    if kind != "auto" and is_path(kind):
        from alphazero.players.network import game_of_network

        path = existing_network(kind, settings.player, "")
        game = game_of_network(path, settings.game).name
    elif settings.game is not None:
        game = make_game(settings.game).name
    engine = Engine(settings.player, settings, game)
    if game is not None:
        engine.warm_up(game)
    return engine
