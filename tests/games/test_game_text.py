"""Boards, moves and names that a person mistypes: the error names the place and the value."""

import pytest
from game_samples import EXAMPLE

from alphazero.own_games.registry import game_names, make_game
from alphazero.runtime.errors import ConfigError


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("tic_tac_toe", "...\n.x.\n...", ["line 2", "column 2", "'x'", "'X'", "'O'"]),
        ("tic_tac_toe", "...\n..\n...", ["line 2", "2", "3"]),
        ("tic_tac_toe", "...\n....\n...", ["line 2", "4", "3"]),
        ("tic_tac_toe", "...\n...", ["2", "3"]),
        ("tic_tac_toe", "", ["1", "3"]),
        ("othello:4", "----\n-WB-\n-BW-\n--?-", ["line 4", "column 3", "'?'", "'-'", "'W'", "'B'"]),
        ("othello:4", "----\n-WB-\n-BW-", ["3", "4"]),
        ("connect_four", ".......\n" * 5 + "...Z...", ["line 6", "column 4", "'Z'"]),
        ("connect_x:8x8x4", "........\n" * 7 + "... ....", ["line 8", "column 4", "' '"]),
        ("gomoku:3x4x3", "....\n.x..\n....", ["line 2", "column 2", "'x'", "'X'", "'O'"]),
    ],
)
def test_a_board_that_cannot_be_read_names_the_place_and_what_is_there(name, text, place):
    with pytest.raises(ValueError) as error:
        make_game(name).text_to_state(text, 0)
    assert [part for part in place if part not in str(error.value)] == []


@pytest.mark.parametrize(
    ("name", "text", "highest"),
    [
        ("connect_four", "7", "6"),
        ("connect_four", "-1", "6"),
        ("connect_four", "three", "6"),
        ("connect_four", "", "6"),
        ("connect_four", "1.0", "6"),
        ("connect_four", "²", "6"),
        ("connect_x:8x8x4", "8", "7"),
        ("othello", "64", "63"),
        ("othello", "d9", "63"),
        ("othello:6", "36", "35"),
        ("othello:6", "", "35"),
        ("gomoku", "p1", "a15"),
        ("gomoku", "h16", "a15"),
        ("gomoku:9x9", "40", "a9"),
        ("othello:10", "100", "99"),
        ("othello:10", "a11", "99"),
        ("othello:10", "k1", "99"),
        ("tic_tac_toe", "0", "9"),
        ("tic_tac_toe", "10", "9"),
        ("tic_tac_toe", "1 2", "9"),
        ("tic_tac_toe", "１", "9"),
        (EXAMPLE, "25", "24"),
        (EXAMPLE, "²", "24"),
        (EXAMPLE, "a", "24"),
    ],
)
def test_a_move_that_cannot_be_read_is_named_with_the_highest_that_is_allowed(name, text, highest):
    with pytest.raises(ValueError) as error:
        make_game(name).text_to_action(text)
    assert text in str(error.value) and f" {highest}" in str(error.value)


@pytest.mark.parametrize("moves", [[True], [1.0], ["1"], [-1], [9]])
def test_a_move_of_a_list_that_is_no_action_is_named_with_its_place(moves):
    with pytest.raises(ValueError) as error:
        make_game("tic_tac_toe").play_moves(moves)
    assert repr(moves[0]) in str(error.value)
    assert "move 1" in str(error.value) and "0 to 8" in str(error.value)


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("chess", game_names()),
        ("", game_names()),
        ("connect_x:6x7", None),
        ("connect_x:3x2x", None),
        ("othello:5", None),
        ("othello:2", None),
        ("othello:18", None),
        ("othello:010", None),
        ("othello:10x10", None),
        ("connect_x:0x7x4", None),
        ("connect_x:6x7x8", None),
        ("connect_x:6x7x1", None),
        ("gomoku:", None),
        ("gomoku:15", None),
        ("gomoku:2x9x3", None),
        ("gomoku:9x20", None),
        ("gomoku:4x4", None),
        ("gomoku:9x9x2", None),
        ("gomoku:9x8x10", None),
        ("gomoku:9x9x57", None),
        ("nowhere/game.py", None),
        ("pettingzoo:texas_holdem_v4", None),
    ],
)
def test_a_game_that_does_not_exist_is_refused(name, allowed):
    with pytest.raises(ConfigError) as error:
        make_game(name)
    assert (error.value.key, error.value.value) == ("game", name)
    assert error.value.allowed == allowed or (allowed is None and error.value.allowed)
