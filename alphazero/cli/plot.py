"""Draw a picture: of a run's losses, of its error against an exact solver, or of a game, as an
animation or a sheet of boards.

    alphazero plot run=latest
    alphazero plot run=checkpoints/connect_four/RUN output=losses.png rolling_mean=10
    alphazero plot what=exact run=checkpoints/connect_four/A,checkpoints/connect_four/B
    alphazero plot what=game first=best second=uct:1000 output=game.gif
    alphazero plot what=game game=othello setup=standard moves=f5d6c3d3c4f4 output=moves.png

The path of the picture is printed.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from alphazero.boards.painter import FORMATS, check_picture
from alphazero.boards.session import Session
from alphazero.boards.skin import SETUPS, skin_of
from alphazero.cli.players import (
    GAME_HELP,
    MOVES_HELP,
    SETUP_HELP,
    check_second,
    choose_game,
    make_pair,
    read_start,
    warm_up,
)
from alphazero.config.settings import option
from alphazero.players.base import MAX_SIMULATIONS, Player, PlayerSettings
from alphazero.plots.game import PlayedGame, draw_game
from alphazero.plots.run import draw_exact_error, draw_run
from alphazero.runtime.console import Console
from alphazero.runtime.errors import require
from alphazero.storage.run_folder import RunFolder


@dataclasses.dataclass
class Settings:
    """Settings of the `plot` command: the kind of picture, what it shows, and the file to write."""

    what: str = option(
        "run",
        "a run as a whole, its error against an exact solver, or a game",
        choices=("run", "exact", "game"),
    )
    output: str = option(
        "",
        "picture to write (.png, .svg, .pdf; a game also .gif, an animation); by default in the "
        "(first) run, or game.gif here",
    )
    run: str = option("latest", "the run's folder, or latest; for exact, several with commas")
    root: str = option("checkpoints", "the folder of all runs, for latest")
    rolling_mean: int = option(5, "run: iterations in the rolling mean of the losses", 1, 10_000)
    game: str | None = option(None, f"game: {GAME_HELP}")
    setup: str = option(SETUPS[0], SETUP_HELP, choices=SETUPS)
    moves: str = option("", f"game: its moves, {MOVES_HELP}")
    first: str | None = option(None, "game: who moves first; by default best, otherwise uct:1000")
    second: str | None = option(None, "game: the opponent; by default uct:1000, otherwise random")
    num_simulations: int | None = option(None, "simulations of a move", 1, MAX_SIMULATIONS)
    seed: int = option(0, "game: seed of the players", 0, 2**63 - 4)


def run(settings: Settings, console: Console) -> None:
    """Draw the kind of picture that ``what`` selects, and print the path of its file.

    Raises:
        ConfigError: if a setting cannot be used, or a package for drawing is not installed.
    """
    plots = {"run": _plot_run, "exact": _plot_exact, "game": _plot_game}
    print(plots[settings.what](settings))


# --- runs -----------------------------------------------------------------------------------------


def _plot_run(settings: Settings) -> Path:
    """Plot a run's losses, strength, games and speed; return the path of the picture."""
    (folder,), output = _find_runs(settings, [settings.run], "plot.png")
    draw_run(folder.read_metrics(), str(folder.path), settings.rolling_mean, output)
    return output


def _plot_exact(settings: Settings) -> Path:
    """Plot the error rate of one or more runs against an exact solver over their training time.

    Returns:
        The path of the picture.
    """
    folders, output = _find_runs(settings, settings.run.split(","), "exact.png")
    games = sorted({folder.read_config()["game"]["name"] for folder in folders})
    metrics = [(folder.path.name, folder.read_metrics()) for folder in folders]
    draw_exact_error(metrics, " and ".join(games), output)
    return output


def _find_runs(settings: Settings, paths: Sequence[str], name: str) -> tuple[list[RunFolder], Path]:
    """Find runs that have stored metrics, and choose the file of their picture.

    Args:
        settings: holds the folder of all runs, which is searched for "latest", and the path of the
            picture that the user chose, if any.
        paths: the runs' folders, or "latest" for the run trained last.
        name: the picture's default file name, in the folder of the first run.

    Raises:
        ConfigError: if there is no such run, the file cannot be written, or its picture format is
            unknown.
    """
    find = RunFolder.find
    folders = [find(path, settings.root, None, "run", "metrics.jsonl") for path in paths]
    output = Path(settings.output or folders[0].path / name)
    require("plot", "matplotlib")
    check_picture(output)
    return folders, output


# --- games ----------------------------------------------------------------------------------------


def _plot_game(settings: Settings) -> Path:
    """Draw a game from its first move to the last, as an animation or a sheet of positions.

    The game consists of the user's moves. If players are named or there are no moves, two players
    continue it to its end.

    Returns:
        The path of the picture.

    Raises:
        ConfigError: if a setting cannot be used.
    """
    output = Path(settings.output or "game.gif")
    check_picture(output, FORMATS | {"gif"})
    limits = PlayerSettings(num_simulations=settings.num_simulations, seed=settings.seed)
    specs = (settings.first, settings.second)
    game = choose_game(settings.game, specs, limits)
    check_second(game, settings.second)
    skin = skin_of(game, settings.setup)
    session = Session(game, read_start(settings.moves, game, skin))
    played = PlayedGame(session)
    if specs != (None, None) or not settings.moves:
        played = _play(session, make_pair(specs, game, limits))
    draw_game(played, skin, output)
    return output


def _play(session: Session, players: Sequence[Player]) -> PlayedGame:
    """Let two players continue a game to its end, starting after the moves already played.

    Returns:
        The game, with the result that each player expected before each of its moves.
    """
    warm_up(session.game, players)
    first_ply = len(session.actions)
    values: dict[int, float] = {}
    with Console(stderr=True, emoji=False).status("Playing ..."):
        while not session.over:
            analysis = players[session.player].analyse(session.state)
            values[len(session.actions)] = analysis.value
            session.play(analysis.action)
    return PlayedGame(session, values, (players[0].name, players[1].name), first_ply)
