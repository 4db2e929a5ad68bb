"""The exact solvers agree with brute force, with each other, and with published scores."""

import copy
import functools
from pathlib import Path

import numpy as np
import pytest
from game_samples import EXAMPLE, label, random_games
from naive import naive_twin
from solver_samples import late_states

from alphazero.own_games.registry import make_game
from alphazero.solvers import alpha_beta, connect_x, othello
from alphazero.solvers.base import ILLEGAL_SCORE, UnsolvableError, values_of
from alphazero.solvers.connect_x import ConnectXSolver
from alphazero.solvers.enumeration import EnumeratedSolver
from alphazero.solvers.othello import OthelloSolver
from alphazero.solvers.registry import make_solver


@functools.cache
def solver_of(name):
    """Return the solver of a game, whose table is shared by the tests."""
    kinds = {"connect": ConnectXSolver, "othello": OthelloSolver, "tic_tac": EnumeratedSolver}
    return kinds[name[:7]](make_game(name))


def twin_of(name, state):
    """Return the naive implementation of a game in this position."""
    game, twin = make_game(name), naive_twin(name)
    twin.board, twin.player = game.cells(state).tolist(), int(game.players(state[None])[0])
    return twin


# --- brute force ----------------------------------------------------------------------------------


def searched_scores(twin, num_actions, known):
    """Return the score of every action by searching all lines of play.

    Args:
        twin: the naive game, in the position.
        known: the scores of the positions searched before; it is filled.
    """

    def best(twin):
        key = (str(twin.board), twin.player)
        if key not in known:
            legal = twin.legal()
            known[key] = (
                max(after(twin, action) for action in legal) if legal else final_score(twin)
            )
        return known[key]

    def after(twin, action):
        child = copy.copy(twin)
        child.board = [row.copy() for row in twin.board]
        child.play(action)
        return -best(child)

    scores = [ILLEGAL_SCORE] * num_actions
    for action in twin.legal():
        scores[action] = after(twin, action)
    return scores


def final_score(twin):
    """Score a finished game for the player to move by counting pieces.

    Connect-X: the discs that the winner has left, plus one; Othello: the margin of discs.
    """
    pieces = [piece for row in twin.board for piece in row]
    mine, other = pieces.count(1 + twin.player), pieces.count(2 - twin.player)
    if not hasattr(twin, "length"):
        return mine - other
    # On a board with an odd number of cells, the player who moved first has one more disc.
    has_extra_disc = len(pieces) % 2 == 1 and twin.player == 1
    discs_of_winner = len(pieces) // 2 + has_extra_disc
    return twin.result() * (discs_of_winner - other + 1)


@pytest.mark.parametrize(
    ("name", "max_empties", "num"),
    [
        ("connect_x:4x4x3", 9, 25),
        ("connect_x:5x4x4", 9, 10),
        ("connect_x:3x9x5", 8, 10),
        ("connect_x:15x4x5", 8, 5),
        ("connect_x:1x12x2", 9, 5),
        ("connect_four", 9, 8),
        ("othello:4", 6, 10),
        ("othello:6", 5, 20),
        ("othello", 4, 20),
    ],
)
def test_scores_agree_with_brute_force(name, max_empties, num):
    states = late_states(name, max_empties, num, seed=3)
    scores, known = solver_of(name).scores(states), {}
    assert scores.dtype == np.int16
    for state, found in zip(states, scores):
        assert found.tolist() == searched_scores(twin_of(name, state), len(found), known)


@pytest.mark.parametrize("name", ["connect_x:3x4x3", "connect_x:2x5x2", "connect_x:4x3x3"])
def test_connect_x_agrees_with_the_enumeration_in_every_position(name):
    game, lookup = make_game(name), EnumeratedSolver(make_game(name))
    states, longest = lookup.exact.positions.states, int(lookup.exact.positions.plies_left[0])
    expected, scores = lookup.scores(states), solver_of(name).scores(states)
    assert (values_of(scores) == lookup.exact.action_values(states)).all()
    # The enumeration counts actions to the end, Pons the discs that the winner has left.
    last_ply = (states[:, 2] >> np.uint64(1)).astype(int)[:, None] + longest + 1 - np.abs(expected)
    counted = np.sign(expected) * ((game.rules.rows * game.rules.columns + 2 - last_ply) // 2)
    legal = expected != ILLEGAL_SCORE
    assert (scores == np.where(legal, counted, ILLEGAL_SCORE)).all()


def test_othello_on_4x4_agrees_with_the_enumeration_in_every_position():
    lookup = EnumeratedSolver(make_game("othello:4"))
    states = lookup.exact.positions.states[::37]
    found = values_of(solver_of("othello:4").scores(states))
    assert (found == values_of(lookup.scores(states))).all()


def test_published_scores_of_othello_on_4x4():
    # Perfect play on 4x4 ends 11 to 3 for the side that moves second. All first moves are
    # symmetric.
    game = make_game("othello:4")
    scores = solver_of("othello:4").scores(game.initial_states())[0]
    assert scores[game.legal_action_mask(game.initial_states())[0]].tolist() == [-8] * 4


# --- known scores ---------------------------------------------------------------------------------

#: Moves of Connect Four and the scores of the solver bitbully.
KNOWN = [
    ([5, 6, 5, 3, 3, 1, 1, 5, 4, 1, 1, 5, 1, 6], [-2, -6, -2, -2, -9, -5, 0]),
    (
        [4, 4, 3, 0, 1, 5, 1, 2, 6, 0, 1, 1, 3, 1, 0, 0, 6, 6, 1, 3],
        [-4, ILLEGAL_SCORE, -7, -1, -3, -4, -5],
    ),
    ([3, 3, 3, 5, 3, 2, 6, 6, 2, 1, 1, 1, 3, 4], [13, 10, 13, 14, 11, 9, 9]),
]


@pytest.mark.parametrize(("moves", "scores"), KNOWN)
def test_scores_of_connect_four_agree_with_another_solver(moves, scores):
    game = make_game("connect_four")
    assert solver_of("connect_four").scores(game.play_moves(moves)[None])[0].tolist() == scores


# --- laws -----------------------------------------------------------------------------------------

LATE = [
    ("connect_four", 22),
    ("connect_x:5x5x4", 20),
    ("connect_x:3x9x3", 18),
    ("othello", 9),
    ("othello:6", 10),
    ("tic_tac_toe", 8),
]


@pytest.mark.parametrize(("name", "max_empties"), LATE)
def test_symmetric_positions_have_permuted_scores(name, max_empties):
    game, solver = make_game(name), solver_of(name)
    for state in late_states(name, max_empties, 8, seed=11):
        scores, board = solver.scores(state[None])[0], game.cells(state)
        player = int(game.players(state[None])[0])
        for cells, actions in zip(game.cell_symmetries, game.action_symmetries):
            image = game.cells_to_state(board.ravel()[cells].reshape(board.shape), player)
            assert (solver.scores(image[None])[0] == scores[actions]).all()


@pytest.mark.parametrize(("name", "max_empties"), LATE)
def test_illegal_actions_and_finished_games_have_no_score_and_states_stay(name, max_empties):
    game = make_game(name)
    plies, final = random_games(game, 5, seed=2)
    late = late_states(name, max_empties, 5, seed=2)
    states = np.concatenate([late, final])
    before = states.copy()
    scores = solver_of(name).scores(states)
    assert (states == before).all()
    assert ((scores == ILLEGAL_SCORE) == ~game.legal_action_mask(states)).all()
    assert (values_of(scores)[len(late) :] == -2).all()
    assert solver_of(name).scores(states[:0]).shape == (0, game.num_actions)


@pytest.mark.parametrize(("name", "max_empties"), LATE[:5])
def test_scores_do_not_depend_on_the_table_size_or_on_earlier_questions(name, max_empties):
    game = make_game(name)
    states = late_states(name, max_empties, 12, seed=5)
    expected = solver_of(name).scores(states)
    small = type(solver_of(name))(game)
    module, num_bits = (connect_x, 14) if name.startswith("connect") else (othello, 4)
    small._search = module.new_search(game.rules, num_bits)
    assert (small.scores(states[::-1])[::-1] == expected).all()


@pytest.mark.parametrize("name", ("connect_four", "othello:6"))
def test_a_search_that_is_paused_again_and_again_finds_the_same(name, monkeypatch):
    states = late_states(name, 12, 6, seed=8)
    expected = solver_of(name).scores(states)
    monkeypatch.setattr(alpha_beta, "NODES_PER_CALL", 3)
    solver = type(solver_of(name))(make_game(name))
    assert (solver.scores(states) == expected).all()
    assert solver.num_nodes > 3 * len(states)


def test_othello_plays_on_after_a_pass_and_counts_no_empty_squares():
    # White passes; black takes the corner and turns the first row up to its last disc. A square
    # that nobody can fill counts for neither side.
    game = make_game("othello:4")
    state = game.text_to_state("-WWB\nBBBB\nBBBB\nBBB-", 0)
    scores = solver_of("othello:4").scores(state[None])[0]
    assert scores.tolist() == [ILLEGAL_SCORE] * 16 + [-15]


# --- which solver, and what is refused ------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("connect_four", ConnectXSolver),
        ("connect_x:5x5x4", ConnectXSolver),
        ("othello:6", OthelloSolver),
        ("tic_tac_toe", EnumeratedSolver),
    ],
)
def test_every_game_gets_its_solver(name, kind):
    assert type(make_solver(make_game(name))) is kind


@pytest.mark.slow
def test_a_game_of_a_user_gets_no_solver_by_the_name_of_its_class(tmp_path):
    path = tmp_path / "mine.py"
    text = Path(EXAMPLE).read_text().replace("Snort(5)", "Snort(2)")
    path.write_text(text.replace("Snort", "ConnectX"))
    assert type(make_solver(make_game(str(path)))) is EnumeratedSolver


def refused(ask):
    """Return the UnsolvableError that a call raises."""
    with pytest.raises(UnsolvableError) as raised:
        ask()
    error = raised.value
    assert "\n" not in str(error)
    return str(error)


@pytest.mark.parametrize("name", [EXAMPLE, "connect_x:8x8x4", "othello:10"], ids=label)
def test_games_too_large_to_enumerate_are_refused(name):
    error = refused(lambda: make_solver(make_game(name), max_positions=500))
    assert "500" in error


def test_positions_too_far_from_the_end_are_refused():
    error = refused(lambda: solver_of("othello").scores(make_game("othello").initial_states()))
    assert "othello" in error and "20" in error and "60" in error


def test_a_position_that_takes_too_many_nodes_is_refused_and_the_next_one_is_solved():
    game = make_game("connect_four")
    error = refused(lambda: ConnectXSolver(game, max_nodes=10).scores(game.initial_states()))
    assert "connect_four" in error and "10" in error
    game = make_game("connect_x:7x8x4")
    solver = ConnectXSolver(game, max_nodes=1000)
    error = refused(lambda: solver.scores(game.initial_states()))
    assert solver.num_nodes == 1000
    assert "1,000" in error
    late = late_states("connect_x:7x8x4", 22, 3, seed=0)
    assert (solver.scores(late) == solver_of("connect_x:7x8x4").scores(late)).all()
