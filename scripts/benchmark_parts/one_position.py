"""Searches of one position with a network: simulations/s, compared with torch's evaluations/s.

The position is the start of the game, where the cache profits from its symmetry; the default player
also searches positions a few plies later. The default, with several leaves per step and a cache,
searches for a fixed time and for a fixed number of simulations. The cache is cleared between
searches.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np
from set_sampling import game_positions

from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player
from alphazero.players.search_player import SearchPlayer
from alphazero.runtime.random_generators import child_generator
from benchmark_parts.engines import evaluations_per_s
from benchmark_parts.measuring import Row

RUN_S = 1.0  #: seconds of one search
GAMES = ("connect_four", "othello")
NUM_PLIES, NUM_POSITIONS = 4, 4  #: plies before the later positions, and number of these
BATCH_SIZE = 256  #: batch size of torch's evaluations
NUM_SIMULATIONS = 6_000  #: simulations of a search with a fixed budget
MAX_SIMULATIONS = 10_000  #: maximum simulations of a search with one leaf at a time


def measure_one_position(repeats: int) -> list[Row]:
    """Measure each search with the shipped networks in turn, and its ratio to torch's speed."""
    rows = []
    for name in GAMES:
        measures, engine = _measures(name)
        speeds: dict[str, list[float]] = {key: [] for key in measures}
        for repeat in range(repeats + 1):
            for key, measure in measures.items():
                speed = measure()
                if repeat:  # the first run warms up
                    speeds[key].append(speed)
        medians = {key: statistics.median(runs) for key, runs in speeds.items()}
        ratios = {
            f"{key.removesuffix('_per_s')}_ratio": speed / medians["torch_evaluations_per_s"]
            for key, speed in medians.items()
            if key != "torch_evaluations_per_s"
        }
        rows.append(Row(f"{name}, auto is {engine}", medians | ratios))
    return rows


def _measures(name: str) -> tuple[dict[str, Callable[[], float]], str]:
    """Return functions that measure a speed, by figure name, and the engine that auto chooses."""
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

    timed, fixed = auto.limited(None, RUN_S), auto.limited(NUM_SIMULATIONS)
    measures = {
        "torch_evaluations_per_s": lambda: evaluations_per_s(torch.evaluator, planes),
        "torch_one_leaf_per_s": one_leaf(torch),
        "one_leaf_per_s": one_leaf(auto),
        "default_per_s": _speed(timed, start),
        "default_later_per_s": _speed(timed, later),
        "fixed_per_s": _speed(fixed, start),
        "fixed_later_per_s": _speed(fixed, later),
    }
    return measures, auto.engine


def _speed(player: SearchPlayer, states: np.ndarray) -> Callable[[], float]:
    """Return a function that measures the mean simulations/s over these positions."""

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
