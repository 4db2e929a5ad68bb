"""`alphazero plot` of boards: contents, formats, refusals."""

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from game_samples import PUZZLE
from PIL import Image

from alphazero.cli import plot
from alphazero.cli.command import run_command
from alphazero.runtime.errors import ConfigError

STORED_RUN = Path(__file__).parents[1] / "stored_run"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a run of tic-tac-toe."""
    shutil.copytree(STORED_RUN, tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def draw(*words):
    assert run_command(plot, list(words)) == 0


def texts(path):
    """Return the texts of an SVG; matplotlib draws their letters and notes them in comments."""
    return re.findall(r"(?:<text .*?>|<!-- )(.*?)(?:</text>| -->)", Path(path).read_text())


def frames(path):
    """Return the pixels of each frame of an animation, and how long it is shown."""
    with Image.open(path) as image:
        assert image.info["loop"] == 0
        found = []
        for index in range(image.n_frames):
            image.seek(index)
            found.append((np.asarray(image.convert("RGB")), image.info["duration"]))
    return found


@pytest.mark.slow
def test_the_pictures_of_a_puzzle_have_one_side():
    draw("what=game", f"game={PUZZLE}", "first=random", "seed=1", "output=x.svg")
    assert texts("x.svg")[0] == "random" and "uct:1000" not in texts("x.svg")
    assert re.match(r"A result of -\d", texts("x.svg")[-1])
    with pytest.raises(ConfigError) as refused:
        draw("what=game", f"game={PUZZLE}", "second=uct:20")
    assert refused.value.key == "second"


def test_an_animation_shows_every_position_and_the_last_one_longest():
    draw("what=game", "game=tic_tac_toe", "moves=1,5,2,4,3", "output=x.gif")
    found = frames("x.gif")
    durations = [duration for _, duration in found]
    assert len(found) == 6 and max(durations[:-1]) < durations[-1]
    assert {pixels.shape[1] for pixels, _ in found} == {400}
    assert min(pixels[0, 0].min() for pixels, _ in found) >= 254  # the paper
    assert all((a != b).any() for (a, _), (b, _) in zip(found, found[1:]))


def test_a_sheet_has_a_board_for_each_position():
    draw("what=game", "game=tic_tac_toe", "moves=1,5,2,4,3", "output=x.svg")
    found = texts("x.svg")
    assert [text for text in found if text and text not in "XO"] == [
        *("Tic-tac-toe", "1. X 1", "2. O 5", "3. X 2", "4. O 4", "5. X 3", "X wins"),
    ]


def test_two_players_play_on_after_an_opening():
    words = ("what=game", "game=connect_x:4x4x3", "moves=1,2", "seed=3", "output=x.svg")
    draw(*words, "first=uct:50", "second=random")
    found = [text for text in texts("x.svg") if re.match(r"\d+\. ", text)]
    assert found[:2] == ["2. Red 2", found[1]] and found[1].startswith("3. Yellow")


@pytest.mark.parametrize("ending", ("png", "pdf", "svg"))
def test_a_picture_has_the_format_of_its_ending(ending):
    begin = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<svg"}[ending]
    draw("what=game", "game=tic_tac_toe", "moves=1,5", f"output=x.{ending}")
    assert Path(f"x.{ending}").read_bytes().startswith(begin)


@pytest.mark.parametrize(
    ("words", "key"),
    (
        ("what=run run=run output=x.gif", "output"),
        ("what=game moves=1 output=x.jpg", "output"),
        ("what=game moves=1,1,1,1,1,1,1", "moves"),
        ("what=game game=othello moves=f5", "moves"),
        ("run=", "run"),
    ),
)
def test_what_cannot_be_drawn_is_refused_with_the_setting(words, key):
    with pytest.raises(ConfigError) as error:
        run_command(plot, words.split())
    assert error.value.key == key
    assert not list(Path().glob("*.gif")) and not list(Path().glob("*.png"))


def test_charts_need_matplotlib_and_boards_do_not(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ConfigError, match=r"alphazero-selfplay\[plot\]"):
        run_command(plot, ["what=run", "run=run"])
    draw("what=game", "game=tic_tac_toe", "moves=1", "output=x.png")
    assert Path("x.png").is_file()
