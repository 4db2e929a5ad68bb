"""Rules of Othello on drawn boards. W is white, who moves first, B is black."""

import numpy as np
import pytest
from game_samples import random_games

from alphazero.games import rules
from alphazero.games.batched_game import CompiledGame
from alphazero.games.othello import Othello
from alphazero.games.othello_large import LargeOthello
from alphazero.own_games.registry import make_game

WHITE, BLACK = 0, 1


def position(text, player, name="othello"):
    """Return (game, state) of a drawn board; spaces in the drawing do not count."""
    game = make_game(name)
    drawn = "\n".join("".join(line.split()) for line in text.strip().split("\n"))
    return game, game.text_to_state(drawn, player)


def legal_squares(game, state):
    """Return the legal squares as (row, column); a pass is (size, 0)."""
    legal = np.flatnonzero(game.legal_action_mask(state[None])[0]).tolist()
    return [divmod(action, game.planes_shape[1]) for action in legal]


def play(game, state, row, column):
    return game.step(state[None], [row * game.planes_shape[1] + column]).states[0]


def test_the_start_has_white_on_the_falling_diagonal_and_white_moves_first():
    game = make_game("othello")
    start = game.initial_states()
    empty = ["--------"] * 3
    assert game.state_to_text(start[0]).split("\n") == [*empty, "---WB---", "---BW---", *empty]
    assert game.players(start)[0] == WHITE
    assert legal_squares(game, start[0]) == [(2, 4), (3, 5), (4, 2), (5, 3)]


def test_white_has_three_moves_and_black_four_after_the_first_of_them():
    game, state = position(
        """
        - - - - - - - -
        - - - - - - - -
        - - B - - - - -
        - - - B B - - -
        - - - B W - - -
        - - - - - - - -
        - - - - - - - -
        - - - - - - - -
        """,
        WHITE,
    )
    moves = legal_squares(game, state)
    assert len(moves) == 3
    assert moves[0] == (1, 1)
    state = play(game, state, 1, 1)
    assert legal_squares(game, state) == [(2, 3), (3, 2), (4, 5), (5, 4)]


def test_the_last_move_flips_the_last_column_and_black_has_won():
    game, state = position("BBBBBBBW\n" + "BBBBBBBB\n" * 6 + "BBBBBBB-", WHITE)
    assert legal_squares(game, state) == [(7, 7)]
    after = game.step(state[None], [63])
    assert game.cells(after.states[0])[:, 7].tolist() == [1] * 8
    assert game.cells(after.states[0])[:, :7].tolist() == [[2] * 7] * 8
    assert after.over[0]
    assert (after.players[0], after.results[0]) == (BLACK, 1)


def test_a_move_flips_discs_in_all_eight_directions_up_to_the_nearest_own_disc():
    drawing = """
        W - - W - - W -
        - B - B - B - -
        - - B B B - - -
        W B B - B B B W
        - - B B B - - -
        - B - B - B - -
        W - - B - - W -
        - - - W - - - -
        """
    game, state = position(drawing, WHITE)
    _, expected = position(drawing.replace("B", "W"), BLACK)
    board = game.cells(expected)
    board[3, 3] = 1
    assert (game.cells(play(game, state, 3, 3)) == board).all()


def test_a_side_without_a_move_passes_and_the_board_stays():
    game, state = position("WB--\nB---\n----\n----", BLACK, "othello:4")
    inspected = game.inspect(state[None])
    assert not inspected.over[0]
    assert np.flatnonzero(inspected.legal_action_mask[0]).tolist() == [16]
    after = game.step(state[None], [16])
    assert (game.cells(after.states[0]) == game.cells(state)).all()
    assert after.players[0] == WHITE
    assert legal_squares(game, after.states[0]) == [(0, 2), (2, 0)]


def test_a_pass_is_refused_while_there_is_a_move():
    game = make_game("othello")
    with pytest.raises(ValueError) as error:
        game.check_legal(game.initial_states()[0], 64)
    assert "'64'" in str(error.value) and "20, 29, 34, 43" in str(error.value)


@pytest.mark.parametrize(
    ("rows", "result"),
    [
        ("WWWW WWWW BBBB BBBB", 0),
        ("WWWW WWWW WBBB BBBB", 1),
        ("WWWW WWWB BBBB BBBB", -1),
        ("W-WW ---- ---- ----", 1),
        ("---- ---- ---- ----", 0),
    ],
)
def test_the_game_is_over_when_neither_side_moves_and_more_discs_win(rows, result):
    game, state = position(rows.replace(" ", "\n"), WHITE, "othello:4")
    inspected = game.inspect(state[None])
    assert inspected.over[0]
    assert inspected.results[0] == result
    assert not inspected.legal_action_mask.any()
    _, for_black = position(rows.replace(" ", "\n"), BLACK, "othello:4")
    assert game.results(for_black[None])[0] == -result


def test_a_side_without_any_disc_has_lost_at_once():
    game, state = position("WB--\n----\n----\n----", WHITE, "othello:4")
    after = game.step(state[None], [2])
    assert after.over[0]
    assert (after.players[0], after.results[0]) == (BLACK, -1)


def test_the_third_plane_shows_where_the_player_to_move_may_place_a_disc():
    game = make_game("othello:6")
    planes = game.observe(game.initial_states())[0]
    assert np.argwhere(planes[2]).tolist() == [[1, 3], [2, 4], [3, 1], [4, 2]]


def test_action_scores_add_up_discs_corners_and_edges():
    game, state = position("-BW-\n----\n-BW-\n----", WHITE, "othello:4")
    scores = np.zeros(17)
    rules.action_scores(game.rules, state, np.array([1.0, 100.0, 10.0]), scores)
    # Square 0 is a corner, square 8 on an edge: each flips one disc, and white then leads 4 to 1.
    assert legal_squares(game, state) == [(0, 0), (2, 0)]
    assert scores[[0, 8]].tolist() == [103.0, 13.0]


# --- boards of more than 64 squares ---------------------------------------------------------------


@pytest.mark.parametrize("size", [10, 16])
def test_the_longest_runs_are_enclosed_in_every_direction(size):
    game, ends = make_game(f"othello:{size}"), [(0, 0), (0, size - 1), (size - 1, 0)]
    for row, column in [*ends, (size - 1, size - 1)]:
        steps = [(np.sign(size - 2 - row), 0), (0, np.sign(size - 2 - column))]
        for down, right in [*steps, np.add(*steps)]:
            board = np.zeros((size, size), np.int8)
            for i in range(1, size):
                board[row + i * down, column + i * right] = 2 if i < size - 1 else 1
            state = game.cells_to_state(board, WHITE)
            assert legal_squares(game, state) == [(row, column)]
            after = game.cells(play(game, state, row, column))
            assert np.count_nonzero(after == 1) == size and not (after == 2).any()


@pytest.mark.parametrize("size", [4, 6, 8])
def test_bytes_and_bits_play_the_same_games(size):
    bits, cells = CompiledGame("bits", Othello(size)), CompiledGame("bytes", LargeOthello(size))
    plies, final = random_games(bits, 20, seed=17)
    states = cells.initial_states(20)
    for ply in plies:
        compare_classes(bits, ply.states, cells, states[ply.games])
        states[ply.games] = cells.step(states[ply.games], ply.actions).states
    compare_classes(bits, final, cells, states)


def compare_classes(bits, states, cells, others):
    """Compare all that the rules of two classes of games say about the same positions."""
    for ours, theirs in zip(bits.inspect(states)[1:], cells.inspect(others)[1:]):
        assert (ours == theirs).all()
    assert (bits.observe(states) == cells.observe(others)).all()
    weights = rules.rollout_weights(bits.rules)
    for state, other, legal in zip(states, others, bits.legal_action_mask(states)):
        board, player = bits.cells(state), int(bits.players(state[None])[0])
        assert (cells.cells(other) == board).all()
        assert (cells.cells_to_state(board, player) == other).all()
        scores = np.zeros((2, bits.num_actions))
        rules.action_scores(bits.rules, state, weights, scores[0])
        rules.action_scores(cells.rules, other, weights, scores[1])
        assert (scores[0][legal] == scores[1][legal]).all()
