"""The shapes of a board: where pieces lie, in which colours, and what is marked."""

import xml.etree.ElementTree as ET

import numpy as np

from alphazero.boards.painter import Box, Letters, Picture, disc, paint, svg_text
from alphazero.boards.session import Session
from alphazero.boards.skin import skin_of
from alphazero.own_games.registry import make_game
from alphazero.plots.game import board_shapes


def drawn(name, moves=(), setup="white_first"):
    game = make_game(name)
    return board_shapes(Session(game, moves), skin_of(game, setup), len(moves))


def discs(shapes):
    """Return the colours of discs by the row and column of their cells on the picture."""
    found = (shape for shape in shapes if isinstance(shape, Box) and shape.is_round)
    return {(int(disc.y), int(disc.x)): disc.fill for disc in found}


def test_every_piece_is_one_disc_on_its_cell():
    shapes = drawn("connect_four", [3, 3, 0])
    yellow, red = "#ffd75f", "#ff5f5f"
    assert discs(shapes) == {(5, 3): yellow, (4, 3): red, (5, 0): yellow}
    assert sum(isinstance(shape, Box) for shape in shapes) == 42 + 3 + 1  # the frame


def test_the_usual_set_up_of_othello_is_mirrored_with_the_colours_swapped():
    ours = discs(drawn("othello"))
    usual = discs(drawn("othello", setup="standard"))
    white, black = "#ffffff", "#000000"
    assert ours == {(3, 3): white, (3, 4): black, (4, 3): black, (4, 4): white}
    swapped = {white: black, black: white}
    assert usual == {(row, 7 - column): swapped[color] for (row, column), color in ours.items()}
    assert usual[3, 3] == white  # as everywhere: white on d4 and e5


def test_pixels_and_svg_show_the_same_shapes():
    box, round_box = Box(0, 0, 1, 1, "#ff0000"), disc(1.5, 0.5, 0.4, "#0000ff")
    nothing = Box(2, 0, 0, 1, "#00ff00")
    letters = Letters(2.5, 0.5, "<a&b>", 0.4, "middle", bold=True)
    picture = Picture(4, 1, 20, [box, round_box, nothing, letters])
    pixels = np.asarray(paint(picture))
    assert pixels.shape == (20, 80, 3)
    assert pixels[10, 10].tolist() == [255, 0, 0] and pixels[10, 30].tolist() == [0, 0, 255]
    assert pixels[1, 21].tolist() == [255, 255, 255] and (pixels[5:15, 42:58] < 100).any()
    assert not (pixels == (0, 255, 0)).all(axis=2).any()
    root = ET.fromstring(svg_text(picture))
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("80", "20", "0 0 4 1")
    fills = [(element.tag.split("}")[1], element.get("fill")) for element in root]
    assert fills[:3] == [("rect", "#ffffff"), ("rect", "#ff0000"), ("rect", "#0000ff")]
    assert root[2].get("rx") == "0.4"
    assert root[-1].text == "<a&b>" and root[-1].get("font-weight") == "bold"
