"""Networks of line patterns: what a line contributes, and which games they suit."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from network_samples import random_pieces, small_network

from alphazero.network.interface import NetworkSettings
from alphazero.network.patterns import lines
from alphazero.network.registry import check_settings
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError

STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))


def test_each_cell_is_on_one_line_of_each_direction():
    numbers = []
    for step in STEPS:
        found = lines(6, 7, step)
        numbers.append(len(found))
        assert sorted(cell for line in found for cell in line) == sorted(np.ndindex(6, 7))
        for line in found:
            moves = np.diff(line, axis=0)
            assert (moves == step).all()
    assert numbers == [6, 7, 12, 12]


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_x:5x4x3", "othello:4"])
def test_the_entries_of_all_lines_add_up_to_what_the_network_computes(name):
    game = make_game(name)
    network = small_network(game, kind="patterns", shared_units=24)
    planes = random_pieces(game, 50)
    network.norm.running_mean.normal_(generator=torch.Generator().manual_seed(0))
    network.norm.running_var.fill_(0.3)
    expected = []
    network.shared.register_forward_hook(lambda *call: expected.append(call[2].numpy()))
    with torch.inference_mode():
        network(torch.from_numpy(planes))
    states = (planes[:, 0] + 2 * planes[:, 1]).reshape(len(planes), -1).astype(int)
    total = np.zeros((len(planes), 24))
    for table in network.line_tables():
        numbers = states[:, table.cells] @ 3 ** np.arange(len(table.cells))
        total += table.contributions[numbers]
    assert expected[0].std() > 0.1
    np.testing.assert_allclose(total, expected[0], rtol=0, atol=1e-4)


@pytest.mark.parametrize("shape", [(1, 6, 7), (4, 6, 7), (2, 10, 3), (2, 3, 10), (2, 1, 1)])
def test_games_without_two_planes_of_pieces_or_with_long_lines_are_refused(shape):
    settings = NetworkSettings(kind="patterns")
    check_settings(SimpleNamespace(planes_shape=(2, 9, 2), num_actions=5), settings)
    with pytest.raises(ConfigError) as refused:
        check_settings(SimpleNamespace(planes_shape=shape, num_actions=5), settings)
    assert refused.value.key == "network.kind" and refused.value.value == "patterns"
