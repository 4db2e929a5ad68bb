"""Train a network on exact results of Connect Four: how much its shape can represent.

    python scripts/learn_exact_results.py 1500 network=5x64 learner.ema_half_life_steps=0
    python scripts/learn_exact_results.py 1500 network=5x64 network.position_bias=false

Positions with 4 to 11 discs come from games of random moves; no two are equal or mirror images. A
tenth is held out. The exact solver (extra `[bitbully]`, which knows these positions by heart) gives
the result of each and the moves that keep it. A new network is trained on them for the given number
of steps. The script then prints its losses on the held-out positions. The arguments after the
number are those of `alphazero train`. A run never uses any of this: it shows what a network of a
shape can represent, not what self-play finds.
"""

import sys
import time
from typing import NamedTuple

import numpy as np
import torch
from rich.progress import track

from alphazero.evaluation.exact.sets import canonical_keys
from alphazero.games.registry import make_game
from alphazero.learner.learner import Learner
from alphazero.network.registry import make_network
from alphazero.replay.augmentation import apply_symmetries
from alphazero.replay.buffer import Batch
from alphazero.runtime.device import set_num_threads
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator
from alphazero.solvers.base import values_of
from alphazero.solvers.bitbully import BitbullySolver
from alphazero.training.compose import compose

_NUM_GAMES = 60_000
_PLIES = range(4, 12)
_SOLVED_AT_ONCE = 5_000
_NUM_CALLS = 50  # of the learner: the learning rate falls from one to the next, as in a run


class SolvedPositions(NamedTuple):
    """Positions with their exact results."""

    states: np.ndarray  #: [M, K]
    keeps_result: np.ndarray  #: bool[M, A], True for the moves that keep the exact result
    results: np.ndarray  #: int8[M], 1, 0 or -1, for the player to move


def main(num_steps: int, words: list[str]) -> None:
    """Train and print the losses."""
    settings = compose(["game=connect_four", *words])
    if settings.learner.precision == "auto":
        settings.learner.precision = "bfloat16"
    game = make_game("connect_four")
    set_num_threads(settings.run.num_threads)
    solved = _solved_positions(game, child_generator(0, "exact positions"))
    num_held_out = len(solved.states) // 10
    held_out = SolvedPositions(*(column[:num_held_out] for column in solved))
    seen = SolvedPositions(*(column[num_held_out:] for column in solved))
    network = make_network(game.planes_shape, game.num_actions, settings.network, settings.seed)
    learner = Learner(network, settings.learner, torch.device("cpu"))
    generator = child_generator(settings.seed, "replay")
    batch_size = settings.learner.batch_size

    def sample() -> Batch:
        indices = generator.integers(len(seen.states), size=batch_size)
        return _batch(game, SolvedPositions(*(column[indices] for column in seen)), generator)

    start, per_call = time.perf_counter(), max(num_steps // _NUM_CALLS, 1)
    for done in track(range(0, num_steps, per_call), f"{len(seen.states):,} positions"):
        batches = (sample() for _ in range(min(per_call, num_steps - done)))
        for _ in learner.learn(batches, done / num_steps):
            pass
    ms_per_step = 1000 * (time.perf_counter() - start) / num_steps
    report = learner.held_out_losses(_batch(game, held_out))
    print(
        f"{num_steps:,} steps of {batch_size} samples, {ms_per_step:.1f} ms per step with batches"
    )
    print(f"losses on {num_held_out:,} held-out positions:")
    print(f"value {report.value_loss:.4f}, policy {report.policy_loss:.4f} nats")


def _solved_positions(game, generator: np.random.Generator) -> SolvedPositions:
    """Return the positions of random games in random order, solved."""
    states = _random_positions(game, generator)
    _, distinct = np.unique(canonical_keys(game, states), return_index=True)
    states = states[generator.permutation(distinct)]
    solver, starts = BitbullySolver(game), range(0, len(states), _SOLVED_AT_ONCE)
    parts = (states[start : start + _SOLVED_AT_ONCE] for start in track(starts, "solving"))
    results = values_of(np.concatenate([solver.scores(part) for part in parts]))
    best = results.max(axis=1)
    return SolvedPositions(states, results == best[:, None], best)


def _random_positions(game, generator: np.random.Generator) -> np.ndarray:
    """Return the positions of random games after each number of plies in `_PLIES`: [M, K]."""
    states, found = game.initial_states(_NUM_GAMES), []
    for ply in range(_PLIES.stop):
        if ply in _PLIES:
            found.append(states)
        scores = generator.random((len(states), game.num_actions))
        actions = np.where(game.legal_action_mask(states), scores, -1.0).argmax(axis=1)
        after = game.step(states, actions)
        states = after.states[~after.over]
    return np.concatenate(found)


def _batch(game, solved: SolvedPositions, generator: np.random.Generator | None = None) -> Batch:
    """Return samples, each under a random symmetry if there is a generator."""
    planes, mask = game.observe(solved.states), game.legal_action_mask(solved.states)
    keeps = solved.keeps_result
    weights = keeps / keeps.sum(axis=1, keepdims=True, dtype=np.float32)
    if generator is not None:
        symmetries = generator.integers(len(game.cell_symmetries), size=len(planes))
        planes, weights, mask = apply_symmetries(symmetries, game, planes, weights, mask)
    return Batch(planes, weights, mask, solved.results, solved.results.astype(np.float32))


if __name__ == "__main__":
    if len(sys.argv) < 2 or not sys.argv[1].isdigit():
        sys.exit("usage: python scripts/learn_exact_results.py STEPS [key=value ...]")
    try:
        main(int(sys.argv[1]), sys.argv[2:])
    except ConfigError as error:
        sys.exit(str(error))
