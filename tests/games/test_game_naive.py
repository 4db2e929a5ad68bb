"""Compiled games against naive ones on random games, and boards of bytes against boards of bits."""

import numpy as np
import pytest
from game_samples import GAME_NAMES, label, random_games
from mostly_slow import mostly_slow
from naive import naive_twin

from alphazero.games.batched_game import CompiledGame
from alphazero.games.connect_x import ConnectX
from alphazero.games.connect_x_large import LargeConnectX
from alphazero.own_games.registry import make_game
from alphazero.runtime.random_generators import kernel_rng


@pytest.mark.parametrize("name", mostly_slow(GAME_NAMES), ids=label)
def test_random_games_agree_with_the_naive_twin(name):
    game = make_game(name)
    plies, final = random_games(game, 6, seed=21)
    for index in range(6):
        twin = naive_twin(name)
        for ply in plies:
            for row in np.flatnonzero(ply.games == index):
                compare(game, ply.states[row], twin)
                twin.play(int(ply.actions[row]))
        compare(game, final[index], twin)
        assert twin.over()


def compare(game, state, twin):
    """Compare one position with its naive twin: board, player, legal actions, end and result."""
    inspected = game.inspect(state[None])
    assert game.cells(state).tolist() == twin.board
    assert inspected.players[0] == twin.player
    assert np.flatnonzero(inspected.legal_action_mask[0]).tolist() == twin.legal()
    assert inspected.over[0] == twin.over()
    if twin.over():
        assert inspected.results[0] == twin.result()


def frontiers(game, depth):
    """Yield the states after every sequence of 1, 2, ... ``depth`` moves."""
    states = game.initial_states()
    for _ in range(depth):
        rows, actions = np.nonzero(game.legal_action_mask(states))
        states = game.step(states[rows], actions).states
        yield states


@pytest.mark.parametrize(
    "sizes",
    [(6, 7, 4), (4, 3, 3), (3, 9, 3), (7, 8, 5), (15, 4, 5), (1, 32, 4), (31, 2, 4), (1, 2, 2)],
    ids=str,
)
def test_boards_of_bytes_and_of_bits_are_the_same_game(sizes):
    bits, cells = (
        CompiledGame("bits", ConnectX(*sizes)),
        CompiledGame("bytes", LargeConnectX(*sizes)),
    )
    for attribute in ("num_actions", "planes_shape", "max_plies", "piece_letters"):
        assert getattr(bits, attribute) == getattr(cells, attribute)
    plies, final = random_games(bits, 20, seed=5)
    twin_plies, twin_final = random_games(cells, 20, seed=5)
    for ply, twin in zip([*plies, (final,)], [*twin_plies, (twin_final,)]):
        assert all(
            (one == other).all()
            for one, other in zip(bits.inspect(ply[0])[1:], cells.inspect(twin[0])[1:])
        )
        assert (bits.observe(ply[0]) == cells.observe(twin[0])).all()
        assert [bits.state_to_text(state) for state in ply[0]] == [
            cells.state_to_text(state) for state in twin[0]
        ]
    assert [ply.actions.tolist() for ply in plies] == [twin.actions.tolist() for twin in twin_plies]
    seed = np.random.default_rng
    assert (
        bits.playout(plies[0].states, kernel_rng(seed(9)))
        == cells.playout(twin_plies[0].states, kernel_rng(seed(9)))
    ).all()
