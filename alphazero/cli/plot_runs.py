"""The pictures of runs that `alphazero plot` draws: losses, exact error, ratings, openings.

In: the settings of the command. Out: a picture in a file, whose path is returned.
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from alphazero.boards.skin import skin_of
from alphazero.cli.output.counting_bar import CountingBar
from alphazero.cli.rate import rate_connected
from alphazero.cli.rate_players import choose_networks
from alphazero.config.settings import option
from alphazero.evaluation.elo import Ratings
from alphazero.evaluation.opening_choices import line_of, opening_choices
from alphazero.evaluation.ratings import RatingFile
from alphazero.games.batched_game import Game
from alphazero.games.registry import make_stored_game
from alphazero.network.weights import network_info
from alphazero.players.base import Player, PlayerSettings
from alphazero.players.registry import make_player
from alphazero.plots.exact_error import draw_exact_error
from alphazero.plots.figure import check_picture
from alphazero.plots.openings import draw_openings
from alphazero.plots.ratings import draw_ratings
from alphazero.plots.run import draw_run
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.storage.run_folder import RunFolder

_NUM_PANELS = 4  # positions of what=openings


@dataclasses.dataclass
class RunOptions:
    """Which run, and how it is drawn."""

    HEADING: ClassVar[str] = "of a run: what=run, exact, ratings, openings; and what=game with run="

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
    num_networks: int = option(
        20, "openings: networks to ask: the first, the newest, and others evenly between", 1, 10_000
    )


def plot_run(settings) -> Path:
    """Draw the losses, the strength, the games and the speed of a run."""
    folder = find_run(settings)
    output = _output(settings, folder, "plot.png")
    draw_run(folder.read_metrics(), str(folder.path), settings.rolling_mean, output)
    return output


def plot_exact(settings) -> Path:
    """Draw the error of one or several runs against an exact solver."""
    paths = (settings.run or "latest").split(",")
    folders = [_find(path, settings.root) for path in paths]
    output = _output(settings, folders[0], "exact.png")
    games = sorted({folder.read_config()["game"]["name"] for folder in folders})
    metrics = dict(zip(_names(folders), (folder.read_metrics() for folder in folders)))
    draw_exact_error(metrics, " and ".join(games), settings.lines, output)
    return output


def plot_ratings(settings) -> Path:
    """Draw the ratings that `alphazero rate` has stored in a run."""
    folder = find_run(settings, "config.yaml")
    output = _output(settings, folder, "ratings.png")
    path = folder.path / "ratings.json"
    if not path.exists():
        message = f"'{folder.path}' holds no ratings: 'alphazero rate run={folder.path}' plays the "
        message += "games for them."
        raise ConfigError(message, key="run", value=str(folder.path))
    file = RatingFile.read(path)
    draw_ratings(_stored_ratings(file), file.networks, f"{file.game}: {folder.path.name}", output)
    return output


def plot_openings(settings) -> Path:
    """Draw what the stored networks of a run choose in the first positions of the game.

    The games of self-play would not show it: a run keeps the newest ones only, and many of them
    begin with random moves.
    """
    folder = find_run(settings, "config.yaml")
    output = _output(settings, folder, "openings.png")
    networks = choose_networks(folder, settings.num_networks)
    name = folder.read_config()["game"]["name"]
    game = make_stored_game(name, f"the run '{folder.path}'", settings.game)
    skin = skin_of(game, settings.setup)
    limits = PlayerSettings(num_simulations=settings.num_simulations)
    lines = line_of(game, make_player(str(networks[-1]), game, limits), _NUM_PANELS)
    choices = opening_choices(game, lines, _players(networks, game, limits))
    infos = [network_info(path) for path in networks]
    iterations = [int(info.get("iteration", 0)) for info in infos]
    simulations = settings.num_simulations or 200
    title = f"{skin.title}: {folder.path.name}, searches of {simulations:,} simulations"
    draw_openings(choices, iterations, skin, title, output)
    return output


def find_run(settings, holding: str = "metrics.jsonl") -> RunFolder:
    """Return the run that the settings name; ``holding`` is a file that it must have.

    Raises:
        ConfigError: if there is no such run.
    """
    return _find(settings.run or "latest", settings.root, holding)


def _find(path: str, root: str, holding: str = "metrics.jsonl") -> RunFolder:
    return RunFolder.find(path, root, None, "run", holding)


def _output(settings, folder: RunFolder, name: str) -> Path:
    """Return the file to write, after a check that it can be written."""
    output = Path(settings.output or folder.path / name)
    check_picture(output, "output")
    return output


def _names(folders: list[RunFolder]) -> list[str]:
    """Return the names of the runs, or their paths if two runs have the same name."""
    names = [folder.path.name for folder in folders]
    return names if len({*names}) == len(names) else [str(folder.path) for folder in folders]


def _stored_ratings(file: RatingFile) -> Ratings:
    """Return the ratings of a file, with the anchor and its Elo as `alphazero rate` stored them."""
    ratings = rate_connected(file, *file.anchor) if file.anchor else None
    if ratings is None:
        raise StoredFileError(
            f"'{file.path}' holds too few games for ratings: 'alphazero rate' adds some.",
            path=file.path,
        )
    return ratings


def _players(networks: list[Path], game: Game, limits: PlayerSettings) -> Iterator[Player]:
    """Yield the networks as players, one at a time, with a bar of how many were asked."""
    with CountingBar() as bar:
        task = bar.add_task("Asking networks", total=len(networks))
        for number, path in enumerate(networks, 1):
            yield make_player(str(path), game, limits)
            bar.update(task, completed=number)
