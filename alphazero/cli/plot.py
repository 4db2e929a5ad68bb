"""`alphazero plot`: pictures of runs, positions and games."""

import dataclasses

from alphazero.cli.plot_boards import BoardOptions, plot_game, plot_position
from alphazero.cli.plot_runs import RunOptions, plot_exact, plot_openings, plot_ratings, plot_run
from alphazero.config.command_line import from_overrides, split_word
from alphazero.config.help import print_help
from alphazero.config.settings import option
from alphazero.runtime.errors import ConfigError

COMMAND = "alphazero plot"
SUMMARY = (
    "Draw a picture: of a run's losses, of its error against an exact solver, of its ratings, of "
    "the first moves that it prefers; of a position with a player's policy and value; or of a "
    "game, as an animation."
)
EXAMPLES = [
    "alphazero plot run=latest",
    "alphazero plot run=checkpoints/connect_four/RUN output=losses.png rolling_mean=10",
    "alphazero plot what=exact run=checkpoints/connect_four/A,checkpoints/connect_four/B",
    "alphazero plot what=ratings run=latest",
    "alphazero plot what=openings run=latest",
    "alphazero plot what=position moves=4,4,3 num_simulations=1000",
    "alphazero plot what=game first=best second=uct:1000 output=game.gif",
    "alphazero plot what=game game=othello setup=standard moves=f5d6c3d3c4f4 output=moves.png",
]
_PICTURES = {
    "run": plot_run,
    "exact": plot_exact,
    "ratings": plot_ratings,
    "openings": plot_openings,
    "position": plot_position,
    "game": plot_game,
}
#: The settings of each picture, besides what and output.
_SETTINGS_OF = {
    "run": "run root rolling_mean",
    "exact": "run root lines",
    "ratings": "run root",
    "openings": "run root num_networks num_simulations game setup",
    "position": "game setup moves player num_simulations",
    "game": "game setup moves first second num_simulations seed run root number",
}


@dataclasses.dataclass
class PlotSettings(BoardOptions, RunOptions):
    """What to plot, and where to."""

    what: str = option(
        "run",
        "a run as a whole; its error against an exact solver; its ratings, which 'alphazero rate' "
        "measures; the first moves that its networks prefer; a position with a player's policy and "
        "value; or a game",
        choices=tuple(_PICTURES),
    )
    output: str = option(
        "",
        "picture to write (.png, .svg, .pdf; a game also .gif, an animation); by default in the "
        "(first) run, or position.png and game.gif here",
    )


def main(arguments: list[str]) -> int:
    """Draw the picture and print its path."""
    if {"-h", "--help"} & set(arguments):
        print_help("plot", SUMMARY, PlotSettings(), EXAMPLES)
        return 0
    settings = from_overrides(PlotSettings, arguments, COMMAND)
    _check_settings(settings.what, arguments)
    print(_PICTURES[settings.what](settings))
    return 0


def _check_settings(what: str, arguments: list[str]) -> None:
    """Refuse settings that belong to other pictures.

    Raises:
        ConfigError: for the first one.
    """
    keys = _SETTINGS_OF[what].split()
    for key, value in map(split_word, arguments):
        if key not in ("what", "output", *keys):
            others = [name for name, named in _SETTINGS_OF.items() if key in named.split()]
            text = " and ".join(others)
            message = f"{key}= is not a setting of what={what}, but of what={text}."
            raise ConfigError(message, key=key, value=value, allowed=keys)
    given = {split_word(word)[0] for word in arguments}
    if what == "game" and "run" in given and (clash := given & {"moves", "first", "second"}):
        key = min(clash)
        message = f"{key}= and run= are two different games: give one of them."
        raise ConfigError(message, key=key)
