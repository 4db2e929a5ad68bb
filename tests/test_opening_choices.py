"""What players choose in the first positions: groups of equivalent moves, and their weights."""

import numpy as np
import pytest

from alphazero.evaluation.opening_choices import equivalent_moves, line_of, opening_choices
from alphazero.games.registry import make_game
from alphazero.players.base import Choice


class Fixed:
    """A player whose weights are the given ones on legal actions, normalised."""

    def __init__(self, game, weights):
        self.game, self.weights, self.num_asked = game, np.asarray(weights, float), 0

    def choose(self, states):
        self.num_asked += 1
        weights = np.where(self.game.legal_action_mask(states), self.weights, 0.0)
        weights /= weights.sum(axis=1, keepdims=True)
        return Choice(weights.argmax(axis=1), weights.astype(np.float32), np.zeros(len(states)))


@pytest.mark.parametrize(
    ("name", "moves", "groups"),
    (
        ("tic_tac_toe", [], [[0, 2, 6, 8], [1, 3, 5, 7], [4]]),
        ("tic_tac_toe", [0], [[1, 3], [2, 6], [4], [5, 7], [8]]),
        ("tic_tac_toe", [0, 1], [[action] for action in range(2, 9)]),
        ("connect_four", [], [[0, 6], [1, 5], [2, 4], [3]]),
        ("connect_four", [3, 3], [[0, 6], [1, 5], [2, 4], [3]]),
        ("connect_four", [3, 2], [[action] for action in range(7)]),
        ("othello:4", [], [[2, 7, 8, 13]]),
    ),
)
def test_moves_that_a_symmetry_of_the_position_exchanges_are_one_group(name, moves, groups):
    game = make_game(name)
    assert equivalent_moves(game, game.play_moves(moves)) == groups


def test_the_line_passes_through_positions_without_a_choice():
    game = make_game("othello:4")
    lines = line_of(game, Fixed(game, np.arange(17.0, 0, -1)), 3)
    assert [len(moves) for moves in lines] == [1, 2, 3]
    assert lines[0] == [2] and lines[2][:2] == lines[1]


def test_the_line_ends_with_the_game():
    game = make_game("tic_tac_toe")
    lines = line_of(game, Fixed(game, np.arange(9.0, 0, -1)), 20)
    assert lines[-1] == [0, 1, 2, 3, 4, 5] and lines[0] == []  # move 7 wins


def test_every_player_is_asked_once_and_equivalent_moves_are_counted_together():
    game = make_game("tic_tac_toe")
    players = [Fixed(game, np.ones(9)), Fixed(game, [6, 0, 1, 0, 2, 0, 1, 0, 0])]
    first, second = opening_choices(game, [[], [4]], iter(players))
    assert first.moves == [] and first.groups == [[0, 2, 6, 8], [1, 3, 5, 7], [4]]
    assert first.weights == pytest.approx(np.array([[4 / 9, 4 / 9, 1 / 9], [0.8, 0, 0.2]]))
    assert second.groups == [[0, 2, 6, 8], [1, 3, 5, 7]]
    assert second.weights == pytest.approx(np.array([[0.5, 0.5], [1, 0]]))
    assert [player.num_asked for player in players] == [1, 1]
