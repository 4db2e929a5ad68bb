"""What a person typed: boards, moves and names of games that cannot be read get a sentence that names the place."""

import pytest
from game_samples import EXAMPLE

from alphazero.games.registry import make_game


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("tic_tac_toe", "...\n.x.\n...", "row 1, column 1 holds 'x'; allowed are '.', 'X', 'O'"),
        ("tic_tac_toe", "...\n..\n...", "row 1 has 2 characters; tic_tac_toe has 3 columns"),
        ("tic_tac_toe", "...\n....\n...", "row 1 has 4 characters; tic_tac_toe has 3 columns"),
        ("tic_tac_toe", "...\n...", "the board has 2 rows; tic_tac_toe has 3"),
        ("tic_tac_toe", "", "the board has 1 rows; tic_tac_toe has 3"),
        (
            "othello:4",
            "----\n-WB-\n-BW-\n--?-",
            "row 3, column 2 holds '\\?'; allowed are '-', 'W', 'B'",
        ),
        ("othello:4", "----\n-WB-\n-BW-", "the board has 3 rows; othello:4 has 4"),
        ("connect_four", ".......\n" * 5 + "...Z...", "row 5, column 3 holds 'Z'"),
        ("connect_x:8x8x4", "........\n" * 7 + "... ....", "row 7, column 3 holds ' '"),
    ],
)
def test_a_board_that_cannot_be_read_names_the_row_and_the_character(name, text, reason):
    with pytest.raises(ValueError, match=reason):
        make_game(name).text_to_state(text, 0)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("connect_four", "7", "there is no column 7: type a number from 0 to 6"),
        ("connect_four", "-1", "'-1' is not a column: type a number from 0 to 6"),
        ("connect_four", "three", "'three' is not a column"),
        ("connect_four", "", "'' is not a column"),
        ("connect_four", "1.0", "'1.0' is not a column"),
        ("connect_four", "²", "'²' is not a column"),
        ("connect_x:8x8x4", "8", "there is no column 8: type a number from 0 to 7"),
        ("othello", "64", "there is no square 64: type a number from 0 to 63, or 'pass'"),
        ("othello", "d3", "'d3' is not a square: type a number from 0 to 63, or 'pass'"),
        ("othello:6", "36", "there is no square 36: type a number from 0 to 35, or 'pass'"),
        ("othello:6", "", "'' is not a square"),
        (EXAMPLE, "25", "25 is out of range: type a number from 0 to 24"),
        (EXAMPLE, "²", "'²' is not a number: type a number from 0 to 24"),
        (EXAMPLE, "a", "'a' is not a number: type a number from 0 to 24"),
    ],
)
def test_a_move_that_cannot_be_read_gets_a_sentence(name, text, reason):
    with pytest.raises(ValueError, match=reason):
        make_game(name).text_to_action(text)


@pytest.mark.parametrize("moves", [[True], [1.0], ["1"], [-1], [9]])
def test_a_move_of_a_list_that_is_no_action_is_named(moves):
    with pytest.raises(
        ValueError, match="move 1 of the list is .*: a move is a number from 0 to 8"
    ):
        make_game("tic_tac_toe").play_moves(moves)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("chess", "there is no game 'chess'; there are: tic_tac_toe"),
        ("", "there is no game ''"),
        ("othello:5", "'othello:5' is impossible: the board of Othello has a side of 4, 6 or 8"),
        ("connect_x:0x7x4", "'connect_x:0x7x4' is impossible"),
        ("connect_x:6x7x8", "'connect_x:6x7x8' is impossible"),
        ("connect_x:6x7x1", "'connect_x:6x7x1' is impossible"),
        ("connect_x:6x7", "there is no game 'connect_x:6x7'"),
        ("nowhere/game.py", "there is no game file 'nowhere.game.py'"),
    ],
)
def test_a_game_that_does_not_exist_gets_a_sentence(name, reason):
    with pytest.raises(ValueError, match=reason):
        make_game(name)


def test_a_game_file_without_a_game_gets_a_sentence(tmp_path):
    path = tmp_path / "empty_rules.py"
    path.write_text("SIDE = 3\n")
    with pytest.raises(ValueError, match="defines no GAME"):
        make_game(str(path))
