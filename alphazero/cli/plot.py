"""Draw a picture: of a run's losses, or of its error against an exact solver; of a position with a
player's policy and value; or of a game, as an animation.

    alphazero plot run=latest
    alphazero plot run=checkpoints/connect_four/RUN output=losses.png rolling_mean=10
    alphazero plot what=exact run=checkpoints/connect_four/A,checkpoints/connect_four/B
    alphazero plot what=position moves=4,4,3 num_simulations=1000
    alphazero plot what=game first=best second=uct:1000 output=game.gif
    alphazero plot what=game game=othello setup=standard moves=f5d6c3d3c4f4 output=moves.png

The path of the picture is printed.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from alphazero.boards.painter import FORMATS, check_picture
from alphazero.boards.session import Session
from alphazero.boards.skin import SETUPS, Skin, skin_of
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
from alphazero.players.registry import default_player, make_player
from alphazero.plots.exact_error import draw_exact_error
from alphazero.plots.figure import check_chart
from alphazero.plots.game import PlayedGame, draw_game
from alphazero.plots.position import Thought, draw_position
from alphazero.plots.run import draw_run
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.storage.run_folder import RunFolder


@dataclasses.dataclass
class Settings:
    """Settings of the `plot` command: the kind of picture, what it shows, and the file to write."""

    what: str = option(
        "run",
        "a run as a whole; its error against an exact solver; a position with a player's policy "
        "and value; or a game",
        choices=("run", "exact", "position", "game"),
    )
    output: str = option(
        "",
        "picture to write (.png, .svg, .pdf; a game also .gif, an animation); by default in the "
        "(first) run, or position.png and game.gif here",
    )
    run: str = option("latest", "the run's folder, or latest; for exact, several with commas")
    root: str = option("checkpoints", "the folder of all runs, for latest")
    rolling_mean: int = option(5, "run: iterations in the rolling mean of the losses", 1, 10_000)
    game: str | None = option(None, f"position, game: {GAME_HELP}")
    setup: str = option(SETUPS[0], SETUP_HELP, choices=SETUPS)
    moves: str = option("", f"the moves before the position, or of the game, {MOVES_HELP}")
    player: str | None = option(None, "position: whose view; by default best, otherwise uct")
    first: str | None = option(None, "game: who moves first; by default best, otherwise uct:1000")
    second: str | None = option(None, "game: the opponent; by default uct:1000, otherwise random")
    num_simulations: int | None = option(None, "simulations of a move", 1, MAX_SIMULATIONS)
    seed: int = option(0, "game: seed of the players", 0, 2**63 - 4)


def run(settings: Settings, console: Console) -> None:
    """Draw the kind of picture that ``what`` selects, and print the path of its file.

    Raises:
        ConfigError: if a setting cannot be used, or a package for drawing is not installed.
    """
    plots = {
        "run": _plot_run,
        "exact": _plot_exact,
        "position": _plot_position,
        "game": _plot_game,
    }
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
    check_chart(output, "output")
    return folders, output


# --- boards ---------------------------------------------------------------------------------------


def _plot_position(settings: Settings) -> Path:
    """Draw the position after the user's moves, with a player's policy and value for it.

    Returns:
        The path of the picture.

    Raises:
        ConfigError: if a setting cannot be used, or the game is over in this position.
    """
    output = Path(settings.output or "position.png")
    check_picture(output, "output")
    limits = PlayerSettings(num_simulations=settings.num_simulations)
    session, skin = _start(settings, [settings.player], limits)
    if session.over:
        reason = "the game is over after these moves: a player has nothing to choose"
        raise ConfigError.of("moves", settings.moves, reason=reason)
    spec = settings.player or default_player(session.game.name)
    player = make_player(spec, session.game, limits)
    analysis = player.analyse(session.state)
    priors = None
    if hasattr(player, "evaluator") and analysis.visits.any():
        alone = player.limited(num_simulations=0)
        priors = alone.choose(session.state[None]).action_weights[0]
    draw_position(session, skin, Thought(player.name, analysis, priors), output)
    return output


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
    check_picture(output, "output", FORMATS | {"gif"})
    limits = PlayerSettings(num_simulations=settings.num_simulations, seed=settings.seed)
    specs = (settings.first, settings.second)
    session, skin = _start(settings, specs, limits)
    check_second(session.game, settings.second)
    played = PlayedGame(session)
    if specs != (None, None) or not settings.moves:
        played = _play(session, make_pair(specs, session.game, limits))
    draw_game(played, skin, output)
    return output


def _start(
    settings: Settings, specs: Sequence[str | None], limits: PlayerSettings
) -> tuple[Session, Skin]:
    """Set up a game in the position after the user's moves.

    Args:
        settings: names the game, the moves and the setup.
        specs: specifications of the players, whose network may determine the game; None entries are
            skipped.
        limits: the players' number of simulations and seed.

    Returns:
        The game's session, and its skin: the appearance in which it is drawn.
    """
    game = choose_game(settings.game, specs, limits)
    skin = skin_of(game, settings.setup)
    moves = read_start(settings.moves, game, skin)
    return Session(game, moves), skin


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
