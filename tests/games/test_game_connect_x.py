"""Rules of Connect-X on drawn boards, kept as bits and as bytes. X moves first."""

import pytest

from alphazero.games.batched_game import CompiledGame
from alphazero.games.connect_x import ConnectX
from alphazero.games.connect_x_large import LargeConnectX

FIRST, SECOND = 0, 1


@pytest.fixture(params=[ConnectX, LargeConnectX], ids=["bits", "bytes"])
def board_of(request):
    """A function that makes games of the given rows, columns and length."""
    return lambda *sizes: CompiledGame("connect_x", request.param(*sizes))


def test_discs_fall_to_the_lowest_empty_row_and_players_alternate(board_of):
    game = board_of(6, 7, 4)
    state = game.play_moves([3, 3, 2, 3, 6])
    assert game.state_to_text(state).split("\n") == [
        ".......",
        ".......",
        ".......",
        "...O...",
        "...O...",
        "..XX..X",
    ]
    assert game.players(state[None])[0] == SECOND


@pytest.mark.parametrize(
    ("moves", "last"),
    [
        ([0, 1, 0, 1, 0, 1], 0),  # down
        ([0, 0, 1, 1, 2, 2], 3),  # across
        ([6, 6, 5, 5, 4, 4], 3),  # across, at the other edge
        ([0, 1, 1, 2, 2, 3, 2, 3, 3, 5], 3),  # rising
        ([6, 5, 5, 4, 4, 3, 4, 3, 3, 1], 3),  # falling
        ([3, 0, 4, 0, 6, 1], 5),  # the last disc fills a gap
    ],
)
def test_four_in_a_row_win_in_every_direction(board_of, moves, last):
    game = board_of(6, 7, 4)
    before = game.play_moves(moves)
    assert not game.over(before[None])[0]
    after = game.step(before[None], [last])
    assert after.over[0]
    assert (after.players[0], after.results[0]) == (SECOND, -1)
    assert not after.legal_action_mask.any()


def test_a_full_board_without_a_line_is_a_draw(board_of):
    game = board_of(2, 3, 3)
    after = game.inspect(game.play_moves([0, 1, 2, 0, 1, 2])[None])
    assert (after.over[0], after.results[0]) == (True, 0)


@pytest.mark.parametrize(
    ("drawing", "player", "parts"),
    [
        ("....\nX...\n....", 1, ["column 1, row 2"]),
        ("....\n....\nX...", 0, ["1", "0", "Yellow"]),
        ("....\n....\nXO..", 1, ["1", "Red"]),
        ("....\nOOO.\nXXX.", 0, ["Yellow", "3 in a row"]),
        ("X...\nOOO.\nXXX.", 1, ["Red", "3 in a row"]),
        ("X...\nOOX.\nXXXO", 1, ["5", "3", "Red's turn", "Yellow begins"]),
    ],
)
def test_unreachable_boards_are_refused_with_the_reason(board_of, drawing, player, parts):
    with pytest.raises(ValueError) as error:
        board_of(3, drawing.index("\n"), 3).text_to_state(drawing, player)
    assert [part for part in parts if part not in str(error.value)] == []
