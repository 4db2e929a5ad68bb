"""Tic-tac-toe's rules on drawn boards."""

import numpy as np
import pytest

from alphazero.games.registry import make_game

X_MOVES, O_MOVES = 0, 1


@pytest.fixture
def game():
    return make_game("tic_tac_toe")


def test_x_begins_and_keys_1_to_9_go_row_by_row(game):
    state = game.play_moves([game.text_to_action(key) for key in "159"])
    assert game.state_to_text(state) == "X..\n.O.\n..X"
    assert game.players(state[None])[0] == O_MOVES
    assert [game.action_to_text(action) for action in range(9)] == list("123456789")


@pytest.mark.parametrize("line", ["123", "456", "789", "147", "258", "369", "159", "357"])
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
    free = np.flatnonzero(board == 0).tolist()
    for first in free:
        for second in free:
            if first < second:
                yield from (
                    [[first, second]]
                    if count == 2
                    else [[first, second, third] for third in free if third > second]
                )


def in_line(squares):
    return tuple(squares) in {
        (0, 1, 2),
        (3, 4, 5),
        (6, 7, 8),
        (0, 3, 6),
        (1, 4, 7),
        (2, 5, 8),
        (0, 4, 8),
        (2, 4, 6),
    }


def test_a_full_board_without_a_line_is_a_draw(game):
    after = game.inspect(game.text_to_state("XOX\nXOO\nOXX", O_MOVES)[None])
    assert (after.over[0], after.results[0]) == (True, 0)


def test_the_ninth_move_can_win(game):
    before = game.text_to_state("OX.\nOXO\nXOX", X_MOVES)
    assert not game.over(before[None])[0]
    after = game.step(before[None], [2])
    assert (after.over[0], after.results[0]) == (True, -1)


def test_a_taken_square_is_refused(game):
    with pytest.raises(
        ValueError, match="'5' is not legal here; legal moves: 1, 2, 3, 4, 6, 7, 8, 9"
    ):
        game.check_legal(game.play_moves([4]), 4)


@pytest.mark.parametrize("key", ["0", "10", "a", "", "1 2", "-1", "²", "１"])
def test_a_wrong_key_gets_a_sentence(game, key):
    with pytest.raises(ValueError, match=f"^'{key}' is not a square: type one key from 1 to 9.$"):
        game.text_to_action(key)


@pytest.mark.parametrize(
    ("drawing", "player", "reason"),
    [
        ("XX.\n...\n...", X_MOVES, "2 X and 0 O cannot be when X is to move"),
        ("X..\n...\n..O", O_MOVES, "1 X and 1 O cannot be when O is to move"),
        ("XXX\nOO.\nO..", X_MOVES, "X, who is to move, already has three in a row"),
        ("XXX\nOOO\nX..", O_MOVES, "O, who is to move, already has three in a row"),
    ],
)
def test_boards_that_no_game_reaches_are_refused(game, drawing, player, reason):
    with pytest.raises(ValueError, match=reason):
        game.text_to_state(drawing, player)
