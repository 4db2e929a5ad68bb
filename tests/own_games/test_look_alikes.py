"""Positions that look the same, to the rules or to the network, have the same future."""

import numpy as np
import pytest

from alphazero.games.batched_game import CompiledGame
from alphazero.own_games import merged_positions
from alphazero.own_games.checks.laws import Laws
from alphazero.own_games.checks.report import CheckOptions, examine
from alphazero.own_games.merged_positions import contents
from alphazero.own_games.python_game import PythonGame
from alphazero.runtime.errors import InputError
from alphazero.solvers.enumeration import enumerate_positions


class Race:
    """Race to 9 by 1 or 2. Who takes the third 2 in a row, counting both sides, loses."""

    num_actions, max_plies, length = 2, 9, 9
    binary_planes = True

    def __init__(self):
        self.total, self.player, self.run = 0, 0, 0

    def player_to_move(self):
        return self.player

    def legal_actions(self):
        return list(range(min(2, self.length - self.total)))

    def step(self, action):
        self.total += action + 1
        self.run = self.run + 1 if action else 0
        self.player = 1 - self.player

    def is_over(self):
        return self.run == 3 or self.total == self.length

    def result(self):
        return 1 if self.run == 3 else -1

    def cells(self):
        return (np.arange(self.length) < self.total)[None].astype(np.int8)


class Walk(Race):
    """A walk on a ring of three squares that is drawn when a square is reached the third time."""

    length, max_plies = 3, 9

    def __init__(self):
        super().__init__()
        self.visits = [1, 0, 0]

    def legal_actions(self):
        return [0, 1]

    def step(self, action):
        self.total = (self.total + action + 1) % 3
        self.visits[self.total] += 1
        self.player = 1 - self.player

    def is_over(self):
        return max(self.visits) == 3

    def result(self):
        return self.total - 1

    def cells(self):
        return np.eye(3, dtype=np.int8)[[self.total]]


class Fill:
    """A large board is filled; who fills it loses if the last two squares are neighbours."""

    side = 7
    num_actions = max_plies = 49

    def __init__(self):
        self.board, self.player, self.last, self.is_lost = [0] * self.side**2, 0, -9, False

    def player_to_move(self):
        return self.player

    def legal_actions(self):
        return [square for square, piece in enumerate(self.board) if not piece]

    def step(self, action):
        self.is_lost = self.last == action - 1
        self.board[action], self.player, self.last = 1 + self.player, 1 - self.player, action

    def is_over(self):
        return self.is_lost or all(self.board)

    def result(self):
        return 1 if self.is_lost else 0

    def cells(self):
        return np.array(self.board).reshape(self.side, self.side)


class TicTacToe(Fill):
    side = 3
    num_actions = max_plies = 9
    LINES = (7, 56, 448, 73, 146, 292, 273, 84)

    def step(self, action):
        self.board[action], self.player = 1 + self.player, 1 - self.player

    def has_line(self, player):
        stones = sum(1 << square for square in range(9) if self.board[square] == 1 + player)
        return any(stones & line == line for line in self.LINES)

    def is_over(self):
        return self.has_line(0) or self.has_line(1) or all(self.board)

    def result(self):
        return -1 if self.has_line(1 - self.player) else 0


class Blind(TicTacToe):
    def observe(self):
        return np.zeros((2, 3, 3))


class BlindWithKey(Blind):
    def key(self):
        return bytes(self.board)


class Late(TicTacToe):
    """`observe` shows the position before."""

    def __init__(self):
        super().__init__()
        self.shown = self.board[:]

    def step(self, action):
        self.shown = self.board[:]
        super().step(action)

    def observe(self):
        return np.array(self.shown).reshape(1, 3, 3) * (1 - 2 * self.player)


class RaceWithKey(Race):
    def key(self):
        return bytes([self.run])


class RaceThatRemembers(Race):
    """The run of twos is in the moves so far, and nowhere else."""

    def __init__(self):
        self.total, self.player, self.moves = 0, 0, []

    def step(self, action):
        self.total, self.player = self.total + action + 1, 1 - self.player
        self.moves.append(action)

    @property
    def run(self):
        return 3 * (self.moves[-3:] == [1, 1, 1])


class TicTacToeThatRemembers(TicTacToe):
    """The moves so far change nothing."""

    def __init__(self):
        super().__init__()
        self.moves = []

    def step(self, action):
        super().step(action)
        self.moves.append(action)


def report_on(position, num_positions=600):
    game = position if isinstance(position, CompiledGame) else PythonGame(position)
    return examine(Laws(game), None, CheckOptions(num_positions=num_positions, seconds=60.0))


MERGED = (Race, RaceThatRemembers, Walk)


@pytest.mark.parametrize("rules", (*MERGED, Blind, Fill))
def test_the_check_finds_merged_positions_with_different_futures(rules):
    report = report_on(rules(), 1500)
    assert report.fault is None and not report.is_whole
    assert any("'key'" in note for note in report.notes)


@pytest.mark.parametrize("rules", (*MERGED, Blind))
def test_a_game_that_merges_different_positions_is_not_solved(rules):
    with pytest.raises(InputError, match="'key'"):
        enumerate_positions(PythonGame(rules()))


def test_the_two_histories_lead_to_one_position_with_two_futures():
    text = next(note for note in report_on(Race()).notes if "'key'" in note)
    game = PythonGame(Race())
    first, second = ([int(move) for move in part.split(",")] for part in lists_in(text))
    states = np.stack([game.play_moves(first), game.play_moves(second)])
    assert (game.identity(states)[0] == game.identity(states)[1]).all()
    after = game.identity(game.step(states, np.array([1, 1])).states)
    assert (after[0] != after[1]).any()


def lists_in(text):
    return [part.split("]")[0] for part in text.split("[")[1:]]


def test_a_key_makes_the_game_solvable():
    """31 positions were solved wrongly without it."""
    positions = enumerate_positions(PythonGame(RaceWithKey()))
    assert positions.are_all_compared and not any(
        "'key'" in note for note in report_on(RaceWithKey()).notes
    )
    for state, value in zip(positions.states, positions.values):
        moves = PythonGame(RaceWithKey()).moves_of(state)
        assert value == searched(moves)


def searched(moves):
    position = Race()
    for move in moves:
        position.step(move)
    if position.is_over():
        return position.result()
    return max(-searched([*moves, move]) for move in position.legal_actions())


@pytest.mark.slow
@pytest.mark.parametrize(
    "rules, are_all_compared",
    [(TicTacToe, True), (TicTacToeThatRemembers, False)],
)
def test_a_correct_game_is_solved_whatever_its_objects_remember(rules, are_all_compared):
    positions = enumerate_positions(PythonGame(rules()))
    assert len(positions) == 5478 and positions.values[0] == 0
    assert positions.are_all_compared == are_all_compared


def test_of_too_many_histories_a_sample_is_compared(monkeypatch):
    monkeypatch.setattr(merged_positions, "_MAX_VARIANTS", 5)

    class Remembers(RaceThatRemembers):
        run = 0

    positions = enumerate_positions(PythonGame(Remembers()))
    assert not positions.are_all_compared and positions.values[0] == -1
    monkeypatch.undo()
    assert enumerate_positions(PythonGame(Remembers())).are_all_compared


class FirstMoveCounts(TicTacToe):
    """Who takes the last square moves again, but only if the game began in the first one."""

    def __init__(self):
        super().__init__()
        self.first = None

    def step(self, action):
        self.first = action if self.first is None else self.first
        super().step(action)
        if (self.first, action) == (0, 8):
            self.player = 1 - self.player


def test_the_shortest_histories_are_compared_first(monkeypatch):
    monkeypatch.setattr(merged_positions, "_MAX_VARIANTS", 300)
    with pytest.raises(InputError, match="'key'"):
        enumerate_positions(PythonGame(FirstMoveCounts()))


def test_contents_tell_objects_apart_by_what_they_hold():
    class Slots:
        __slots__ = ("square",)

        def __init__(self, square):
            self.square = square

    def holder(value):
        position = Race()
        position.part = value
        return contents(position)

    def counter():
        yield 1

    for one, same, other in (
        ({1: 2, 3: 4}, {3: 4, 1: 2}, {1: 2, 3: 5}),
        ({1, 9}, {9, 1}, {1, 8}),
        ([np.zeros(3), (2,)], [np.zeros(3), (2,)], [np.array([0, 0, 1.0]), (2,)]),
        (Slots(3), Slots(3), Slots(4)),
        (bytearray(b"ab"), bytearray(b"ab"), bytearray(b"ac")),
        (np.int8(1), 1, 2),
        (holder, holder, contents),
    ):
        assert holder(one) == holder(same) != holder(other)
        assert hash(holder(one)) == hash(holder(same))
    assert holder(counter()) != holder(counter())  # it cannot be looked into


@pytest.mark.parametrize("position", [BlindWithKey(), Late()], ids=["blind", "late"])
def test_positions_that_the_network_cannot_tell_apart_are_noted(position):
    report = report_on(position)
    assert report.fault is None and any("'observe'" in note for note in report.notes)


# --- games that teach nothing ---------------------------------------------------------------------


def changed(**methods):
    return type("Changed", (TicTacToe,), methods)()


@pytest.mark.parametrize(
    "methods, named",
    [
        ({}, None),
        ({"num_players": 1, "player_to_move": lambda self: 0, "result": lambda self: 0}, None),
        ({"result": lambda self: self.has_line(0) - self.has_line(1)}, "first player never wins"),
        ({"result": lambda self: self.has_line(1) - self.has_line(0)}, "second player never wins"),
        ({"result": lambda self: 0}, "games were drawn"),
        ({"player_to_move": lambda self: 0}, "'player_to_move'"),
        ({"result": lambda self: int(self.has_line(1 - self.player))}, "moved last never wins"),
    ],
)
def test_what_is_unusual_about_the_games_is_noted(methods, named):
    report = report_on(changed(**methods), 1000)
    assert report.fault is None
    assert [named in note for note in report.notes] == [True] * (named is not None)
