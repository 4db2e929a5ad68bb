"""Reanalysis: the searches that a player without noise makes, on any number of lanes."""

import numpy as np
import pytest
from naive_mcts import HashEvaluator

from alphazero.games.registry import make_game
from alphazero.players.network import EvaluatorPlayer
from alphazero.search.batched_search import SearchSettings
from alphazero.selfplay.reanalysis import Reanalysis


@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize("num_lanes", [1, 3])
def test_every_position_is_searched_as_a_player_does(num_lanes, root):
    game, rng = make_game("connect_four"), np.random.default_rng(0)
    states = np.stack([game.play_moves(rng.integers(0, 7, 3)) for _ in range(23)])
    evaluator = HashEvaluator(game.num_actions)
    reanalysis = Reanalysis(game, [evaluator] * num_lanes, 8, 30, SearchSettings(root=root))
    for num_simulations in (30, 12):
        weights, values = reanalysis.search(states, num_simulations)
        choice = EvaluatorPlayer(
            game, evaluator, num_simulations, settings=SearchSettings(root=root)
        ).choose(states)
        np.testing.assert_array_equal(weights, choice.action_weights)
        np.testing.assert_array_equal(values, choice.values)
