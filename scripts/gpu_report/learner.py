"""The learner on a GPU: samples/s with each update as a CUDA graph, and kernel by kernel.

Connect Four, bfloat16, Muon, averaged weights. ``--check`` tries it on the CPU, a few steps each.
"""

import argparse
import time

import torch
from benchmark_parts.learner import _records

from alphazero.learner.learner import Learner
from alphazero.network.registry import make_network
from alphazero.own_games.registry import make_game
from alphazero.replay.buffer import ReplayBuffer
from alphazero.runtime.random_generators import child_generator
from alphazero.training.run_config import compose

NUM_STEPS = 200
SHAPES = (5, 64), (8, 128)  #: blocks and channels of the networks
BATCH_SIZES = 256, 1024, 2048


def samples_per_s(learner: Learner, make_batch, num_steps: int) -> float:
    """Return samples/s of a call of `Learner.learn`, after another one."""
    for _ in range(2):
        start = time.perf_counter()
        batches = (make_batch() for _ in range(num_steps))
        for _ in learner.learn(batches, progress=0.0):
            pass
        if learner.device.type == "cuda":
            torch.cuda.synchronize()
        duration = time.perf_counter() - start
    return num_steps * learner.settings.batch_size / duration


def draws_per_s(replay: ReplayBuffer, batch_size: int) -> float:
    """Return samples/s of drawing batches, on one core."""
    replay.sample(batch_size)
    start = time.perf_counter()
    for _ in range(NUM_STEPS):
        replay.sample(batch_size)
    return NUM_STEPS * batch_size / (time.perf_counter() - start)


def measure(replay, shape, batch_size: int, device: torch.device, num_steps: int) -> None:
    """Print the speeds of a network with the given blocks and channels."""
    game = replay.game
    network = f"network.blocks={shape[0]}", f"network.channels={shape[1]}"
    settings = compose(["network=5x64", *network, f"learner.batch_size={batch_size}"])
    settings.learner.precision, settings.learner.optimizer = "bfloat16", "muon"
    settings.learner.ema_half_life_steps = 100
    batch = replay.sample(batch_size)
    speeds = []
    for captures in (True, False):
        model = make_network(game, settings.network).to(device)
        learner = Learner(model, settings.learner, device)
        learner.uses_cuda_graph = captures
        for make_batch in (lambda: replay.sample(batch_size), lambda: batch):
            speeds.append(samples_per_s(learner, make_batch, num_steps))
    label = f"{shape[0]}x{shape[1]}"
    print(f"{label:>7} {batch_size:6,}", *(f"{speed:12,.0f}" for speed in speeds), flush=True)


def main() -> None:
    """Measure all networks and batch sizes, or with ``--check`` a tiny one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    device = torch.device("cpu") if check else torch.device("cuda", 0)
    game = make_game("connect_four")
    generator = child_generator(0, "benchmark")
    replay = ReplayBuffer(game, compose(["network=5x64"]).replay, generator)
    for record in _records(game):
        replay.add(record)
    for batch_size in BATCH_SIZES:
        print(
            f"drawing batches of {batch_size:,}: {draws_per_s(replay, batch_size):,.0f} samples/s"
        )
    print("Samples/s:      replay, graph    one batch, graph    replay    one batch")
    for shape in ((1, 8),) if check else SHAPES:
        for batch_size in (64,) if check else BATCH_SIZES:
            measure(replay, shape, batch_size, device, 4 if check else NUM_STEPS)


if __name__ == "__main__":
    main()
