"""Rules of tic-tac-toe on drawn boards."""

import itertools

import numpy as np
import pytest

from alphazero.games.registry import make_game

X_MOVES, O_MOVES = 0, 1
LINES = ["123", "456", "789", "147", "258", "369", "159", "357"]


@pytest.fixture
def game():
    return make_game("tic_tac_toe")


def test_x_begins_and_keys_1_to_9_go_row_by_row(game):
    state = game.play_moves([game.text_to_action(key) for key in "159"])
    assert game.state_to_text(state) == "X..\n.O.\n..X"
    assert game.players(state[None])[0] == O_MOVES
    assert [game.action_to_text(action) for action in range(9)] == list("123456789")


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("piece", "XO")
def test_three_in_a_row_win(game, line, piece):
    board = np.zeros(9, np.int8)
    board[[int(key) - 1 for key in line]] = 1 + "XO".index(piece)
    others = next(two for two in free_sets(board, 2 if piece == "X" else 3) if not in_line(two))
    board[others] = 2 - "XO".index(piece)
    after = game.inspect(game.cells_to_state(board.reshape(3, 3), 1 - "XO".index(piece))[None])
    assert (after.over[0], after.results[0]) == (True, -1)
    assert not after.legal_action_mask.any()


def free_sets(board, count):
    """Yield lists of ``count`` free squares."""
    yield from map(list, itertools.combinations(np.flatnonzero(board == 0).tolist(), count))


def in_line(squares):
    return "".join(str(1 + square) for square in squares) in LINES


def test_a_full_board_without_a_line_is_a_draw(game):
    after = game.inspect(game.text_to_state("XOX\nXOO\nOXX", O_MOVES)[None])
    assert (after.over[0], after.results[0]) == (True, 0)


def test_the_ninth_move_can_win(game):
    before = game.text_to_state("OX.\nOXO\nXOX", X_MOVES)
    assert not game.over(before[None])[0]
    after = game.step(before[None], [2])
    assert (after.over[0], after.results[0]) == (True, -1)


def test_a_taken_square_is_refused(game):
    with pytest.raises(ValueError) as error:
        game.check_legal(game.play_moves([4]), 4)
    assert "'5'" in str(error.value) and "1, 2, 3, 4, 6, 7, 8, 9" in str(error.value)


@pytest.mark.parametrize("key", ["0", "10", "a", "", "1 2", "-1", "²", "１"])
def test_a_wrong_key_is_named(game, key):
    with pytest.raises(ValueError) as error:
        game.text_to_action(key)
    assert f"'{key}'" in str(error.value) and "1 to 9" in str(error.value)


@pytest.mark.parametrize(
    ("drawing", "player", "parts"),
    [
        ("XX.\n...\n...", X_MOVES, ["2 X", "0 O", "turn of X"]),
        ("X..\n...\n..O", O_MOVES, ["1 X", "1 O", "turn of O"]),
        ("XXX\nOO.\nO..", X_MOVES, ["X", "three in a row"]),
        ("XXX\nOOO\nX..", O_MOVES, ["O", "three in a row"]),
    ],
)
def test_unreachable_boards_are_refused_with_the_reason(game, drawing, player, parts):
    with pytest.raises(ValueError) as error:
        game.text_to_state(drawing, player)
    assert [part for part in parts if part not in str(error.value)] == []
