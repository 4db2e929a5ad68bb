"""After the last move: taking it back, a rematch, and boards that are drawn one over the other."""

import io
import re

import pytest
from rich.console import Console
from test_play_terminal import ScriptedPlayer

from alphazero.boards.skin import skin_of
from alphazero.own_games.registry import make_game
from alphazero.play.screen import can_draw_in_place, line_reader
from alphazero.play.terminal import HumanPlayer, TerminalGame

X_WINS = "1 4 2 5 3".split()


def _console(width=100, height=40) -> Console:
    return Console(
        file=io.StringIO(), width=width, height=height, highlight=False, force_terminal=True
    )


def _play(typed: list[str], second=(), first=(), name="tic_tac_toe", console=None, **options):
    """Play, with people where no moves are given; return what was printed, the game, the winner."""
    game, console = make_game(name), console or _console()
    sides = (first, second)
    players = tuple(ScriptedPlayer(game, moves) if moves else HumanPlayer() for moves in sides)
    lines = io.StringIO("".join(f"{line}\n" for line in typed))
    terminal = TerminalGame(game, players, console, line_reader(console, lines), **options)
    winner = terminal.run()
    return console.file.getvalue(), terminal, winner


# --- after the last move --------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["undo", "u", " U "])
def test_a_finished_game_can_be_taken_back_and_continued(word):
    _, terminal, winner = _play([*X_WINS, word, "9", "6"])
    assert terminal.session.actions == [0, 3, 1, 4, 8, 5]
    assert winner == 1


def test_a_loss_against_an_engine_is_taken_back_to_ones_own_move():
    _, terminal, winner = _play(["1", "2", "9", "undo", "3"], second=[3, 4, 5])
    assert terminal.session.actions == [0, 3, 1, 4, 2]
    assert winner == 0


def test_a_game_that_was_over_at_the_start_has_nothing_of_an_engine_to_take_back():
    text, terminal, _ = _play(["u"], second=[8], first=[8], moves=[0, 3, 1, 4, 2])
    assert terminal.session.actions == [0, 3, 1, 4, 2]
    assert "rematch" not in text  # there is nobody to ask


@pytest.mark.parametrize(
    ("word", "names"), [("r", ("you", "scripted")), ("s", ("scripted", "you"))]
)
def test_a_rematch_has_the_same_sides_or_swaps_them(word, names):
    engine_moves = [3, 4, 8, 7]  # in the rematch it moves 9 and 8
    text, terminal, winner = _play(["1", "2", "3", word, "4"], second=engine_moves)
    assert winner is None  # the person left the second game
    assert re.findall(r"X \((\w+)\) +against +O \((\w+)\)", _plain(text)) == [
        ("you", "scripted"),
        names,
    ]
    assert terminal.session.actions == ([3, 8] if word == "r" else [8, 3, 7])


def test_a_rematch_starts_after_the_same_moves():
    _, terminal, _ = _play(["3", "r"], moves=[0, 3, 1, 4])
    assert terminal.session.actions == [0, 3, 1, 4]


def test_at_the_end_a_move_is_refused_and_q_leaves():
    text, terminal, winner = _play([*X_WINS, "9", "", "hint", "m", "q", "r"])
    assert terminal.session.actions == [0, 3, 1, 4, 2]
    assert winner == 0
    assert "moves=1,4,2,5,3" in text


def test_there_is_no_rematch_before_the_end():
    _, terminal, _ = _play(["1", "r", "s", "5"])
    assert terminal.session.actions == [0, 4]


# --- in place -------------------------------------------------------------------------------------


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", text)


class Terminal:
    """A terminal that understands what is written to it: a screen, and lines scrolled off it."""

    def __init__(self, width: int, height: int):
        self.width, self.height = width, height
        self.rows, self.scrolled, self.row, self.column = [""] * height, [], 0, 0

    def write(self, text: str) -> None:
        for code, other in re.findall(r"(\x1b\[[\d;]*[A-Za-z])|(.|\n)", text):
            if code == "\x1b[H":
                self.row = self.column = 0
            elif code == "\x1b[K":
                self.rows[self.row] = self.rows[self.row][: self.column]
            elif code == "\x1b[J":
                self.rows[self.row] = self.rows[self.row][: self.column]
                self.rows[self.row + 1 :] = [""] * (self.height - self.row - 1)
            elif other == "\n":
                self._new_line()
            elif other:
                assert self.column < self.width, "a line is longer than the terminal is wide"
                line = self.rows[self.row].ljust(self.column)
                self.rows[self.row] = line[: self.column] + other + line[self.column + 1 :]
                self.column += 1

    def _new_line(self) -> None:
        self.column = 0
        if self.row == self.height - 1:
            self.scrolled.append(self.rows.pop(0))
            self.rows.append("")
        else:
            self.row += 1


def _screen_after(typed: list[str], width=100, height=30, **options) -> tuple[Terminal, str]:
    console = _console(width, height)
    console.print("earlier output")
    text, _, _ = _play(typed, console=console, in_place=True, **options)
    terminal = Terminal(width, height)
    terminal.write(text)
    return terminal, "\n".join(terminal.rows)


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "othello"])
@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_board_replaces_the_last_one_and_nothing_earlier_is_lost(name, width):
    typed = {"tic_tac_toe": "51x", "connect_four": "44x", "othello": "0x"}
    terminal, shown = _screen_after([*typed[name]], width, name=name)
    assert shown.count("╭") == shown.count("╰") == 1
    assert skin_of(make_game(name)).title in terminal.rows[0]
    assert (
        "'x'" in shown and "'x'" not in _screen_after([*typed[name], "0", "1"], width, name=name)[1]
    )
    assert terminal.scrolled[0] == "earlier output"
    assert not any("╭" in line for line in terminal.scrolled)


def test_a_terminal_of_24_rows_is_high_enough_for_the_boards_that_ship():
    for name in ("tic_tac_toe", "connect_four", "othello"):
        terminal, _ = _screen_after(["help me"], 80, 24, name=name)
        assert sum("╭" in line for line in [*terminal.scrolled, *terminal.rows]) == 1, name


def test_the_final_board_stays_with_its_result():
    terminal, shown = _screen_after([*X_WINS, "q"])
    assert shown.count("╭") == 1
    assert "wins after 5 moves" in shown
    assert terminal.rows[terminal.row - 2].startswith("r: rematch")


def test_a_terminal_that_is_too_low_gets_one_board_below_the_other():
    terminal, _ = _screen_after(["5"], height=10)
    assert sum("╭" in line for line in [*terminal.scrolled, *terminal.rows]) == 2


@pytest.mark.parametrize(
    ("is_typed", "is_shown", "term", "expected"),
    [
        (True, True, "xterm-256color", True),
        (True, True, "dumb", False),
        (False, True, "xterm", False),
        (True, False, "xterm", False),
    ],
)
def test_only_a_person_at_a_terminal_gets_boards_in_place(is_typed, is_shown, term, expected):
    class Stream(io.StringIO):
        def __init__(self, is_terminal):
            super().__init__()
            self.isatty = lambda: is_terminal

    environment = {"TERM": term}
    console = Console(file=Stream(is_shown), _environ=environment)
    assert can_draw_in_place(console, Stream(is_typed)) == expected
