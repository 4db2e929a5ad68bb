"""A network that thinks about one position: simulations/s, beside evaluations/s of torch.

The position is the start of the game, where the cache profits from its symmetry, and for the
default some positions a few plies later. Nothing is proven there, and nothing is kept from one
search to the next.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np

from alphazero.games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.network import make_cache
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
NUM_SIMULATIONS = 10_000  #: of a search that is not ended by its time


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
    torch, auto = (make_player("best", game, PlayerSettings(engine=e)) for e in ("torch", "auto"))
    positions = game_positions(game, 16, child_generator(0, "benchmark"))[:BATCH_SIZE]
    start, later = game.initial_states(), positions[16 * NUM_PLIES :][:NUM_POSITIONS]
    planes = game.observe(positions)

    def searched(player, as_by_default: bool, states=start) -> Callable[[], float]:
        cache = make_cache(game, player.evaluator) if as_by_default else None
        one = SearchPlayer(
            game,
            player.evaluator,
            NUM_SIMULATIONS,
            RUN_S,
            batches_leaves=as_by_default,
            cache=cache,
        )

        def simulations_per_s() -> float:
            speeds = []
            for state in states:
                if cache is not None:
                    cache.clear()
                speeds.append(_simulations_per_s(one, state))
            return statistics.mean(speeds)

        return simulations_per_s

    measures = {
        "torch_evaluations_per_s": lambda: evaluations_per_s(torch.evaluator, planes),
        "torch_one_leaf_per_s": searched(torch, False),
        "one_leaf_per_s": searched(auto, False),
        "default_per_s": searched(auto, True),
        "default_later_per_s": searched(auto, True, later),
    }
    return measures, auto.engine


def _simulations_per_s(player: SearchPlayer, state: np.ndarray) -> float:
    start = time.perf_counter()
    num_simulations = player.analyse(state).num_simulations
    return num_simulations / (time.perf_counter() - start)
