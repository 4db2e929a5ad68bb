"""Rules of tic-tac-toe on drawn boards."""

import pytest

from alphazero.own_games.registry import make_game

X_MOVES, O_MOVES = 0, 1


@pytest.fixture
def game():
    return make_game("tic_tac_toe")


def test_x_begins_and_keys_1_to_9_go_row_by_row(game):
    state = game.play_moves([game.text_to_action(key) for key in "159"])
    assert game.state_to_text(state) == "X..\n.O.\n..X"
    assert game.players(state[None])[0] == O_MOVES
    assert [game.action_to_text(action) for action in range(9)] == list("123456789")


def test_a_full_board_without_a_line_is_a_draw(game):
    after = game.inspect(game.text_to_state("XOX\nXOO\nOXX", O_MOVES)[None])
    assert (after.over[0], after.results[0]) == (True, 0)


def test_the_ninth_move_can_win(game):
    before = game.text_to_state("OX.\nOXO\nXOX", X_MOVES)
    assert not game.over(before[None])[0]
    after = game.step(before[None], [2])
    assert (after.over[0], after.results[0]) == (True, -1)


@pytest.mark.parametrize(
    ("drawing", "player", "parts"),
    [
        ("XX.\n...\n...", X_MOVES, ["2 X", "0 O", "X's turn", "as O"]),
        ("X..\n...\n..O", O_MOVES, ["1 X", "1 O", "O's turn"]),
        ("XXX\nOO.\nO..", X_MOVES, ["X", "three in a row"]),
        ("XXX\nOOO\nX..", O_MOVES, ["O", "three in a row"]),
    ],
)
def test_unreachable_boards_are_refused_with_the_reason(game, drawing, player, parts):
    with pytest.raises(ValueError) as error:
        game.text_to_state(drawing, player)
    assert [part for part in parts if part not in str(error.value)] == []
