"""Draw a picture: of a run's losses, of its error against an exact solver, of its ratings; of a
position with a player's policy and value; or of a game, as an animation.

    alphazero plot run=latest
    alphazero plot run=checkpoints/connect_four/RUN output=losses.png rolling_mean=10
    alphazero plot what=exact run=checkpoints/connect_four/A,checkpoints/connect_four/B
    alphazero plot what=ratings run=latest
    alphazero plot what=position moves=4,4,3 num_simulations=1000
    alphazero plot what=game first=best second=uct:1000 output=game.gif
    alphazero plot what=game game=othello setup=standard moves=f5d6c3d3c4f4 output=moves.png

In: runs, positions or players. Out: a picture in a file, whose path is printed.
"""

import dataclasses
import math
from pathlib import Path
from typing import ClassVar

from alphazero.boards.painter import GAME_FORMATS, check_picture_file
from alphazero.boards.session import Session
from alphazero.boards.shapes import has_board
from alphazero.boards.skin import SETUPS, skin_of
from alphazero.cli.players import (
    GAME_HELP,
    MOVES_HELP,
    SETUP_HELP,
    choose_game,
    make_pair,
    read_start,
    warm_up,
)
from alphazero.config.settings import option
from alphazero.evaluation.elo import rate
from alphazero.evaluation.ratings import RatingFile
from alphazero.games.batched_game import Game
from alphazero.games.registry import make_stored_game
from alphazero.players.base import MAX_SIMULATIONS, Player, PlayerSettings
from alphazero.players.registry import check_player, default_player, make_player, read_spec
from alphazero.plots.exact_error import draw_exact_error
from alphazero.plots.figure import check_picture
from alphazero.plots.game import PlayedGame, draw_game
from alphazero.plots.position import Thought, draw_position
from alphazero.plots.ratings import draw_ratings
from alphazero.plots.run import draw_run
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError, StoredFileError, value_text
from alphazero.runtime.wording import counted
from alphazero.storage.run_folder import RunFolder

#: The settings of each picture, besides what and output.
_SETTINGS_OF = {
    "run": "run root rolling_mean",
    "exact": "run root lines",
    "ratings": "run root",
    "position": "game setup moves player num_simulations",
    "game": "game setup moves first second num_simulations seed run root number",
}


@dataclasses.dataclass
class RunOptions:
    """Which run, and how it is drawn."""

    HEADING: ClassVar[str] = "of a run: what=run, exact, ratings; and what=game with run="

    run: str | None = option(
        None, "the run's folder, or latest (the default); several, separated by commas, for exact"
    )
    root: str = option("checkpoints", "the folder of all runs, for latest")
    rolling_mean: int = option(
        5,
        "run: iterations in the rolling mean of the losses, or epochs with learner.epochs",
        1,
        10_000,
    )
    lines: str = option(
        "each",
        "exact: a line for each run, or their median with the band from lowest to highest",
        choices=("each", "median"),
    )


@dataclasses.dataclass
class BoardOptions:
    """Which position or game, and who plays it."""

    HEADING: ClassVar[str] = "of a board: what=position, game"

    game: str | None = option(
        None,
        f"{GAME_HELP}. Your own game's file also for a run of it",
    )
    setup: str = option(SETUPS[0], SETUP_HELP, choices=SETUPS)
    moves: str = option(
        "",
        f"the moves before the position, or of the game; with players, its opening, {MOVES_HELP}",
    )
    player: str | None = option(
        None, "position: whose view is shown, as in 'alphazero match'; by default best, or uct"
    )
    first: str | None = option(
        None, "game: who moves first, as in 'alphazero match'; by default best, or uct:1000"
    )
    second: str | None = option(
        None, "game: who moves second; by default uct:1000, or random where no network ships"
    )
    number: int = option(
        1, "game with run=: which one of the newest iteration's self-play games", 1, 1_000_000
    )
    num_simulations: int | None = option(None, "simulations of a move", 1, MAX_SIMULATIONS)
    seed: int = option(0, "game: seed of the players", 0, 2**63 - 4)


@dataclasses.dataclass
class Settings(BoardOptions, RunOptions):
    """What to plot, and where to."""

    what: str = option(
        "run",
        "a run as a whole; its error against an exact solver; its ratings, which 'alphazero rate' "
        "measures; a position with a player's policy and value; or a game",
        choices=tuple(_SETTINGS_OF),
    )
    output: str = option(
        "",
        "picture to write (.png, .svg, .pdf; a game also .gif, an animation); by default in the "
        "(first) run, or position.png and game.gif here",
    )


def run(settings: Settings, console: Console) -> None:
    """Draw the picture and print its path."""
    _check_settings(settings)
    plots = {
        "run": _plot_run,
        "exact": _plot_exact,
        "ratings": _plot_ratings,
        "position": _plot_position,
        "game": _plot_selfplay_game if settings.run else _plot_game,
    }
    print(plots[settings.what](settings))


def _check_settings(settings: Settings) -> None:
    """Refuse settings that belong to other pictures.

    Raises:
        ConfigError: for the first one.
    """
    what, keys = settings.what, _SETTINGS_OF[settings.what].split()
    defaults, values = vars(Settings()), vars(settings)
    given = {key: value for key, value in values.items() if value != defaults[key]}
    for key, value in given.items():
        if key not in ("what", "output", *keys):
            others = [name for name, named in _SETTINGS_OF.items() if key in named.split()]
            text = " and ".join(others)
            message = f"{key}= is not a setting of what={what}, but of what={text}."
            raise ConfigError(message, key=key, value=value_text(value), allowed=keys)
    if what == "game" and "run" in given and (clash := given.keys() & {"moves", "first", "second"}):
        key = min(clash)
        message = f"{key}= and run= are two different games: give one of them."
        raise ConfigError(message, key=key)


# --- runs -----------------------------------------------------------------------------------------


def _plot_run(settings: Settings) -> Path:
    """Draw the losses, the strength, the games and the speed of a run."""
    folder = _find_run(settings)
    output = _output(settings, folder, "plot.png")
    draw_run(folder.read_metrics(), str(folder.path), settings.rolling_mean, output)
    return output


def _plot_exact(settings: Settings) -> Path:
    """Draw the error of one or several runs against an exact solver."""
    paths = (settings.run or "latest").split(",")
    folders = [_find_run(settings, path=path) for path in paths]
    output = _output(settings, folders[0], "exact.png")
    games = sorted({folder.read_config()["game"]["name"] for folder in folders})
    metrics = dict(zip(_names(folders), (folder.read_metrics() for folder in folders)))
    draw_exact_error(metrics, " and ".join(games), settings.lines, output)
    return output


def _plot_ratings(settings: Settings) -> Path:
    """Draw the ratings that `alphazero rate` has stored in a run."""
    folder = _find_run(settings, "config.yaml")
    output = _output(settings, folder, "ratings.png")
    path = folder.path / "ratings.json"
    if not path.exists():
        how = f"'alphazero rate run={folder.path}' plays the games for them"
        raise ConfigError.of("run", str(folder.path), reason=f"it holds no ratings: {how}")
    file = RatingFile.read(path)
    ratings = rate(file.pairings, *file.anchor) if file.anchor else None
    if ratings is None:
        message = f"'{path}' holds too few games for ratings: 'alphazero rate' adds some."
        raise StoredFileError(message, path=path)
    draw_ratings(ratings, file.networks, f"{file.game}: {folder.path.name}", output)
    return output


def _find_run(
    settings: Settings, holding: str = "metrics.jsonl", path: str | None = None
) -> RunFolder:
    """Return the run that the settings name, or that in ``path``.

    Args:
        holding: a file that it must have.

    Raises:
        ConfigError: if there is no such run.
    """
    return RunFolder.find(path or settings.run or "latest", settings.root, None, "run", holding)


def _output(settings: Settings, folder: RunFolder, name: str) -> Path:
    """Return the file to write, after a check that it can be written."""
    output = Path(settings.output or folder.path / name)
    check_picture(output, "output")
    return output


def _names(folders: list[RunFolder]) -> list[str]:
    """Return the names of the runs, or their paths if two runs have the same name."""
    names = [folder.path.name for folder in folders]
    return names if len({*names}) == len(names) else [str(folder.path) for folder in folders]


# --- boards ---------------------------------------------------------------------------------------


def _plot_position(settings: Settings) -> Path:
    """Draw a position with a player's policy and value."""
    output = Path(settings.output or "position.png")
    check_picture_file(output, "output")
    limits = PlayerSettings(num_simulations=settings.num_simulations)
    game = _board_game(choose_game(settings.game, [settings.player], limits))
    skin = skin_of(game, settings.setup)
    session = Session(game, read_start(settings.moves, game, skin))
    if session.over:
        message = "the game is over after these moves: a player has nothing to choose."
        raise ConfigError(f"moves={settings.moves}: {message}", key="moves", value=settings.moves)
    spec = settings.player or default_player(game.name)
    if read_spec(spec, limits)[0].startswith("gtp:"):
        reason = "it tells its move alone; take a network, uct or solver"
        raise ConfigError.of("player", spec, reason=reason)
    draw_position(session, skin, _thought(make_player(spec, game, limits), session), output)
    return output


def _plot_game(settings: Settings) -> Path:
    """Draw a game: of a list of moves, or of two players."""
    output = Path(settings.output or "game.gif")
    check_picture_file(output, "output", GAME_FORMATS)
    limits = PlayerSettings(num_simulations=settings.num_simulations, seed=settings.seed)
    specs = (settings.first, settings.second)
    game = _board_game(choose_game(settings.game, specs, limits))
    skin = skin_of(game, settings.setup)
    session = Session(game, read_start(settings.moves, game, skin))
    if settings.moves and specs == (None, None):
        values = [math.nan] * len(session.actions)
        played = PlayedGame(session, ("", ""), values, first_ply=0)
    else:
        played = _play(session, _make_players(specs, game, limits))
    draw_game(played, skin, output)
    return output


def _board_game(game: Game) -> Game:
    """Return a game whose board can be drawn; refuse others."""
    if not has_board(game):
        message = f"no picture: the rules of {game.name} give no board (the rule `cells`)."
        raise ConfigError(message, key="game", value=game.name)
    return game


def _thought(player: Player, session: Session) -> Thought:
    """Return what a player thinks of the last position, and its network without the search."""
    analysis = player.analyse(session.state)
    if not hasattr(player, "evaluator") or not analysis.visits.any():
        return Thought(player.name, analysis, None, math.nan)
    alone = player.limited(num_simulations=0).choose(session.state[None])
    return Thought(player.name, analysis, alone.action_weights[0], float(alone.values[0]))


def _make_players(specs, game: Game, limits: PlayerSettings) -> tuple[Player, Player]:
    """Return the players of a game, all of them programs."""
    for key, spec in zip(("first", "second"), specs):
        if spec and read_spec(spec, limits)[0] == "human":
            message = f"{key}=human is for 'alphazero play': here both players are programs."
            raise ConfigError(message, key=key, value=spec)
        if spec:
            check_player(spec, game.name, limits)
    return make_pair(specs, game, limits)


def _play(session: Session, players: tuple[Player, Player]) -> PlayedGame:
    """Play a game to its end; what has been played is its opening."""
    warm_up(session.game, players)
    first_ply = len(session.actions)
    values = [math.nan] * first_ply
    with Console(stderr=True, emoji=False).status("Playing ..."):
        while not session.over:
            action, value = _choose(players[session.player], session)
            values.append(value)
            session.play(action)
    return PlayedGame(session, (players[0].name, players[1].name), values, first_ply)


def _choose(player: Player, session: Session) -> tuple[int, float]:
    """Return a player's move and what it expects; nan if it does not say."""
    if hasattr(player, "choose_after"):
        choice = player.choose_after([session.actions], session.state[None])
        return int(choice.actions[0]), float(choice.values[0])
    analysis = player.analyse(session.state)
    return analysis.action, analysis.value


def _plot_selfplay_game(settings: Settings) -> Path:
    folder = _find_run(settings, "config.yaml")
    output = Path(settings.output or folder.path / "game.gif")
    check_picture_file(output, "output", GAME_FORMATS)
    name = folder.read_config()["game"]["name"]
    game = _board_game(make_stored_game(name, f"the run '{folder.path}'", settings.game))
    record = _stored_game(folder, settings.number)
    session = Session(game, record.actions.tolist())
    values = [float(value) for value in record.root_values]
    played = PlayedGame(session, ("", ""), values, first_ply=0)
    draw_game(played, skin_of(game, settings.setup), output)
    return output


def _stored_game(folder: RunFolder, number: int):
    """Return one of the games of the newest iteration that has stored any."""
    iterations = [int(path.stem) for path in (folder.path / "games").glob("*.safetensors")]
    if not iterations:
        message = f"'{folder.path}' holds no games/*.safetensors to draw."
        raise ConfigError(message, key="run", value=str(folder.path))
    games = folder.load_games(max(iterations), 1)
    if number > len(games):
        reason = f"the newest iteration of '{folder.path}' has {counted(len(games), 'game')}"
        raise ConfigError.of("number", number, f"1 to {len(games)}", reason)
    return games[number - 1]
