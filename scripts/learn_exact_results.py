"""What a network can learn of Connect Four when every target is exact: how far its shape goes, with no self-play and no search in the way.

    python scripts/learn_exact_results.py 1500 network=5x64 learner.ema_half_life_steps=0
    python scripts/learn_exact_results.py 1500 network=5x64 network.position_bias=false

Positions of 4 to 11 discs come from games of random moves, no two alike or mirrored, and a tenth is held out; the exact solver (extra `[bitbully]`,
which knows them by heart) says each one's result and the moves that keep it. A fresh network takes so many steps on them, then says what it makes of
those held out. The words after the number are those of `alphazero train`. Nothing of this ever goes into a run: it tells what a network of a shape can
hold, not what self-play finds.
"""

import sys
import time

import numpy as np
import torch
from rich.progress import track

from alphazero.evaluation.exact.sets import canonical_keys
from alphazero.games.registry import make_game
from alphazero.learner.learner import Learner
from alphazero.network.registry import make_network
from alphazero.replay.augmentation import under_symmetries
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


def main(num_steps: int, words: list[str]) -> None:
    """Learn, and print what it came to."""
    settings = compose(["game=connect_four", *words])
    settings.learner.precision = settings.learner.precision.replace("auto", "bfloat16")
    game = make_game("connect_four")
    set_num_threads(settings.run.num_threads)
    states, keeps, values = _exact_positions(game, child_generator(0, "exact positions"))
    held_out = len(states) // 10
    generator = child_generator(settings.seed, "replay")
    learner = Learner(
        make_network(game.planes_shape, game.num_actions, settings.network, settings.seed),
        settings.learner,
        torch.device("cpu"),
    )

    def sample() -> Batch:
        rows = generator.integers(held_out, len(states), settings.learner.batch_size)
        return _batch(game, states[rows], keeps[rows], values[rows], generator)

    start, chunk = time.perf_counter(), max(num_steps // 50, 1)
    for done in track(range(0, num_steps, chunk), f"{len(states) - held_out:,} positions"):
        for _ in learner.learn(
            (sample() for _ in range(min(chunk, num_steps - done))), done / num_steps
        ):
            pass
    seconds = time.perf_counter() - start
    found = learner.losses_on(_batch(game, states[:held_out], keeps[:held_out], values[:held_out]))
    print(
        f"{num_steps:,} steps of {settings.learner.batch_size} rows, {1000 * seconds / num_steps:.1f} ms each, batches included"
    )
    print(
        f"on {held_out:,} other positions: value {found.value_loss:.4f}, policy {found.policy_loss:.4f} nats"
    )


def _exact_positions(game, generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions of random play in random order: states [B, K]; bool[B, A], the moves that keep the result; int8[B], the mover's result."""
    states, found = game.initial_states(_NUM_GAMES), []
    for ply in range(_PLIES.stop):
        if ply in _PLIES:
            found.append(states)
        draws = np.where(
            game.legal_action_mask(states), generator.random((len(states), game.num_actions)), -1.0
        )
        after = game.step(states, draws.argmax(axis=1))
        states = after.states[~after.over]
    states = np.concatenate(found)
    _, unlike = np.unique(canonical_keys(game, states), return_index=True)
    states = states[generator.permutation(unlike)]
    solver, starts = BitbullySolver(game), range(0, len(states), _SOLVED_AT_ONCE)
    results = values_of(
        np.concatenate(
            [
                solver.scores(states[start : start + _SOLVED_AT_ONCE])
                for start in track(starts, "solving")
            ]
        )
    )
    best = results.max(axis=1)
    return states, results == best[:, None], best


def _batch(game, states, keeps, values, generator=None) -> Batch:
    """Return rows to learn from, each under a random symmetry if there is a generator."""
    planes, mask, weights = (
        game.observe(states),
        game.legal_action_mask(states),
        keeps / keeps.sum(axis=1, keepdims=True, dtype=np.float32),
    )
    if generator is not None:
        planes, weights, mask = under_symmetries(
            generator.integers(len(game.cell_symmetries), size=len(states)),
            game,
            planes,
            weights,
            mask,
        )
    return Batch(planes, weights, mask, values, values.astype(np.float32))


if __name__ == "__main__":
    if len(sys.argv) < 2 or not sys.argv[1].isdigit():
        sys.exit("usage: python scripts/learn_exact_results.py STEPS [key=value ...]")
    try:
        main(int(sys.argv[1]), sys.argv[2:])
    except ConfigError as error:
        sys.exit(str(error))
