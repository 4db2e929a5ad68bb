"""Whole games at the terminal, typed through a pipe: commands, wrong input, passes, results."""

import io
import re

import numpy as np
import pytest

from alphazero.boards.skin import skin_of
from alphazero.cli import play
from alphazero.cli.command import read_settings
from alphazero.cli.play import _adviser, _sides
from alphazero.games.batched_game import Game
from alphazero.games.square_names import square_name
from alphazero.own_games.registry import make_game
from alphazero.play.screen import line_reader
from alphazero.play.terminal import COMMANDS, HumanPlayer, TerminalGame
from alphazero.players.base import Analysis, PlayerSettings
from alphazero.players.uct import UctPlayer
from alphazero.runtime.console import Console

# White has no move after the first four: it passes at ply 4, and black passes at ply 11.
TWO_PASSES = [2, 1, 8, 3, 16, 11, 7, 14, 15, 13, 4, 16, 12]
ONE_SQUARE = TWO_PASSES[:6]  # then White has one move


class ScriptedPlayer:
    """Plays a list of moves and claims to have searched."""

    name = "scripted"
    batch_size = 1

    def __init__(self, game, actions, value=0.25):
        self.game, self.actions, self.value = game, list(actions), value

    def analyse(self, state, progress=None) -> Analysis:
        action = self.actions.pop(0)
        weights = np.zeros(self.game.num_actions, np.float32)
        legal = np.flatnonzero(self.game.legal_action_mask(state[None])[0])
        weights[action] += 0.5
        weights[legal[0]] += 0.125
        weights[legal[-1]] += 0.375
        other = int(legal[-1])
        values = np.full(self.game.num_actions, np.nan, np.float32)
        values[action] = self.value
        return Analysis(
            action,
            weights,
            self.value,
            (weights * 400).astype(np.int32),
            values,
            [action, other],
            400,
        )


def _console(**options) -> Console:
    return Console(file=io.StringIO(), width=100, highlight=False, **options)


def _play(
    game: Game | str, typed: str, second=None, first=None, **options
) -> tuple[str, TerminalGame, int | None]:
    """Play, with people by default; return what was printed, the game and the winner."""
    game, console = make_game(game) if isinstance(game, str) else game, _console()
    players = tuple(HumanPlayer() if player is None else player(game) for player in (first, second))
    terminal = TerminalGame(
        game, players, console, line_reader(console, io.StringIO(typed)), **options
    )
    winner = terminal.run()
    return console.file.getvalue(), terminal, winner


def _result(text: str) -> str:
    """Return the line before the question what comes next."""
    lines = text.splitlines()
    (asked,) = (index for index, line in enumerate(lines) if "rematch" in line)
    return lines[asked - 1]


def _squares(actions: list[int], size: int = 4) -> str:
    """Return what a person types for these squares; passes are not typed."""
    return "".join(f"{square_name(action, size)}\n" for action in actions if action < size * size)


def _scripted(*actions):
    return lambda game: ScriptedPlayer(game, actions)


# --- whole games ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "typed", "winner", "result"),
    [
        ("tic_tac_toe", [1, 4, 2, 5, 3], 0, ["X (human)", "wins", "5"]),
        ("tic_tac_toe", [1, 4, 2, 5, 9, 6], 1, ["O (human)", "wins", "6"]),
        ("tic_tac_toe", [1, 2, 3, 5, 4, 6, 8, 7, 9], None, ["draw"]),
        ("connect_x:4x3x3", [1, 2, 3, 1, 3, 2, 2, 2, 3], 0, ["X Yellow (human)", "wins", "9"]),
        ("othello:4", _squares(TWO_PASSES).split(), 0, ["W White", "wins", "White 12, Black 3"]),
        (
            "othello:4",
            _squares([8, 14, 11, 12, 13, 4, 2, 7, 3, 15, 1, 0]).split(),
            None,
            ["draw", "White 8, Black 8"],
        ),
    ],
)
def test_people_play_to_the_end(name, typed, winner, result):
    text, terminal, won = _play(name, "".join(f"{move}\n" for move in typed))
    assert won == winner
    assert terminal.session.over
    assert all(part in _result(text) for part in result)


def test_passes_are_announced_and_made_without_asking():
    text, terminal, _ = _play("othello:4", _squares(TWO_PASSES))
    passes = [line for line in text.splitlines() if "passes" in line]
    assert [line.split(" (human)")[0] for line in passes] == ["W White", "B Black"]
    assert terminal.session.actions == TWO_PASSES


def test_engines_print_every_move_the_final_board_and_the_winner():
    text, _, winner = _play("connect_x:4x3x3", "", _scripted(1, 0, 1, 1), _scripted(0, 2, 2, 1, 2))
    assert [
        line.split("plays ")[1].split()[0] for line in text.splitlines() if "plays" in line
    ] == list("123132223")
    assert text.count("+---") + text.count("╭───") == 1
    assert winner == 0


def test_a_game_starts_from_a_list_of_moves():
    _, _, winner = _play("connect_x:4x3x3", "3\n", moves=[0, 1, 2, 0, 2, 1, 1, 1])
    assert winner == 0
    with pytest.raises(ValueError, match="move 3"):
        _play("connect_x:1x3x3", "", moves=[0, 1, 1])


# --- numbers on the board -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setup", "number", "name"),
    [
        ("white_first", 0, "e3"),
        ("white_first", 3, "d6"),
        ("standard", 0, "d3"),
        ("standard", 2, "f5"),
    ],
)
def test_a_legal_square_of_othello_is_chosen_by_its_number_or_its_name(setup, number, name):
    skin = skin_of(make_game("othello"), setup)
    for typed in (number, name):
        text, terminal, _ = _play("othello", f"{typed}\nm\n", skin=skin)
        row = next(line for line in text.splitlines() if line.startswith(f"{name[1]} │"))
        assert row.split("│")[1 + "abcdefgh".index(name[0])].strip() == str(number)
        assert [skin.notation.text(action) for action in terminal.session.actions] == [name]
        assert f"moves={name}" in text


def test_the_question_names_the_range_of_the_numbers():
    for moves, ranges in (([], ["0-3", "0-2"]), (ONE_SQUARE, ["0", "0-2"])):
        text, terminal, _ = _play("othello:4", "0\n", moves=moves)
        assert re.findall(r"move. Type ([\d-]+),", text) == ranges
        assert len(terminal.session.actions) == len(moves) + 1


# --- wrong input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "moves", "typed", "said"),
    [
        ("tic_tac_toe", [4], "5", ["5", "1, 2, 3, 4, 6, 7, 8, 9"]),
        ("tic_tac_toe", [], "   ", ["''", "1 to 9"]),
        ("connect_x:2x3x3", [0, 1, 1], "2", ["2", "1, 3"]),
        ("connect_four", [], "8", ["8", "1 to 7"]),
        ("connect_four", [], "-1", ["'-1'", "1 to 7"]),
        ("connect_four", [], "3 3", ["'3 3'", "1 to 7"]),
        ("connect_four", [], "[bold]", ["'[bold]'", "1 to 7"]),
        ("othello", [], "20", ["20", "0-3"]),  # the action of e3
        ("othello", [], "9" * 80, ["9" * 80, "0-3"]),
        ("othello", [], "³", ["'³'", "h8"]),
        ("othello", [], "pass", ["pass", "e3, f4, c5, d6"]),
        ("othello", [], "e6", ["e6", "e3, f4, c5, d6"]),
        ("othello:4", [], "e1", ["'e1'", "d4"]),
        ("othello:4", ONE_SQUARE, "1", ["1", "type 0,"]),
    ],
)
def test_wrong_input_gets_one_line_and_another_try(name, moves, typed, said):
    text, terminal, _ = _play(name, typed + "\n", moves=moves)
    lines = text.splitlines()
    asked = [index for index, line in enumerate(lines) if "to move. Type" in line]
    assert lines[asked[0]].rstrip().endswith(f": {typed}".rstrip())  # from a pipe, shown as it is
    (answer,) = lines[asked[0] + 1 : asked[1]]
    assert all(part in answer for part in said)
    assert terminal.session.actions == moves


# --- commands -------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["undo", "u", "UNDO", " u "])
def test_take_back_returns_to_ones_own_previous_turn(word):
    _, terminal, _ = _play("tic_tac_toe", f"1\n{word}\n9\n", _scripted(4, 3))
    assert terminal.session.actions == [8, 3]


@pytest.mark.parametrize("word", ["hint", "h"])
def test_hint_asks_the_adviser_once_it_is_wanted(word):
    made = []
    game = make_game("tic_tac_toe")

    def adviser():
        made.append(ScriptedPlayer(game, [8, 7]))
        return made[-1]

    text, terminal, _ = _play("tic_tac_toe", f"1\n{word}\n{word}\n", adviser=adviser)
    assert "Hint: 9, value for you +0.25 (62%), expected line 9 9." in text
    assert "Hint: 8" in text
    assert len(made) == 1
    assert terminal.session.actions == [0]  # a hint is not a move


@pytest.mark.parametrize("word", ["moves", "m"])
def test_moves_are_printed_as_the_setting_that_starts_from_them(word):
    text, terminal, _ = _play("tic_tac_toe", f"{word}\n1\n5\n{word}\n")
    assert [line for line in text.splitlines() if line.startswith("moves=")] == [
        "moves=",
        "moves=1,5",
        "moves=1,5",
    ]
    assert terminal.session.actions == [0, 4]


def test_help_lists_every_command():
    text, _, _ = _play("tic_tac_toe", "?\nhelp\n")
    for name, (short, _) in COMMANDS.items():
        assert text.count(f"  {name} or {short} ") == 2


# --- ends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["", "q\n", "quit\n", "exit\n"])
def test_leaving_says_how_to_go_on(typed):
    text, _, winner = _play("connect_four", f"4\n{typed}", _scripted(3))
    assert winner is None
    assert text.splitlines()[-1] == "moves=4,4"


def test_ctrl_c_ends_politely_at_the_prompt_and_during_a_search():
    def interrupt(*_):
        raise KeyboardInterrupt

    game = make_game("connect_four")
    console = _console()
    TerminalGame(game, (HumanPlayer(), HumanPlayer()), console, interrupt).run()
    assert "moves=" not in console.file.getvalue()
    player = ScriptedPlayer(game, [3])
    player.analyse = interrupt
    text, _, _ = _play("connect_four", "4\n", lambda _: player)
    assert text.splitlines()[-1] == "moves=4"


# --- the screen -----------------------------------------------------------------------------------


def test_a_search_shows_its_simulations_after_a_second_and_leaves_nothing(monkeypatch):
    game = make_game("connect_four")
    for delay_s, force_terminal in ((60.0, True), (0.0, True), (0.0, False)):
        monkeypatch.setattr("alphazero.play.terminal.DELAY_S", delay_s)
        console = _console(force_terminal=force_terminal)
        player = UctPlayer(game, PlayerSettings(num_simulations=3000))
        read_line = line_reader(console, io.StringIO())
        TerminalGame(game, (player, HumanPlayer()), console, read_line).run()
        shown = console.file.getvalue()
        assert bool(re.search(r"\d simulations.*%", shown)) == (delay_s == 0.0 and force_terminal)
        assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h")  # the cursor is back


# --- the command ----------------------------------------------------------------------------------


def _command(words, typed="") -> str:
    console = _console()
    settings = read_settings(play, list(words))
    play.run(settings, console, line_reader(console, io.StringIO(typed)))
    return console.file.getvalue()


def test_the_command_plays_a_person_against_the_network_that_ships_with_the_game():
    text = _command(["game=connect_four", "num_simulations=50", "device=cpu"], "3\n")
    assert "2. O Red (best) plays" in text and "50 simulations" in text


def test_an_unfinished_game_goes_on_from_what_is_printed_at_its_end():
    words = ["game=othello:6", "first=human", "second=random", "seed=1"]
    printed = _command([*words, "setup=standard"], "c2\n").splitlines()[-1].split()
    assert printed[0] == "setup=standard" and printed[1].startswith("moves=c2")
    assert _command([*words, *printed]).splitlines()[-1].split() == printed


@pytest.mark.parametrize(
    ("words", "sides"),
    [
        (["game=tic_tac_toe"], ("you", "best")),
        (["game=tic_tac_toe", "second=human"], ("best", "you")),
        (["game=tic_tac_toe", "first=uct:20"], ("uct:20", "you")),
        (["game=tic_tac_toe", "second=random"], ("you", "random")),
        (["game=tic_tac_toe", "first=human", "second=human"], ("human", "human")),
        (["game=connect_x:4x4x3", "first=human"], ("you", "uct:1000")),
    ],
)
def test_a_person_takes_a_side_and_the_network_that_ships_or_uct_the_other(words, sides):
    text = _command([*words, "device=cpu"])
    assert re.search(r"\((.+?)\) +against .*?\((.+?)\)", text).groups() == sides


def test_engines_draw_the_last_board_alone():
    words = ["game=tic_tac_toe", "first=random", "second=random"]
    assert _command(words).count("╭") == 1
    assert (
        _command(["game=tic_tac_toe", "second=random"]).count("╭") == 1
    )  # a person sees the start, and leaves


@pytest.mark.parametrize(
    ("name", "words", "adviser"),
    [
        ("tic_tac_toe", ["second=random"], "best"),
        ("tic_tac_toe", ["second=human", "first=human"], "best"),
        ("connect_x:4x4x3", ["second=random"], "uct:1000"),
        ("tic_tac_toe", ["second=uct:7"], "uct:7"),  # the opponent, where it can think
        ("tic_tac_toe", ["second=uct:7", "hint=uct:8"], "uct:8"),
    ],
)
def test_hints_come_from_the_opponent_or_the_network_that_ships(name, words, adviser):
    game, settings = (
        make_game(name),
        read_settings(play, [*words, "seed=1", "device=cpu"]),
    )
    assert _adviser(settings, game, _sides(settings, game))().name == adviser
