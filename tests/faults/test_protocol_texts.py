"""Texts that people paste: moves, boards, names of squares and games, evaluation sets, arguments.

Each is read or refused with a sentence of ours; what is read can be written and read again.
"""

import importlib

import numpy as np
import pytest
from hostile import PLAIN, TEXTS, Tally, corpus, mostly, try_all
from hypothesis import strategies as st
from wrong_inputs import INSIDE

from alphazero.boards.move_text import read_move
from alphazero.boards.notation import read_moves
from alphazero.boards.session import Session
from alphazero.boards.skin import setups_of, skin_of
from alphazero.cli import COMMANDS
from alphazero.cli.command import read_settings
from alphazero.config.settings import types_of
from alphazero.evaluation.exact.set_file import COLUMNS, read_set
from alphazero.games.square_names import named_action, named_square, named_squares
from alphazero.own_games.registry import make_game, make_stored_game
from alphazero.own_games.rules_digest import is_rules_text
from alphazero.runtime.errors import ConfigError, InputError, StoredFileError
from alphazero.runtime.random_generators import kernel_rng

GAMES = ["tic_tac_toe", "othello:4", "connect_x:4x12x3"]
_WORDS = st.sampled_from(
    [
        "1",
        "4",
        "12",
        "0",
        "-1",
        "c1",
        "a2",
        "d4",
        "pass",
        "[",
        "]",
        "[0,1]",
        "a1a2",
        ",",
        ";",
        "-",
        "  ",
    ]
    + ["９", "9" * 5_000, "0" * 5_000 + "1", "\0", "\n", "\x1b[2J", "\u2028", "ß", "İ", "²"]
)
MOVES = st.lists(_WORDS | st.text(max_size=4), max_size=9).flatmap(
    lambda words: st.sampled_from([" ", "", ","]).map(lambda between: between.join(words))
)


def refusal_of(read, *arguments, errors=ValueError):
    """Return what a text is read as, and the sentence of its refusal; one of them is None."""
    try:
        return read(*arguments), None
    except errors as error:
        message = str(error)
        ours = message
        for text in filter(None, (text for text in arguments if isinstance(text, str))):
            ours = ours.replace(text, "")
            for word in text.replace(",", " ").split():  # each of which may be quoted
                ours = ours.replace(f"'{word}'", "")
        assert 5 < len(message) and not INSIDE.search(ours)
        assert "invalid literal" not in message and "Exceeds the limit" not in message
        return None, message


@pytest.mark.parametrize("text", [pytest.param(data, id=name) for name, data in corpus("moves")])
def test_kept_lists_of_moves_are_refused(text):
    for name in GAMES:
        game = make_game(name)
        _, message = refusal_of(read_moves, game, skin_of(game).notation, text.decode())
        assert message


def test_any_list_of_moves_is_played_or_refused(amount):
    tally = Tally()

    def check(name, which, text):
        game = make_game(name)
        setups = setups_of(game)
        notation = skin_of(game, setups[which % len(setups)]).notation
        moves, _ = refusal_of(read_moves, game, notation, text)
        tally["refused" if moves is None else "played"] += 1
        if moves is not None:
            game.play_moves(moves)
            again = read_moves(game, notation, notation.list_text(moves))
            assert np.array_equal(game.play_moves(again), game.play_moves(moves))

    triples = st.tuples(st.sampled_from(GAMES), st.integers(0, 1), MOVES)
    try_all(triples, lambda triple: check(*triple), amount(60, 4_000))
    assert tally["played"] and tally["refused"]
    tally.show("texts, lists of moves")


def test_any_move_that_is_typed_is_legal_or_refused(amount):
    tally = Tally()
    sessions = [Session(make_game(name)) for name in GAMES]

    def check(which, text):
        session = sessions[which]
        action, message = refusal_of(read_move, session, skin_of(session.game), text)
        assert message or action in session.legal_actions
        refusal_of(session.game.text_to_action, text)
        named_square(text, 8), named_squares(text, 8, 8)
        refusal_of(named_action, text, [(0, 1), (1, 2), ()], 2, 2)
        tally["refused" if message else "move"] += 1

    pairs = st.tuples(st.integers(0, len(GAMES) - 1), _WORDS | st.text(max_size=6))
    try_all(pairs, lambda pair: check(*pair), amount(60, 4_000))
    tally.show("texts, moves")


def test_any_board_is_a_position_that_can_be_played_or_is_refused(amount):
    """Also boards that no game leads to: the rules must say so, or go on from there."""
    tally, games = Tally(), [make_game(name) for name in GAMES]

    def check(which, rows, player, is_damaged, text):
        game = games[which]
        height, width = game.planes_shape[1:]
        letters = np.array(list(game.piece_letters))
        lines = ["".join(letters[row[:width]]) for row in rows[:height]]
        board = text if is_damaged else "\n".join(lines)
        state, _ = refusal_of(game.text_to_state, board, player)
        tally["refused" if state is None else "position"] += 1
        if state is not None:
            assert game.state_to_text(state) == board.strip("\n").replace("\r", "")
            found = game.inspect(state[None])
            assert found.over[0] or found.legal_action_mask[0].any()
            if not found.over[0]:
                assert abs(game.playout(state[None], kernel_rng(np.random.default_rng(0)))[0]) <= 1

    rows = st.lists(
        st.lists(mostly(st.just(0), st.integers(0, 2), 3), min_size=12, max_size=12),
        min_size=4,
        max_size=4,
    )
    texts = TEXTS | st.text("xoXOBW.-\n\r", max_size=30)
    cases = st.tuples(st.integers(0, 2), rows, st.integers(0, 1), st.booleans(), texts)
    try_all(cases, lambda case: check(*case), amount(60, 4_000))
    assert tally["position"] and tally["refused"]
    tally.show("texts, boards")


# --- files of text --------------------------------------------------------------------------------

_GOOD_LINE = "," + " ".join(f"{action}:{-(action % 3 == 1)}" for action in range(9)) + ",random"
_LINE = st.tuples(
    mostly(st.sampled_from(["", "4", "0 3 1", "4 0"]), st.text("0123456789 -,:", max_size=12)),
    st.lists(st.tuples(st.integers(-1, 9), st.integers(-9, 9)), max_size=9).map(
        lambda pairs: " ".join(f"{action}:{score}" for action, score in pairs)
    ),
    mostly(st.just("random"), TEXTS),
).map(",".join)
SETS = st.tuples(
    mostly(st.just("# game: tic_tac_toe"), TEXTS, 8),
    mostly(st.just(COLUMNS), TEXTS, 8),
    st.lists(mostly(st.just(_GOOD_LINE), _LINE | TEXTS), max_size=3),
).map(lambda parts: "\n".join([parts[0], parts[1], *parts[2]]))


def test_any_evaluation_set_is_read_or_refused_with_its_line(amount, tmp_path):
    path, game, tally = tmp_path / "set.csv", make_game("tic_tac_toe"), Tally()

    def check(data):
        path.write_bytes(data)
        _, message = refusal_of(read_set, path, game, errors=StoredFileError)
        assert message is None or "set.csv" in message
        tally["refused" if message else "read"] += 1

    texts = SETS.map(lambda text: text.encode(errors="surrogatepass")) | st.binary(max_size=30)
    try_all(texts, check, amount(60, 3_000))
    assert tally["read"] and tally["refused"]
    tally.show("texts, evaluation sets")


def test_any_text_of_rules_is_compared_or_refused(amount):
    tally = Tally()
    parts = ["SIZES = {}", "SIZES = ", "class A:\n    pass", "x = 1", "(" * 300, "-" * 3_000 + "1"]
    parts += [
        "SIZES = {'planes_shape': (1, 2, 3), 'num_actions': 9}",
        "\0",
        "\ud800",
        "f'{'",
        "x=" * 500,
    ]
    texts = st.lists(st.sampled_from(parts) | TEXTS, max_size=4).map("\n".join)

    def check(text):
        tally[str(is_rules_text(text))] += 1

    try_all(texts, check, amount(60, 3_000))
    assert tally["True"]
    tally.show("texts, rules")


def test_any_stored_name_of_a_game_is_made_or_refused(amount):
    tally = Tally()
    heads = ["tic_tac_toe", "connect_x:", "othello:", "os:system", "x.py", "/dev/zero.py", "pgx:"]
    heads += [
        "open_spiel:",
        "pettingzoo:",
        "alphazero.cli:main",
        "__main__:x",
        ":",
        "builtins:exec",
    ]
    tails = [
        "",
        "4",
        "4x4x3",
        "99999x9x9",
        "4x4",
        "\0",
        "(",
        "(a=1)",
        "%s",
        "９",
        "x" * 5_000,
        "../x",
    ]
    names = st.tuples(st.sampled_from(heads) | TEXTS, st.sampled_from(tails)).map("".join)

    def check(name):
        _, message = refusal_of(make_stored_game, name, "the file", errors=ConfigError)
        tally["refused" if message else "made"] += 1

    try_all(names, check, amount(40, 800))
    tally.show("texts, stored games")


# --- arguments of commands ------------------------------------------------------------------------

VALUES = (
    [
        "",
        "null",
        "true",
        "1e999",
        "nan",
        "-1",
        "[",
        "[1,2]",
        "[&a [*a]]",
        "{a: 1}",
        "{a: [}",
        "'",
        '"x',
    ]
    + ["!!python/object/apply:os.system [x]", "2001-99-99", "[2001-99-99]", "{a: 2001-99-99}", "0x"]
    + ["{a: !!int x}", "[" * 2_000, "{a: " * 1_000, "[" * 400 + "]" * 400, "9" * 5_000, "&a", "*a"]
    + [
        "\0",
        "\x1b[2J",
        "\udcff",
        "{[1]: 2}",
        "{a: &x [1], b: *x}",
        "- 1",
        "%x",
        "@",
        "`",
        "\t",
        "=",
        "<<",
    ]
)


COMMANDS_HERE = {name: importlib.import_module(f"alphazero.cli.{name}") for name in COMMANDS}
COMMANDS_HERE = {name: one for name, one in COMMANDS_HERE.items() if hasattr(one, "Settings")}


@pytest.mark.parametrize("command", COMMANDS_HERE)
def test_every_value_of_every_key_is_a_setting_or_is_refused(command, amount):
    """In the small part, of one key of each type, for a few commands."""
    if command not in amount(("plot", "serve"), COMMANDS_HERE):
        pytest.skip("only among everything")
    module, tally = COMMANDS_HERE[command], Tally()
    kinds = types_of(module.Settings)
    for key in amount({kind: key for key, kind in kinds.items()}.values(), kinds):
        for value in VALUES:
            words = [f"{key}={value}"]
            message = refusal_of(read_settings, module, words, errors=InputError)[1]
            tally["refused" if message else "read"] += 1
    tally.show(f"values of {command}")


@pytest.mark.parametrize("command", COMMANDS_HERE)
def test_any_arguments_are_settings_or_are_refused(command, amount):
    module, tally = COMMANDS_HERE[command], Tally()
    keys = st.sampled_from(sorted(types_of(module.Settings)))
    values = mostly(st.sampled_from(VALUES), TEXTS | PLAIN.map(str), 3)
    words = st.tuples(mostly(keys, TEXTS, 8), values).map("=".join)

    def check(arguments):
        message = refusal_of(read_settings, module, arguments, errors=InputError)[1]
        tally["refused" if message else "read"] += 1

    try_all(st.lists(mostly(words, TEXTS, 8), max_size=3), check, amount(20, 1_500))
    tally.show(f"arguments of {command}")
