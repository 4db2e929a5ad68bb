"""The exact solvers against brute force, against each other's questions, and against published scores."""

import copy
import functools

import numpy as np
import pytest
from game_samples import EXAMPLE, label, random_games
from naive import naive_twin

from alphazero.games.registry import make_game
from alphazero.runtime.errors import ConfigError
from alphazero.solvers import connect_x as connect_x_solver
from alphazero.solvers import othello as othello_solver
from alphazero.solvers.base import ILLEGAL_SCORE, UnsolvableError, values_of
from alphazero.solvers.connect_x import ConnectXSolver
from alphazero.solvers.enumeration import EnumeratedSolver
from alphazero.solvers.othello import OthelloSolver
from alphazero.solvers.registry import make_solver, solver_advice


@functools.cache
def solver_of(name):
    """Return our own solver of a game, whatever else is installed."""
    kind = (
        ConnectXSolver
        if name.startswith("connect")
        else OthelloSolver
        if name.startswith("othello")
        else EnumeratedSolver
    )
    return kind(make_game(name))


def late_states(name, max_empties, num, seed):
    """Return ``num`` positions of random games, [num, K], none of them final, each with at most so many empty cells."""
    game = make_game(name)
    plies, _ = random_games(game, 400, seed)
    states = np.concatenate([ply.states for ply in plies])
    empties = np.array([np.count_nonzero(game.cells(state) == 0) for state in states])
    late = states[empties <= max_empties]
    assert len(late) >= num
    return np.random.default_rng(seed).permutation(late)[:num]


def twin_of(name, state):
    """Return the naive twin of a game in this position."""
    game, twin = make_game(name), naive_twin(name)
    twin.board, twin.player = game.cells(state).tolist(), int(game.players(state[None])[0])
    return twin


# --- brute force ------------------------------------------------------------------------------------------------------------------------


def searched_scores(twin, num_actions):
    """Return the score of every action of a naive twin's position, all lines looked at."""
    known = {}

    def best(twin):
        key = (str(twin.board), twin.player)
        if key not in known:
            known[key] = (
                final_score(twin)
                if twin.over()
                else max(after(twin, action) for action in twin.legal())
            )
        return known[key]

    def after(twin, action):
        child = copy.deepcopy(twin)
        child.play(action)
        return -best(child)

    return [
        after(twin, action) if action in twin.legal() else ILLEGAL_SCORE
        for action in range(num_actions)
    ]


def final_score(twin):
    """Count a finished game for the player to move as a person would: discs left over, or the margin of discs."""
    mine, other = (
        sum(row.count(piece) for row in twin.board) for piece in (1 + twin.player, 2 - twin.player)
    )
    if not hasattr(twin, "length"):
        return mine - other
    cells = sum(map(len, twin.board))
    discs_of_winner = cells // 2 + (
        cells % 2 if twin.player == 1 else 0
    )  # the player who began has the odd one
    return twin.result() * (discs_of_winner - other + 1)


@pytest.mark.parametrize(
    ("name", "max_empties", "num"),
    [
        ("connect_x:4x4x3", 9, 25),
        ("connect_x:5x4x4", 9, 25),
        ("connect_x:4x5x4", 9, 10),
        ("connect_x:3x9x5", 8, 10),
        ("connect_x:15x4x5", 8, 5),
        ("connect_x:1x12x2", 9, 5),
        ("connect_x:9x1x4", 6, 5),
        ("connect_four", 10, 12),
        ("othello:4", 6, 10),
        ("othello:6", 5, 20),
        ("othello", 4, 20),
    ],
)
def test_scores_agree_with_brute_force(name, max_empties, num):
    states = late_states(name, max_empties, num, seed=3)
    scores = solver_of(name).scores(states)
    assert scores.dtype == np.int16
    for state, found in zip(states, scores):
        assert found.tolist() == searched_scores(twin_of(name, state), len(found))


@pytest.mark.parametrize("name", ["connect_x:3x4x3", "connect_x:2x5x2", "connect_x:4x3x3"])
def test_connect_x_agrees_with_the_enumeration_in_every_position(name):
    game, lookup = make_game(name), EnumeratedSolver(make_game(name))
    states, longest = lookup._exact.positions.states, int(lookup._exact.positions.plies_left[0])
    expected, scores = lookup.scores(states), solver_of(name).scores(states)
    assert (values_of(scores) == lookup._exact.action_values(states)).all()
    # The enumeration counts actions to the end, Pons the discs that the winner has left.
    last_ply = (states[:, 2] >> np.uint64(1)).astype(int)[:, None] + longest + 1 - np.abs(expected)
    counted = np.sign(expected) * ((game.rules.rows * game.rules.columns + 2 - last_ply) // 2)
    legal = expected != ILLEGAL_SCORE
    assert (scores == np.where(legal, counted, ILLEGAL_SCORE)).all()


def test_othello_on_4x4_agrees_with_the_enumeration_in_every_position():
    lookup = EnumeratedSolver(make_game("othello:4"))
    states = lookup._exact.positions.states[::37]
    assert (
        values_of(solver_of("othello:4").scores(states)) == values_of(lookup.scores(states))
    ).all()


def test_published_scores_of_othello_on_4x4():
    # Perfect play on 4x4 ends 11 to 3 for the side that moves second; all first moves are images of each other.
    game = make_game("othello:4")
    scores = solver_of("othello:4").scores(game.initial_states())[0]
    assert scores[game.legal_action_mask(game.initial_states())[0]].tolist() == [-8] * 4


# --- known scores -----------------------------------------------------------------------------------------------------------------------

#: Moves on the board of 6x7 and the scores that a solver by somebody else (bitbully 1) gives.
KNOWN = [
    ([5, 6, 5, 3, 3, 1, 1, 5, 4, 1, 1, 5, 1, 6], [-2, -6, -2, -2, -9, -5, 0]),
    ([5, 3, 6, 0, 6, 4, 0, 6, 4, 5, 1, 0, 3, 3, 6, 0], [-4, -3, -6, -1, -1, -3, -3]),
    (
        [4, 4, 3, 0, 1, 5, 1, 2, 6, 0, 1, 1, 3, 1, 0, 0, 6, 6, 1, 3],
        [-4, ILLEGAL_SCORE, -7, -1, -3, -4, -5],
    ),
    ([3, 3, 3, 5, 3, 2, 6, 6, 2, 1, 1, 1, 3, 4], [13, 10, 13, 14, 11, 9, 9]),
    ([1, 5, 4, 1, 5, 3, 1, 4, 3, 3, 2, 6, 1, 6, 1, 5, 6, 0, 6, 0], [3, 11, 10, 9, 10, 10, 10]),
    (
        [6, 6, 6, 1, 2, 2, 2, 0, 5, 5, 0, 1, 2, 6, 6, 0, 6, 1, 1, 5, 0, 0, 4, 1],
        [8, 8, 8, 9, 8, 8, ILLEGAL_SCORE],
    ),
]


@pytest.mark.parametrize(("moves", "scores"), KNOWN)
def test_scores_of_connect_four_are_those_of_another_solver(moves, scores):
    game = make_game("connect_four")
    assert solver_of("connect_four").scores(game.play_moves(moves)[None])[0].tolist() == scores


def test_the_start_of_the_protocols_docstring_is_what_bitbully_says():
    pytest.importorskip("bitbully", reason="the package bitbully is not installed")
    game = make_game("connect_four")
    assert make_solver(game).scores(game.initial_states())[0].tolist() == [-2, -1, 0, 1, 0, -1, -2]


# --- laws -------------------------------------------------------------------------------------------------------------------------------

LATE = [
    ("connect_four", 22),
    ("connect_x:5x5x4", 20),
    ("connect_x:3x9x3", 18),
    ("othello", 9),
    ("othello:6", 10),
    ("tic_tac_toe", 8),
]


@pytest.mark.parametrize(("name", "max_empties"), LATE)
def test_images_of_a_position_get_the_same_scores_in_another_order(name, max_empties):
    game, solver = make_game(name), solver_of(name)
    for state in late_states(name, max_empties, 8, seed=11):
        scores, board = solver.scores(state[None])[0], game.cells(state)
        player = int(game.players(state[None])[0])
        for cells, actions in zip(game.cell_symmetries, game.action_symmetries):
            image = game.cells_to_state(board.ravel()[cells].reshape(board.shape), player)
            assert (solver.scores(image[None])[0] == scores[actions]).all()


@pytest.mark.parametrize(("name", "max_empties"), LATE)
def test_illegal_actions_and_finished_games_have_no_score_and_states_stay_as_they_are(
    name, max_empties
):
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
def test_scores_do_not_depend_on_the_table_or_on_what_was_asked_before(name, max_empties):
    game = make_game(name)
    states = late_states(name, max_empties, 12, seed=5)
    expected = solver_of(name).scores(states)
    small = type(solver_of(name))(game, table_bits=14 if name.startswith("connect") else 4)
    assert (small.scores(states[::-1])[::-1] == expected).all()


@pytest.mark.parametrize(
    ("name", "module"), [("connect_four", connect_x_solver), ("othello:6", othello_solver)]
)
def test_a_search_that_stops_again_and_again_finds_the_same(name, module, monkeypatch):
    states = late_states(name, 12, 6, seed=8)
    expected = solver_of(name).scores(states)
    monkeypatch.setattr(module, "NODES_PER_CALL", 3)
    solver = type(solver_of(name))(make_game(name))
    assert (solver.scores(states) == expected).all()
    assert solver.num_nodes > 3 * len(states)


def test_scores_say_who_wins_and_sooner_is_better():
    game = make_game("tic_tac_toe")
    scores = make_solver(game).scores(game.text_to_state("XX.\nOO.\n...", 0)[None])
    # X wins at once with 2. After 5 X still draws; after any other move O wins with its next one. The longest game has 9 moves.
    assert scores[0].tolist() == [
        ILLEGAL_SCORE,
        ILLEGAL_SCORE,
        9,
        ILLEGAL_SCORE,
        ILLEGAL_SCORE,
        0,
        -8,
        -8,
        -8,
    ]
    assert values_of(scores)[0].tolist() == [-2, -2, 1, -2, -2, 0, -1, -1, -1]
    assert values_of(scores).dtype == np.int8


def test_othello_plays_on_after_a_pass_and_counts_no_empty_squares():
    # White passes; black takes the corner and turns the first row but for its last disc. A square that no one can fill counts for nobody.
    game = make_game("othello:4")
    state = game.text_to_state("-WWB\nBBBB\nBBBB\nBBB-", 0)
    scores = solver_of("othello:4").scores(state[None])[0]
    assert scores.tolist() == [ILLEGAL_SCORE] * 16 + [-15]


# --- which solver, and what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("connect_four", ConnectXSolver),
        ("connect_x:5x5x4", ConnectXSolver),
        ("othello:6", OthelloSolver),
        ("tic_tac_toe", EnumeratedSolver),
    ],
)
def test_every_game_gets_its_solver(name, kind, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)  # as if bitbully were not there
    assert type(make_solver(make_game(name))) is kind
    assert ("bitbully" in solver_advice(make_game(name))) == (name == "connect_four")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: "there")
    assert solver_advice(make_game(name)) == ""


def refused(ask):
    """Return the error of a question beyond a solver's limit."""
    with pytest.raises(UnsolvableError) as raised:
        ask()
    error = raised.value
    assert "\n" not in str(error) and f"{error.limit:,}" in str(error)
    return error


@pytest.mark.parametrize("name", [EXAMPLE, "connect_x:8x8x4"], ids=label)
def test_games_too_large_to_look_at_every_position_are_refused(name, monkeypatch):
    monkeypatch.setattr("alphazero.solvers.enumeration.MAX_SOLVER_POSITIONS", 500)
    error = refused(lambda: make_solver(make_game(name)))
    assert (error.unit, error.limit, error.value) == ("positions", 500, None)


def test_positions_too_far_from_the_end_are_refused():
    othello = make_game("othello")
    error = refused(lambda: solver_of("othello").scores(othello.initial_states()))
    assert (error.game, error.unit, error.limit, error.value) == (
        "othello",
        "empty squares",
        20,
        60,
    )
    states = late_states("othello", 6, 3, seed=1)
    error = refused(lambda: OthelloSolver(othello, max_empties=0).scores(states))
    assert error.limit == 0 and 0 < error.value <= 6


def test_a_position_that_takes_too_many_nodes_is_refused_and_the_next_one_is_solved():
    game = make_game("connect_four")
    error = refused(lambda: ConnectXSolver(game, max_nodes=10).scores(game.initial_states()))
    assert (error.game, error.unit, error.limit) == ("connect_four", "nodes", 10)
    assert "bitbully" in str(error)
    game = make_game("connect_x:7x8x4")
    solver = ConnectXSolver(game, max_nodes=1000)
    error = refused(lambda: solver.scores(game.initial_states()))
    assert error.limit == solver.num_nodes == 1000
    assert "bitbully" not in str(error)
    late = late_states("connect_x:7x8x4", 22, 3, seed=0)
    assert (solver.scores(late) == solver_of("connect_x:7x8x4").scores(late)).all()


def test_a_table_too_small_for_its_keys_is_refused():
    with pytest.raises(ConfigError) as raised:
        ConnectXSolver(make_game("connect_four"), table_bits=13)
    assert (raised.value.key, raised.value.value) == ("table_bits", 13)
    assert raised.value.allowed == "14 or more"
