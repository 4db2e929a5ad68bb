"""Compiled games against naive ones on random games, and boards of bytes against boards of bits."""

import numpy as np
import pytest
from game_samples import GAME_NAMES, label, random_games
from mostly_slow import mostly_slow
from naive import naive_twin, replayed

from alphazero.own_games.registry import make_game


@pytest.mark.parametrize("name", mostly_slow([*GAME_NAMES, "othello:16"]), ids=label)
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


def test_sequences_of_moves_are_as_many_as_the_naive_twin_counts():
    name, depth = "gomoku:3x4x3", 6
    numbers = {(): 1}  # of the sequences that lead to each set of moves
    counts = []
    for _ in range(depth):
        following = {}
        for moves, number in numbers.items():
            for action in replayed(name, moves).legal():
                played = *moves, action
                same = tuple(sorted(played[0::2])), tuple(sorted(played[1::2]))
                following.setdefault(same, [played, 0])[1] += number
        numbers = {moves: number for moves, number in following.values()}
        counts.append(sum(numbers.values()))
    assert counts == [len(states) for states in frontiers(make_game(name), depth)]


def frontiers(game, depth):
    """Yield the states after every sequence of 1, 2, ... ``depth`` moves."""
    states = game.initial_states()
    for _ in range(depth):
        rows, actions = np.nonzero(game.legal_action_mask(states))
        states = game.step(states[rows], actions).states
        yield states
