"""Self-play's search on a GPU: simulations/s by network and number of games.

Connect Four, untrained networks in bfloat16, 200 simulations per search, no noise. The last column
is the network alone, on the same positions. `--check` needs no GPU: numba's simulator stands in.
"""

import os
import sys
import time

IS_CHECK = "--check" in sys.argv
if IS_CHECK:
    os.environ |= {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}

import numpy as np
import torch

from alphazero.inference.engines.cuda_engine import CudaEngine
from alphazero.inference.gpu_search import STEPS, GpuTreeSearch
from alphazero.network.interface import NetworkSettings
from alphazero.network.registry import make_network
from alphazero.own_games.registry import make_game
from alphazero.search.settings import SearchSettings

NUM_SIMULATIONS, NUM_BATCHES = 200, 50
GAME = make_game("connect_four")


class EngineOnCpu(CudaEngine):
    """Stands in for an engine on a GPU."""

    def __init__(self, precision, device):
        self._dtype, self.gpus = torch.float32, [torch.device("cpu")]

    def load(self, network, planes):
        """Take a network as it is."""
        self._networks = [network.requires_grad_(False)]


def roots(num_games: int) -> np.ndarray:
    """Return positions, [B, K], after 0 to 8 random plies."""
    rng, states = np.random.default_rng(0), GAME.initial_states(num_games)
    for ply in range(8):
        rows = np.flatnonzero(np.arange(num_games) % 9 > ply)
        legal = GAME.legal_action_mask(states[rows])
        after = GAME.step(states[rows], (rng.random(legal.shape) * legal).argmax(axis=1))
        states[rows] = np.where(after.over[:, None], states[rows], after.states)
    return states


def synchronize() -> None:
    """Wait for the GPU."""
    if not IS_CHECK:
        torch.cuda.synchronize()


def measure(
    blocks: int, channels: int, num_games: int, num_simulations: int, compiled: bool = False
) -> None:
    """Print simulations/s of the search, positions/s of the network alone, and set-up time.

    With ``compiled``, the network is compiled by torch, which the package does not do.
    """
    settings = NetworkSettings(blocks=blocks, channels=channels)
    network = make_network(GAME, settings).eval()
    engine = (EngineOnCpu if IS_CHECK else CudaEngine)("bfloat16", torch.device("cuda", 0))
    engine.load(network, np.zeros((1, *GAME.planes_shape), np.float32))
    if compiled:
        engine._networks = [torch.compile(one, dynamic=False) for one in engine._networks]
    start = time.perf_counter()
    search = GpuTreeSearch(
        GAME,
        engine,
        0,
        num_games=num_games,
        max_simulations=num_simulations,
        settings=SearchSettings(),
        generator=np.random.default_rng(0),
    )
    setup_s = time.perf_counter() - start
    rows, states = np.arange(num_games), roots(num_games)
    speeds = []
    for _ in range(1 if IS_CHECK else 3):
        search.reset(rows, states, num_simulations)
        before, start = search.counts.num_simulations, time.perf_counter()
        while len(search.finished_rows()) < num_games:
            search.step()
        seconds = time.perf_counter() - start
        speeds.append((search.counts.num_simulations - before) / seconds)
    with search._on_device():  # the same positions, without kernels of the search
        start = time.perf_counter()
        for _ in range(NUM_BATCHES // (STEPS if IS_CHECK else 1)):
            engine.evaluate_on_gpu(search._planes, 0)
        synchronize()
        alone = NUM_BATCHES * num_games / (time.perf_counter() - start)
    label = f"{blocks}x{channels} {'compiled' if compiled else ''}"
    print(
        f"{label:15} {num_games:8,} {max(speeds):14,.0f} {alone:15,.0f} {setup_s:10.1f}", flush=True
    )


if __name__ == "__main__":
    print("network            games  simulations/s   network alone  set-up, s")
    if IS_CHECK:
        measure(1, 8, 4, 20)
    else:
        for games in (2048, 4096, 8192, 16384, 32768):
            measure(5, 64, games, NUM_SIMULATIONS)
        measure(5, 64, 16384, NUM_SIMULATIONS, compiled=True)
        measure(8, 128, 16384, NUM_SIMULATIONS)
