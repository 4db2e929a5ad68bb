"""OpenSpiel's games as ours: compared with OpenSpiel, and with our compiled games."""

import gc
import importlib.util
import random

import numpy as np
import pytest
from mostly_slow import mostly_slow

from alphazero.boards.notation import Notation
from alphazero.boards.session import Session
from alphazero.boards.skin import skin_of
from alphazero.boards.text import PLAIN, draw_board
from alphazero.own_games.adapters import open_spiel_game
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError, MissingPackage

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

#: All of OpenSpiel 2.0 that qualify; the last two are puzzles. Large ones with a smaller board.
QUALIFYING = (
    "amazons antichess breakthrough checkers chess chinese_checkers clobber connect_four "
    "crazyhouse cursor_go(board_size=5) dots_and_boxes go(board_size=9) gomoku havannah hex hive "
    "lines_of_action mancala mnk nim nine_mens_morris othello oware pentago quoridor shogi "
    "tic_tac_toe twixt ultimate_tic_tac_toe xiangqi y misere(game=tic_tac_toe()) "
    "morpion_solitaire cliff_walking"
).split()


def assert_same_games(text, num_games, most_plies):
    """Walk random games in both and compare all that is seen of each position."""
    game, theirs, rng = make_game(f"open_spiel:{text}"), pyspiel.load_game(text), random.Random(5)
    for _ in range(num_games):
        state, row = theirs.new_initial_state(), game.initial_states()
        first, has_planes = state.current_player(), theirs.get_type().provides_observation_tensor
        for _ in range(most_plies):
            found = game.inspect(row)
            assert found.over[0] == state.is_terminal()
            if state.is_terminal():
                mover = int(found.players[0]) ^ first
                own = game.own_result(float(found.results[0]))
                assert own == pytest.approx(state.returns()[mover], abs=1e-5)
                break
            assert int(found.players[0]) ^ first == state.current_player()
            assert np.flatnonzero(found.legal_action_mask[0]).tolist() == state.legal_actions()
            if has_planes:
                seen = np.array(state.observation_tensor(state.current_player()))
                ours = game.observe(row)[0].ravel()
                assert np.array_equal(ours[: len(seen)], seen.astype(np.float32))
                assert (ours[len(seen) :] == found.players[0]).all()
            action = rng.choice(state.legal_actions())
            words = state.action_to_string(state.current_player(), action)
            if game.action_to_text(action) != str(action):
                assert game.text_to_action(words) == action
            assert game.text_to_action(game.action_to_text(action)) == action
            state.apply_action(action)
            row = game.step(row, np.array([action])).states


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gomoku:6x6", "mnk(m=6,n=6,k=5)"),
        ("gomoku:4x6x4", "mnk(m=6,n=4,k=4)"),
        ("gomoku", "gomoku"),
    ],
)
def test_compiled_gomoku_is_that_of_openspiel(name, text):
    game, theirs, rng = make_game(name), pyspiel.load_game(text), random.Random(5)
    results = []
    for _ in range(30):
        state, row = theirs.new_initial_state(), game.initial_states()
        while not state.is_terminal():
            found = game.inspect(row)
            assert (found.over[0], found.players[0]) == (False, state.current_player())
            assert np.flatnonzero(found.legal_action_mask[0]).tolist() == state.legal_actions()
            action = rng.choice(state.legal_actions())
            state.apply_action(action)
            row = game.step(row, np.array([action])).states
        found = game.inspect(row)
        results.append(found.results[0])
        assert (found.over[0], results[-1]) == (True, state.returns()[found.players[0]])
    assert len(set(results)) == (2 if name != "gomoku" else 1)  # losses, and draws on small boards


#: Games that take a second or more each, for rules that are slow or many actions.
SLOW = {"chinese_checkers", "hive", "mnk", "morpion_solitaire", "shogi", "lines_of_action"}


@pytest.mark.parametrize("text", mostly_slow([one for one in QUALIFYING if one not in SLOW]))
def test_games_agree_with_openspiel_move_by_move(text):
    assert_same_games(text, 2, 40)


@pytest.mark.parametrize("text", "havannah hex nine_mens_morris twixt y".split())
def test_a_side_is_called_as_its_pieces_are_drawn(text):
    game = make_game(f"open_spiel:{text}")
    sides, session = skin_of(game).sides, Session(game)
    for side in sides:
        before = game.drawn(session.state)
        session.play(session.legal_actions[0])
        drawn = zip(before, game.drawn(session.state), strict=True)
        assert side in {new for old, new in drawn if old == "."}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kuhn_poker", "chance"),
        ("dark_chess", "hidden information"),
        ("goofspiel", "same time"),
        ("oshi_zumo", "same time"),
        ("trade_comm", "chance"),
        ("2048", "chance"),
        ("nosuch", "no such game"),
        ("", "no such game"),
        ("hex(foo=3)", "'foo'"),
        ("hex(board_size=", "bracket"),
        ("hex(board_size=-1)", "no action is legal"),
    ],
)
def test_games_that_do_not_qualify_are_refused_with_the_reason(text, words, capfd):
    with pytest.raises(ConfigError) as error:
        make_game(f"open_spiel:{text}")
    assert error.value.key == "game" and error.value.value == f"open_spiel:{text}"
    assert words in str(error.value)


def test_without_openspiel_one_is_told_what_to_install(monkeypatch):
    found = importlib.util.find_spec
    hidden = {"pyspiel": None}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: hidden.get(name, found(name)))
    # Another game than those of other tests, which are cached.
    with pytest.raises(MissingPackage, match="pip install"):
        make_game("open_spiel:tic_tac_toe(max_plies=8)")


def test_a_game_that_is_cut_off_is_a_draw():
    game = make_game("open_spiel:chess(max_plies=6)")
    assert game.max_plies == 6
    row, rng = game.initial_states(), random.Random(0)
    for ply in range(6):
        found = game.inspect(row)
        assert not found.over[0] and found.players[0] == ply % 2
        row = game.step(row, [rng.choice(np.flatnonzero(found.legal_action_mask[0]))]).states
    assert game.over(row)[0] and game.inspect(row).results[0] == 0


def test_positions_are_told_apart_by_what_determines_them():
    lines = [0, 1, 4, 2], [4, 1, 0, 2], [0, 2, 4, 1], [0, 4, 1, 2]
    game = make_game("open_spiel:tic_tac_toe")
    one, transposed, _, other = game.identity(np.stack([game.play_moves(line) for line in lines]))
    assert np.array_equal(one, transposed) and not np.array_equal(one, other)
    go = make_game("open_spiel:go(board_size=5)")  # where a repetition may matter
    one, transposed, *_ = go.identity(np.stack([go.play_moves(line) for line in lines]))
    assert not np.array_equal(one, transposed)


# --- what a person sees and types -----------------------------------------------------------------


def test_moves_are_written_as_openspiel_writes_them():
    game = make_game("open_spiel:tic_tac_toe")
    assert game.action_to_text(5) == "1.2"
    for typed in ("1.2", "x(1,2)", "o(1,2)", "(1,2)", "5"):
        assert game.text_to_action(typed) == 5
    with pytest.raises(ValueError, match="0.0"):
        game.text_to_action("9,9")


@pytest.mark.parametrize(
    ("text", "kind", "move", "squares"),
    [
        ("breakthrough", "move", "a7b6", (8, 17)),  # black begins, at the top
        ("hex(board_size=4)", "square", "b1", (1,)),  # row 1 is at the top
        ("lines_of_action", "move", "b8d6", (57, 43)),  # so it is here
    ],
)
def test_moves_name_squares_of_the_board(text, kind, move, squares):
    game = make_game(f"open_spiel:{text}")
    action = game.text_to_action(move)
    assert Notation(game).kind == kind and game.action_squares(action) == squares
    if kind == "square":
        assert game.cells(game.play_moves([action])).flat[squares[0]] == 1


@pytest.mark.parametrize(
    ("text", "drawn"),
    [("oware", "A  B  C"), ("chess", "rnbqkbnr\npppppppp\n........"), ("checkers", "abcdefgh")],
)
def test_a_board_that_would_not_show_all_is_drawn_by_openspiel(text, drawn):
    game = make_game(f"open_spiel:{text}")
    state = game.initial_states()[0]
    assert drawn in game.state_to_text(state)
    assert drawn in draw_board(game, skin_of(game), state, PLAIN).plain


def test_positions_outlive_their_game_and_each_other():
    # In this game OpenSpiel's copies point into the first state.
    text, rng = "morpion_solitaire(max_plies=34)", random.Random(0)
    game = make_game(f"open_spiel:{text}")
    position = game.position(game.initial_states()[0]).clone()
    del game
    open_spiel_game._start_of.cache_clear()
    gc.collect()
    state = pyspiel.load_game("morpion_solitaire").new_initial_state()
    for _ in range(8):
        assert position.legal_actions() == state.legal_actions()
        action = rng.choice(state.legal_actions())
        state.apply_action(action)
        position = position.clone()
        position.step(action)
