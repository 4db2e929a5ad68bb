"""Networks of windows: the states of a window, what shares weights, and which games they suit."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from network_samples import random_pieces, small_network
from torch.nn import functional

from alphazero.network.interface import NetworkSettings
from alphazero.network.registry import check_settings, make_network
from alphazero.network.weights import load_arrays, network_arrays
from alphazero.network.window_states import (
    RADIUS,
    STEPS,
    first_states,
    inner_states,
    missing_cells,
    num_states,
    regions,
)
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError


def windows_of(board, step, radius):
    """Return what each cell sees, int[H, W, 2 * radius + 1], with 3 beyond the border."""
    padded = np.pad(board, radius, constant_values=3)
    rows, columns = np.indices(board.shape) + radius
    places = range(-radius, radius + 1)
    return np.stack([padded[rows + k * step[0], columns + k * step[1]] for k in places], axis=-1)


def state_of(window):
    """Return the number of a window's state, read off cell by cell."""
    radius = len(window) // 2
    missing = np.array(window) == 3
    cells = [piece for piece in window if piece != 3]
    first = first_states(radius)[missing[:radius].sum(), missing[radius:].sum()]
    return first + sum(piece * 3**place for place, piece in enumerate(cells))


@pytest.mark.parametrize("radius", [1, 2, RADIUS])
def test_states_are_numbered_without_gaps_and_know_the_windows_within(radius):
    assert num_states(RADIUS) == 43_923
    inner = inner_states(radius)
    seen = {}
    generator = np.random.default_rng(0)
    for shape in ((1, 1), (3, 4), (9, 11)):
        for _ in range(20):
            board = generator.integers(0, 3, shape)
            for step in STEPS:
                for window in windows_of(board, step, radius).reshape(-1, 2 * radius + 1):
                    state = state_of(window)
                    assert seen.setdefault(state, tuple(window)) == tuple(window)
                    parts = [window[:-2], window[1:-1], window[2:]]
                    beyond = num_states(radius - 1)
                    expected = [
                        beyond if part[radius - 1] == 3 else state_of(part) for part in parts
                    ]
                    assert inner[state].tolist() == expected
    assert max(seen) < num_states(radius)
    assert radius == RADIUS or len(seen) == num_states(radius)


@pytest.mark.parametrize("step", STEPS)
def test_missing_cells_turn_a_number_of_the_whole_window_into_its_state(step):
    board = np.random.default_rng(0).integers(0, 3, (5, 6))
    windows = windows_of(board, step, RADIUS)
    found = missing_cells(5, 6, step, RADIUS)
    numbers = (windows % 3) @ 3 ** np.arange(2 * RADIUS + 1)
    assert (numbers % found.factors == 0).all()
    states = found.first_states + numbers // found.factors
    expected = [state_of(window) for window in windows.reshape(-1, 2 * RADIUS + 1)]
    assert states.ravel().tolist() == expected


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (6, 7), (15, 15)])
def test_regions_divide_the_board(shape):
    covered = np.zeros(shape, int)
    for first_row, end_row, first_column, end_column in regions(*shape):
        covered[first_row:end_row, first_column:end_column] += 1
    assert (covered == 1).all()


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "othello:6"])
def test_features_are_those_of_convolutions_along_lines(name):
    """The convolutions, computed on the board, give what the lookups add up."""
    game = make_game(name)
    network = small_network(game, kind="windows")
    planes = random_pieces(game, 20)
    found = []
    network.norm.register_forward_pre_hook(lambda module, inputs: found.append(inputs[0]))
    with torch.inference_mode():
        network(torch.from_numpy(planes))
        expected = network.place(*game.planes_shape[1:])
        own, opponent = torch.from_numpy(planes[:, :2]).unbind(1)
        pieces = torch.stack([1 - own - opponent, own, opponent], 1)
        for (down, right), group in zip(STEPS, network.sharing.directions):
            x = pieces
            for layer in network.lines.layers:
                weight, bias = layer[group].weight, layer[group].bias
                kernel = torch.zeros(*weight.shape[:2], 3, 3)
                for place in (-1, 0, 1):
                    kernel[:, :, 1 + place * down, 1 + place * right] = weight[:, :, 0, 1 + place]
                x = functional.conv2d(x, kernel, bias, padding=1)
                x = x if bias is None else torch.relu(x)
            expected = expected + x.flatten(2).transpose(1, 2)
    assert expected.std() > 0.1
    np.testing.assert_allclose(found[0], expected.flatten(0, 1), rtol=0, atol=1e-4)


def test_directions_share_weights_as_symmetries_allow():
    groups = {
        name: (network.sharing.directions, len(network.edges), network.drops)
        for name in ("othello", "connect_four", "gomoku:5x6")
        for network in [make_network(make_game(name), NetworkSettings(kind="windows"))]
    }
    assert groups["othello"] == groups["gomoku:5x6"] == ((0, 0, 1, 1), 1, False)
    assert groups["connect_four"] == ((0, 1, 2, 2), 3, True)


def test_weights_play_boards_of_other_sizes():
    settings = NetworkSettings(kind="windows")
    small, large = (make_game(name) for name in ("othello:6", "othello"))
    arrays = network_arrays(make_network(small, settings, seed=1))
    network = make_network(large, settings, seed=2)
    load_arrays(network, arrays)
    output = network.eval()(torch.from_numpy(random_pieces(large, 3)))
    assert output.prior_logits.shape == (3, 65)


def test_games_without_pieces_or_actions_on_the_board_are_refused():
    settings = NetworkSettings(kind="windows")
    for shape, num_actions in (((2, 6, 7), 7), ((3, 6, 7), 43)):
        check_settings(SimpleNamespace(planes_shape=shape, num_actions=num_actions), settings)
    for shape, num_actions in (((2, 6, 7), 8), ((4, 6, 7), 7), ((1, 6, 7), 7)):
        game = SimpleNamespace(planes_shape=shape, num_actions=num_actions)
        with pytest.raises(ConfigError) as refused:
            check_settings(game, settings)
        assert refused.value.key == "network.kind" and refused.value.value == "windows"
