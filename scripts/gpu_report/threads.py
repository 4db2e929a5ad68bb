"""Self-play on a GPU: simulations/s by number of search threads.

Connect Four, an untrained 5x64 network in bfloat16, 200 simulations per move, no cache.
"""

import torch
from benchmark_parts.engines import network_of
from benchmark_parts.selfplay import Case, SelfPlayRun

from alphazero.inference import network_evaluator
from alphazero.inference.engines.registry import EngineChoice

CASES = [(2, 4096), (4, 4096), (8, 4096), (4, 8192), (8, 8192), (2, 16384), (8, 16384), (2, 4096)]
RUN_S = 2.0

_, network, sample = network_of("connect_four", "5x64")
print("threads    games  simulations/s  time in the network")
for num_threads, num_games in [CASES[0], *CASES]:  # the first run compiles the kernels
    network_evaluator.STREAMS_PER_GPU = num_threads
    case = Case(network="5x64", num_threads=num_threads, batch=num_games // num_threads)
    choice = EngineChoice("torch", "bfloat16")
    run = SelfPlayRun(case, network, sample, choice, 0, torch.device("cuda", 0))
    run.figures(RUN_S)
    figures = run.figures(RUN_S)
    speed, fraction = figures["simulations_per_s"], figures["network_fraction"]
    print(f"{num_threads:7} {num_games:8,} {speed:14,.0f} {fraction:20.0%}")
