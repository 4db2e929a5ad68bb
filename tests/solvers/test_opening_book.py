"""The opening book of Connect Four: which positions it holds, and that its scores are exact."""

import make_connect_four_book as making
import numpy as np
import pytest

from alphazero.evaluation.exact.set_file import read_set, shipped_path
from alphazero.own_games.registry import make_game
from alphazero.solvers.base import ILLEGAL_SCORE
from alphazero.solvers.connect_x import ConnectXSolver, new_search
from alphazero.solvers.opening_book import (
    NO_BOOK,
    UNKNOWN,
    book_index,
    book_score,
    load_book,
    make_book,
)

GAME = make_game("connect_four")
#: Number of positions by ply, mirror images and finished games included (OEIS A212693).
NUM_POSITIONS = [1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275]


def discs(state):
    return state[0], state[0] | state[1]


def index_of(book, state):
    return book_index(book, *discs(state))


def test_the_positions_that_the_script_enumerates_are_as_many_as_published():
    positions, found = GAME.initial_states(), [1]
    for _ in NUM_POSITIONS[1:]:
        positions, finished = making.next_positions(positions)
        both = np.concatenate([positions, finished])
        is_symmetric = (both == making.mirrored(both)).all(axis=1)
        found.append(2 * len(both) - int(is_symmetric.sum()))
    assert found == NUM_POSITIONS


def test_every_position_has_its_own_entry_which_it_shares_with_its_mirror_image():
    book = make_book(np.full(making.NUM_ENTRIES, UNKNOWN, np.int8))
    positions, used = GAME.initial_states(), set()
    for plies in range(9):
        indices = [index_of(book, state) for state in positions[::7]]
        assert indices == [index_of(book, state) for state in making.mirrored(positions[::7])]
        if plies % 4 == 0:
            assert min(indices) >= 0 and len(set(indices)) == len(indices)
            assert not used & set(indices)
            used |= set(indices)
        else:
            assert set(indices) == {-1}
        positions, _ = making.next_positions(positions)


def test_entries_fill_the_book_up_to_its_end():
    book = make_book(np.arange(3, dtype=np.int8))
    last = GAME.play_moves([6] * 6 + [5] * 6)  # the largest stacks on the right, mirrored
    assert 0 <= index_of(book, last) < making.NUM_ENTRIES == len(load_book(GAME.rules).scores)
    assert index_of(book, GAME.initial_states()[0]) == 0


@pytest.mark.parametrize("plies", [4, 8, 12])
def test_a_position_has_a_score_unless_a_move_wins_at_once(plies):
    generator, num_known = np.random.default_rng(plies), 0
    for _ in range(60):
        *_, state = making.random_game(generator, plies)
        actions = np.flatnonzero(GAME.legal_action_mask(state[None])[0])
        has_win = GAME.step(np.tile(state, (len(actions), 1)), actions).over.any()
        for image in (state, making.mirrored(state[None])[0]):
            score = book_score(load_book(GAME.rules), *discs(image))
            assert (score == UNKNOWN) == has_win
            num_known += score != UNKNOWN
    assert num_known > 50


def test_unequal_numbers_of_discs_have_no_entry():
    book = load_book(GAME.rules)
    four_of_one_player = np.uint64(0b1111 << 7)
    assert book_index(book, four_of_one_player, four_of_one_player) == -1
    assert book_score(book, four_of_one_player, four_of_one_player) == UNKNOWN


def test_the_first_moves_have_their_known_scores_and_mirrored_boards_mirrored_ones():
    states = np.stack([GAME.play_moves(moves) for moves in ([], [1], [5], [3, 3, 3, 3, 3, 3])])
    scores = ConnectXSolver(GAME).scores(states).tolist()
    assert scores[0] == [-2, -1, 0, 1, 0, -1, -2]
    assert scores[1] == scores[2][::-1] != scores[2]
    assert scores[3] == [-1, 0, 1, ILLEGAL_SCORE, 1, 0, -1]


def test_no_early_position_takes_a_long_search():
    # Without the book, the first plies take billions of nodes.
    solver, generator = ConnectXSolver(GAME, max_nodes=10_000_000), np.random.default_rng(1)
    for _ in range(3):
        for state in making.random_game(generator, 12):
            assert solver.scores(state[None]).max() != ILLEGAL_SCORE


def test_wrong_entries_are_found():
    book, generator = load_book(GAME.rules), np.random.default_rng(3)
    wrong = book._replace(scores=np.where(book.scores == UNKNOWN, UNKNOWN, book.scores ^ 1))
    assert making.count_wrong(wrong, 1, generator) == 1


def test_earlier_entries_agree_with_those_of_twelve_discs():
    book, positions = load_book(GAME.rules), GAME.initial_states()
    solver, entries = ConnectXSolver(GAME), []
    late = book._replace(scores=book.scores.copy())
    for plies in range(9):
        if plies % 4 == 0:
            entries += [(state, book_score(book, *discs(state))) for state in positions[::397]]
            making.enter(late, positions, np.full(len(positions), UNKNOWN))
        positions, _ = making.next_positions(positions)
    solver._search = new_search(GAME.rules, 20, late)
    known = [(state, score) for state, score in entries if score != UNKNOWN]
    assert len(known) > 150
    for state, score in known[1:]:  # without the first, the start, which takes half a minute
        assert solver.scores(state[None]).max() == score


def test_early_positions_of_the_evaluation_set_have_the_scores_of_its_solver():
    shipped = read_set(shipped_path("connect_four"), GAME)
    early = shipped.plies < 12
    assert early.sum() > 200
    scores = ConnectXSolver(GAME).scores(shipped.states[early])
    assert np.array_equal(scores, shipped.action_scores[early])


@pytest.mark.slow
def test_a_sample_of_the_book_agrees_with_a_search_without_it():
    assert making.count_wrong(load_book(GAME.rules), 150, np.random.default_rng(8)) == 0


def test_other_boards_have_no_book():
    rules = make_game("connect_x:5x5x4").rules
    assert load_book(rules) is NO_BOOK
    assert new_search(rules, 14).book.max_plies == -1
