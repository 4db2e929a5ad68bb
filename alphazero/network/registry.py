"""The networks by name, and the function that makes one.

A network maps planes, from the viewpoint of the player to move, to one logit per action and the
logits of the value head. It is a pure function of tensors: masking, softmax and devices are left to
the caller. To add one to this package, write a module with its class and add a line to `_KINDS`. A
user's own network is named ``module:Class``, or by an entry point of the group
`alphazero.networks`; it must implement `alphazero.network.interface`.

This package has three architectures: the residual tower of AlphaZero (Silver et al. 2018,
supplement, "Representation" and "Architecture") in sizes that fit a laptop, a tiny network, and the
network of the published notebook (docs/notebooks.md).
"""

from typing import Any

import torch
from torch import nn
from torch.random import fork_rng, manual_seed

from alphazero.network.interface import NetworkOutput, NetworkSettings
from alphazero.network.residual import ResidualNetwork
from alphazero.network.small import NotebookNetwork, TinyNetwork
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.own_code import NETWORKS, announced, is_module_name, load_own, reason_of

_KINDS: dict[str, Any] = {
    "resnet": ResidualNetwork,
    "tiny": TinyNetwork,
    "notebook": NotebookNetwork,
}
_KEY = "network.kind"


def make_network(
    planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings, seed: int = 0
) -> nn.Module:
    """Make a network with random weights, on the CPU.

    A user's own network is tested on two positions, and refused if its output does not conform to
    `alphazero.network.interface`.

    Args:
        planes_shape: (C, H, W), the shape of the game's input planes.
        num_actions: A, the number of policy logits.
        seed: determines the weights; the state of torch's global generator is left unchanged.

    Raises:
        ConfigError: if there is no such network, it cannot be made, or its outputs are wrong.
    """
    made_by = _class_of(settings.kind)
    with fork_rng(devices=[]):
        manual_seed(seed)
        if settings.kind in _KINDS:
            return made_by(planes_shape, num_actions, settings)
        return _own_network(made_by, planes_shape, num_actions, settings)


def check_settings(planes_shape: tuple[int, int, int], settings: NetworkSettings) -> None:
    """Check that the network's architecture exists, and that its settings suit a game.

    Raises:
        ConfigError: if a setting does not; it names the setting.
    """
    made_by = _class_of(settings.kind)
    if settings.kind in _KINDS and settings.options:
        reason = f"the {settings.kind} network takes no options; its settings are separate keys"
        raise ConfigError.of("network.options", settings.options, reason=reason)
    if hasattr(made_by, "check_settings"):
        made_by.check_settings(planes_shape, settings)


def check_stored_kind(kind: str, source: str, named: str | None, key: str = "network_kind") -> None:
    """Refuse the class ``module:Class`` of a stored network unless the user names it as well.

    People exchange stored files, so a file alone must not cause a module to be imported (see
    `alphazero.own_games.registry.make_stored_game`). Networks from this package and from entry
    points need no permission.

    Args:
        kind: `NetworkSettings.kind` in the stored file.
        source: the stored file as messages name it, such as "the network 'x.safetensors'".
        named: the class that the user names, or None.
        key: the setting by which the user names it.

    Raises:
        ConfigError: if the user does not name the class.
    """
    if is_module_name(kind) and named != kind:
        message = f"{source} is of the network class '{kind}'. A stored file never runs a program "
        message += f"by itself: if you trust that class, name it with {key}={kind}."
        raise ConfigError(message, key=key, value=named, allowed=kind)


def is_own_kind(kind: str) -> bool:
    """Return whether ``kind`` names a network from outside this package."""
    return is_module_name(kind) or kind not in _KINDS and kind in announced(NETWORKS)


def _class_of(kind: str) -> Any:
    return _KINDS.get(kind) or load_own(kind, NETWORKS, _KEY, tuple(_KINDS))


def _own_network(
    made_by: Any, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
) -> nn.Module:
    """Make a user's own network, and check its output for two empty positions."""
    planes = torch.zeros(2, *planes_shape).contiguous(memory_format=torch.channels_last)
    try:
        network = made_by(planes_shape, num_actions, settings, **(settings.options or {}))
        with torch.inference_mode():
            output = network.eval()(planes)
    except Exception as error:  # the user's code may raise anything
        raise ConfigError.of(_KEY, settings.kind, reason=reason_of(error)) from error
    if not isinstance(network, nn.Module):
        raise ConfigError.of(_KEY, settings.kind, "a class of torch.nn.Module")
    if not isinstance(output, NetworkOutput):
        reason = f"its forward returns {type(output).__name__}"
        allowed = "NetworkOutput(prior_logits, value_logits)"
        raise ConfigError.of(_KEY, settings.kind, allowed, reason)
    logits = tuple(output.prior_logits.shape)
    values = tuple(output.value_logits.shape)
    if logits != (2, num_actions) or values not in ((2, 1), (2, 3)):
        reason = f"for two positions, the shapes of its outputs are {logits} and {values}"
        allowed = f"(2, {num_actions}) for the policy, (2, 3) or (2, 1) for the value"
        raise ConfigError.of(_KEY, settings.kind, allowed, reason)
    if not all(torch.isfinite(tensor).all() for tensor in output):
        raise ConfigError.of(_KEY, settings.kind, reason="its outputs are not finite")
    return network.train()
