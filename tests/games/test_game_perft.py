"""Numbers of move sequences by length (perft), published or counted by the naive twin.

Passes count as moves.
"""

import copy

import pytest
from naive import naive_twin
from test_game_naive import frontiers

from alphazero.own_games.registry import make_game

PERFT = {
    "tic_tac_toe": [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872],
    "gomoku:3x3x3": [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872],
    "connect_four": [7, 49, 343, 2401, 16807, 117649, 823536, 5673234],
    "othello": [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288],
}


@pytest.mark.parametrize("name", PERFT)
def test_sequences_of_moves_are_as_many_as_published(name):
    game = make_game(name)
    # The last depth needs no positions: it is the number of legal moves one ply before.
    states = [game.initial_states(), *frontiers(game, len(PERFT[name]) - 1)]
    assert [int(game.legal_action_mask(level).sum()) for level in states] == PERFT[name]


def test_sequences_of_moves_on_a_large_board_are_as_many_as_the_twin_counts():
    game, twins, counts = make_game("othello:10"), [naive_twin("othello:10")], []
    for _ in range(5):
        moves = [(twin, action) for twin in twins for action in twin.legal()]
        counts.append(len(moves))
        twins = [copy.deepcopy(twin) for twin, _ in moves] if len(counts) < 5 else []
        for twin, (_, action) in zip(twins, moves):
            twin.play(action)
    states = [game.initial_states(), *frontiers(game, 4)]
    assert [int(game.legal_action_mask(level).sum()) for level in states] == counts
