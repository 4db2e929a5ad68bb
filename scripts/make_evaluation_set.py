"""Sample a new evaluation set: positions with the exact score of every move.

Half of the positions come from random play, half from strong play. Use a new seed to prove
strength: the settings of training runs were chosen with the sets that ship.

    python scripts/make_evaluation_set.py game=connect_four seed=7 out=fresh.csv
    python scripts/make_evaluation_set.py game=othello:6 max_empties=10 num_positions=300
    alphazero evaluate game=connect_four set=fresh.csv

In: a game that has an exact solver. Out: a CSV file, see `alphazero.evaluation.exact.set_file`.
"""

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from script_command import exit_status
from set_sampling import sample_set

from alphazero.cli.progress import progress
from alphazero.config.command_line import from_overrides
from alphazero.config.settings import option
from alphazero.evaluation.exact.set_file import COLUMNS
from alphazero.evaluation.exact.sets import EvaluationSet
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.games.othello import Othello
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import check_output, with_checksum, write_output
from alphazero.solvers.base import ILLEGAL_SCORE
from alphazero.solvers.registry import make_solver
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


def main(arguments: list[str]) -> int:
    """Read the arguments and make the evaluation set; return the exit status."""
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    name = "make_evaluation_set.py"
    return exit_status(lambda: make_evaluation_set(from_overrides(Settings, arguments, name)))


def make_evaluation_set(settings: Settings) -> None:
    """Sample the evaluation set and write it to a file."""
    game = make_game(settings.game)
    if settings.max_empties is None:
        settings.max_empties = usual_max_empties(game)
    out = Path(settings.out or f"{folder_name(game.name)}_{settings.seed}.csv")
    if out.is_file() and not settings.replace:
        message = f"{out} exists: name another file by out=, or use replace=true."
        raise ConfigError(message, key="out", value=str(out))
    check_output(out, "out")
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
    print(text)


def _notes(settings: Settings, game: Game, solver: str) -> dict[str, str]:
    """Return the notes to store in the file: its seed, the command that made it, and the solver."""
    keys = ["game", "num_positions", "seed"] + (["max_empties"] if settings.max_empties else [])
    arguments = [f"{key}={getattr(settings, key)}" for key in keys]
    rules = {"rules_digest": game.rules_digest} if game.rules_digest else {}
    made = {
        "seed": str(settings.seed),
        "made by": f"scripts/make_evaluation_set.py {' '.join(arguments)}",
        "scored by": solver,
    }
    return rules | made


def usual_max_empties(game: Game) -> int | None:
    """Return how many empty squares a quickly solved position may have; None means any number."""
    return 10 if isinstance(game, CompiledGame) and isinstance(game.rules, Othello) else None


def write_set(path: str | Path, evaluation_set: EvaluationSet) -> None:
    """Write an evaluation set to a file, its notes first; the same set gives the same bytes.

    Raises:
        OSError: if the file cannot be written.
    """
    text = "".join(line + "\n" for line in _lines(evaluation_set))
    write_output(path, with_checksum(text).encode())


def _lines(evaluation_set: EvaluationSet) -> Iterator[str]:
    notes = {"game": evaluation_set.game_name} | evaluation_set.notes
    yield from (f"# {name}: {note}" for name, note in notes.items())
    yield COLUMNS
    each = zip(evaluation_set.moves, evaluation_set.action_scores, evaluation_set.sources)
    for moves, scores, source in each:
        pairs = (f"{action}:{scores[action]}" for action in np.flatnonzero(scores != ILLEGAL_SCORE))
        yield f"{' '.join(map(str, moves))},{' '.join(pairs)},{source}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
