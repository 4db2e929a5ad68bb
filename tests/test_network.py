"""The network and its evaluator: shapes, folding, seeds, values in range, padding, number formats."""

import numpy as np
import pytest
import torch
from naive_mcts import HashEvaluator

from alphazero.cli.train import compose, groups
from alphazero.config import ConfigError
from alphazero.evaluator import UniformEvaluator
from alphazero.games import make_game
from alphazero.network import ConvNorm, NetworkSettings, expected_value, folded, make_network
from alphazero.torch_evaluator import TorchEvaluator, _padded_size, choose_device, choose_precision

SMALL = dict(blocks=2, channels=8, head_channels=3, value_units=8)


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def planes_of(game, num_rows, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (num_rows, *game.planes_shape)).astype(np.float32)


def small_network(game, seed=0, trained=True, **settings):
    """Return a network whose normalisations have seen something, as if trained."""
    network = make_network(game.planes_shape, game.num_actions, NetworkSettings(**(SMALL | settings)), seed)
    if trained:
        generator = torch.Generator().manual_seed(seed)
        for module in network.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.running_mean.copy_(torch.randn(module.num_features, generator=generator))
                module.running_var.copy_(torch.rand(module.num_features, generator=generator) + 0.3)
                module.weight.data.copy_(torch.randn(module.num_features, generator=generator))
                module.bias.data.copy_(torch.randn(module.num_features, generator=generator))
    return network.eval()


@pytest.mark.parametrize("choice", groups()["network"])
def test_every_network_of_the_configs_fits_every_game(choice):
    settings = compose([f"network={choice}"]).network
    for name in ("tic_tac_toe", "connect_x:5x4x3"):
        game = make_game(name)
        network = make_network(game.planes_shape, game.num_actions, settings).eval()
        with torch.inference_mode():
            output = network(torch.from_numpy(planes_of(game, 3)))
        assert output.prior_logits.shape == (3, game.num_actions)
        assert output.value_logits.shape == (3, 3 if settings.value_head == "wdl" else 1)
    if settings.kind == "resnet":
        blocks, channels = map(int, choice.split("x"))
        assert (len(network.tower), network.stem.conv.out_channels) == (blocks, channels)


def test_the_tiny_network_is_the_published_one():
    game = make_game("connect_four")
    network = make_network(game.planes_shape, game.num_actions, compose(["network=tiny"]).network)
    shapes = {name: tuple(weights.shape) for name, weights in network.named_parameters() if name.endswith("weight")}
    assert shapes == {"conv.weight": (16, 2, 2, 2), "shared.weight": (32, 16 * 5 * 6), "policy.weight": (7, 32), "value.weight": (1, 32)}


@pytest.mark.parametrize("settings", (dict(), dict(value_head="scalar"), dict(kernel_size=2), dict(blocks=0), dict(kind="tiny", kernel_size=2)))
def test_the_folded_copy_is_the_same_function_and_leaves_the_original_alone(settings):
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


def test_the_same_seed_gives_the_same_weights_and_leaves_torchs_generator_alone():
    game = make_game("tic_tac_toe")
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    first, again, other = (make_network(game.planes_shape, 9, NetworkSettings(**SMALL), seed).state_dict() for seed in (3, 3, 4))
    assert torch.equal(torch.rand(3), expected)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["stem.conv.weight"], other["stem.conv.weight"])


def test_values_lie_between_a_loss_and_a_win():
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
        _, values = TorchEvaluator(small_network(game, value_head=head)).evaluate(planes_of(game, 50))
        assert (np.abs(values) <= 1).all() and values.std() > 0


# --- evaluator --------------------------------------------------------------------------------------------------------------------------


def test_padding_runs_few_sizes_and_room_for_every_row():
    sizes = [_padded_size(rows) for rows in range(1, 300)]
    assert all(size >= rows for rows, size in enumerate(sizes, 1))
    assert len(set(sizes)) == 6 + 9
    assert sizes[0] == 1 and sizes[31] == 32 and sizes[32] == 64 and sizes[255] == 256


def test_answers_do_not_depend_on_the_batch_or_its_padding():
    game = make_game("connect_x:4x4x3")
    network, planes = small_network(game), planes_of(game, 70)
    evaluator = TorchEvaluator(network)
    logits, values = evaluator.evaluate(planes)
    assert logits.shape == (70, 4) and values.shape == (70,)
    assert logits.dtype == values.dtype == np.float32
    for rows in (1, 2, 3, 5, 31, 33, 64):
        part = evaluator.evaluate(planes[:rows])
        np.testing.assert_allclose(part[0], logits[:rows], atol=1e-4)
        np.testing.assert_allclose(part[1], values[:rows], atol=1e-4)
    with torch.inference_mode():
        output = network(torch.from_numpy(planes))
    np.testing.assert_allclose(logits, output.prior_logits.numpy(), atol=1e-4)
    np.testing.assert_allclose(values, expected_value(output.value_logits).numpy(), atol=1e-4)


def test_a_batch_that_is_cut_for_several_threads_has_the_same_answers_in_the_same_order():
    game = make_game("connect_x:4x4x3")
    network, planes = small_network(game), planes_of(game, 70)
    logits, values = TorchEvaluator(network).evaluate(planes)
    torch.set_num_threads(3)
    cut = TorchEvaluator(network)
    for rows in (1, 20, 47, 70):
        part = cut.evaluate(planes[:rows])
        assert part[0].shape == (rows, 4) and part[1].shape == (rows,)
        np.testing.assert_allclose(part[0], logits[:rows], atol=1e-4)
        np.testing.assert_allclose(part[1], values[:rows], atol=1e-4)


def test_bfloat16_is_close_to_float32():
    game = make_game("connect_four")
    network, planes = small_network(game, trained=False), planes_of(game, 64)
    exact, rounded = (TorchEvaluator(network, precision).evaluate(planes) for precision in ("float32", "bfloat16"))
    assert not np.array_equal(exact[0], rounded[0])
    for ours, theirs in zip(rounded, exact):
        assert ours.dtype == np.float32
        # a bfloat16 has 8 bits: each of about 8 layers adds a relative error of 2 ** -8 or so
        np.testing.assert_allclose(ours, theirs, atol=8 * 2**-8 * np.abs(theirs).max())


def test_an_evaluator_has_the_weights_of_its_last_update():
    game = make_game("tic_tac_toe")
    network, planes = small_network(game), planes_of(game, 5)
    evaluator = TorchEvaluator(network)
    before, _ = evaluator.evaluate(planes)
    with torch.no_grad():
        network.policy.bias += 1.0
    assert np.array_equal(evaluator.evaluate(planes)[0], before)
    evaluator.update(network)
    np.testing.assert_allclose(evaluator.evaluate(planes)[0], before + 1, atol=1e-5)
    assert not any(weights.requires_grad for weights in evaluator._network.parameters())
    assert all(weights.requires_grad for weights in network.parameters())


def test_the_precision_that_is_measured_is_one_of_the_two():
    game = make_game("tic_tac_toe")
    assert choose_precision(small_network(game), game.planes_shape, torch.device("cpu"), 4) in ("float32", "bfloat16")


@pytest.mark.parametrize("name", ("quick", "cuda:99", "meta"))
def test_a_device_that_is_not_there_is_refused_in_a_sentence(name):
    with pytest.raises(ConfigError, match=f"device={name} .*use (auto|device=cpu)"):
        choose_device(name)
    assert choose_device("cpu").type == "cpu"


@pytest.mark.parametrize("make", (UniformEvaluator, HashEvaluator, lambda num: TorchEvaluator(small_network(make_game("tic_tac_toe")))))
def test_evaluators_keep_the_laws_of_their_protocol(make):
    planes = planes_of(make_game("tic_tac_toe"), 40)
    evaluator = make(9)
    logits, values = evaluator.evaluate(planes)
    assert logits.shape == (40, 9) and values.shape == (40,)
    assert logits.dtype == values.dtype == np.float32
    assert np.isfinite(logits).all() and (np.abs(values) <= 1).all()
    order = np.random.default_rng(0).permutation(40)
    shuffled = evaluator.evaluate(planes[order])
    np.testing.assert_allclose(shuffled[0], logits[order], atol=1e-5)
    np.testing.assert_allclose(shuffled[1], values[order], atol=1e-5)
