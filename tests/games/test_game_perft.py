"""Published numbers of move sequences by length (perft); passes count as moves."""

import pytest
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
