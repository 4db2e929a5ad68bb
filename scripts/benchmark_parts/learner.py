"""The learner with the replay buffer, compared with the network's arithmetic only.

Measured on one core, on all cores, and on all cores while another program occupies one of them.
"""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator

from alphazero.inference.evaluator import UniformEvaluator
from alphazero.learner.learner import Learner
from alphazero.network.registry import make_network
from alphazero.own_games.registry import make_game
from alphazero.replay.buffer import ReplayBuffer
from alphazero.runtime.device import has_bfloat16
from alphazero.runtime.random_generators import child_generator
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.lockstep import SelfPlay
from alphazero.selfplay.settings import SelfPlaySettings
from alphazero.training.run_config import compose
from benchmark_parts import measuring
from benchmark_parts.engines import CPU
from benchmark_parts.measuring import Row, in_turn

#: Batch size for each network config.
NETWORKS = {"5x64": 256, "4x48": 256, "windows": 256, "patterns": 1024, "tiny": 64}
#: Learner steps of one run.
NUM_STEPS = {"5x64": 20, "4x48": 20, "windows": 100, "patterns": 40, "tiny": 400}
NUM_GAMES = 200  #: games in the replay buffer


def measure_learner(repeats: int) -> list[Row]:
    """Measure samples/s (named rows) with batches from the replay buffer, and with one batch."""
    rows = []
    for name, batch_size in NETWORKS.items():
        arguments = _figures, name, batch_size, repeats
        for num_cores in measuring.core_counts():
            label = f"{name}, {batch_size} rows, {measuring.cores_label(num_cores)}"
            rows.append(Row(label, measuring.in_new_process(num_cores, *arguments)))
        with _busy_program():
            figures = measuring.in_new_process(num_cores, *arguments)
            rows.append(Row(f"{label}, one taken", figures))
    return rows


@contextlib.contextmanager
def _busy_program() -> Iterator[None]:
    """Keep one core busy with another process during the ``with`` block."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as program:
        try:
            yield
        finally:
            program.kill()


def _figures(name: str, batch_size: int, repeats: int) -> dict[str, float]:
    game, num_steps = make_game("connect_four"), NUM_STEPS[name]
    settings = compose([f"network={name}", f"learner.batch_size={batch_size}"])
    is_fast = name != "tiny" and has_bfloat16(CPU)
    settings.learner.precision = "bfloat16" if is_fast else "float32"
    network = make_network(game, settings.network)
    learner = Learner(network, settings.learner, CPU)
    replay = ReplayBuffer(game, settings.replay, child_generator(0, "benchmark"))
    for record in records(game):
        replay.add(record)
    batch = replay.sample(batch_size)

    def samples_per_s(batches) -> float:
        started = time.perf_counter()
        for _ in learner.learn(batches, 0.0):
            pass
        return num_steps * batch_size / (time.perf_counter() - started)

    def with_replay(_seed):
        return samples_per_s(replay.sample(batch_size) for _ in range(num_steps))

    def arithmetic_alone(_seed):
        return samples_per_s(batch for _ in range(num_steps))

    runs = {"rows_per_s": with_replay, "arithmetic_alone_rows_per_s": arithmetic_alone}
    figures = in_turn(runs, repeats)
    return figures | {"ratio": figures["rows_per_s"] / figures["arithmetic_alone_rows_per_s"]}


def records(game):
    """Yield game records of self-play without a network."""
    options = SelfPlaySettings(num_parallel_games=64, num_simulations=8)
    evaluator, generator = UniformEvaluator(game.num_actions), child_generator(0, "records")
    yield from SelfPlay(game, evaluator, options, SearchSettings(), generator).play(NUM_GAMES)
