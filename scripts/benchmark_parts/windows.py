"""Networks of windows by size of board, compared with a residual tower."""

import time

from alphazero.inference.engines.registry import make_engine
from alphazero.learner.learner import Learner
from alphazero.own_games.registry import make_game
from alphazero.replay.buffer import ReplayBuffer
from alphazero.runtime.random_generators import child_generator
from alphazero.training.run_config import compose
from benchmark_parts import measuring
from benchmark_parts.engines import CPU, fastest, network_of
from benchmark_parts.learner import records
from benchmark_parts.measuring import Row, cores_label, in_turn
from benchmark_parts.selfplay import Case, SelfPlayRun

GAMES = ("connect_four", "othello", "gomoku:9x9", "gomoku:15x15", "gomoku:19x19")
TOWER = "5x64"
NUM_POSITIONS = 128  #: of a batch of the engine, which one core evaluates
RUN_S = 1.0
BATCH_SIZE = 256


def measure_windows(repeats: int) -> list[Row]:
    """Measure the engine, self-play and learning on boards of several sizes."""
    return [
        Row(
            f"{name}, {cores_label(num_cores)}",
            measuring.in_new_process(num_cores, _figures, name, num_cores, repeats),
        )
        for name in GAMES
        for num_cores in measuring.core_counts()
    ]


def _figures(name: str, num_threads: int, repeats: int) -> dict[str, float]:
    runs = {}
    for network in ("windows", TOWER):
        runs[f"{network}_us_per_position"] = _engine(name, network)
        runs[f"{network}_samples_per_s"] = _learning(name, network)
    runs["windows_simulations_per_s"] = _self_play(name, num_threads)
    figures = in_turn(runs, repeats)
    for unit in ("us_per_position", "samples_per_s"):
        both = [figures[f"{network}_{unit}"] for network in ("windows", TOWER)]
        figures[f"{unit}_ratio"] = max(both) / min(both)
    return figures


def _engine(name: str, network: str):
    _, module, sample = network_of(name, network)
    engine = make_engine(fastest(network), CPU, 1)
    engine.load(module.eval(), sample.planes)

    def us_per_position(_seed) -> float:
        planes = sample.planes[:NUM_POSITIONS]
        num_calls, started = 0, time.perf_counter()
        while time.perf_counter() - started < RUN_S:
            engine.evaluate(planes)
            num_calls += 1
        return 1e6 * (time.perf_counter() - started) / (num_calls * NUM_POSITIONS)

    return us_per_position


def _learning(name: str, network: str):
    game = make_game(name)
    settings = compose([f"network={network}", f"learner.batch_size={BATCH_SIZE}"])
    settings.learner.precision = "float32"
    _, module, _ = network_of(name, network)
    learner = Learner(module, settings.learner, CPU)
    replay = ReplayBuffer(game, settings.replay, child_generator(0, "benchmark"))
    for record in records(game):
        replay.add(record)

    def samples_per_s(_seed) -> float:
        num_steps, started = 0, time.perf_counter()
        while time.perf_counter() - started < RUN_S:
            for _ in learner.learn((replay.sample(BATCH_SIZE) for _ in range(4)), 0.0):
                num_steps += 1
        return num_steps * BATCH_SIZE / (time.perf_counter() - started)

    return samples_per_s


def _self_play(name: str, num_threads: int):
    _, module, sample = network_of(name, "windows")
    case = Case(name, "windows", num_threads, batch=64)
    run = SelfPlayRun(case, module, sample, fastest("windows"), cache_mb=0)
    return lambda _seed: run.figures(RUN_S)["simulations_per_s"]
