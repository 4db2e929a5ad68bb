"""`alphazero prove`: look at every position of a small game, and say whether a player can be beaten and where it misplays."""

import dataclasses

from rich.console import Console

from alphazero.cli.help_text import print_help
from alphazero.cli.misplayed import print_misplayed
from alphazero.cli.proof_text import proof_lines
from alphazero.games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.overrides import from_overrides
from alphazero.runtime.settings import option
from alphazero.solvers.enumeration import MAX_POSITIONS, ExactValues
from alphazero.solvers.proof import prove

SUMMARY = "Meet a player with every possible play of the other side, and compare each of its moves with perfect play. For small games only."
EXAMPLES = [
    "alphazero prove player=checkpoints/tic_tac_toe/RUN num_simulations=100",
    "alphazero prove player=uct:5000",
    "alphazero prove game=connect_x:3x3x3 player=uct:2000,statistics=position",
]


@dataclasses.dataclass
class ProveOptions:
    """Who is looked at."""

    game: str = option(
        "tic_tac_toe", "which game; it must be small enough to look at every position"
    )
    player: str = option(
        "network",
        "a player: random, uct, uct:1000, solver, best, network (the newest, or else best), or the path of a network or a run",
    )
    show: int = option(3, "misplayed positions to print", 0, 10_000)


@dataclasses.dataclass
class ProveSettings(PlayerSettings, ProveOptions):
    """The settings of the command."""


def main(words: list[str]) -> int:
    """Prove or refute; exit status 0 where no position is misplayed, 1 otherwise."""
    if {"-h", "--help"} & set(words):
        print_help("prove", SUMMARY, ProveSettings(), EXAMPLES)
        return 0
    settings = from_overrides(ProveSettings, words, "alphazero prove")
    console = Console(highlight=False, soft_wrap=True)
    game = make_game(settings.game)
    player = make_player(settings.player, game, settings)
    with console.status(
        f"looking for every position of {game.name}, {MAX_POSITIONS:,} at most ..."
    ):
        try:
            exact = ExactValues(game)
        except ValueError as error:
            raise ConfigError(f"{error} 'alphazero evaluate' looks at a sample of them.") from None
    with console.status(
        f"{player.name} answers {(~exact.positions.over).sum():,} positions of {game.name} ..."
    ):
        report = prove(game, lambda states: player.choose(states).actions, exact)
    for line in proof_lines(report):
        console.print(line)
    for failure in report.failures[: settings.show]:
        print_misplayed(
            console,
            game,
            failure.state,
            (failure.action, failure.value),
            (failure.best_actions, failure.best_value),
        )
    return 0 if report.perfect else 1
