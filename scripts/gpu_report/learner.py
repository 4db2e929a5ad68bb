"""The learner on a GPU: samples/s of the current step, and of one captured in a CUDA graph.

Connect Four, bfloat16, Muon, averaged weights. The captured step omits the report's statistics and
the copy of the batch to the GPU.
"""

import time

import torch
from benchmark_parts.learner import _records

from alphazero.learner.gradients import answers_of
from alphazero.learner.learner import Learner
from alphazero.network.registry import make_network
from alphazero.own_games.registry import make_game
from alphazero.replay.buffer import ReplayBuffer
from alphazero.runtime.random_generators import child_generator
from alphazero.training.run_config import compose

NUM_STEPS = 50
DEVICE = torch.device("cuda", 0)


def samples_per_s(batch_size: int, run) -> float:
    """Return samples/s of ``run``, which takes `NUM_STEPS` steps."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    run()
    torch.cuda.synchronize()
    return NUM_STEPS * batch_size / (time.perf_counter() - start)


def captured_step(learner: Learner, batch):
    """Return a CUDA graph of one learner step on one batch."""
    samples, settings = learner._on_device(batch), learner.settings
    parameters, optimizers = learner._gradients.parameters, learner._optimizers.values()
    averages = list(learner._average.module.parameters())
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["capturable"] = True

    def step():
        with torch.autocast("cuda", torch.bfloat16):
            answers = answers_of(learner.network, samples, settings)
        answers.losses.total(settings.value_weight).backward()
        torch.nn.utils.clip_grad_norm_(parameters, settings.max_gradient_norm)
        for optimizer in optimizers:
            optimizer.step()
        torch._foreach_lerp_(averages, [weights.detach() for weights in parameters], 0.01)
        for weights in parameters:
            weights.grad.zero_()

    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    stream.synchronize()
    with torch.cuda.graph(graph, stream=stream, capture_error_mode="relaxed"):
        step()
    return graph


def measure(game, records, shape: tuple[int, int], batch_size: int) -> None:
    """Print the three speeds of a network, given its blocks and channels."""
    network = f"network.blocks={shape[0]}", f"network.channels={shape[1]}"
    settings = compose(["network=5x64", *network, f"learner.batch_size={batch_size}"])
    settings.learner.precision, settings.learner.optimizer = "bfloat16", "muon"
    settings.learner.ema_half_life_steps = 100
    replay = ReplayBuffer(game, settings.replay, child_generator(0, "benchmark"))
    for record in records:
        replay.add(record)
    batch = replay.sample(batch_size)
    model = make_network(game.planes_shape, game.num_actions, settings.network).to(DEVICE)
    learner = Learner(model, settings.learner, DEVICE)

    def learn(make_batch) -> None:
        for _ in learner.learn((make_batch() for _ in range(NUM_STEPS)), 0.0):
            pass

    learn(lambda: batch)
    speeds = [
        samples_per_s(batch_size, lambda: learn(lambda: replay.sample(batch_size))),
        samples_per_s(batch_size, lambda: learn(lambda: batch)),
    ]
    learner.network.train()
    graph = captured_step(learner, batch)
    speeds.append(samples_per_s(batch_size, lambda: [graph.replay() for _ in range(NUM_STEPS)]))
    label = f"{shape[0]}x{shape[1]}"
    print(f"{label:>7} {batch_size:6,}", *(f"{speed:12,.0f}" for speed in speeds), flush=True)


if __name__ == "__main__":
    connect_four = make_game("connect_four")
    games = list(_records(connect_four))
    print("network  batch  with replay buffer  one batch  captured")
    for blocks_and_channels in ((5, 64), (8, 128)):
        for num_samples in (256, 1024, 2048):
            measure(connect_four, games, blocks_and_channels, num_samples)
