"""Print the cost of solving positions exactly, by their number of empty cells.

    python scripts/solving_costs.py connect_four connect_x:5x5x4 othello:6 othello

The positions come from games of uniformly random moves. `alphazero.solvers.endings` holds the
numbers read off this table.
"""

import argparse
import time

import numpy as np
from set_sampling import game_positions

from alphazero.own_games.registry import make_game
from alphazero.runtime.random_generators import child_generator
from alphazero.solvers.base import UnsolvableError
from alphazero.solvers.registry import make_solver

_NUM_GAMES = 400
_MAX_POSITIONS = 32  #: per number of empty cells
_MIN_POSITIONS = 5
_MAX_NODES = 1_000_000  #: for one position
_LAST_MEAN = 100_000  #: mean nodes after which the table ends


def main() -> None:
    """Print a table for each game."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("games", nargs="+", help="variants of Connect-X or Othello")
    for name in parser.parse_args().games:
        game = make_game(name)
        states = game_positions(game, _NUM_GAMES, child_generator(0, "solving costs"))
        num_empty = np.array([np.count_nonzero(game.cells(state) == 0) for state in states])
        print(f"{name}\nempty cells  positions  mean nodes  nodes of 90%   mean ms")
        for number in np.unique(num_empty):
            chosen = states[num_empty == number][:_MAX_POSITIONS]
            if len(chosen) < _MIN_POSITIONS:
                continue
            start = time.perf_counter()
            nodes = [num_nodes(game, state) for state in chosen]
            ms = 1000 * (time.perf_counter() - start) / len(chosen)
            figures = f"{np.mean(nodes):11,.0f} {np.quantile(nodes, 0.9):13,.0f} {ms:9.2f}"
            print(f"{number:11} {len(chosen):10} {figures}", flush=True)
            if np.mean(nodes) > _LAST_MEAN:
                break


def num_nodes(game, state: np.ndarray) -> int:
    """Return how many nodes are searched to score all moves of a position, from an empty table."""
    solver = make_solver(game, _MAX_NODES)
    try:
        solver.scores(state[None])
    except UnsolvableError:
        pass
    return solver.num_nodes


if __name__ == "__main__":
    main()
