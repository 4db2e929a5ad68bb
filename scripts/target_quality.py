"""Compare the training targets of a run with perfect play.

    python scripts/target_quality.py checkpoints/connect_four/RUN
    python scripts/target_quality.py latest --oldest

In: the newest stored games of a run, or the oldest (which an early network learned from). The exact
solver scores positions sampled from them. Out: two tables. The first has the squared error of
several value targets. For the second, the run's newest network or --network searches the positions
with wrong moves again, with each search that self-play offers. Its columns are the weight of the
policy target on moves that keep the exact result, the mean logarithm of that weight (confident
wrong targets cost most), and the squared error of the search's value.

Nothing is trained. The script takes a minute or two. The solver takes most of it.
"""

import argparse
import dataclasses
import sys
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from script_command import exit_status

from alphazero.games.batched_game import Game
from alphazero.inference.backends import make_tree_search
from alphazero.own_games.registry import make_stored_game
from alphazero.players.network import load_network_player
from alphazero.players.search_player import SearchPlayer
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.game_record import GameRecord
from alphazero.solvers.base import ILLEGAL_SCORE, values_of
from alphazero.solvers.registry import make_solver
from alphazero.storage.run_folder import RunFolder
from alphazero.training.settings import TrainSettings

_MIN_WEIGHT = 1e-3  # lower bound of the weight on accurate moves, in the logarithm
_BATCH_SIZE = 256
_NUM_PLY_RANGES = 5
_SEARCHES: dict[str, dict[str, Any]] = {
    "PUCT": {"forced_playouts_k": 0.0},
    "forced, k 0.5": {"forced_playouts_k": 0.5},
    "forced, k 1": {"forced_playouts_k": 1.0},
    "forced, k 2": {"forced_playouts_k": 2.0},
    "forced, k 4": {"forced_playouts_k": 4.0},
    "Gumbel": {"root": "gumbel"},
}


def stored_games(folder: RunFolder, game: Game) -> list[GameRecord]:
    """Read the games of all stored iterations of a run, oldest first.

    Raises:
        StoredFileError: if a file is damaged, or its records do not fit ``game``.
    """
    paths = sorted((folder.path / "games").glob("*.safetensors"))
    return [record for path in paths for record in folder.load_games(int(path.stem), game)]


class Samples(NamedTuple):
    """N training samples, each from a different game."""

    states: np.ndarray  #: [N, K]
    plies: np.ndarray  #: int[N]
    outcomes: np.ndarray  #: float64[N], for the player to move
    root_values: np.ndarray  #: float64[N], of the search in self-play, for the player to move


class SearchResults(NamedTuple):
    """Results of new searches of N positions."""

    action_weights: np.ndarray  #: float32[N, A]
    root_values: np.ndarray  #: float32[N], for the player to move


def sample_positions(
    records: list[GameRecord], num_samples: int, first_ply: int, generator: np.random.Generator
) -> Samples:
    """Sample training positions from ply ``first_ply`` on, at most one per game.

    Raises:
        ConfigError: if the games have no such position.
    """
    samples: list[tuple[GameRecord, int]] = []
    for index in generator.permutation(len(records)):
        if len(samples) >= num_samples:
            break
        targets = np.flatnonzero(records[index].is_target)
        targets = targets[targets >= first_ply]
        if len(targets):
            samples.append((records[index], int(generator.choice(targets))))
    if not samples:
        raise ConfigError(
            f"the stored games have no training sample from ply {first_ply} on for "
            f"--positions {num_samples}; lower --first-ply, and use --positions 1 or more.",
            key="first_ply",
            value=first_ply,
        )
    return Samples(
        states=np.stack([record.states[ply] for record, ply in samples]),
        plies=np.array([ply for _, ply in samples]),
        outcomes=np.array([record.outcomes[ply] for record, ply in samples], np.float64),
        root_values=np.array([record.root_values[ply] for record, ply in samples], np.float64),
    )


def value_targets(samples: Samples) -> dict[str, np.ndarray]:
    """Return several value targets by name, each float64[N] for the player to move."""
    result, search = samples.outcomes, samples.root_values
    return {"result": result, "search": search, "half and half": (result + search) / 2}


def value_table(targets: dict[str, np.ndarray], exact: np.ndarray, plies: np.ndarray) -> Table:
    """Return a table of the value targets' mean squared errors, over all positions and by ply.

    Args:
        targets: name -> float64[N].
        exact: int[N], the exact results.
        plies: int[N].
    """
    quantiles = np.quantile(plies, np.linspace(0, 1, _NUM_PLY_RANGES + 1)).astype(int)
    edges = np.unique([*quantiles[:-1], quantiles[-1] + 1])
    ranges = list(zip(edges[:-1], edges[1:]))
    titles = [f"{first} to {end - 1}" for first, end in ranges]
    title = "squared error of value targets, by ply"
    table = Table("target", "all", *titles, title=title, title_justify="left")
    for name, values in targets.items():
        errors = (values - exact) ** 2
        means = [errors[(plies >= first) & (plies < end)].mean() for first, end in ranges]
        table.add_row(name, *(f"{mean:.4f}" for mean in (errors.mean(), *means)))
    return table


def search_again(
    game, evaluator, states: np.ndarray, num_simulations: int, settings: SearchSettings
) -> SearchResults:
    """Search positions, [N, K], with noise, as self-play does for its targets."""
    parts = []
    for start in range(0, len(states), _BATCH_SIZE):
        part = states[start : start + _BATCH_SIZE]
        rows = np.arange(len(part))
        generator = child_generator(start, "target quality")
        search = make_tree_search(
            game,
            evaluator,
            num_games=len(part),
            max_simulations=num_simulations,
            settings=settings,
            generator=generator,
            explores=True,
        )
        search.reset(rows, part, num_simulations)
        search.run()
        output = search.output(rows)
        parts.append((output.action_weights, output.root_values))
    return SearchResults(*(np.concatenate(column) for column in zip(*parts)))


def search_table(
    player: SearchPlayer,
    states: np.ndarray,
    scores: np.ndarray,
    num_simulations: int,
    settings: SearchSettings,
) -> Table:
    """Return a table that compares each kind of search on the positions with wrong moves.

    Args:
        states: [N, K].
        scores: int[N, A], exact scores of the moves.
        settings: search settings with the run's root noise.
    """
    best = scores.max(axis=1)
    is_legal = scores != ILLEGAL_SCORE
    is_accurate = is_legal & (values_of(scores) == values_of(best)[:, None])
    can_fail = is_accurate.sum(axis=1) < is_legal.sum(axis=1)
    states, exact, is_accurate = states[can_fail], values_of(best)[can_fail], is_accurate[can_fail]
    title = (
        f"{num_simulations} simulations with noise, {len(states):,} positions that can be misplayed"
    )
    columns = ("search", "on accurate moves", "mean logarithm", "value error²")
    table = Table(*columns, title=title, title_justify="left")
    for name, changes in _SEARCHES.items():
        changed = dataclasses.replace(settings, **changes)
        results = search_again(player.game, player.evaluator, states, num_simulations, changed)
        weights = (results.action_weights * is_accurate).sum(axis=1)
        logarithm = np.log(np.maximum(weights, _MIN_WEIGHT)).mean()
        error = ((results.root_values - exact) ** 2).mean()
        table.add_row(name, f"{weights.mean():.1%}", f"{logarithm:.4f}", f"{error:.4f}")
    return table


def main(arguments: list[str]) -> int:
    """Read the arguments and print the tables; return the exit status."""
    options = _parser().parse_args(arguments)
    return exit_status(lambda: print_tables(options))


def print_tables(options: argparse.Namespace) -> None:
    """Print both tables."""
    folder = RunFolder.find(options.run, options.root, None, key="run")
    config = folder.read_config()
    game = make_stored_game(config["game"]["name"], f"the run '{folder.path}'")
    solver = make_solver(game)
    records = stored_games(folder, game)
    records = records[: options.games] if options.oldest else records[-options.games :]
    generator = np.random.default_rng(0)
    samples = sample_positions(records, options.positions, options.first_ply, generator)
    scores = solver.scores(samples.states)
    player = load_network_player(game, options.network or folder.path)
    console = Console(highlight=False)
    exact = values_of(scores.max(axis=1))
    console.print(value_table(value_targets(samples), exact, samples.plies))
    noise = ("dirichlet_alpha", "dirichlet_alpha_per_move", "root_prior_temperature")
    settings = SearchSettings(**{name: config["search"][name] for name in noise})
    table = search_table(player, samples.states, scores, options.simulations, settings)
    console.print(table)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("run", help="the folder of a run, or latest")
    add("--root", default=TrainSettings().run.root, help="the folder of all runs, for latest")
    add("--positions", type=int, default=2000, help="positions to score")
    add(
        "--first-ply",
        type=int,
        default=0,
        help="first ply to sample from; Othello's solver handles only endgames",
    )
    add("--games", type=int, default=6000, help="number of newest stored games to sample from")
    add("--oldest", action="store_true", help="sample from the oldest stored games instead")
    add("--network", help="the network that searches (default: the run's newest one)")
    add("--simulations", type=int, default=64, help="simulations per search")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
