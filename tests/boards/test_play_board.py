"""Boards as text: the right piece and label in every square, and marks on the last move."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphazero.boards.session import Session
from alphazero.boards.skin import SETUPS, skin_of
from alphazero.boards.text import Medium, draw_board, marked_cells
from alphazero.own_games.registry import make_game
from alphazero.play.screen import read_move

PLAIN, BOX = Medium(box=False, color=False), Medium(box=True, color=False)


def _draw(session: Session, medium: Medium, labels: bool = True) -> str:
    return draw_board(
        session.game, skin_of(session.game), session.state, medium, session.previous_state, labels
    ).plain


def test_connect_x_numbers_its_columns_and_marks_the_last_disc():
    session = Session(make_game("connect_x:2x3x2"), [1, 0])
    assert _draw(session, PLAIN).splitlines() == [
        "  1   2   3  ",
        "+---+---+---+",
        "|   |   |   |",
        "+---+---+---+",
        "|[O]| X |   |",
        "+---+---+---+",
    ]


def test_othello_names_the_legal_squares_alone():
    session = Session(make_game("othello:4"))
    assert _draw(session, PLAIN).splitlines()[::2] == [
        "    a   b   c   d  ",
        "1 |   |   | c1|   |",
        "2 |   | W | B | d2|",
        "3 | a3| B | W |   |",
        "4 |   | b4|   |   |",
    ]
    assert "a3" not in _draw(session, PLAIN, labels=False)


def test_gomoku_names_squares_along_the_edges_alone():
    session = Session(make_game("gomoku:3x4x3"), [5])
    assert _draw(session, PLAIN).splitlines()[::2] == [
        "    a   b   c   d  ",
        "3 |   |   |   |   |",
        "2 |   |[X]|   |   |",
        "1 |   |   |   |   |",
    ]


@given(
    st.sampled_from(["othello", "othello:6", "othello:4", "othello:10"]),
    st.sampled_from(SETUPS),
    st.lists(st.integers(0, 50), max_size=50),
)
@settings(max_examples=60, deadline=None)
def test_the_number_on_a_square_plays_that_square(name, setup, choices):
    session, skin = Session(make_game(name)), skin_of(make_game(name), setup)
    for choice in choices:
        if not session.over:
            session.play(session.legal_actions[choice % len(session.legal_actions)])
    text = draw_board(session.game, skin, session.state, PLAIN, numbered=True).plain
    columns, *lines = [line for line in text.splitlines() if "+" not in line]
    numbers = {}  # number: name of its square, read off the edges of the board
    for row, *cells, _ in (line.split("|") for line in lines):
        for column, cell in zip(columns.split(), cells, strict=True):
            if cell.strip().isdigit():
                numbers[int(cell)] = column + row.strip()
    can_place = not session.over and not session.is_forced_pass()
    assert list(numbers) == list(range(len(session.legal_actions) if can_place else 0))
    played = [read_move(session, skin, str(number)) for number in numbers]
    assert played == [read_move(session, skin, square) for square in numbers.values()]
    if can_place:
        assert sorted(played) == session.legal_actions


def test_tic_tac_toe_shows_the_keys_1_to_9():
    session = Session(make_game("tic_tac_toe"), [4])
    text = _draw(session, BOX)
    assert re.findall(r"[0-9X]", text) == list("1234X6789")
    assert "[X]" in text


@pytest.mark.parametrize(
    ("name", "moves", "cells"),
    [
        ("connect_four", [0, 1, 0, 1, 0, 1, 0], [(2, 0), (3, 0), (4, 0), (5, 0)]),
        ("connect_four", [0, 0, 1, 1, 2, 2, 4, 4, 3], [(5, 0), (5, 1), (5, 2), (5, 3), (5, 4)]),
        ("connect_four", [0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3], [(2, 3), (3, 2), (4, 1), (5, 0)]),
        ("tic_tac_toe", [2, 0, 4, 1, 6], [(0, 2), (1, 1), (2, 0)]),
        ("connect_four", [0, 1], [(5, 1)]),
        ("othello", [20], [(2, 4)]),
    ],
)
def test_the_winning_line_is_marked_and_otherwise_the_last_piece(name, moves, cells):
    session = Session(make_game(name), moves)
    marked = marked_cells(
        session.game, skin_of(session.game), session.state, session.previous_state
    )
    assert sorted(zip(*np.nonzero(marked))) == sorted(cells)
