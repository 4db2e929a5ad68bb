"""Exact evaluation sets: those that ship, the format of their files, and sampling of new ones."""

import dataclasses

import numpy as np
import pytest
from game_samples import random_games
from make_evaluation_set import write_set
from set_sampling import (
    MAX_IMMEDIATE_FRACTION,
    can_be_misplayed,
    sample_set,
    wins_at_once,
)

from alphazero.evaluation.exact.set_file import read_set, shipped_path
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import StoredFileError
from alphazero.solvers.base import ILLEGAL_SCORE
from alphazero.solvers.enumeration import EnumeratedSolver, ExactValues
from alphazero.solvers.registry import make_solver

#: The sets that ship: the number of positions, and the ply from which our solvers are fast.
SHIPPED = {
    "connect_four": (1000, 24),
    "connect_x:5x5x4": (500, 8),
    "othello:6": (300, 20),
    "othello": (300, 48),
}


@pytest.fixture(scope="module")
def small():
    game = make_game("connect_x:4x3x3")
    solver = EnumeratedSolver(game)
    return game, solver, sample_set(game, solver, 60, seed=5)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_set_that_ships_has_the_laws_and_the_exact_scores(name):
    game = make_game(name)
    shipped = read_set(shipped_path(name), game)
    num_positions, quick_ply = SHIPPED[name]
    assert len(shipped) == num_positions
    check_laws(game, shipped, num_positions)
    assert "seed" in shipped.notes and "made by" in shipped.notes
    late = np.flatnonzero(shipped.plies >= quick_ply)
    assert len(late) > 100
    assert np.array_equal(
        make_solver(game).scores(shipped.states[late]), shipped.action_scores[late]
    )


def check_laws(game, found, num_positions):
    assert not game.over(found.states).any()
    assert np.array_equal(
        found.action_scores != ILLEGAL_SCORE, game.legal_action_mask(found.states)
    )
    assert can_be_misplayed(found.action_scores).all()
    assert len(all_images(game, found.states)) == num_positions
    assert (
        (found.sources == "random").sum() == (found.sources == "strong").sum() == num_positions // 2
    )
    num_immediate = sum(wins_at_once(game, state) for state in found.states)
    assert num_immediate <= MAX_IMMEDIATE_FRACTION * num_positions + 2
    for state, moves in zip(found.states[::20], found.moves[::20]):
        assert np.array_equal(state, game.play_moves(moves))


def all_images(game, states):
    """Return one key for each group of boards that are symmetric images of each other."""
    groups = set()
    for state in states:
        cells, player = game.cells(state), game.players(state[None])[0]
        images = [cells.ravel()[table].tobytes() for table in game.cell_symmetries]
        groups.add((player, min(images)))
    return groups


def test_a_sampled_set_has_the_laws_and_the_exact_scores(small):
    game, solver, sampled = small
    check_laws(game, sampled, 60)
    assert np.array_equal(sampled.action_scores, solver.scores(sampled.states))
    exact = ExactValues(game)
    assert np.array_equal(sampled.values, exact.values(sampled.states))
    assert np.array_equal(sampled.reply_values, exact.values(sampled.replies))
    assert len(sampled.replies) > 30


def test_a_file_is_read_as_it_was_written(small, tmp_path):
    game, _, sampled = small
    written = dataclasses.replace(sampled, notes={"seed": "5"})
    write_set(tmp_path / "a.csv", written)
    read = read_set(tmp_path / "a.csv", game)
    assert read.notes == {"game": game.name, "seed": "5"}
    assert read.moves == written.moves
    for field in dataclasses.fields(read):
        if field.name not in ("notes", "moves"):
            assert np.array_equal(getattr(read, field.name), getattr(written, field.name))
    write_set(tmp_path / "b.csv", dataclasses.replace(read, notes={"seed": "5"}))
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_no_set_ships_for_other_games_or_for_a_game_file_of_the_same_name():
    assert shipped_path("connect_x:4x3x3") is None
    assert shipped_path("connect_four.py") is None
    assert shipped_path("/etc/connect_four") is None


HEAD = "# game: connect_x:4x3x3\nmoves,scores,source\n"
GOOD = "0 1 2 0 2 1 1 1,0:0 2:2,random\n"  # column 2 wins at once
#: Files that are not evaluation sets of the game, and the line that the error names.
WRONG = {
    "moves,scores,source\n" + GOOD: None,
    "# game: othello\nmoves,scores,source\n" + GOOD: None,
    "# game: connect_x:4x3x3\n" + GOOD + "0,0:0 1:1 2:1,random\n": None,  # no head
    HEAD: None,
    HEAD + "0 1 2,0:0\n": 3,  # no source
    HEAD + GOOD + "0,0:0 3:1,random\n": 4,  # a score for an action that does not exist
    HEAD + "0,0:0 1:1 2:-1000,random\n": 3,  # the score of an illegal action
    HEAD + "0 0 0 0 0,1:0 2:1,random\n": 3,  # an illegal move
    HEAD + "0 1 0 1 0,1:0 2:1,random\n": 3,  # a finished game
    HEAD + "0,0:0 1:1,random\n": 3,  # no score for a legal action
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_file_is_an_error_that_names_its_line(small, tmp_path, text):
    path = tmp_path / "set.csv"
    with pytest.raises(StoredFileError):
        read_set(path, small[0])
    path.write_text(HEAD + GOOD)
    assert read_set(path, small[0]).values.tolist() == [1]
    path.write_text(text)
    with pytest.raises(StoredFileError) as error:
        read_set(path, small[0])
    assert error.value.path == path
    assert WRONG[text] is None or f"line {WRONG[text]} " in str(error.value)


@pytest.mark.parametrize("name", ["connect_x:4x3x3", "connect_four", "othello:4", "tic_tac_toe"])
def test_wins_at_once_agree_with_a_search_move_by_move(name):
    game = make_game(name)
    plies, _ = random_games(game, 40, seed=4)
    states = np.concatenate([ply.states for ply in plies])
    found = [wins_at_once(game, state) for state in states]
    for state, wins in zip(states, found):
        player, following = children(game, state)
        assert wins == any(is_win(game, after, player) for after in following)
    assert len(set(found)) == 2


def children(game, state):
    """Return the player to move, and the positions after each legal action."""
    inspected = game.inspect(state[None])
    actions = np.flatnonzero(inspected.legal_action_mask[0])
    return inspected.players[0], [game.step(state[None], [action]).states[0] for action in actions]


def is_win(game, state, player):
    inspected = game.inspect(state[None])
    return inspected.over[0] and inspected.results[0] == (
        1 if inspected.players[0] == player else -1
    )
