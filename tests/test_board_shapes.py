"""The shapes of a board: where pieces lie, in which colours, and what is marked."""

import numpy as np
import pytest

from alphazero.boards.session import Session
from alphazero.boards.shapes import Box, Disc, Letters, board_shapes, cells_of_actions, ground
from alphazero.boards.skin import skin_of
from alphazero.boards.text import marked_cells
from alphazero.games.registry import make_game


def discs(shapes):
    """Return the colours of discs by the row and column of their cells on the picture."""
    found = (shape for shape in shapes if isinstance(shape, Disc))
    return {(int(disc.y), int(disc.x)): disc.fill for disc in found}


def test_every_piece_is_one_disc_on_its_cell():
    game = make_game("connect_four")
    shapes = board_shapes(game.cells(game.play_moves([3, 3, 0])), skin_of(game))
    yellow, red = "#ffd75f", "#ff5f5f"
    assert discs(shapes) == {(5, 3): yellow, (4, 3): red, (5, 0): yellow}
    assert sum(isinstance(shape, Box) for shape in shapes) == 42 + 2  # the ground and the frame


def test_the_usual_set_up_of_othello_is_mirrored_with_the_colours_swapped():
    game = make_game("othello")
    board = game.cells(game.initial_states()[0])
    ours = discs(board_shapes(board, skin_of(game)))
    usual = discs(board_shapes(board, skin_of(game, "standard")))
    white, black = "#ffffff", "#000000"
    assert ours == {(3, 3): white, (3, 4): black, (4, 3): black, (4, 4): white}
    swapped = {white: black, black: white}
    assert usual == {(row, 7 - column): swapped[color] for (row, column), color in ours.items()}
    assert usual[3, 3] == white  # as everywhere: white on d4 and e5


def test_letters_are_drawn_in_the_colour_of_the_ground_on_a_marked_cell():
    game = make_game("tic_tac_toe")
    skin, session = skin_of(game), Session(game, [0, 4])
    marked = marked_cells(game, skin, session.state, session.previous_state)
    shapes = board_shapes(game.cells(session.state), skin, marked)
    letters = {shape.text: shape for shape in shapes if isinstance(shape, Letters)}
    assert {"X", "O"} == letters.keys()
    assert letters["O"].color == ground(skin) != letters["X"].color
    fills = [shape.fill for shape in shapes[1:] if isinstance(shape, Box) and shape.fill]
    assert len(fills) == 1 and fills[0] != ground(skin)


@pytest.mark.parametrize(
    ("name", "moves", "expected"),
    (
        (
            "connect_four",
            [3] * 6,
            {0: (5, 0), 1: (5, 1), 2: (5, 2), 4: (5, 4), 5: (5, 5), 6: (5, 6)},
        ),
        ("tic_tac_toe", [0, 4, 8, 2], {1: (0, 1), 3: (1, 0), 5: (1, 2), 6: (2, 0), 7: (2, 1)}),
    ),
)
def test_a_move_belongs_to_the_cell_that_it_fills(name, moves, expected):
    game = make_game(name)
    assert cells_of_actions(game, game.play_moves(moves)) == expected


def test_a_pass_has_no_cell():
    game = make_game("othello:4")
    session, passes = Session(game), 0
    while not session.over:
        cells = cells_of_actions(game, session.state)
        passes += session.is_forced_pass()
        assert cells == {
            action: divmod(action, 4) for action in session.legal_actions if action != 16
        }
        session.play(session.legal_actions[0])
    assert passes and np.any(game.cells(session.state))
