"""Endings: the scores of the solver near the end of a game, and nothing where it costs too much."""

import numpy as np
import pytest
from search_samples import BanditGame
from solver_samples import late_states

from alphazero.own_games.registry import make_game
from alphazero.solvers import endings as endings_module
from alphazero.solvers.endings import make_endings
from alphazero.solvers.registry import make_solver


@pytest.mark.parametrize("name", ("connect_four", "othello:6"))
def test_positions_with_few_empty_cells_get_the_scores_of_the_solver(name):
    game, num_nodes = make_game(name), []
    endings, solver = make_endings(game), make_solver(game)
    most = endings.max_empty_cells(10_000)
    states = late_states(name, most + 3, 60, seed=3)
    num_empty = np.array([np.count_nonzero(game.cells(state) == 0) for state in states])
    assert (num_empty > most).any()
    for state, num in zip(states, num_empty):
        scores = endings.scores(state, 10_000)
        before = solver.num_nodes
        expected = solver.scores(state[None])[0]
        if scores is None:
            assert num > most or solver.num_nodes - before > 1_000
            continue
        num_nodes.append(num)
        assert num <= most and scores.tolist() == expected.tolist()
    assert len(num_nodes) > 30


@pytest.mark.parametrize("name", ("connect_four", "othello"))
def test_more_nodes_solve_positions_with_more_empty_cells(name):
    endings = make_endings(make_game(name))
    cells = [endings.max_empty_cells(nodes) for nodes in (1_000, 10_000, 200_000, 4_000_000)]
    assert cells == sorted(set(cells)) and cells[0] > 3


def test_a_position_that_exceeds_the_node_limit_is_not_solved(monkeypatch):
    endings = make_endings(make_game("connect_four"))
    monkeypatch.setattr(type(endings), "max_empty_cells", lambda *_: 42)
    solvers = []

    def make(*arguments):
        solvers.append(make_solver(*arguments))
        return solvers[-1]

    monkeypatch.setattr(endings_module, "make_solver", make)
    states = late_states("connect_four", 24, 30, seed=1)
    is_solved = [endings.scores(state, 500) is not None for state in states]
    assert 0 < sum(is_solved) < 30
    assert [solver.num_nodes < 500 for solver in solvers] == is_solved
    assert all(endings.scores(state, 10**7) is not None for state in states)
    assert [endings.scores(state, 500) is not None for state in states] == is_solved


def test_games_without_a_compiled_solver_have_no_endings():
    large = (make_game("connect_x:9x9x4"), make_game("othello:10"))
    for game in (BanditGame(3), make_game("tic_tac_toe"), *large):
        assert make_endings(game) is None
