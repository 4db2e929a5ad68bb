"""`alphazero prove`: compare a player with perfect play in every position of a small game.

In: a player and a game small enough to enumerate. Out: whether the player can be beaten, and the
positions that it misplays.
"""

import dataclasses

from rich.text import Text

from alphazero.cli.output.counted_choice import counted_choice
from alphazero.cli.output.misplayed import print_misplayed
from alphazero.cli.output.proof_text import proof_lines
from alphazero.config.command_line import from_overrides
from alphazero.config.help import print_help
from alphazero.config.settings import option
from alphazero.games.registry import make_game
from alphazero.players.base import PlayerSettings, thinking_of
from alphazero.players.registry import make_player
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.solvers.enumeration import MAX_POSITIONS, ExactValues
from alphazero.solvers.proof import prove

COMMAND = "alphazero prove"
SUMMARY = (
    "Play a small game against every possible opponent, and compare each of the player's moves "
    "with perfect play. The exit status is 0 if no position is misplayed, otherwise 1."
)
EXAMPLES = [
    "alphazero prove player=checkpoints/tic_tac_toe/RUN num_simulations=100",
    "alphazero prove player=uct:5000",
    "alphazero prove game=connect_x:3x3x3 player=uct:2000,statistics=position",
]


@dataclasses.dataclass
class ProveOptions:
    """The player and the game."""

    game: str = option("tic_tac_toe", f"the game, of at most {MAX_POSITIONS:,} positions")
    player: str = option(
        "network",
        "random, uct:1000, solver, best, network (the newest trained one, otherwise best), or the "
        "path of a network or a run",
    )
    show: int = option(3, "misplayed positions to print", 0, 10_000)


@dataclasses.dataclass
class ProveSettings(PlayerSettings, ProveOptions):
    """The settings of the command."""


def main(arguments: list[str]) -> int:
    """Prove or refute; return 0 if no position is misplayed, 1 otherwise."""
    if {"-h", "--help"} & set(arguments):
        print_help("prove", SUMMARY, ProveSettings(), EXAMPLES)
        return 0
    settings = from_overrides(ProveSettings, arguments, COMMAND)
    console = Console(highlight=False, emoji=False, soft_wrap=True)
    game = make_game(settings.game)
    player = make_player(settings.player, game, settings)
    limit = f"at most {MAX_POSITIONS:,}, which takes a quarter of a minute"
    with console.status(Text(f"Enumerating the positions of {game.name}, {limit} ...")):
        try:
            exact = ExactValues(game)
        except ValueError as error:
            message = f"{error} 'alphazero evaluate' takes a sample of them."
            raise ConfigError(message, key="game", value=settings.game) from None
    num_positions = int((~exact.positions.over).sum())
    with counted_choice(player, f"{player.name} on {game.name}", num_positions) as choose:
        report = prove(game, lambda states: choose(states).actions, exact)
    thinking = f" ({thinking_of(player)})" if thinking_of(player) else ""
    console.print(
        f"{player.name}{thinking}, asked for its move in {num_positions:,} positions.\n",
        markup=False,
    )
    for line in proof_lines(report):
        console.print(line, markup=False)
    for failure in report.failures[: settings.show]:
        print_misplayed(console, game, failure)
    return 0 if report.perfect else 1
