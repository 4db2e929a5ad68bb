"""Games without the compiler: `NUMBA_DISABLE_JIT=1` gives identical results, and no warning."""

import hashlib

import numpy as np
import pytest
from game_samples import EXAMPLE, PUZZLE, label, random_games
from interpreted import printed_without_compiler

from alphazero.games import rules
from alphazero.own_games.registry import make_game
from alphazero.runtime.random_generators import kernel_rng

NAMES = (
    "tic_tac_toe",
    "connect_four",
    "connect_x:63x1x6",
    "connect_x:8x8x4",
    "othello",
    "othello:6",
    "othello:4",
    "gomoku:4x9x3",
    "othello:10",
    EXAMPLE,
    PUZZLE,
)


def digest(name):
    """Return a line that depends on everything the rules say in a few random games."""
    game = make_game(name)
    plies, final = random_games(game, 2, seed=13)
    states = np.concatenate([*(ply.states for ply in plies), final])
    total = hashlib.sha256(game.observe(states).tobytes())
    for part in game.inspect(states):
        total.update(part.tobytes())
    total.update(game.playout(states[::7], kernel_rng(np.random.default_rng(3))).tobytes())
    scores, weights = np.zeros(game.num_actions), rules.rollout_weights(game.rules)
    for state in states:
        total.update(
            game.cells_to_state(game.cells(state), int(game.players(state[None])[0])).tobytes()
        )
        rules.action_scores(game.rules, state, weights, scores)
        total.update(scores.tobytes())
    return f"{label(name)} {total.hexdigest()}"


@pytest.mark.slow
def test_interpreted_games_are_the_compiled_ones_without_a_warning():
    assert printed_without_compiler(__file__) == [digest(name) for name in NAMES]


if __name__ == "__main__":
    for name in NAMES:
        print(digest(name))
