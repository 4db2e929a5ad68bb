"""`scripts/make_pictures.py`: a terminal screen becomes an SVG with the same texts and colors."""

import xml.etree.ElementTree as ET
from pathlib import Path

import make_pictures as pictures
import pytest

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def root(tmp_path):
    """The picture of a small screen."""
    console = pictures.recording_console(width=40)
    console.print("before")
    console.print("Board [bold]one[/bold] & [on #102030]two[/on #102030]  far")
    console.print("╭─●─╮ [dim]faint[/dim]")
    console.print("\nafter")
    pictures.save_svg(console, tmp_path / "new" / "x.svg", "a <title>", "Board", "after")
    return ET.parse(tmp_path / "new" / "x.svg").getroot()


def test_a_picture_has_the_chosen_lines_with_their_styles(root):
    texts = {element.text: element for element in root.iter(f"{SVG}text")}
    assert set(texts) == {"a <title>", "Board", "one", "&", "two", "far", "faint"}
    assert texts["one"].get("font-weight") == "bold"
    assert texts["faint"].get("fill") == pictures.DIM
    assert texts["far"].get("x") == f"{pictures.MARGIN + 17 * pictures.CELL_W:g}"
    assert {element.get("y") for element in texts.values()} == {"21", "61", "81"}


def test_every_plot_of_the_docs_is_stored_and_the_animation_is_small():
    stored = {
        path.name: path.stat().st_size
        for path in (Path(__file__).parents[2] / "docs" / "images").glob("*")
    }
    assert pictures.PLOTS.keys() <= stored.keys()
    assert stored["game_connect_four.gif"] < 400_000
