"""Texts that people paste: moves, boards, names of squares and games, evaluation sets, arguments.

Each is read or refused with a sentence of ours; what is read can be written and read again.
"""

import importlib

import numpy as np
import pytest
from hostile import PLAIN, TEXTS, corpus, fuzz, mostly
from hypothesis import strategies as st
from wrong_inputs import INSIDE

from alphazero.boards.notation import read_moves
from alphazero.boards.session import Session
from alphazero.boards.skin import setups_of, skin_of
from alphazero.cli import COMMANDS
from alphazero.cli.command import read_settings
from alphazero.config.settings import types_of
from alphazero.evaluation.exact.set_file import COLUMNS, read_set
from alphazero.games.square_names import named_action, named_square, named_squares
from alphazero.own_games.registry import make_game
from alphazero.play.screen import read_move
from alphazero.runtime.errors import InputError, StoredFileError
from alphazero.runtime.random_generators import kernel_rng

GAMES = [make_game(name) for name in ("tic_tac_toe", "othello:4", "connect_x:4x12x3")]
_WORDS = ["1", "4", "12", "0", "-1", "c1", "a2", "d4", "pass", "[", "]", "[0,1]", "a1a2", ",", ";"]
_WORDS += ["-", "  ", "９", "0" * 5_000 + "1", "\0", "\n", "\x1b[2J", "\u2028", "ß", "İ", "²"]
WORDS = st.sampled_from(_WORDS) | st.text(max_size=6)
MOVES = st.lists(WORDS, max_size=9).flatmap(
    lambda words: st.sampled_from([" ", "", ","]).map(lambda between: between.join(words))
)


def attempt(read, *arguments, errors=ValueError):
    """Return what a text is read as, None if it is refused with a sentence of ours."""
    try:
        return read(*arguments)
    except errors as error:
        message = ours = str(error)
        for text in filter(None, (text for text in arguments if isinstance(text, str))):
            ours = ours.replace(text, "")
            for word in text.replace(",", " ").split():  # each of which may be quoted
                ours = ours.replace(f"'{word}'", "")
        assert 5 < len(message) and not INSIDE.search(ours)
        assert "invalid literal" not in message and "Exceeds the limit" not in message
        return None


@pytest.mark.parametrize("text", corpus("moves"))
def test_kept_lists_of_moves_are_refused(text):
    for game in GAMES:
        assert attempt(read_moves, game, skin_of(game).notation, text.decode()) is None


def test_any_list_of_moves_is_played_or_refused():
    def kind_of(case):
        game, which, text = case
        setups = setups_of(game)
        notation = skin_of(game, setups[which % len(setups)]).notation
        moves = attempt(read_moves, game, notation, text)
        if moves is None:
            return "refused"
        again = read_moves(game, notation, notation.list_text(moves))
        assert np.array_equal(game.play_moves(again), game.play_moves(moves))
        return "played"

    cases = st.tuples(st.sampled_from(GAMES), st.integers(0, 1), MOVES)
    fuzz("texts, lists of moves", cases, kind_of, (60, 4_000), "played", "refused")


def test_any_move_that_is_typed_is_legal_or_refused():
    sessions = [Session(game) for game in GAMES]

    def kind_of(case):
        session, text = case
        action = attempt(read_move, session, skin_of(session.game), text)
        assert action is None or action in session.legal_actions
        attempt(session.game.text_to_action, text)
        named_square(text, 8), named_squares(text, 8, 8)
        attempt(named_action, text, [(0, 1), (1, 2), ()], 2, 2)
        return "refused" if action is None else "move"

    fuzz("texts, moves", st.tuples(st.sampled_from(sessions), WORDS), kind_of, (60, 4_000))


def test_any_board_is_a_position_that_can_be_played_or_is_refused():
    """Also boards that no game leads to: the rules must say so, or go on from there."""

    def kind_of(case):
        game, rows, player, text = case
        height, width = game.planes_shape[1:]
        letters = np.array(list(game.piece_letters))
        board = "\n".join("".join(letters[row[:width]]) for row in rows[:height])
        board = board if text is None else text
        state = attempt(game.text_to_state, board, player)
        if state is None:
            return "refused"
        assert game.state_to_text(state) == board.strip("\n").replace("\r", "")
        found = game.inspect(state[None])
        if not found.over[0]:
            assert found.legal_action_mask[0].any()
            assert abs(game.playout(state[None], kernel_rng(np.random.default_rng(0)))[0]) <= 1
        return "position"

    row = st.lists(mostly(st.just(0), st.integers(0, 2), 3), min_size=12, max_size=12)
    rows = st.lists(row, min_size=4, max_size=4)
    texts = st.none() | TEXTS | st.text("xoXOBW.-\n\r", max_size=30)
    cases = st.tuples(st.sampled_from(GAMES), rows, st.integers(0, 1), texts)
    fuzz("texts, boards", cases, kind_of, (60, 4_000), "position", "refused")


# --- files of text --------------------------------------------------------------------------------

_GOOD_LINE = "," + " ".join(f"{action}:{-(action % 3 == 1)}" for action in range(9)) + ",random"
_PAIRS = st.lists(st.tuples(st.integers(-1, 9), st.integers(-9, 9)), max_size=9)
_LINE = st.tuples(
    mostly(st.sampled_from(["", "4", "0 3 1", "4 0"]), st.text("0123456789 -,:", max_size=12)),
    _PAIRS.map(lambda pairs: " ".join(f"{action}:{score}" for action, score in pairs)),
    mostly(st.just("random"), TEXTS),
).map(",".join)
SETS = st.tuples(
    mostly(st.just("# game: tic_tac_toe"), TEXTS, 8),
    mostly(st.just(COLUMNS), TEXTS, 8),
    st.lists(mostly(st.just(_GOOD_LINE), _LINE | TEXTS), max_size=3).map("\n".join),
).map("\n".join)


def test_any_evaluation_set_is_read_or_refused_with_its_line(tmp_path):
    path = tmp_path / "set.csv"

    def kind_of(data):
        path.write_bytes(data)
        read = attempt(read_set, path, GAMES[0], errors=StoredFileError)
        return "refused" if read is None else "read"

    texts = SETS.map(lambda text: text.encode(errors="surrogatepass")) | st.binary(max_size=30)
    fuzz("texts, evaluation sets", texts, kind_of, (60, 3_000), "read", "refused")


# --- arguments of commands ------------------------------------------------------------------------

VALUES = (
    "null true 1e999 nan -1 [ [1,2] {a:[} ' \"x 0x &a *a @ ` = << %x [2001-99-99] {[1]:2}".split()
)
VALUES += ["", "{a: 1}", "[&a [*a]]", "!!python/object/apply:os.system [x]", "{a: !!int x}", "- 1"]
VALUES += ["\0", "\x1b[2J", "\udcff", "\t", "{a: &x [1], b: *x}", "[" * 2_000, "{a: " * 1_000]
VALUES += ["[" * 400 + "]" * 400, "9" * 5_000]
MODULES = {name: importlib.import_module(f"alphazero.cli.{name}") for name in COMMANDS}
MODULES = {name: module for name, module in MODULES.items() if hasattr(module, "Settings")}


@pytest.mark.parametrize("command", MODULES)
def test_any_arguments_are_settings_or_are_refused(command):
    def kind_of(arguments):
        read = attempt(read_settings, MODULES[command], arguments, errors=InputError)
        return "refused" if read is None else "read"

    keys = st.sampled_from(sorted(types_of(MODULES[command].Settings)))
    values = mostly(st.sampled_from(VALUES), TEXTS | PLAIN.map(str), 3)
    words = st.tuples(mostly(keys, TEXTS, 8), values).map("=".join)
    arguments = st.lists(mostly(words, TEXTS, 8), max_size=3)
    fuzz(f"arguments of {command}", arguments, kind_of, (20, 3_000), "refused")
