"""How people write moves: lists of moves in and out, and Othello's two set-ups."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_games import Named

from alphazero.boards.notation import read_moves
from alphazero.boards.session import Session
from alphazero.boards.skin import SETUPS, skin_of
from alphazero.boards.text import Medium, draw_board
from alphazero.games.square_names import named_square, square_name
from alphazero.own_games.python_game import PythonGame
from alphazero.own_games.registry import make_game

PLAIN = Medium(box=False, color=False)
SKINS = {
    name: skin_of(make_game(name.split()[0]), name.split()[1] if " " in name else SETUPS[0])
    for name in (
        "tic_tac_toe",
        "connect_four",
        "connect_x:3x12x3",
        "othello:4",
        "othello:4 standard",
        "othello standard",
    )
}


def _read(name: str, text: str) -> list[int]:
    return read_moves(make_game(name.split()[0]), SKINS[name].notation, text)


def _shown(name: str, moves: list[int]) -> list[str]:
    """Return the squares of a board as drawn, a line for each row."""
    game = make_game(name.split()[0])
    drawn = draw_board(game, SKINS[name], game.play_moves(moves), PLAIN, labels=False).plain
    rows = [line.split("|")[1:-1] for line in drawn.splitlines() if "|" in line]
    return ["".join(cell.strip() or "-" for cell in row) for row in rows]


# --- lists of moves -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "actions"),
    [
        ("connect_four", "4,4,3", [3, 3, 2]),
        ("connect_four", "443", [3, 3, 2]),
        ("connect_four", " 4 4; 3, ", [3, 3, 2]),
        ("connect_four", "[3,3,2]", [3, 3, 2]),
        ("connect_four", "", []),
        ("connect_x:3x12x3", "12,1,10", [11, 0, 9]),
        ("tic_tac_toe", "159", [0, 4, 8]),
        ("tic_tac_toe", "[0,4,8]", [0, 4, 8]),
        ("othello:4", "c1b1", [2, 1]),
        ("othello:4", "[2,1]", [2, 1]),
        ("othello:4 standard", "b1c1", [2, 1]),
        ("othello:4 standard", "[2,1]", [2, 1]),
        ("othello standard", "f5d6c3", [34, 44, 21]),
        ("othello standard", "F5 d6, c3", [34, 44, 21]),
    ],
)
def test_lists_of_moves_are_read_as_on_the_screen_or_from_0_in_brackets(name, text, actions):
    assert _read(name, text) == actions


@pytest.mark.parametrize(
    ("names", "text", "actions"),
    [
        (["take 1", "take 2"], "take 2, take 1;take 2", [1, 0, 1]),
        (["take 1", "take 2"], "take 2", [1]),
        (["(0, 0)", "(0, 1)"], "(0, 1);(0, 0)", [1, 0]),
        (["Bb5", "bb5", "pass"], "Bb5 bb5 PASS pa", [0, 1, 2, 2]),
        (["a1", "b2", "a1b2"], "a1b2", [2]),
        (["a1", "b2", "a1b2"], "a1,b2", [0, 1]),
        (["a1", "b2", "a1b2"], "b2a1", [1, 0]),
        (["0.1", "0.2"], "1. 0.1 0.2 2. 0.2", [0, 1, 1]),
    ],
)
def test_names_of_a_games_own_are_never_split(names, text, actions):
    game = PythonGame(Named(names), "named")
    notation = skin_of(game).notation
    assert read_moves(game, notation, text) == actions
    assert read_moves(game, notation, notation.list_text(actions)) == actions


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["take 1", "take 2"], "take"),
        (list(map(str, range(36))), "77"),
    ],
)
def test_names_run_together_are_refused_where_they_can_mean_something_else(names, text):
    game = PythonGame(Named(names), "named")
    with pytest.raises(ValueError, match=text):
        read_moves(game, skin_of(game).notation, text)


@pytest.mark.parametrize("word", ["pass", "PASS", "Pa", "ps", "--"])
def test_a_pass_is_read_as_other_programs_write_it(word):
    assert _read("othello:4", f"c1 b1 a3 d1 {word} d3") == [2, 1, 8, 3, 16, 11]
    assert _read("othello:4", f"c1b1a3d1{word}d3") == [2, 1, 8, 3, 16, 11]


def test_forced_passes_may_be_left_out():
    with_passes = [2, 1, 8, 3, 16, 11, 7, 14, 15, 13, 4, 16, 12]
    assert _read("othello:4", "c1b1a3d1,pass,d3d2c4d4b4a2,pass,a4") == with_passes
    assert _read("othello:4", "c1b1a3d1d3d2c4d4b4a2a4") == with_passes
    transcript = SKINS["othello:4 standard"].notation.list_text(with_passes)
    assert "pass" not in transcript
    assert _read("othello:4 standard", transcript) == with_passes


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("connect_four", "1,0", ["move 2", "0", "1 to 7", "[0,1]"]),
        ("connect_four", "4444444", ["move 7", "4", "1, 2, 3, 5, 6, 7"]),
        ("connect_four", "[7]", ["move 1", "7", "0 to 6"]),
        ("connect_four", "[3,3", ["[3,3"]),
        ("connect_four", "[3,d]", ["[3,d]"]),
        ("tic_tac_toe", "123456789", ["move 8", "8", "end"]),
        ("othello standard", "d3c3e4", ["move 3", "e4"]),
        ("othello standard", "19", ["move 1", "19", "a1 to h8", "[0,1]"]),
        ("othello standard", "i9", ["move 1", "i9", "a1 to h8"]),
    ],
)
def test_what_is_no_list_of_moves_is_named_with_its_place(name, text, said):
    with pytest.raises(ValueError) as error:
        _read(name, text)
    assert all(part in str(error.value) for part in said)
    assert "\n" not in str(error.value)


@given(st.sampled_from(sorted(SKINS)), st.lists(st.integers(0, 63), max_size=130))
@settings(max_examples=30, deadline=None)
def test_a_game_that_is_written_is_read_again(name, choices):
    session = Session(make_game(name.split()[0]))
    for choice in choices:
        if not session.over:
            session.play(session.legal_actions[choice % len(session.legal_actions)])
    read = _read(name, SKINS[name].notation.list_text(session.actions))
    size = session.game.num_actions - 1
    if session.actions and session.actions[-1] == size:  # a last pass may be left out
        read = [*read, size][: len(session.actions)]
    assert read == session.actions


# --- Othello's set-ups ----------------------------------------------------------------------------


@pytest.mark.parametrize("moves", [[], [20], [34, 44, 21]])
def test_text_boards_change_between_the_set_ups(moves):
    game = make_game("othello")
    ours = game.state_to_text(game.play_moves(moves))
    swapped = ours.translate(str.maketrans("WB", "BW")).splitlines()
    assert [line[::-1] for line in swapped] == _shown("othello standard", moves)


@pytest.mark.parametrize(("setup", "first"), [("white_first", 0), ("standard", 9)])
def test_squares_are_numbered_row_by_row_also_in_rows_of_two_digits(setup, first):
    notation = skin_of(make_game("othello:10"), setup).notation
    names = [f"{column}{row}" for row in range(1, 11) for column in "abcdefghij"]
    numbered = notation.numbered(range(100))
    assert numbered[0] == first
    assert [notation.text(action) for action in numbered] == names
    assert notation.split("".join(names)) == names


@pytest.mark.parametrize("mirrored", [False, True])
def test_names_of_squares_are_read_as_they_are_written(mirrored):
    names = [square_name(square, 6, mirrored) for square in range(37)]
    assert [named_square(name, 6, mirrored) for name in names] == list(range(37))
    assert len(set(names)) == 37
    assert (names[1], names[36]) == ("e1" if mirrored else "b1", "pass")
    assert [named_square(name, 6, mirrored) for name in ("g1", "a7", "a0", "12", "", "aa")] == (
        [None] * 6
    )
