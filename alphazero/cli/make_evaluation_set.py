"""`alphazero make_evaluation_set`: draw new positions and let an exact solver score every move of them."""

import dataclasses
import sys
from pathlib import Path

from rich.console import Console

from alphazero.cli.counting_bar import counting_bar
from alphazero.cli.help_text import print_help
from alphazero.evaluation.exact.sampling import METHOD_NOTES, sample_set
from alphazero.evaluation.exact.sets import write_set
from alphazero.games.registry import make_game
from alphazero.runtime import jit
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.overrides import from_overrides
from alphazero.runtime.settings import check_folder, option
from alphazero.solvers.registry import make_solver, solver_advice

COMMAND = "alphazero make_evaluation_set"
SUMMARY = (
    "Draw a new evaluation set: positions that random and strong play meet, half and half, each with the exact score of every move. A proof of strength "
    "takes a new seed; the sets that ship are for the curves of training runs, which settings have been chosen by."
)
EXAMPLES = [
    "alphazero make_evaluation_set game=connect_four num_positions=1000 seed=7 out=fresh.csv",
    "alphazero make_evaluation_set game=othello:6 max_empties=10 num_positions=300 out=endgames.csv",
    "alphazero evaluate game=connect_four set=fresh.csv",
]


@dataclasses.dataclass
class SetSettings:
    """Which positions, and where they go."""

    game: str = option("connect_four", "which game; it must have an exact solver")
    num_positions: int = option(
        1000, "positions, half of them from random and half from strong play", 2, 1_000_000
    )
    seed: int = option(
        0, "seed of the games that they come from; the same seed gives the same set", 0, 2**63 - 1
    )
    max_empties: int | None = option(
        None,
        "the most empty squares of a position; without it the whole game, or 10 for othello",
        1,
        4096,
    )
    out: str | None = option(None, "file to write; without it GAME_SEED.csv")
    replace: bool = option(False, "write over a file that is there already")


def main(words: list[str]) -> int:
    """Draw the set and write it."""
    if {"-h", "--help"} & set(words):
        print_help("make_evaluation_set", SUMMARY, SetSettings(), EXAMPLES)
        return 0
    settings = from_overrides(SetSettings, words, COMMAND)
    check_folder(settings, "out")
    if settings.game.startswith("othello") and settings.max_empties is None:
        settings.max_empties = 10  # more take long
    game = make_game(settings.game)
    out = Path(settings.out or f"{game.name.replace(':', '_')}_{settings.seed}.csv")
    if out.is_file() and not settings.replace:
        raise ConfigError(
            f"{out} is there already: name another file by out=, or let replace=true write over it."
        )
    jit.announce_first_compilation()
    if advice := solver_advice(game):
        print(advice, file=sys.stderr, flush=True)
    solver = make_solver(game)
    with counting_bar() as bar:
        task = bar.add_task(f"positions of {game.name}", total=settings.num_positions)
        sampled = sample_set(
            game,
            solver,
            settings.num_positions,
            settings.seed,
            settings.max_empties,
            lambda done, _: bar.update(task, completed=done),
        )
    write_set(out, dataclasses.replace(sampled, notes=_notes(settings, solver.name)))
    first, last = sampled.plies.min(), sampled.plies.max()
    Console(highlight=False, soft_wrap=True).print(
        f"{len(sampled):,} positions of plies {first} to {last}, scored by {solver.name}: {out}",
        markup=False,
    )
    return 0


def _notes(settings: SetSettings, solver: str) -> dict[str, str]:
    """Return what the file says about itself: how to make it again."""
    words = [
        f"game={settings.game}",
        f"num_positions={settings.num_positions}",
        f"seed={settings.seed}",
    ]
    words += [f"max_empties={settings.max_empties}"] if settings.max_empties else []
    return {
        "seed": str(settings.seed),
        "made by": f"{COMMAND} {' '.join(words)}",
        "scored by": solver,
    } | METHOD_NOTES
