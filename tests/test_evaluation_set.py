"""Exact evaluation sets: the ones that ship hold what they promise, files are read as they were written, and new sets keep the same laws."""

import dataclasses

import numpy as np
import pytest
from game_samples import random_games

from alphazero.evaluation.exact.kinds import FORCED, IMMEDIATE, QUIET, kinds_of
from alphazero.evaluation.exact.sampling import MAX_IMMEDIATE_FRACTION, sample_set
from alphazero.evaluation.exact.sets import (
    can_be_misplayed,
    canonical_keys,
    read_set,
    shipped_path,
    write_set,
)
from alphazero.games.registry import make_game
from alphazero.runtime.errors import ConfigError
from alphazero.solvers.base import ILLEGAL_SCORE
from alphazero.solvers.enumeration import EnumeratedSolver, ExactValues
from alphazero.solvers.registry import make_solver

#: The sets that ship: how many positions, and from which ply on a solver of ours takes no time.
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
def test_a_set_that_ships_holds_what_it_promises(name):
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
    assert (found.kinds == IMMEDIATE).sum() <= MAX_IMMEDIATE_FRACTION * num_positions + 2
    for state, moves in zip(found.states[::20], found.moves[::20]):
        assert np.array_equal(state, game.play_moves(moves))


def all_images(game, states):
    """Return one text for each group of boards that are images of each other, from boards as people see them."""
    groups = set()
    for state in states:
        cells, player = game.cells(state), game.players(state[None])[0]
        images = [cells.ravel()[table].tobytes() for table in game.cell_symmetries]
        groups.add((player, min(images)))
    return groups


def test_a_mirrored_position_has_the_same_key_and_another_one_has_not():
    game = make_game("connect_four")
    states = np.stack(
        [game.play_moves(moves) for moves in ([0, 1, 2], [6, 5, 4], [0, 1, 3], [2, 1, 0])]
    )
    keys = canonical_keys(game, states)
    assert keys[0] == keys[1] == keys[3] != keys[2]


def test_a_sampled_set_keeps_the_laws_and_has_the_exact_scores(small):
    game, solver, sampled = small
    check_laws(game, sampled, 60)
    assert np.array_equal(sampled.action_scores, solver.scores(sampled.states))
    exact = ExactValues(game)
    assert np.array_equal(sampled.values, exact.values(sampled.states))
    assert np.array_equal(sampled.reply_values, exact.values(sampled.replies))
    assert len(sampled.replies) > 30


def test_the_same_seed_draws_the_same_set_and_another_seed_another(small):
    game, solver, sampled = small
    assert sample_set(game, solver, 60, seed=5).moves == sampled.moves
    assert sample_set(game, solver, 60, seed=6).moves != sampled.moves


def test_only_positions_with_so_many_empty_squares_are_sampled(small):
    game, solver, _ = small
    sampled = sample_set(game, solver, 20, seed=5, max_empties=6)
    empties = [(game.cells(state) == 0).sum() for state in sampled.states]
    assert max(empties) == 6


def test_more_positions_than_the_game_has_are_refused(small):
    game, solver, _ = small
    with pytest.raises(ConfigError) as error:
        sample_set(game, solver, 100_000, seed=5)
    assert (error.value.key, error.value.value) == ("num_positions", 100_000)


def test_a_file_is_read_as_it_was_written(small, tmp_path):
    game, _, sampled = small
    written = dataclasses.replace(sampled, notes={"seed": "5"})
    write_set(tmp_path / "a.csv", written)
    read = read_set(tmp_path / "a.csv", game)
    assert read.notes == {"game": game.name, "seed": "5"}
    for field in dataclasses.fields(read):
        if field.name != "notes":
            assert (
                np.array_equal(getattr(read, field.name), getattr(written, field.name))
                if field.name != "moves"
                else read.moves == written.moves
            )
    write_set(tmp_path / "b.csv", dataclasses.replace(read, notes={"seed": "5"}))
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_no_set_ships_for_other_games_or_for_a_file_of_the_same_name():
    assert shipped_path("connect_x:4x3x3") is None
    assert shipped_path("connect_four.py") is None
    assert shipped_path("/etc/connect_four") is None


HEAD = "# game: connect_x:4x3x3\nmoves,scores,source\n"
GOOD = "0 1 2 0 2 1 1 1,0:0 2:2,random\n"  # column 2 wins at once
#: What is wrong with a file, and what is said about it.
WRONG = {
    "moves,scores,source\n" + GOOD: "is no evaluation set",
    "# game: othello\nmoves,scores,source\n" + GOOD: "is of othello, not of connect_x:4x3x3",
    "# game: connect_x:4x3x3\n" + GOOD: "should begin with the line moves,scores,source",
    HEAD: "should begin with the line moves,scores,source and hold one position or more",
    HEAD + "0 1 2,0:0\n": "line 3 of .* is not of the form",
    HEAD + "0 x,0:0,random\n": "line 3 of .* is not of the form",
    HEAD + GOOD + "0,0:0 3:1,random\n": "line 4 of .* is not of the form",
    HEAD + "0,0:0 1:1 2:-1000,random\n": "line 3 of .* is not of the form",
    HEAD + "0 0 0 0 0,1:0 2:1,random\n": "line 3 of .*: move 5, 0, is not legal there",
    HEAD + "0 7,1:0 2:1,random\n": "line 3 of .*: move 2, 7, is not legal there",
    HEAD + "0 1 0 1 0,1:0 2:1,random\n": "line 3 of .*: the game is over there",
    HEAD
    + "0,0:0 1:1,random\n": "line 3 of .*: the scores are not those of the legal actions, .0, 1, 2.",
    HEAD + "0,0:2 1:1 2:1,random\n": "line 3 of .*: every move keeps the best possible result",
    HEAD
    + "0,0:0 1:1 2:1,somebody\n": "line 3 of .*: the source 'somebody' is not one of random, strong",
    HEAD
    + "0,0:0 1:1 2:1,random\n2,0:0 1:1 2:1,random\n": "line 4 of .*: the position is that of line 3 of .*, or an image of it",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_file_gets_one_sentence(small, tmp_path, text):
    (tmp_path / "set.csv").write_text(text)
    with pytest.raises(ValueError, match=WRONG[text]) as error:
        read_set(tmp_path / "set.csv", small[0])
    assert "\n" not in str(error.value) and str(error.value).endswith(".")


def test_the_right_file_is_read(small, tmp_path):
    (tmp_path / "set.csv").write_text(HEAD + GOOD)
    assert read_set(tmp_path / "set.csv", small[0]).values.tolist() == [1]


def test_a_file_that_is_not_there_gets_one_sentence(small, tmp_path):
    with pytest.raises(
        ValueError, match="there is no file .*none.csv'; 'alphazero make_evaluation_set out="
    ):
        read_set(tmp_path / "none.csv", small[0])


#: Positions of Connect Four, and what they ask for: three in a row of one's own, of the other, of both, of nobody.
KINDS = {
    (0, 6, 0, 6, 0, 5): IMMEDIATE,
    (0, 6, 0, 5, 0): FORCED,
    (0, 6, 0, 6, 0, 6): IMMEDIATE,
    (0, 6, 0, 6): QUIET,
    (): QUIET,
    (2, 2, 3, 3, 4): QUIET,  # both ends of the row win: no move helps, which is not a block
}


def test_what_positions_ask_for():
    game = make_game("connect_four")
    assert kinds_of(game, np.stack([game.play_moves(moves) for moves in KINDS])).tolist() == list(
        KINDS.values()
    )


@pytest.mark.parametrize("name", ["connect_x:4x3x3", "connect_four", "othello:4", "tic_tac_toe"])
def test_kinds_are_those_of_looking_at_moves_one_by_one(name):
    game = make_game(name)
    plies, _ = random_games(game, 150 if name == "othello:4" else 40, seed=4)
    states = np.concatenate([ply.states for ply in plies])
    found = kinds_of(game, states).tolist()
    assert found == [kind_by_hand(game, state) for state in states]
    assert name == "connect_four" or len(set(found)) == 3


def kind_by_hand(game, state):
    safe = 0
    player, following = children(game, state)
    if any(is_win(game, after, player) for after in following):
        return IMMEDIATE
    for after in following:
        answering, answers = children(game, after)
        safe += not is_win(game, after, 1 - player) and (
            answering == player or not any(is_win(game, answer, answering) for answer in answers)
        )
    return FORCED if safe == 1 < len(following) else QUIET


def children(game, state):
    """Return who is to move, and the positions after each legal action."""
    inspected = game.inspect(state[None])
    actions = np.flatnonzero(inspected.legal_action_mask[0])
    return inspected.players[0], [game.step(state[None], [action]).states[0] for action in actions]


def is_win(game, state, player):
    inspected = game.inspect(state[None])
    return inspected.over[0] and inspected.results[0] == (
        1 if inspected.players[0] == player else -1
    )
