"""Rules of Gomoku on drawn boards. X is Black, who moves first, O is White."""

import numpy as np
import pytest
from game_samples import random_games

from alphazero.own_games.registry import make_game

BLACK, WHITE = 0, 1


def test_rows_count_from_below_and_columns_are_letters():
    game = make_game("gomoku")
    names = ("a15", "o15", "h8", "i1")
    actions = [game.text_to_action(name) for name in names]
    assert actions == [0, 14, 112, 14 * 15 + 8]
    assert [game.action_to_text(action) for action in actions] == [*names]
    assert game.cells(game.play_moves(actions)).ravel()[actions].tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("drawing", "last"),
    [
        ("XX.XX. ...... ...... ...... ...... OOOO..", "c6"),  # the last piece fills a gap
        (".XXXX. OOOO.. ...... ...... ...... ......", "f6"),  # across, at the edge
        ("X..... X..... X..... X..... ...... OOOO..", "a2"),  # down
        ("...... ...... ...X.. ..X... .X.... XOOOO.", "e5"),  # rising
        ("X..... .X.... ..X... ...... ....X. OOOO..", "d3"),  # falling
        ("O..X.. ...X.. O..X.. ...... ...X.. OO.XO.", "d3"),  # six in a row
    ],
)
def test_five_or_more_in_a_row_win_in_every_direction(drawing, last):
    game = make_game("gomoku:6x6")
    before = game.text_to_state(drawing.replace(" ", "\n"), BLACK)
    assert not game.over(before[None])[0]
    after = game.step(before[None], [game.text_to_action(last)])
    assert (after.over[0], after.players[0], after.results[0]) == (True, WHITE, -1)
    assert not after.legal_action_mask.any()


def test_a_line_does_not_go_on_beyond_the_edge():
    game = make_game("gomoku:5x4x4")
    state = game.text_to_state("..XX\nXX..\n.OOO\nO...\n....", BLACK)
    assert not game.over(game.step(state[None], [1]).states)[0]


def test_a_full_board_of_any_size_without_a_line_is_a_draw():
    game = make_game("gomoku:19x19x19")
    plies, final = random_games(game, 1, seed=3)
    assert len(plies) == game.max_plies == 361
    after = game.inspect(final)
    assert (after.over[0], after.results[0], after.players[0]) == (True, 0, WHITE)
    assert [np.count_nonzero(game.cells(final[0]) == piece) for piece in (0, 1, 2)] == [0, 181, 180]


@pytest.mark.parametrize(("name", "number"), [("gomoku", 8), ("gomoku:5x7x4", 4)])
def test_a_board_has_the_symmetries_of_its_shape(name, number):
    assert len(make_game(name).cell_symmetries) == len(make_game(name).action_symmetries) == number


@pytest.mark.parametrize(
    ("drawing", "player", "parts"),
    [
        ("XX..\n....\n....", BLACK, ["2 black", "0 white", "Black's turn"]),
        ("X...\n...O\n....", WHITE, ["1 black", "1 white", "White's turn"]),
        ("XXX.\nOOO.\n....", BLACK, ["Black", "3 in a row"]),
        ("XXXX\nOOO.\n....", WHITE, ["White", "3 in a row"]),
    ],
)
def test_unreachable_boards_are_refused_with_the_reason(drawing, player, parts):
    with pytest.raises(ValueError) as error:
        make_game("gomoku:3x4x3").text_to_state(drawing, player)
    assert [part for part in parts if part not in str(error.value)] == []
