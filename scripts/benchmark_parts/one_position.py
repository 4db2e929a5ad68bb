"""A network that thinks about one position: simulations/s, beside evaluations/s of torch.

The position is the start of the game, where the cache profits from its symmetry, and for the
default some positions a few plies later. The default, several leaves per step and a cache, searches
for a time and for a fixed number of simulations; the latter also as `alphazero engine` does, with
exact answers, which have a fraction of the time. (Of a limited time they have most, so that
simulations/s would say little.) No evaluation is kept from one search to the next.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np

from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player
from alphazero.players.search_player import SearchPlayer
from alphazero.runtime.random_generators import child_generator
from alphazero.solvers.exact_leaves import game_positions
from benchmark_parts.engines import evaluations_per_s
from benchmark_parts.measuring import Row

RUN_S = 1.0  #: seconds of one search
GAMES = ("connect_four", "othello")
NUM_PLIES, NUM_POSITIONS = 4, 4  #: of the searches
BATCH_SIZE = 256  #: of the evaluations that are the measure
NUM_SIMULATIONS = 6_000  #: of a search with a fixed budget
MAX_SIMULATIONS = 10_000  #: of a search of one leaf at a time


def measure_one_position(repeats: int) -> list[Row]:
    """Measure the shipped networks, all ways in turn, and their ratios to torch's evaluations."""
    rows = []
    for name in GAMES:
        measures, engine = _measures(name)
        speeds: dict[str, list[float]] = {way: [] for way in measures}
        for repeat in range(repeats + 1):
            for way, measure in measures.items():
                speed = measure()
                if repeat:  # the first run warms up
                    speeds[way].append(speed)
        medians = {way: statistics.median(found) for way, found in speeds.items()}
        ratios = {
            f"{way.removesuffix('_per_s')}_ratio": speed / medians["torch_evaluations_per_s"]
            for way, speed in medians.items()
            if way != "torch_evaluations_per_s"
        }
        rows.append(Row(f"{name}, auto is {engine}", medians | ratios))
    return rows


def _measures(name: str) -> tuple[dict[str, Callable[[], float]], str]:
    """Return what is measured, each as a function that returns a speed; and the engine of auto."""
    game = make_game(name)
    torch, auto = (
        make_player("best", game, PlayerSettings(engine=engine)) for engine in ("torch", "auto")
    )
    assert isinstance(torch, SearchPlayer) and isinstance(auto, SearchPlayer)
    positions = game_positions(game, 16, child_generator(0, "benchmark"))[:BATCH_SIZE]
    start, later = game.initial_states(), positions[16 * NUM_PLIES :][:NUM_POSITIONS]
    planes = game.observe(positions)

    def one_leaf(player: SearchPlayer) -> Callable[[], float]:
        return _speed(SearchPlayer(game, player.evaluator, MAX_SIMULATIONS, RUN_S), start)

    exact = make_player("best", game, PlayerSettings(NUM_SIMULATIONS, endgame="auto"))
    assert isinstance(exact, SearchPlayer)
    timed, fixed = auto.limited(None, RUN_S), auto.limited(NUM_SIMULATIONS)
    measures = {
        "torch_evaluations_per_s": lambda: evaluations_per_s(torch.evaluator, planes),
        "torch_one_leaf_per_s": one_leaf(torch),
        "one_leaf_per_s": one_leaf(auto),
        "default_per_s": _speed(timed, start),
        "default_later_per_s": _speed(timed, later),
        "fixed_per_s": _speed(fixed, start),
        "fixed_later_per_s": _speed(fixed, later),
        "fixed_exact_per_s": _speed(exact, start),
        "fixed_exact_later_per_s": _speed(exact, later),
    }
    return measures, auto.engine


def _speed(player: SearchPlayer, states: np.ndarray) -> Callable[[], float]:
    """Return a function that returns the mean simulations/s of searches of these positions."""

    def simulations_per_s() -> float:
        speeds = []
        for state in states:
            if player.cache is not None:
                player.cache.clear()
            speeds.append(_simulations_per_s(player, state))
        return statistics.mean(speeds)

    return simulations_per_s


def _simulations_per_s(player: SearchPlayer, state: np.ndarray) -> float:
    start = time.perf_counter()
    num_simulations = player.analyse(state).num_simulations
    return num_simulations / (time.perf_counter() - start)
