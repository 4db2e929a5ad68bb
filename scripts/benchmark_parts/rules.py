"""Connect Four with compiled rules, in plain Python and through each adapter, on one core."""

import importlib.util
import time

import numpy as np

from alphazero.inference.engines.registry import EngineChoice
from alphazero.inference.evaluator import UniformEvaluator
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.python_uct import uct_player
from alphazero.runtime.random_generators import child_generator
from alphazero.search.batched_search import TreeSearch
from alphazero.search.settings import SearchSettings
from benchmark_parts import measuring
from benchmark_parts.engines import NETWORKS, fastest, network_of
from benchmark_parts.measuring import Row, in_turn
from benchmark_parts.selfplay import Case, SelfPlayRun

#: Implementations of Connect Four: name -> (game, package that must be installed).
KINDS = {
    "compiled": ("connect_four", "alphazero"),
    "Python class": ("benchmark_parts.python_rules:ConnectFour", "alphazero"),
    "notebook's form": ("benchmark_parts.python_rules:NotebookConnectFour", "alphazero"),
    "OpenSpiel": ("open_spiel:connect_four", "pyspiel"),
    "PettingZoo": ("pettingzoo:connect_four_v3", "pettingzoo"),
    "pgx": ("pgx:connect_four", "pgx"),
}
#: Games of the libraries -> package that must be installed.
LIBRARY_GAMES = {
    "open_spiel:connect_four": "pyspiel",
    "open_spiel:hex": "pyspiel",
    "open_spiel:breakthrough": "pyspiel",
    "open_spiel:othello": "pyspiel",
    "open_spiel:go(board_size=9)": "pyspiel",
    "open_spiel:chess(max_plies=300)": "pyspiel",
    "open_spiel:morpion_solitaire": "pyspiel",
    "pettingzoo:connect_four_v3": "pettingzoo",
    "pettingzoo:go_v5(board_size=9)": "pettingzoo",
    "pettingzoo:chess_v6": "chess",
    "pgx:connect_four": "pgx",
    "pgx:hex": "pgx",
    "pgx:othello": "pgx",
    "pgx:animal_shogi": "pgx",
    "pgx:go_9x9": "pgx",
    "pgx:chess": "pgx",
}
BATCH = 64  #: games in lockstep
NUM_SIMULATIONS = 64  #: simulations per move
RUN_S = 1.0  #: seconds of one run of self-play
UCT_S = 0.5  #: seconds of one UCT search
LIBRARY_UCT = 8  #: simulations of a UCT search in a library's game
NETWORK = NETWORKS["connect_four"]


def measure_rules(repeats: int) -> list[Row]:
    """Measure all installed implementations of the rules, in turn."""
    figures = measuring.in_new_process(1, _figures, repeats)
    names = [name for name, (_, package) in KINDS.items() if importlib.util.find_spec(package)]
    return [Row(name, _with_ratios(name, figures)) for name in names]


def _with_ratios(name: str, figures: dict[str, float]) -> dict[str, float]:
    """Return the speeds of one implementation, and their ratios to the compiled rules'."""
    parts = ("self_play", "search_alone", "uct")
    speeds = {part: figures[f"{name}, {part}"] for part in parts}
    compiled = {part: figures[f"compiled, {part}"] for part in parts}
    return {f"{part}_simulations_per_s": speeds[part] for part in parts} | {
        f"{part}_ratio": speeds[part] / compiled[part] for part in parts
    }


def _figures(repeats: int) -> dict[str, float]:
    """Return the median speeds, by implementation and part."""
    runs = {}
    _, network, sample = network_of(KINDS["compiled"][0], NETWORK)
    engine = fastest(NETWORK)
    for name, (game, package) in KINDS.items():
        if importlib.util.find_spec(package):
            runs[f"{name}, self_play"] = _self_play(game, engine)
            runs[f"{name}, search_alone"] = _search(game)
            runs[f"{name}, uct"] = _uct(game)
    return in_turn(runs, repeats)


def _self_play(name: str, engine: EngineChoice):
    """Return a function that measures simulations/s of self-play with an untrained network."""
    _, network, sample = network_of(name, NETWORK)
    case = Case(name, NETWORK, 1, BATCH, NUM_SIMULATIONS)
    run = SelfPlayRun(case, network, sample, engine, cache_mb=0)
    return lambda seed: run.figures(RUN_S)["simulations_per_s"]


def _search(name: str):
    """Return a function that measures simulations/s of search with a free evaluator."""
    game = make_game(name)
    search = TreeSearch(
        game,
        UniformEvaluator(game.num_actions),
        num_games=BATCH,
        max_simulations=NUM_SIMULATIONS,
        settings=SearchSettings(),
        generator=child_generator(0, "benchmark"),
        explores=True,
    )

    def run(_seed: int) -> float:
        before, started = search.counts.num_simulations, time.perf_counter()
        search.reset(np.arange(BATCH), game.initial_states(BATCH), NUM_SIMULATIONS)
        search.run()
        return (search.counts.num_simulations - before) / (time.perf_counter() - started)

    return run


def _uct(name: str):
    """Return a function that measures simulations/s of UCT with random rollouts from the start.

    It searches one position at a time; pgx is faster with several at once.
    """
    game = make_game(name)
    player = uct_player(game, PlayerSettings(time_limit_s=UCT_S))

    def run(_seed: int) -> float:
        started = time.perf_counter()
        analysis = player.analyse(game.initial_states()[0])
        return analysis.num_simulations / (time.perf_counter() - started)

    return run


# --- games of the libraries -----------------------------------------------------------------------


def measure_libraries(repeats: int) -> list[Row]:
    """Measure the games of all installed libraries, in turn."""
    figures = measuring.in_new_process(1, _library_figures, repeats)
    names = list(dict.fromkeys(name for name, _ in figures))
    return [
        Row(
            name,
            {
                "microseconds_per_move": 1e6 / figures[name, "moves"],
                "uct_simulations_per_s": figures[name, "uct"],
            },
        )
        for name in names
    ]


def _library_figures(repeats: int) -> dict[tuple[str, str], float]:
    """Return the median speeds, by game and part."""
    runs = {}
    for name, package in LIBRARY_GAMES.items():
        if importlib.util.find_spec(package):
            runs[name, "moves"] = _random_games(name)
            runs[name, "uct"] = _library_uct(name)
    return in_turn(runs, repeats)


def _random_games(name: str):
    """Return a function that measures moves/s of a batch of random games.

    Each move makes all calls that a search makes.
    """
    game = make_game(name)

    def run(seed: int) -> float:
        generator, states = np.random.default_rng(seed), game.initial_states(BATCH)
        num_moves, started = 0, time.perf_counter()
        while (passed := time.perf_counter() - started) < RUN_S:
            inspected = game.inspect(states)
            states[inspected.over] = game.initial_states(int(inspected.over.sum()))
            legal = game.legal_action_mask(states)
            actions = (generator.random(legal.shape) * legal).argmax(axis=1).astype(np.int32)
            states = game.step(states, actions).states
            game.observe(states)
            num_moves += BATCH
        return num_moves / passed

    return run


def _library_uct(name: str):
    """Return a function that measures simulations/s of UCT from the start position."""
    game = make_game(name)
    player = uct_player(game, PlayerSettings(num_simulations=LIBRARY_UCT))
    states = game.initial_states()

    def run(_seed: int) -> float:
        num_searches, started = 0, time.perf_counter()
        while (passed := time.perf_counter() - started) < UCT_S:
            player.choose(states)
            num_searches += len(states)
        return LIBRARY_UCT * num_searches / passed

    return run
