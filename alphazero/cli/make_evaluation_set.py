"""Sample a new evaluation set: positions from random play and from strong play, half and half, each
with the exact score of every move. Use a new seed to prove strength: the settings of training runs
were chosen by the sets that ship.

    alphazero make_evaluation_set game=connect_four seed=7 out=fresh.csv
    alphazero make_evaluation_set game=othello:6 max_empties=10 num_positions=300
    alphazero evaluate game=connect_four set=fresh.csv

In: a game that has an exact solver. Out: a CSV file, see `alphazero.evaluation.exact.set_file`.
"""

import dataclasses
import sys
from pathlib import Path

from alphazero.cli.progress import progress
from alphazero.config.settings import option
from alphazero.evaluation.exact.sampling import sample_set
from alphazero.evaluation.exact.set_file import write_set
from alphazero.games.batched_game import Game
from alphazero.own_games.registry import make_game
from alphazero.runtime import jit
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import check_output
from alphazero.solvers.registry import make_solver, solver_advice, usual_max_empties
from alphazero.storage.run_folder import folder_name


@dataclasses.dataclass
class Settings:
    """The positions to sample, and the file to write them to."""

    game: str = option("connect_four", "the game; it needs an exact solver")
    num_positions: int = option(1000, "half from random, half from strong play", 2, 1_000_000)
    seed: int = option(0, "the same seed gives the same set", 0, 2**63 - 1)
    max_empties: int | None = option(None, "maximum empty squares", 1, 4096)
    out: str | None = option(None, "file to write, by default GAME_SEED.csv")
    replace: bool = option(False, "replace a file that exists")


def run(settings: Settings, console: Console) -> None:
    """Sample the evaluation set and write it to a file."""
    game = make_game(settings.game)
    if settings.max_empties is None:
        settings.max_empties = usual_max_empties(game)
    out = Path(settings.out or f"{folder_name(game.name)}_{settings.seed}.csv")
    if out.is_file() and not settings.replace:
        message = f"{out} exists: name another file by out=, or use replace=true."
        raise ConfigError(message, key="out", value=str(out))
    check_output(out, "out")
    jit.announce_first_compilation()
    if advice := solver_advice(game):
        if settings.max_empties is None:
            advice += " These positions are sampled first; max_empties=30 leaves them out."
        print(advice, file=sys.stderr, flush=True)
    solver = make_solver(game)
    num_positions = settings.num_positions
    seed = settings.seed
    max_empties = settings.max_empties
    with progress(f"positions of {game.name}", num_positions) as show:
        sampled = sample_set(game, solver, num_positions, seed, max_empties, show)
    write_set(out, dataclasses.replace(sampled, notes=_notes(settings, game, solver.name)))
    first, last = sampled.plies.min(), sampled.plies.max()
    found = f"{len(sampled):,} positions"
    if len(sampled) < num_positions:
        found = f"Only {found}, since many games in a row contained no others,"
    text = f"{found} of plies {first} to {last}, scored by {solver.name}: {out}"
    console.print(text, markup=False)


def _notes(settings: Settings, game: Game, solver: str) -> dict[str, str]:
    """Return the notes to store in the file: its seed, the command that made it, and the solver."""
    keys = ["game", "num_positions", "seed"] + (["max_empties"] if settings.max_empties else [])
    arguments = [f"{key}={getattr(settings, key)}" for key in keys]
    rules = {"rules_digest": game.rules_digest} if game.rules_digest else {}
    made = {
        "seed": str(settings.seed),
        "made by": f"alphazero make_evaluation_set {' '.join(arguments)}",
        "scored by": solver,
    }
    return rules | made
