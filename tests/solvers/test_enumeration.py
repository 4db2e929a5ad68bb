"""Enumerated games: how many positions they have, and the result of perfect play."""

import numpy as np
import pytest
from game_samples import EXAMPLE
from naive import replayed

from alphazero.games.batched_game import CompiledGame
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import InputError
from alphazero.solvers.base import UnsolvableError
from alphazero.solvers.enumeration import NO_CHILD, ExactValues, enumerate_positions


@pytest.fixture(scope="module")
def tic_tac_toe():
    return ExactValues(make_game("tic_tac_toe"))


def count_games(positions) -> int:
    """Return the number of different games (sequences of moves) from the start position."""
    games = np.where(positions.over, 1, 0).astype(object)
    for row in np.argsort(positions.plies_left, kind="stable"):
        children = positions.children[row]
        if not positions.over[row]:
            games[row] = sum(games[children[children != NO_CHILD]])
    return int(games[0])


def test_tic_tac_toe_has_5478_positions_of_which_4520_are_not_final_and_255168_games(tic_tac_toe):
    positions = tic_tac_toe.positions
    assert len(positions) == 5478
    assert int((~positions.over).sum()) == 4520
    assert count_games(positions) == 255_168
    assert positions.values[0] == 0


def test_positions_are_distinct_and_follow_each_other_by_the_rules(tic_tac_toe):
    game, positions = tic_tac_toe.game, tic_tac_toe.positions
    assert len({state.tobytes() for state in positions.states}) == len(positions)
    rows, actions = np.nonzero(game.legal_action_mask(positions.states))
    assert (positions.children[rows, actions] >= 0).all()
    assert (positions.children >= 0).sum() == len(rows)
    following = game.step(positions.states[rows], actions).states
    assert (positions.states[positions.children[rows, actions]] == following).all()
    assert (
        positions.plies_left[positions.children[rows, actions]] < positions.plies_left[rows]
    ).all()


@pytest.mark.parametrize("name", ["connect_x:3x3x3", "connect_x:2x4x2", "othello:4"])
def test_values_agree_with_a_recursive_search_of_the_naive_twin(name):
    game = make_game(name)
    exact = ExactValues(game)
    rng = np.random.default_rng(0)
    for _ in range(12):
        moves = []
        while not (twin := replayed(name, moves)).over():
            moves.append(int(rng.choice(twin.legal())))
        line = moves[: -min(len(moves), int(rng.integers(1, 6)))]
        state = game.play_moves(line)
        assert exact.values(state[None])[0] == searched(name, line)
        assert exact.best_actions(state) == best_by_search(name, line)


def searched(name, line):
    """Return the result of perfect play after ``line`` for the player to move, by recursion."""
    twin = replayed(name, line)
    if twin.over():
        return twin.result()
    return max(-searched(name, [*line, action]) for action in twin.legal())


def best_by_search(name, line):
    values = {action: -searched(name, [*line, action]) for action in replayed(name, line).legal()}
    return [action for action, value in values.items() if value == max(values.values())]


@pytest.mark.parametrize(
    ("name", "num_games", "value"),
    # The side that moves second wins Othello on 4x4. Two in a row on 2x2 cannot be stopped. Three
    # and four in a row with gravity, on square boards, are drawn.
    [
        ("othello:4", 60_060, -1),
        ("connect_x:2x2x2", 2 * (1 + 2), 1),
        ("connect_x:3x3x3", None, 0),
        ("connect_x:4x4x4", None, 0),
    ],
)
def test_small_boards_have_their_known_results(name, num_games, value):
    positions = enumerate_positions(make_game(name))
    assert positions.values[0] == value
    assert num_games in (None, count_games(positions))
    assert name != "connect_x:4x4x4" or len(positions) == 161_029


@pytest.mark.parametrize(("side", "value"), [(2, -1), (3, 1)])
def test_snort_is_won_by_the_first_player_on_odd_boards(side, value):
    snort = type(make_game(EXAMPLE).rules)
    assert enumerate_positions(CompiledGame("snort", snort(side))).values[0] == value


def test_values_are_from_the_viewpoint_of_the_player_to_move(tic_tac_toe):
    game = tic_tac_toe.game
    x_to_move = game.text_to_state("XX.\nOO.\n...", 0)
    assert tic_tac_toe.values(x_to_move[None])[0] == 1
    assert tic_tac_toe.best_actions(x_to_move) == [2]
    # After any other move O wins, or X's next line is stopped.
    values = tic_tac_toe.action_values(x_to_move[None])[0]
    assert values.tolist() == [-2, -2, 1, -2, -2, 0, -1, -1, -1]
    o_to_move = game.text_to_state("XX.\nOO.\nX..", 1)
    assert tic_tac_toe.best_actions(o_to_move) == [5]
    assert tic_tac_toe.best_actions(game.text_to_state("XXX\nOO.\n...", 1)) == []


def test_an_unknown_position_and_a_game_too_large_are_refused(tic_tac_toe):
    with pytest.raises(InputError, match="tic_tac_toe"):
        tic_tac_toe.values(np.array([[511, 511]], np.uint64))
    with pytest.raises(UnsolvableError, match="connect_x:4x4x4 .*10,000"):
        enumerate_positions(make_game("connect_x:4x4x4"), max_positions=10_000)


def test_a_game_whose_positions_repeat_is_refused():
    class Circle(CompiledGame):
        """Tic-tac-toe whose third move leads back to the start."""

        def step(self, states, actions):
            following = super().step(states, actions)
            third = [np.count_nonzero(self.cells(state)) == 3 for state in following.states]
            return self.inspect(
                np.where(np.array(third)[:, None], self.initial_states(), following.states)
            )

    with pytest.raises(InputError):
        enumerate_positions(Circle("circle", make_game("tic_tac_toe").rules))
