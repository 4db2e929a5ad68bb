"""UCT with random rollouts, compared with OpenSpiel's C++ bot, and random games; one thread."""

import math
import time

from alphazero.own_games.registry import make_game
from alphazero.runtime.random_generators import child_generator, kernel_rng
from alphazero.search.uct.search import UctSearch
from alphazero.search.uct.settings import UctSettings
from benchmark_parts.measuring import Row, in_turn

#: Simulations of one run, which take a fraction of a second, or two seconds with OpenSpiel's bot.
NUM_SIMULATIONS = {"tic_tac_toe": 100_000, "connect_four": 50_000, "othello": 10_000}
NUM_PLAYOUTS = {"tic_tac_toe": 200_000, "connect_four": 100_000, "othello": 20_000}
#: More memory than any run needs; with less, the bot would free nodes during the search.
OPEN_SPIEL_MEMORY_MB = 4000


def measure_uct(repeats: int) -> list[Row]:
    """Measure simulations/s of UCT and of OpenSpiel's bot from the start position, in turn."""
    return [
        Row(name, _uct_figures(name, num_simulations, repeats))
        for name, num_simulations in NUM_SIMULATIONS.items()
    ]


def measure_playouts(repeats: int) -> list[Row]:
    """Measure random games/s from the start position."""
    return [
        Row(name, in_turn({"playouts_per_s": _playouts(name, number)}, repeats))
        for name, number in NUM_PLAYOUTS.items()
    ]


def has_open_spiel() -> bool:
    """Return whether OpenSpiel is installed."""
    try:
        import pyspiel  # noqa: F401
    except ImportError:
        return False
    return True


def _uct_figures(name: str, num_simulations: int, repeats: int) -> dict[str, float]:
    def ours(**options):
        return lambda seed: _run_uct(name, num_simulations, seed, **options)

    def open_spiel(solve):
        return lambda seed: _run_open_spiel(name, num_simulations, seed, solve)

    runs = {
        "simulations_per_s": ours(),
        "by_position_simulations_per_s": ours(statistics="position"),
    }
    if has_open_spiel():
        runs["open_spiel_simulations_per_s"] = open_spiel(solve=False)
        runs["open_spiel_solving_simulations_per_s"] = open_spiel(solve=True)
    figures = {"simulations": num_simulations, **in_turn(runs, repeats)}
    if has_open_spiel():
        figures["ratio"] = figures["simulations_per_s"] / figures["open_spiel_simulations_per_s"]
    return figures


def _run_uct(name: str, num_simulations: int, seed: int, **options) -> float:
    """Return simulations/s of one search with a new tree."""
    game = make_game(name)
    search = UctSearch(game, UctSettings(num_simulations=num_simulations, **options), seed)
    state = game.initial_states()[0]
    started = time.perf_counter()
    output = search.run(state)
    seconds = time.perf_counter() - started
    assert output.visits.sum() == output.num_simulations == num_simulations
    return output.num_simulations / seconds


def _run_open_spiel(name: str, num_simulations: int, seed: int, solve: bool) -> float:
    """Return simulations/s of one search of OpenSpiel's C++ bot.

    Args:
        solve: whether the bot proves results, and may then stop before ``num_simulations``.
    """
    import pyspiel

    game = pyspiel.load_game(name)
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    limits = (num_simulations, OPEN_SPIEL_MEMORY_MB)
    bot = pyspiel.MCTSBot(game, evaluator, math.sqrt(2.0), *limits, solve, seed, False)
    state = game.new_initial_state()
    started = time.perf_counter()
    root = bot.mcts_search(state)
    seconds = time.perf_counter() - started
    assert solve or root.explore_count == num_simulations
    return root.explore_count / seconds


def _playouts(name: str, number: int):
    """Return a function that measures random games/s, given a seed."""
    game = make_game(name)
    states = game.initial_states(number)

    def run(seed: int) -> float:
        rng = kernel_rng(child_generator(seed, "benchmark"))
        started = time.perf_counter()
        game.playout(states, rng)
        return number / (time.perf_counter() - started)

    return run
