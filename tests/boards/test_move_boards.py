"""Boards of games whose pieces move: coordinates, typed moves, marks and arrows."""

import numpy as np
import pytest
from game_samples import BREAKTHROUGH, EXAMPLE
from plain_games import Promotion

from alphazero.boards.notation import Notation, read_moves
from alphazero.boards.painter import Box
from alphazero.boards.session import Session
from alphazero.boards.skin import WALL, skin_of
from alphazero.boards.text import Medium, draw_board
from alphazero.games.appearance import Appearance
from alphazero.games.square_names import action_names, edge_names
from alphazero.own_games.game_file import game_of
from alphazero.own_games.registry import make_game
from alphazero.play.screen import prompt, read_move
from alphazero.plots.game import board_shapes, piece_color
from alphazero.runtime.errors import ConfigError

PLAIN = Medium(box=False, color=False)
MOVES = ["b2b3", "c4d3", "e2d3"]


@pytest.fixture(scope="module")
def game():
    return make_game(BREAKTHROUGH)


@pytest.fixture
def session(game):
    return Session(game, read_moves(game, skin_of(game).notation, " ".join(MOVES)))


def drawn(session):
    shown = session.game, skin_of(session.game), session.state, PLAIN, session.previous_state
    return draw_board(*shown, last_action=session.last_action).plain.splitlines()


# --- names ----------------------------------------------------------------------------------------


def test_names_run_from_a_and_from_1_at_the_bottom_or_the_top():
    assert edge_names(3, 2) == (["a", "b"], ["3", "2", "1"])
    assert edge_names(3, 2, from_top=True) == (["a", "b"], ["1", "2", "3"])
    assert edge_names(1, 28)[0][24:] == ["y", "z", "aa", "ab"]


def test_actions_are_named_by_their_squares_and_told_apart():
    assert action_names([(4, 2), (2, 0), (2, 0), ()], 3, 2) == ["a1a2", "a2a3=1", "a2a3=2", "3"]
    with pytest.raises(ValueError, match="action 1"):
        action_names([(0,), (6,)], 3, 2)


# --- typed moves ----------------------------------------------------------------------------------


def test_moves_are_typed_as_they_are_shown(session):
    skin = skin_of(session.game)
    assert "a move such as " in prompt(session, skin)
    for action in session.legal_actions:
        text = skin.notation.text(action)
        assert read_move(session, skin, f"{text[:2]}-{text[2:]}".upper()) == action
    for typed in ("c4d3", "a1a3", "3", "d3", ""):
        with pytest.raises(ValueError):
            read_move(session, skin, typed)


@pytest.mark.parametrize("text", ["b2b3,c4d3,e2d3", "b2-b3 c4-d3; E2xD3", "[97,47,114]"])
def test_lists_of_moves_are_read(game, text):
    notation = skin_of(game).notation
    assert notation.list_text(read_moves(game, notation, text)) == "b2b3,c4d3,e2d3"


def test_squares_that_several_moves_share_lead_to_a_choice():
    game = game_of(Promotion, "promotion")
    session, skin = Session(game, [0, 3]), skin_of(game)
    assert [skin.notation.text(action) for action in session.legal_actions] == ["a2a3=1", "a2a3=2"]
    assert read_move(session, skin, "a2a3=2") == 2
    with pytest.raises(ValueError, match="a2a3=1, a2a3=2"):
        read_move(session, skin, "a2-a3")


def test_squares_mean_the_legal_move_even_where_the_game_writes_it_otherwise():
    class Worded(Promotion):
        def action_to_text(self, action):
            return ("advance", "queen", "knight", "pass")[action]

        def text_to_action(self, text):
            return ("advance", "queen", "knight", "pass").index(text)

    game = game_of(Worded, "worded")
    session, skin = Session(game), skin_of(game)
    assert read_move(session, skin, "a1a2") == read_move(session, skin, "advance") == 0
    session = Session(game, [0, 3])
    assert read_move(session, skin, "queen") == 1
    with pytest.raises(ValueError, match="queen, knight"):
        read_move(session, skin, "a2a3")


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("connect_four", "column", "a column (1-7)"),
        ("tic_tac_toe", "square", "a square (1-9)"),
        ("othello:4", "square", "a square such as d3"),
        (BREAKTHROUGH, "move", "a move such as a2a3"),
    ],
)
def test_a_notation_knows_what_actions_are_and_what_to_type(name, kind, said):
    session = Session(make_game(name))
    notation = skin_of(session.game).notation
    assert notation.kind == kind and notation.what_to_type(session.legal_actions) == said


# --- boards ---------------------------------------------------------------------------------------


def test_a_terminal_shows_coordinates_and_where_the_last_piece_came_from(session):
    assert drawn(session)[::2] == [
        "    a   b   c   d   e  ",
        "5 | B | B | B | B | B |",
        "4 | B | B |   | B | B |",
        "3 |   | W |   |[W]|   |",
        "2 | W |   | W | W |[ ]|",
        "1 | W | W | W | W | W |",
    ]


# --- what a game states ---------------------------------------------------------------------------


WRONG_LOOKS = [
    {"board": "blue"},
    {"colours": ()},
    {"colors": ("pink", "x")},
    {"colors": ("x",)},
    {"sides": ("Red",)},
    {"sides": "RB"},
]


@pytest.mark.parametrize("stated", WRONG_LOOKS)
def test_an_impossible_appearance_is_refused(stated):
    with pytest.raises(ConfigError) as error:
        game_of(type("Stated", (Promotion,), {"appearance": stated}), "stated")
    assert error.value.value == "appearance"


class Cliff:
    """Three squares in a row, the first blocked; the player who began moves twice."""

    num_actions, max_plies, piece_letters = 3, 3, ".XO#"

    def __init__(self):
        self.blocked = [0]

    def step(self, action):
        self.blocked.append(action)

    def player_to_move(self):
        return 1 if len(self.blocked) == 3 else 0

    def is_over(self):
        return len(self.blocked) == 3

    def result(self):
        return -1

    def legal_actions(self):
        return [square for square in range(3) if square not in self.blocked]

    def cells(self):
        return np.array([[3 if square in self.blocked else 0 for square in range(3)]])


def test_a_blocked_square_is_nobodys_piece():
    game = make_game(Cliff())
    state = game.initial_states()[0]
    skin = skin_of(game)
    assert game.observe(state[None])[0, :, 0, 0].tolist() == [0, 0, 1]
    assert game.state_to_text(state) == "#.."
    board = draw_board(game, skin, state, Medium(box=True, color=True)).plain
    assert board.count(WALL) == 1 and "#" not in board
    assert draw_board(game, skin, state, PLAIN).plain.count("#") == 1
    shapes = board_shapes(Session(game), skin, 0)
    boxes = [shape for shape in shapes if isinstance(shape, Box)]
    assert sum(box.fill == piece_color(skin, 2) and box.line is None for box in boxes) == 1


def test_a_game_that_states_nothing_looks_plain_and_has_no_names_along_its_edges():
    game = make_game(EXAMPLE)
    assert game.appearance == Appearance()
    assert Notation(game).column_names == Notation(game).row_names == []
