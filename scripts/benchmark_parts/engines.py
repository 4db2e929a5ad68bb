"""The engines without search: evaluations/s of an untrained network that each is for."""

import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from alphazero.inference.engines.agreement import sample_positions
from alphazero.inference.engines.registry import (
    ENGINES,
    EngineChoice,
    make_engine,
    precisions,
    preferred_engine,
)
from alphazero.network.registry import make_network
from alphazero.own_games.registry import make_game
from alphazero.training.run_config import compose
from benchmark_parts import measuring
from benchmark_parts.measuring import Row

#: The network of each game, a file of configs/network.
NETWORKS = {"connect_four": "5x64", "othello:6": "4x64"}
RUN_S = 0.7  #: seconds of one run of an engine
CPU = torch.device("cpu")


def measure_engines(repeats: int) -> list[Row]:
    """Measure every engine on one core and on all cores."""
    return [
        Row(
            measuring.cores_label(num_cores),
            measuring.in_new_process(num_cores, _figures, num_cores, repeats),
        )
        for num_cores in measuring.core_counts()
    ]


def network_of(name: str, network: str):
    """Return a game, an untrained network of configs/network and a `PositionSample`."""
    game = make_game(name)
    settings = compose([f"network={network}"]).network
    module = make_network(game, settings)
    return game, module, sample_positions(game, 256, np.random.default_rng(0))


def fastest(network: str, device=CPU) -> EngineChoice:
    """Return the engine that ``evaluator.engine=auto`` chooses for a network."""
    return preferred_engine(EngineChoice("auto", "auto"), device, network)


def eager_per_s(network, planes: np.ndarray, num_threads: int) -> float:
    """Return evaluations/s of plain torch: eager, float32, no folded layers, torch's threads."""
    torch.set_num_threads(num_threads)
    network.eval()

    class Eager:
        def evaluate(self, planes):
            with torch.inference_mode():
                return network(torch.from_numpy(planes))

    return evaluations_per_s(Eager(), planes)


def evaluations_per_s(evaluator, planes: np.ndarray) -> float:
    """Return evaluations/s of an engine, after one warm-up call."""
    evaluator.evaluate(planes)
    started, calls = time.perf_counter(), 0
    while time.perf_counter() - started < RUN_S:
        evaluator.evaluate(planes)
        calls += 1
    return calls * len(planes) / (time.perf_counter() - started)


def _figures(num_threads: int, repeats: int) -> dict[str, float]:
    engines = {}
    for engine, precision in [(name, one) for name in ENGINES for one in precisions(name, CPU)]:
        choice = EngineChoice(engine, precision)
        name = "windows" if engine == "table" else NETWORKS["connect_four"]
        _, network, sample = network_of("connect_four", name)
        engines[str(choice)] = make_engine(choice, CPU, num_threads)
        engines[str(choice)].load(network.eval(), sample.planes)
    _, network, sample = network_of("connect_four", NETWORKS["connect_four"])
    eager = "torch eager as it comes"
    speeds: dict[str, list[float]] = {name: [] for name in [*engines, eager]}
    planes = [sample.planes[:128]] * num_threads
    with ThreadPoolExecutor(num_threads) as pool:
        for _ in range(repeats):
            for name, engine in engines.items():
                each = pool.map(evaluations_per_s, [engine] * num_threads, planes)
                speeds[name].append(sum(each))
            speeds[eager].append(eager_per_s(network, sample.planes, num_threads))
    return {f"{name}_evaluations_per_s": statistics.median(runs) for name, runs in speeds.items()}
