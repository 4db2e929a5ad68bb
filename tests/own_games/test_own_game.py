"""Games that a user brings: objects, `module:Class`, and the form of the published notebook."""

import sys
import threading
from abc import ABC, abstractmethod
from copy import deepcopy

import numpy as np
import pytest
from notebook_connect_four import ConnectFour
from notebook_tic_tac_toe import BoardState, TicTacToe
from test_python_game import Nim

from alphazero.inference.evaluator import UniformEvaluator
from alphazero.own_games.python_game import PythonGame
from alphazero.own_games.registry import make_game, make_stored_game, runs_own_code
from alphazero.players.base import PlayerSettings
from alphazero.players.python_uct import uct_player
from alphazero.replay.buffer import ReplayBuffer
from alphazero.replay.settings import ReplaySettings
from alphazero.runtime.errors import ConfigError
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.lockstep import SelfPlay
from alphazero.selfplay.settings import SelfPlaySettings


class NotebookTicTacToe:
    """Tic-tac-toe in the form of the published notebook; a state is (board, player)."""

    action_size = 9
    lines = np.array(
        [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]]
    )

    def start_state(self):
        return (0,) * 9

    def get_transitions(self, state):
        """Pieces are 1 for the player to move and -1 for the opponent."""
        board = np.array(state)
        if (board[self.lines].sum(axis=1) == -3).any():
            return {}, -1
        if board.all():
            return {}, 0
        following = {}
        for action in np.flatnonzero(board == 0).tolist():
            board[action] = 1
            following[action] = tuple((-board).tolist())
            board[action] = 0
        return following, None

    def canonicalize(self, state):
        return state

    def get_symmetries(self, board, probs):
        square, weights = np.reshape(board, (3, 3)), np.reshape(probs, (3, 3))
        return [
            (np.rot90(square, turns).ravel(), np.rot90(weights, turns).ravel())
            for turns in range(4)
        ]


class Abstract(ABC):
    """A base class as the notebook has one."""

    @property
    @abstractmethod
    def action_size(self):
        """Return the number of actions."""

    @abstractmethod
    def get_transitions(self, state):
        """Return what follows."""


class Spelled(TicTacToe, Abstract):
    """Every state is a deep copy; all its parts are what numpy makes of them; nobody is asked."""

    def action_size(self):
        return 9

    def get_player(self):
        raise RuntimeError("there is no need to ask")

    def canonicalize(self, state):
        canonical = deepcopy(state)
        canonical.board *= canonical.player  # empty squares become -0.0
        canonical.player = 1
        return canonical

    def get_symmetries(self, state, probs):
        found = {}
        for turns in range(4):
            for turn in (np.asarray, np.fliplr):
                board, mask, weights = (
                    np.rot90(turn(np.reshape(part, (3, 3))), turns)
                    for part in (state.board, state.action_mask, probs)
                )
                image = BoardState(state.player, mask.ravel().tolist(), board)
                found.setdefault(image, weights.ravel())
        return list(found.items())


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module `pile` in the current folder, with a class and a function that makes a game."""
    text = "from test_python_game import Nim\n\n"
    text += "class Pile(Nim):\n    def __init__(self, heap=3, player=0):\n"
    text += "        super().__init__(heap, player)\n\n"
    text += "def large():\n    return Pile(4)\n\nnumber = 3\n"
    (tmp_path / "pile.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield "pile"
    sys.modules.pop("pile", None)


def test_a_class_and_a_function_of_a_module_are_games(module):
    for name, heap in (("pile:Pile", 3), ("pile:large", 4)):
        game = make_game(name)
        assert game.name == name
        assert game.position(game.initial_states()[0]).heap == heap


@pytest.mark.parametrize("name", ("pile:Nothing", "no_such_module:Pile", "pile:number"))
def test_modules_without_a_game_are_refused(module, name):
    with pytest.raises(ConfigError) as error:
        make_game(name)
    assert error.value.key == "game"


def test_a_stored_name_imports_a_module_only_if_the_user_names_it(module):
    assert runs_own_code("pile:Pile") and not runs_own_code("connect_x:4x4x3")
    with pytest.raises(ConfigError) as error:
        make_stored_game("pile:Pile", "the network 'x'")
    assert "pile" not in sys.modules and error.value.allowed == "pile:Pile"
    assert make_stored_game("pile:Pile", "the network 'x'", "pile:Pile").name == "pile:Pile"


def test_an_object_is_a_game_and_its_name_means_it_from_then_on():
    game = make_game(Nim(4))
    assert game.name == "test_python_game:Nim" and game.max_plies == 4
    assert make_game(game) is game
    stored = make_stored_game(game.name, "the run 'x'")
    assert stored.position(stored.initial_states()[0]).heap == 4


def test_results_are_scaled_from_the_range_that_the_game_states():
    class Coins(Nim):
        result_range = (0, 10)

        def result(self):
            return 2.5

    game = make_game(Coins(1))
    end = game.step(game.initial_states(), np.array([0]))
    assert end.over[0] and end.results[0] == -0.5 and end.results.dtype == np.float32
    assert game.own_result(-0.5) == 2.5
    Coins.result_range = (0, 2)
    with pytest.raises(ConfigError) as error:
        make_game(Coins(1)).step(game.initial_states(), np.array([0]))
    assert error.value.value == "result"


@pytest.mark.parametrize(
    "source, name, num_symmetries",
    [(TicTacToe, "tic_tac_toe", 8), (Spelled, "tic_tac_toe", 8), (ConnectFour, "connect_four", 2)],
)
def test_states_that_are_objects_are_the_compiled_game(source, name, num_symmetries):
    """Twenty random games of both: the same moves, boards, planes, results and symmetries."""
    game, compiled, rng = make_game(source()), make_game(name), np.random.default_rng(0)
    assert game.num_actions == compiled.num_actions and game.max_plies >= compiled.max_plies
    for tables in ("cell_symmetries", "action_symmetries"):
        own, expected = getattr(game, tables), getattr(compiled, tables)
        assert own.shape[0] == num_symmetries and (own[0] == expected[0]).all()
        assert {tuple(row) for row in own} == {tuple(row) for row in expected}
    states, twins = game.initial_states(20), compiled.initial_states(20)
    while len(states):
        mask = game.legal_action_mask(states)
        assert (mask == compiled.legal_action_mask(twins)).all()
        assert (game.observe(states) == compiled.observe(twins)).all()
        assert (game.cells(states[0]) == compiled.cells(twins[0])).all()
        actions = np.where(mask, rng.random(mask.shape), -1).argmax(axis=1)
        after, expected = game.step(states, actions), compiled.step(twins, actions)
        assert (after.over == expected.over).all() and (after.players == expected.players).all()
        assert (after.results[after.over] == expected.results[after.over]).all()
        states, twins = after.states[~after.over], expected.states[~after.over]


def test_the_published_facts_of_states_that_are_objects():
    game, state = TicTacToe(), TicTacToe().start_state()
    assert (game.action_size, state.player, state.action_mask) == (9, 1, [1] * 9)
    assert game.canonicalize(state) == state and hash(game.canonicalize(state)) == hash(state)
    corner, outcome = game.get_transitions(state)[0][0], game.get_transitions(state)[1]
    assert outcome is None and corner.player == -1 and corner.action_mask == [0] + [1] * 8
    assert np.array_equal(game.canonicalize(corner).board, -corner.board)
    assert game.canonicalize(corner).player == 1 and game.canonicalize(corner) != corner
    probs = [0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.72]
    images = game.get_symmetries(corner, probs)
    assert images[0] == (corner, probs) and len(images) == 4
    # Turned to the left: what was at square 2 is now at square 0, and 0 at 6.
    assert images[1][1] == [0.02, 0.05, 0.72, 0.01, 0.04, 0.07, 0.0, 0.03, 0.06]
    assert images[1][0].board[2, 0] == 1 and images[1][0].action_mask == [1] * 6 + [0, 1, 1]
    edge = game.get_transitions(corner)[0][1]
    assert len(game.get_symmetries(edge, probs)) == 8
    won = state
    for action in (0, 4, 1, 6, 2):
        won = game.get_transitions(won)[0][action]
    assert game.get_transitions(won) == ({}, -1) and game.run_simulation(won) == -1
    for action in (0, 1, 2, 4, 3, 5, 7, 6):  # one square is left
        state = game.get_transitions(state)[0][action]
    assert list(game.get_transitions(state)[0]) == [8]
    assert game.get_transitions(game.get_transitions(state)[0][8]) == ({}, 0)
    four = ConnectFour().start_state()
    assert len(ConnectFour().get_symmetries(four, [0.0] * 7)) == 1  # its own mirror image
    for action in [0] * 6:
        four = ConnectFour().get_transitions(four)[0][action]
    assert four.action_mask == [0] + [1] * 6 and four.board[0, 0] == -1
    assert len(ConnectFour().get_symmetries(four, [0.0] * 7)) == 2


@pytest.mark.slow
def test_a_file_may_hold_the_abstract_base_of_its_game(tmp_path):
    text = "from test_own_game import *\nclass Base(Abstract): pass\n"
    (tmp_path / "one.py").write_text(f"{text}class Game(Spelled, Base): pass\n")
    assert make_game(str(tmp_path / "one.py")).num_actions == 9


def test_uct_plays_on_the_objects_and_finds_the_winning_move():
    game = make_game(Nim(4))
    player = uct_player(game, PlayerSettings(num_simulations=200))
    analysis = player.analyse(game.initial_states()[0])
    assert analysis.action == 0 and analysis.num_simulations == 200  # 3 are left, which is lost
    assert analysis.visits[0] > analysis.visits[1] and analysis.principal_variation[0] == 0
    choice = player.choose(game.initial_states(2))
    assert choice.actions.tolist() == [0, 0]
    assert np.allclose(choice.action_weights.sum(axis=1), 1)


def test_objects_that_left_the_table_are_replayed(monkeypatch):
    """A table of three objects gives the same rows as one that keeps all."""
    from alphazero.own_games import python_game

    def rows(game):
        rng, states, found = np.random.default_rng(0), game.initial_states(20), []
        while len(states):
            mask = game.legal_action_mask(states)
            actions = np.where(mask, rng.random(mask.shape), -1).argmax(axis=1)
            transition = game.step(states, actions)
            found.append(transition.states)
            states = transition.states[~transition.over]
        return np.concatenate(found)

    kept = rows(make_game(NotebookTicTacToe()))
    monkeypatch.setattr(python_game, "_OBJECTS_BYTES", 3_000)
    game = make_game(NotebookTicTacToe())
    assert np.array_equal(rows(game), kept) and len(game._objects) <= 3


class Heavy(Nim):
    """Each position has a megabyte of its own, and shares ten with the others."""

    max_plies = 65_535

    def __init__(self, heap, player=0):
        super().__init__(heap, player)
        self.own, self.shared = [np.zeros(1 << 17)], np.zeros(10 << 17)

    def clone(self):
        twin = object.__new__(Heavy)
        twin.__dict__.update(self.__dict__, own=[self.own[0].copy()])
        return twin


def test_the_table_of_objects_is_bounded_in_bytes(monkeypatch):
    from alphazero.own_games import python_game

    monkeypatch.setattr(python_game, "_OBJECTS_BYTES", 8 << 20)
    game, rng = PythonGame(Heavy(40)), np.random.default_rng(0)
    states = game.initial_states(5)
    for _ in range(18):
        states = game.step(states, rng.integers(0, 2, 5)).states
        assert len(game._objects) <= 8
    assert len(game._objects) >= 4  # what positions share is not counted


def test_records_and_replay_hold_positions_without_the_moves_before_them():
    """A game that may last 65,535 plies takes the memory of the plies that it lasts."""
    game = PythonGame(Heavy(9))
    settings = SelfPlaySettings(num_parallel_games=2, num_simulations=4)
    evaluator = UniformEvaluator(game.num_actions)
    selfplay = SelfPlay(game, evaluator, settings, SearchSettings(), np.random.default_rng(0))
    record = next(selfplay.play(1))
    assert record.states.nbytes < 100 * len(record.actions)
    replay = ReplayBuffer(game, ReplaySettings(), np.random.default_rng(0))
    replay.add(record)
    batch = replay.evenly_spaced(100, 100)
    state = game.initial_states()
    for action, planes, legal in zip(
        record.actions, batch.planes[::-1], batch.legal_action_mask[::-1], strict=True
    ):
        assert np.array_equal(game.observe(state)[0], planes)
        assert np.array_equal(game.legal_action_mask(state)[0], legal)
        state = game.step(state, action[None]).states
    assert game.over(state)[0]


class TwoFaced(Nim):
    def legal_actions(self):
        return [5]


@pytest.mark.parametrize(
    "source, value",
    [
        (TwoFaced(4), "legal_actions"),
        (object(), "step"),
        (type("Endless", (Nim,), {"max_plies": 1})(4), "max_plies"),
        (type("Flat", (Nim,), {"observe": lambda self: np.zeros(3)})(4), "observe"),
        (type("Uncounted", (Nim,), {"num_actions": "two"})(4), "num_actions"),
    ],
)
def test_objects_that_are_no_game_are_refused_with_what_is_wrong(source, value):
    with pytest.raises(ConfigError) as error:
        make_game(source)
    assert error.value.key == "game" and value in str(error.value)


class Row(Nim):
    """Three squares in a row are filled in turn; the one who fills the last wins."""

    num_actions, max_plies = 3, 3
    num_symmetric = 1

    def __init__(self, squares=(0, 0, 0), player=0):
        self.squares, self.player = list(squares), player

    def clone(self):
        return type(self)(self.squares, self.player)

    def step(self, action):
        self.squares[action] = 1 + self.player
        self.player = 1 - self.player

    def is_over(self):
        return all(self.squares)

    def legal_actions(self):
        return np.flatnonzero(np.array(self.squares) == 0)

    def observe(self):
        return np.array([[self.squares]], np.float32)

    def cells(self):
        return np.array([self.squares], np.int8)


def written(name, **changed):
    """Return an object of a class that differs from `Row` in some methods."""
    return type(name, (Row,), changed)()


def step_to_a_new_object(self, action):
    following = self.clone()
    Row.step(following, action)
    return following


MISTAKES = {
    "players 1 and 2": ({"player_to_move": lambda self: 1 + self.player}, "player 0"),
    "a step to a new object": ({"step": step_to_a_new_object}, "step"),
    "a mirrored board alone": (
        {"symmetries": lambda self: (np.array([[0, 1, 2], [2, 1, 0]]), np.array([[0, 1, 2]] * 2))},
        "symmetry 1",
    ),
    "a mask": ({"legal_actions": lambda self: [square == 0 for square in self.squares]}, "True"),
    "a mask of 0 and 1": ({"legal_actions": lambda self: [1, 1, 1]}, "twice"),
    "minus one": ({"legal_actions": lambda self: [-1]}, "-1"),
    "no action": ({"legal_actions": lambda self: []}, "legal_actions"),
    "nothing": ({"legal_actions": lambda self: None}, "legal_actions"),
    "no result": ({"result": lambda self: None}, "result"),
    "an error": ({"cells": lambda self: self.board}, "board"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_rules_of_an_object_are_checked(name):
    changed, named = MISTAKES[name]
    with pytest.raises(ConfigError) as error:
        make_game(written(name, **changed))
    message = str(error.value)
    assert error.value.key == "game" and named in message and "\n" not in message


@pytest.mark.parametrize("kind", [list, tuple, np.array, set, iter, dict.fromkeys])
def test_legal_actions_are_any_whole_numbers_that_can_be_listed(kind):
    squares = {"legal_actions": lambda self: kind(list(Row.legal_actions(self)))}
    game = make_game(written(f"Row of {kind}", **squares))
    states = game.initial_states()
    assert game.inspect(states).legal_action_mask.tolist() == [[True] * 3]
    assert abs(game.playout(states, np.array([7], np.uint64))[0]) == 1
    analysis = uct_player(game, PlayerSettings(num_simulations=20)).analyse(states[0])
    assert analysis.visits.sum() == 20


#: What a method returns, and what of it the message must show.
RETURNED = [
    ("key", "text", "'text'"),
    ("key", [1], "[1]"),
    ("legal_actions", np.array([[0], [1]]), "array([[0], [1]])"),
    ("legal_actions", ["0"], "['0']"),
    ("player_to_move", np.array([0]), "array([0])"),
    ("is_over", np.array([False, True]), "array([False, True])"),
    ("result", "-1", "'-1'"),
    ("cells", np.zeros(3), "array([0., 0., 0.])"),
    ("observe", {}, "{}"),
    ("clone", None, "None"),
]


@pytest.mark.parametrize("method, value, shown", RETURNED)
def test_what_a_method_must_not_return_is_named_with_class_and_method(method, value, shown):
    with pytest.raises(ConfigError) as error:
        make_game(written("Odd", **{method: lambda self: value}))
    message = str(error.value)
    assert f"Odd.{method} " in message and shown in message and "\n" not in message


def test_an_object_that_cannot_be_copied_needs_a_clone():
    members = {**vars(Nim), **vars(Row)}
    del members["clone"]
    source = type("Locked", (), members)()
    source.lock = threading.Lock()
    with pytest.raises(ConfigError, match=r"Locked\.clone .*lock"):
        make_game(source)
