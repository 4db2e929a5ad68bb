"""The small networks that the tests run, and inputs for them."""

import numpy as np
import torch

from alphazero.network.interface import NetworkSettings
from alphazero.network.registry import make_network

SMALL = dict(blocks=2, channels=8, head_channels=3, value_units=8)


def planes_of(game, num_rows, seed=0):
    """Return random zeros and ones, float32[num_rows, C, H, W]."""
    return (
        np.random.default_rng(seed)
        .integers(0, 2, (num_rows, *game.planes_shape))
        .astype(np.float32)
    )


def random_pieces(game, num_rows):
    """Return planes of boards whose cells are empty, own or the opponent's, at random."""
    _, height, width = game.planes_shape
    cells = np.random.default_rng(0).integers(0, 3, (num_rows, height, width))
    planes = np.zeros((num_rows, *game.planes_shape), np.float32)
    planes[:, 0], planes[:, 1] = cells == 1, cells == 2
    return planes


def small_network(game, seed=0, trained=True, **settings):
    """Return a network whose normalizations have seen something, as if trained."""
    network = make_network(game, NetworkSettings(**(SMALL | settings)), seed)
    if trained:
        generator = torch.Generator().manual_seed(seed)
        for module in network.modules():
            if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
                module.running_mean.copy_(torch.randn(module.num_features, generator=generator))
                module.running_var.copy_(torch.rand(module.num_features, generator=generator) + 0.3)
                module.weight.data.copy_(torch.randn(module.num_features, generator=generator))
                module.bias.data.copy_(torch.randn(module.num_features, generator=generator))
    return network.eval()


def table_network(kind, game, planes, **settings):
    """Return a network whose answers on ``planes`` differ widely and whose mean logits are 0.

    Its kind is one that the engine ``table`` plays: windows or patterns.
    """
    network = small_network(game, kind=kind, shared_units=40, **settings)
    seeded = torch.Generator().manual_seed(0)
    for weights in network.parameters():
        weights.data += 0.35 * torch.randn(weights.shape, generator=seeded)
    with torch.inference_mode():
        output = network(torch.from_numpy(planes))
    with torch.no_grad():
        for layer, logits in zip((network.policy, network.value), output):
            spread = logits.std(dim=0).mean()
            mean = logits.mean(dim=0) if len(layer.bias) == logits.shape[1] else logits.mean()
            layer.bias.copy_((layer.bias - mean) / spread)
            layer.weight /= spread
        if kind == "windows" and network.pass_logit is not None:
            network.pass_logit.weight /= 100
    return network
