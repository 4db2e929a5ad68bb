"""Networks: shapes, seeds, the folded copy, values in range."""

import numpy as np
import pytest
import torch
from network_samples import SMALL, planes_of, small_network
from torch import nn

from alphazero.network.interface import NetworkSettings, expected_value
from alphazero.network.registry import make_network
from alphazero.network.residual import ConvNorm, folded
from alphazero.own_games.registry import make_game
from alphazero.training.run_config import compose, config_groups


@pytest.mark.parametrize("choice", config_groups()["network"])
def test_every_network_config_fits_every_game(choice):
    settings = compose([f"network={choice}"]).network
    for name in ("tic_tac_toe", "connect_x:5x4x3"):
        game = make_game(name)
        network = make_network(game, settings).eval()
        with torch.inference_mode():
            output = network(torch.from_numpy(planes_of(game, 3)))
        assert output.prior_logits.shape == (3, game.num_actions)
        assert output.value_logits.shape == (3, 3 if settings.value_head == "wdl" else 1)
    if settings.kind == "resnet":
        blocks, channels = map(int, choice.split("x"))
        assert (len(network.tower), network.stem.conv.out_channels) == (blocks, channels)


def test_the_notebooks_network_computes_what_its_page_says():
    """Against torch.nn.Sequential, layer by layer."""
    game = make_game("connect_four")
    settings = compose(["network=notebook"]).network
    network = make_network(game, settings)
    trunk = nn.Sequential(
        nn.Conv2d(1, 16, 2, bias=False), nn.Flatten(), nn.Linear(16 * 5 * 6, 32), nn.ReLU()
    )
    policy = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 7))
    value = nn.Sequential(nn.Linear(32, 8), nn.ReLU(), nn.Linear(8, 1), nn.Tanh())
    stacked = nn.ModuleList([trunk, policy, value])
    assert len(list(stacked.parameters())) == len(list(network.parameters()))
    stacked.load_state_dict(dict(zip(stacked.state_dict(), network.state_dict().values())))
    states = [game.play_moves(moves) for moves in ([], [3], [3, 3, 2, 4])]
    board = np.array([own(game, state) for state in states], np.float32)
    with torch.inference_mode():
        found = network(torch.from_numpy(game.observe(np.array(states))))
        features = trunk(torch.from_numpy(board)[:, None])
        torch.testing.assert_close(found.prior_logits, policy(features))
        torch.testing.assert_close(expected_value(found.value_logits)[:, None], value(features))


def own(game, state):
    """Return the board as the player to move sees it: 1 own, -1 the opponent's, 0 empty."""
    cells, player = game.cells(state), int(game.players(state[None])[0])
    return (cells == 1 + player).astype(int) - (cells == 2 - player)


@pytest.mark.parametrize(
    "settings",
    (
        dict(),
        dict(value_head="scalar"),
        dict(kernel_size=2),
        dict(blocks=0),
        dict(kind="tiny", kernel_size=2),
        dict(kind="notebook", kernel_size=2, value_head="scalar"),
    ),
)
def test_the_folded_copy_is_the_same_function_and_the_original_does_not_change(settings):
    game = make_game("connect_x:4x4x3")
    network = small_network(game, **settings)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    copy, planes = folded(network.train()), torch.from_numpy(planes_of(game, 20))
    with torch.inference_mode():
        for ours, theirs in zip(copy(planes), network.eval()(planes)):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in copy.modules())
    assert all(torch.equal(before[name], tensor) for name, tensor in network.state_dict().items())
    if not settings.get("kind"):
        assert any(isinstance(module, ConvNorm) for module in copy.modules())


def test_networks_have_float32_weights_whatever_torchs_default_is():
    game = make_game("tic_tac_toe")
    expected = make_network(game, NetworkSettings(), seed=1)
    torch.set_default_dtype(torch.float64)
    try:
        found = make_network(game, NetworkSettings(), seed=1)
    finally:
        torch.set_default_dtype(torch.float32)
    dtypes = {tensor.dtype for tensor in found.state_dict().values()}
    assert dtypes == {tensor.dtype for tensor in expected.state_dict().values()}


def test_a_seed_gives_the_same_weights_and_does_not_touch_torchs_generator():
    game = make_game("tic_tac_toe")
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    first, again, other = (
        make_network(game, NetworkSettings(**SMALL), seed).state_dict() for seed in (3, 3, 4)
    )
    assert torch.equal(torch.rand(3), expected)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["stem.conv.weight"], other["stem.conv.weight"])


def test_values_are_between_a_loss_and_a_win():
    logits = torch.tensor([[50.0, 0, 0], [0, 50, 0], [0, 0, 50], [0, 0, 0], [1, 2, 3]])
    values = expected_value(logits)
    p = torch.softmax(torch.tensor([1.0, 2, 3]), 0)
    torch.testing.assert_close(values, torch.tensor([1.0, 0, -1, 0, p[0] - p[2]]))
    extremes = 1e4 * torch.randn(1000, 3)
    assert expected_value(extremes).abs().max() <= 1
    scalar = expected_value(torch.tensor([[0.0], [1.0], [-1e4]]))
    torch.testing.assert_close(scalar, torch.tensor([0.0, 0.7615942, -1.0]))
    game = make_game("tic_tac_toe")
    for head in ("wdl", "scalar"):
        with torch.inference_mode():
            values = expected_value(
                small_network(game, value_head=head)(
                    torch.from_numpy(planes_of(game, 50))
                ).value_logits
            )
        assert values.shape == (50,) and values.abs().max() <= 1 and values.std() > 0


def test_the_tiny_network_stores_its_weights_only():
    network = make_network(make_game("connect_four"), NetworkSettings(kind="tiny"))
    assert list(network.state_dict()) == [name for name, _ in network.named_parameters()]
