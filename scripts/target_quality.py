"""How good the targets of training are, beside perfect play: `python scripts/target_quality.py checkpoints/connect_four/RUN`, or `latest`.

Rows of a run's newest stored games (or of its oldest, with --oldest: what an early network was taught) are scored by the exact solver. The first
table says how far several value targets are from the exact result. The second searches those of the rows that can be misplayed again, with the
run's newest network or that of --network, in the ways that self-play can search: how much of the policy target is on moves that keep the exact
result, the mean logarithm of that share (a target that is sure and wrong costs much), and how far the search's value is off. Nothing is trained; it
takes a minute or two. Connect Four needs the extra [bitbully].
"""

import argparse
import dataclasses
import sys

import numpy as np
from rich.console import Console
from rich.table import Table

from alphazero.games.registry import make_stored_game
from alphazero.players.network import NetworkPlayer
from alphazero.runtime.random_generators import child_generator
from alphazero.search.batched_search import TreeSearch
from alphazero.search.roots import SearchMode
from alphazero.search.settings import SearchSettings
from alphazero.solvers.base import ILLEGAL_SCORE, values_of
from alphazero.solvers.registry import make_solver
from alphazero.storage.run_folder import RunFolder
from alphazero.training.settings import TrainSettings

_LEAST_SHARE = 1e-3  # of a policy target on good moves, in its logarithm
_BATCH = 256
_NUM_BINS = 5
_SEARCHES = {
    "PUCT": {"forced_playouts_k": 0.0},
    "forced, k 0.5": {"forced_playouts_k": 0.5},
    "forced, k 1": {"forced_playouts_k": 1.0},
    "forced, k 2": {"forced_playouts_k": 2.0},
    "forced, k 4": {"forced_playouts_k": 4.0},
    "Gumbel": {"root": "gumbel"},
}


def drawn_rows(
    records, num_rows: int, first_ply: int, generator: np.random.Generator
) -> list[tuple[int, int]]:
    """Return (game, ply) of so many target rows, at most one of a game, from ``first_ply`` on."""
    rows = []
    for index in generator.permutation(len(records)):
        if len(rows) >= num_rows:
            break
        targets = np.flatnonzero(records[index].is_target)
        targets = targets[targets >= first_ply]
        if len(targets):
            rows.append((int(index), int(generator.choice(targets))))
    return rows


def value_targets(records, rows) -> dict[str, np.ndarray]:
    """Return the value of each row by the name of the target."""

    def column(of) -> np.ndarray:
        return np.array([of(records[index])[ply] for index, ply in rows], np.float64)

    result, search = (
        column(lambda record: record.outcomes),
        column(lambda record: record.root_values),
    )
    return {"result": result, "search": search, "half and half": (result + search) / 2}


def searched(
    game, evaluator, states, num_simulations: int, settings: SearchSettings
) -> tuple[np.ndarray, np.ndarray]:
    """Return action weights ([N, A]) and values ([N]) of full searches of the positions."""
    weights, values = [], []
    for start in range(0, len(states), _BATCH):
        part = states[start : start + _BATCH]
        rows = np.arange(len(part))
        search = TreeSearch(
            game,
            evaluator,
            len(part),
            num_simulations,
            settings,
            child_generator(start, "target quality"),
        )
        search.reset(rows, part, num_simulations, SearchMode.FULL)
        search.run()
        output = search.output(rows)
        weights.append(output.action_weights)
        values.append(output.root_values)
    return np.concatenate(weights), np.concatenate(values)


def value_table(targets: dict[str, np.ndarray], exact: np.ndarray, plies: np.ndarray) -> Table:
    """Return the mean squared errors, for all rows and by ply."""
    edges = np.quantile(plies, np.linspace(0, 1, _NUM_BINS + 1)).astype(int)
    bins = [
        (first, last)
        for first, last in zip(edges[:-1], np.append(edges[1:-1], edges[-1] + 1))
        if last > first
    ]
    table = Table(
        "target",
        "all",
        *(f"{first} to {last - 1}" for first, last in bins),
        title="squared error of value targets, by ply",
        title_justify="left",
    )
    for name, values in targets.items():
        errors = (values - exact) ** 2
        table.add_row(
            name,
            f"{errors.mean():.4f}",
            *(f"{errors[(plies >= first) & (plies < last)].mean():.4f}" for first, last in bins),
        )
    return table


def search_table(
    game, evaluator, states, scores, num_simulations: int, settings: SearchSettings
) -> Table:
    """Return what each way of searching says of positions in which some legal moves keep the exact result and others do not."""
    exact, keeps = (
        values_of(scores.max(axis=1)),
        values_of(scores) == values_of(scores.max(axis=1))[:, None],
    )
    keeps &= scores != ILLEGAL_SCORE
    can_fail = keeps.sum(axis=1) < (scores != ILLEGAL_SCORE).sum(axis=1)
    states, exact, keeps = states[can_fail], exact[can_fail], keeps[can_fail]
    title = (
        f"{num_simulations} simulations with noise, {len(states):,} positions that can be misplayed"
    )
    table = Table(
        "search",
        "on good moves",
        "mean logarithm",
        "value error²",
        title=title,
        title_justify="left",
    )
    for name, words in _SEARCHES.items():
        weights, values = searched(
            game, evaluator, states, num_simulations, dataclasses.replace(settings, **words)
        )
        good = (weights * keeps).sum(axis=1)
        logarithm = np.log(np.maximum(good, _LEAST_SHARE)).mean()
        table.add_row(
            name, f"{good.mean():.1%}", f"{logarithm:.4f}", f"{((values - exact) ** 2).mean():.4f}"
        )
    return table


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", help="the folder of a run, or latest")
    parser.add_argument(
        "--root", default=TrainSettings().run.root, help="where the runs are, for latest"
    )
    parser.add_argument("--rows", type=int, default=2000, help="positions that are scored")
    parser.add_argument(
        "--first-ply",
        type=int,
        default=0,
        help="the first ply that they are drawn from; Othello's solver knows endgames alone",
    )
    parser.add_argument(
        "--games",
        type=int,
        default=6000,
        help="stored games that they are drawn from, the newest ones",
    )
    parser.add_argument("--oldest", action="store_true", help="the oldest stored games instead")
    parser.add_argument(
        "--network", help="the network that searches; without it the newest of the run"
    )
    parser.add_argument("--simulations", type=int, default=64, help="of a search")
    options = parser.parse_args(words)
    try:
        folder = RunFolder.find(options.run, options.root, None)
        config = folder.read_config()
        game = make_stored_game(config["game"]["name"], f"the run '{folder.path}'")
        solver = make_solver(game)
        records = folder.load_games(
            max(int(file.stem) for file in (folder.path / "games").iterdir()), 10**9
        )
        records = records[: options.games] if options.oldest else records[-options.games :]
        rows = drawn_rows(records, options.rows, options.first_ply, np.random.default_rng(0))
        if not rows:
            raise ValueError(
                f"no stored game of {folder.path} has a row to score from ply {options.first_ply} on; --rows must be 1 or more."
            )
        states = np.stack([records[index].states[ply] for index, ply in rows])
        scores = solver.scores(states)
        player = NetworkPlayer(game, options.network or folder.path)
    except (OSError, ValueError, LookupError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    console = Console(highlight=False)
    exact = values_of(scores.max(axis=1))
    console.print(
        value_table(value_targets(records, rows), exact, np.array([ply for _, ply in rows]))
    )
    settings = SearchSettings(
        **{
            name: config["search"][name]
            for name in ("dirichlet_alpha", "dirichlet_alpha_per_move", "root_prior_temperature")
        }
    )
    console.print(
        search_table(game, player.evaluator, states, scores, options.simulations, settings)
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
