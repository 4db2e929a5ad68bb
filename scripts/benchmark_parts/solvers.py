"""The speed of our exact solvers on positions from random games at given stages."""

import statistics
import time

import numpy as np

from alphazero.own_games.registry import make_game
from alphazero.solvers.connect_x import ConnectXSolver
from alphazero.solvers.othello import OthelloSolver
from benchmark_parts.measuring import Row

PLIES = (24, 20, 16, 14, 12)  #: plies of the positions of Connect Four
EMPTIES = {"othello:6": (12, 14, 16, 18), "othello": (12, 14, 16, 18)}  #: empty squares
NUM_POSITIONS = 12  #: positions of each case


def measure_solvers(repeats: int) -> list[Row]:
    """Measure the solving time per position and nodes/s. Every position is solved once."""
    del repeats
    rows = [
        Row(f"connect_four, ply {ply}", _figures("connect_four", ConnectXSolver, 42 - ply))
        for ply in PLIES
    ]
    return rows + [
        Row(f"{name}, {empties} empty", _figures(name, OthelloSolver, empties))
        for name, counts in EMPTIES.items()
        for empties in counts
    ]


def positions_with(name: str, empties: int) -> np.ndarray:
    """Return unfinished positions from random games with ``empties`` empty cells, [N, K]."""
    game, rng, states = make_game(name), np.random.default_rng(0), []
    while len(states) < NUM_POSITIONS:
        current = game.inspect(game.initial_states())
        while not current.over[0] and _num_empty(game, current.states[0]) > empties:
            action = rng.choice(np.flatnonzero(current.legal_action_mask[0]))
            current = game.step(current.states, [action])
        if not current.over[0]:
            states.append(current.states[0])
    return np.stack(states)


def _num_empty(game, state: np.ndarray) -> int:
    _, height, width = game.planes_shape
    return height * width - np.count_nonzero(game.cells(state))


def _figures(name: str, solver_class, empties: int) -> dict[str, float]:
    """Time the positions one by one; the solver keeps its table between them, as in a game."""
    game, states = make_game(name), positions_with(name, empties)
    solver_class(game).scores(states[:1])  # loads compiled code
    solver, times = solver_class(game), []
    for state in states:
        started = time.perf_counter()
        solver.scores(state[None])
        times.append(time.perf_counter() - started)
    return {
        "median_ms": 1e3 * statistics.median(times),
        "mean_ms": 1e3 * statistics.mean(times),
        "slowest_ms": 1e3 * max(times),
        "nodes": solver.num_nodes / len(states),
        "nodes_per_s": solver.num_nodes / sum(times),
    }
