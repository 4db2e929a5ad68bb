"""The solver of the package `bitbully` agrees with ours."""

import numpy as np
import pytest
from game_samples import random_games

from alphazero.own_games.registry import make_game
from alphazero.solvers.base import ILLEGAL_SCORE
from alphazero.solvers.bitbully import BitbullySolver, available
from alphazero.solvers.connect_x import ConnectXSolver

needs_bitbully = pytest.mark.skipif(
    not available(), reason='bitbully is not installed (pip install "alphazero-selfplay[bitbully]")'
)


@needs_bitbully
def test_the_first_moves_have_their_known_scores_and_mirrored_boards_mirrored_ones():
    game = make_game("connect_four")
    states = np.stack([game.play_moves(moves) for moves in ([], [1], [5], [3, 3, 3, 3, 3, 3])])
    scores = BitbullySolver(game).scores(states).tolist()
    assert scores[0] == [-2, -1, 0, 1, 0, -1, -2]
    assert scores[1] == scores[2][::-1] != scores[2]
    assert scores[3] == [-1, 0, 1, ILLEGAL_SCORE, 1, 0, -1]


@needs_bitbully
def test_it_agrees_with_our_solver_on_every_late_position():
    game = make_game("connect_four")
    plies, final = random_games(game, 60, seed=3)
    states = np.concatenate([ply.states for ply in plies[20:]] + [final])
    before = states.copy()
    scores = BitbullySolver(game).scores(states)
    assert np.array_equal(states, before)
    assert (scores[-len(final) :] == ILLEGAL_SCORE).all()
    assert np.array_equal(scores, ConnectXSolver(game).scores(states))


@needs_bitbully
def test_the_used_parts_of_the_package_have_their_documented_behaviour():
    from bitbully import bitbully_core
    from bitbully_databases import BitBullyDatabases

    board = bitbully_core.BoardCore()
    red_to_move = [[0] * 7 for _ in range(5)] + [[0, 0, 0, 1, 0, 0, 0]]
    assert board.setBoard(red_to_move) and board.movesLeft() == 41
    solver = bitbully_core.BitBullyCore(BitBullyDatabases.get_database_path("12-ply-dist"))
    assert solver.isBookLoaded() and max(solver.scoreMoves(board)) == -1
