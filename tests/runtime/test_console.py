"""What commands print: nothing breaks inside a word or a number, however wide the terminal is."""

import io
import re

import pytest
from rich.table import Table
from rich.text import Text

from alphazero.cli import COMMANDS, main
from alphazero.runtime.console import Console

LINES = "error: 1,234 games were played (56.7% won), see /a/path/that/is/longer/than/the/terminal"


def _printed(item, width: int, is_terminal: bool) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=is_terminal, no_color=True)
    console.print(item, markup=False) if isinstance(item, str) else console.print(item)
    return re.sub(r"\x1b\[[\d;]*m", "", console.file.getvalue()).split("\n")


def _table() -> Table:
    table = Table("move", "accuracy, in percent", "note")
    table.add_row("12", Text("98.76", "bold"), "[bold]1,234,567[/] positions")
    table.add_row("3", "", "none")
    return table


@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_lines_break_between_words_on_a_terminal_and_not_in_a_pipe(width):
    assert _printed(LINES, width, is_terminal=False) == [LINES, ""]
    lines = _printed(LINES, width, is_terminal=True)
    assert " ".join(lines).split() == LINES.split()
    assert all(len(line) <= width or " " not in line for line in lines)


def test_a_table_stays_whole_in_a_pipe_and_fits_a_terminal():
    wide = _printed(_table(), 100, is_terminal=True)
    assert _printed(_table(), 30, is_terminal=False) == wide
    assert "98.76" in wide[3]
    assert all(len(line) <= 30 for line in _printed(_table(), 30, is_terminal=True))


@pytest.mark.parametrize("width", [40, 80, 100, 120])
def test_words_of_help_stay_whole_at_every_width(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    texts = {}
    for columns in (10_000, width):
        monkeypatch.setenv("COLUMNS", str(columns))
        for command in ("play", "match", "pettingzoo"):
            assert command in COMMANDS
            assert main([command, "--help"]) == 0
        texts[columns] = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert texts[width].split() == texts[10_000].split()
    for line in texts[width].split("\n"):
        is_example = line.startswith("  alphazero ")
        assert is_example or len(line.rstrip()) <= width or " " not in line.strip()
