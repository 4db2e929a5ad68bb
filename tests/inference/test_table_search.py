"""Searches in one kernel: the same trees as step by step, for every way to choose at the root."""

import numpy as np
import pytest
from mostly_slow import mostly_slow
from network_samples import table_network
from search_samples import make_search, random_positions

from alphazero.inference.engines.agreement import sample_positions
from alphazero.inference.engines.table_engine import TableEngine
from alphazero.inference.evaluator import Evaluator
from alphazero.own_games.registry import make_game


class StepByStep(Evaluator):
    """A table engine whose tables are hidden from the search."""

    def __init__(self, engine):
        self._hidden = engine

    def evaluate(self, planes):
        return self._hidden.evaluate(planes)


def engine_of(game, kind, **settings):
    sample = sample_positions(game, 300, np.random.default_rng(0))
    engine = TableEngine()
    engine.load(table_network(kind, game, sample.planes, **settings), sample.planes)
    return engine


def grown(game, evaluator, states, **settings):
    """Return the search of two moves in each game, and its number of steps."""
    rows = np.arange(len(states))
    search = make_search(game, len(states), 60, evaluator, explores=True, **settings)
    num_steps = 0
    search.reset(rows, states, 40)
    while len(finished := search.finished_rows()) < len(rows):
        search.step()
        num_steps += 1
    assert len(finished) == len(rows)
    actions = search.output(rows).actions
    after = game.step(states, actions)
    live = np.flatnonzero(~after.over)
    search.stop(rows)
    search.advance(live, actions[live], after.states[live], 60)
    search.run()
    return search, num_steps


#: Noise is drawn once for all roots that are ready at the same time, which differs.
QUIET = dict(dirichlet_fraction=0.0, gumbel_scale=0.0)


@pytest.mark.parametrize("kind", mostly_slow(["windows", "patterns"]))
@pytest.mark.parametrize("value_head", mostly_slow(["wdl", "scalar"]))
@pytest.mark.parametrize(
    "settings",
    [{}, {"forced_playouts_k": 2.0}, {"root": "gumbel"}, {"mcts_solver": False}],
    ids=lambda settings: next(iter(settings), "puct"),
)
@pytest.mark.parametrize("name", mostly_slow(["connect_x:4x4x3", "tic_tac_toe", "othello:4"]))
def test_the_trees_are_those_of_single_steps(name, settings, value_head, kind):
    game = make_game(name)
    engine = engine_of(game, kind, value_head=value_head)
    states = random_positions(game, 12, seed=1)
    search, num_steps = grown(game, engine, states, **QUIET, **settings)
    slow, num_slow_steps = grown(game, StepByStep(engine), states, **QUIET, **settings)
    assert num_steps < num_slow_steps / 5
    for field, expected in zip(search.tree, slow.tree):
        if field.ndim == 1:
            np.testing.assert_array_equal(field, expected)
            continue
        for row, num_nodes in enumerate(slow.tree.num_nodes):
            np.testing.assert_array_equal(field[row, :num_nodes], expected[row, :num_nodes])
    for row, num_nodes in enumerate(slow.tree.num_nodes):
        states, expected = search._states[row, :num_nodes], slow._states[row, :num_nodes]
        np.testing.assert_array_equal(states, expected)
    assert slow.tree.num_nodes.max() > 30
    for count in ("num_simulations", "num_evaluations", "total_depth"):
        assert getattr(search.counts, count) == getattr(slow.counts, count)
