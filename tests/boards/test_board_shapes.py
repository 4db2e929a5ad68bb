"""The shapes of a board: where pieces lie, in which colours, and what is marked."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from alphazero.boards.painter import Picture, paint, svg_text
from alphazero.boards.session import Session
from alphazero.boards.shapes import (
    Box,
    Disc,
    Letters,
    board_shapes,
    cells_of_actions,
    edge_shapes,
    ground,
    moved,
)
from alphazero.boards.skin import skin_of
from alphazero.boards.text import marked_cells
from alphazero.own_games.registry import make_game


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
        ("connect_four", [3] * 6, {column: (5, column) for column in (0, 1, 2, 4, 5, 6)}),
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


def test_names_stand_outside_the_board_and_in_the_order_that_is_seen():
    game = make_game("othello")
    for setup in ("white_first", "standard"):
        names = {
            shape.text: (shape.x, shape.y) for shape in edge_shapes(game, skin_of(game, setup))
        }
        assert names["a"][0] == 0.5 and names["h"][0] == 7.5 and names["a"][1] < 0
        assert names["1"][1] == 0.5 and names["8"][1] == 7.5 and names["1"][0] < 0
    game = make_game("connect_four")
    assert [shape.text for shape in edge_shapes(game, skin_of(game))] == list("1234567")
    assert edge_shapes(make_game("tic_tac_toe"), skin_of(make_game("tic_tac_toe"))) == []


def test_moved_shapes_are_scaled_in_every_length():
    shapes = [
        Box(1, 2, 3, 4, "#000000", "#ffffff", 5),
        Disc(1, 2, 3, "#000000"),
        Letters(1, 2, "a", 3),
    ]
    box, disc, letters = moved(shapes, 10, 20, 2)
    assert box[:4] == (12, 24, 6, 8) and box.line_width == 10 and box.fill == "#000000"
    assert disc[:3] == (12, 24, 6) and (letters.x, letters.y, letters.size) == (12, 24, 6)


def test_pixels_and_svg_show_the_same_shapes():
    box, disc = Box(0, 0, 1, 1, "#ff0000"), Disc(1.5, 0.5, 0.4, "#0000ff")
    nothing = Box(2, 0, 0, 1, "#00ff00")
    picture = Picture(3, 1, 20, [box, disc, nothing, Letters(2.5, 0.5, "<a&b>", 0.4, bold=True)])
    pixels = np.asarray(paint(picture))
    assert pixels.shape == (20, 60, 3)
    assert pixels[10, 10].tolist() == [255, 0, 0] and pixels[10, 30].tolist() == [0, 0, 255]
    assert pixels[1, 21].tolist() == [255, 255, 255] and (pixels[5:15, 42:58] < 100).any()
    assert not (pixels == (0, 255, 0)).all(axis=2).any()
    root = ET.fromstring(svg_text(picture))
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("60", "20", "0 0 3 1")
    fills = [(element.tag.split("}")[1], element.get("fill")) for element in root]
    assert fills[:3] == [("rect", "#ffffff"), ("rect", "#ff0000"), ("circle", "#0000ff")]
    assert root[-1].text == "<a&b>" and root[-1].get("font-weight") == "bold"
