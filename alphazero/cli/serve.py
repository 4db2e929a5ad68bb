"""Serve a page for the browser: play against networks, UCT and solvers, look into their search, and
see the training runs. docs/SERVE.md describes it.

    alphazero serve
    alphazero serve game=othello
    alphazero serve runs=checkpoints port=8080 open=false
    alphazero serve host=0.0.0.0 token=CHOOSE_ONE

The page is served until Ctrl-C. The server is in `alphazero.web`, and needs the libraries of the
extra [web].
"""

import contextlib
import dataclasses
import sys
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from alphazero.cli.players import DEFAULT_GAME
from alphazero.config.settings import option
from alphazero.own_games.registry import make_game
from alphazero.players.base import NETWORK_KIND_HELP
from alphazero.players.registry import check_player
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError, require
from alphazero.runtime.process import end_process, return_freed_memory

if TYPE_CHECKING:
    from alphazero.web.backend import Backend

_MIN_TOKEN = 8


@dataclasses.dataclass
class Settings:
    """Settings of the `serve` command: the games and players offered, and the server's address."""

    game: str | None = option(None, "the game that the page begins with; a file of your own is run")
    games: list[str] = option([], "more games of your own beside that one: [a.py,open_spiel:hex]")
    network_kind: str | None = option(None, NETWORK_KIND_HELP)
    players: list[str] = option([], "players of your own, as in 'alphazero match': [module:Class]")
    runs: str = option("checkpoints", "the folder of training runs, whose networks can be played")
    host: str = option("127.0.0.1", "the address; 0.0.0.0 for other machines, with a token")
    port: int | None = option(None, "by default the first free one from 8000 on", 1, 65_535)
    token: str | None = option(None, "what visitors must know; on 0.0.0.0 by default a new one")
    open: bool = option(True, "open the page in the browser of this machine")


def run(settings: Settings, console: Console) -> None:
    """Serve the page for the browser until Ctrl-C, then end the process.

    Raises:
        ConfigError: if a setting cannot be used, or a library for the server is missing.
    """
    _check(settings)
    require("web", "starlette", "uvicorn")
    from alphazero.web.backend import Backend
    from alphazero.web.server import Server, is_local

    named = [settings.game, *settings.games] if settings.game else settings.games
    games = [_playable(name) for name in named]
    for spec in settings.players:
        check_player(spec, games[0] if games else DEFAULT_GAME)
    return_freed_memory()
    backend = Backend(settings.runs, games, settings.network_kind, settings.players)
    server = Server(backend, settings.host, settings.port, settings.token)
    url = server.address.url
    print(f"The page is at {url}", flush=True)
    if not is_local(settings.host):
        print("Anyone who knows the address and its token can use it, unencrypted.")
    print("Ctrl-C ends it.", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        serving = threading.Thread(target=server.run, daemon=True)
        serving.start()
        # Otherwise the first move would wait for the network to load.
        threading.Thread(target=_warm_up, args=(backend,), daemon=True).start()
        if settings.open and sys.stdout.isatty():
            webbrowser.open(url)
        while serving.is_alive():
            serving.join(1.0)  # on Windows, Ctrl-C does not end a wait without a time limit
    end_process()  # other threads may still be loading networks or searching


def _playable(name: str) -> str:
    """Check that a game named by the user has two players, and return its full name.

    Raises:
        ConfigError: if there is no such game, or it has one player.
    """
    game = make_game(name)
    if game.num_players == 1:
        reason = "the page is for two players, and this game has one; 'alphazero play' plays it"
        raise ConfigError.of("game", game.name, reason=reason)
    return game.name


def _warm_up(backend: "Backend") -> None:
    with contextlib.suppress(ValueError, OSError):  # a request for the network reports the error
        backend.warm_up()


def _check(settings: Settings) -> None:
    """Check the folder of runs and the token, before the server's libraries are imported.

    Raises:
        ConfigError: if the user named a folder that does not exist, or the token is shorter than 8
            characters or contains a space or a character outside ASCII.
    """
    if settings.runs != Settings().runs and not Path(settings.runs).is_dir():
        raise ConfigError.of("runs", settings.runs, reason="there is no such folder")
    token = settings.token
    if token is None:
        return
    if len(token) < _MIN_TOKEN or not token.isascii() or " " in token:
        allowed = f"{_MIN_TOKEN} or more characters of ASCII without spaces"
        raise ConfigError.of("token", token, allowed)
