"""The pages about games: their programs run, their excerpts and drawings are what the code says."""

import re
import runpy
from pathlib import Path

import pytest

from alphazero.games.registry import make_game

ROOT = Path(__file__).parents[1]
PAGES = [*sorted((ROOT / "docs" / "games").glob("*.md")), ROOT / "docs" / "ADD_A_GAME.md"]
HEADINGS = [
    "Rules",
    "Board",
    "Text",
    "Sizes",
    "State",
    "Planes",
    "Actions",
    "Symmetries",
    "Result",
    "Facts used as tests",
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_programs_run_and_parts_of_the_example_are_its_own(page, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    example = (ROOT / "examples" / "snort.py").read_text()
    for program in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        if "import" in program:
            path = tmp_path / "program.py"
            path.write_text(program)
            runpy.run_path(str(path))
        else:
            assert program in example


@pytest.mark.parametrize("page", PAGES[:-1], ids=lambda page: page.stem)
def test_pages_have_the_same_form(page):
    headings = re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)
    assert [heading for heading in headings if heading in HEADINGS] == HEADINGS


def test_drawings_are_what_the_games_print():
    othello = (ROOT / "docs" / "games" / "othello.md").read_text()
    drawn = re.findall(r"^(?: ?\d+)+(?: +\d+)* {8}([-WB ]+)$", othello, re.MULTILINE)
    assert "\n".join(row.replace(" ", "") for row in drawn) == make_game("othello").state_to_text(
        make_game("othello").initial_states()[0]
    )
    guide = (ROOT / "docs" / "ADD_A_GAME.md").read_text()
    game = make_game(str(ROOT / "examples" / "snort.py"))
    drawn = re.findall(r"^[ \d]{14} {8}([.XO ]{9})", guide, re.MULTILINE)
    state = game.text_to_state("\n".join(row.replace(" ", "") for row in drawn), 1)
    legal = game.legal_action_mask(state[None])[0]
    assert [square for square in range(25) if not legal[square] and square not in (1, 8)] == [
        0,
        2,
        6,
    ]
    state = game.text_to_state(game.state_to_text(state), 0)
    legal = game.legal_action_mask(state[None])[0]
    assert [square for square in range(25) if not legal[square] and square not in (1, 8)] == [
        3,
        7,
        9,
        13,
    ]
