"""Makes networks by name: those of this package and those that users define.

A network maps planes, from the viewpoint of the player to move, to one logit per action and the
logits of the value head. It is a pure function of tensors: masking, softmax and device placement
are left to the caller. To add a network to this package, write a module with its class and add a
line to `_KINDS`. A network defined by a user is named as ``module:Class``, or by an entry point of
the group `alphazero.networks`; it must implement `alphazero.network.interface`.

This package has five architectures: the residual tower of AlphaZero (Silver et al. 2018,
supplement, "Representation" and "Architecture") in sizes that fit a laptop, a network of windows
and one of line patterns, which play by looking up tables, a tiny network, and the network of the
notebook in docs/notebooks.md.
"""

from typing import Any

import torch
from torch import nn
from torch.random import fork_rng, manual_seed

from alphazero.games.batched_game import Game
from alphazero.network.interface import NetworkOutput, NetworkSettings
from alphazero.network.patterns import PatternNetwork
from alphazero.network.residual import ResidualNetwork
from alphazero.network.small import NotebookNetwork, TinyNetwork
from alphazero.network.windows import WindowNetwork
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.own_code import NETWORKS, announced, is_module_name, load_own, reason_of

_KINDS: dict[str, Any] = {
    "resnet": ResidualNetwork,
    "tiny": TinyNetwork,
    "notebook": NotebookNetwork,
    "patterns": PatternNetwork,
    "windows": WindowNetwork,
}
_KEY = "network.kind"


def make_network(game: Game, settings: NetworkSettings, seed: int = 0) -> nn.Module:
    """Make a network with random weights, on the CPU and in training mode.

    A user-defined network is tested on two positions, and rejected if its output is not as
    `alphazero.network.interface` requires.

    Args:
        game: determines the shapes of the input and the policy.
        settings: ``settings.kind`` chooses the architecture, the other fields its size and value
            head.
        seed: determines the weights; the state of torch's global generator is left unchanged.

    Raises:
        ConfigError: if ``settings.kind`` names no network, or a user-defined network cannot be made
            or has outputs of the wrong type or shape, or that are not finite.
    """
    made_by = _class_of(settings.kind)
    arguments = game.planes_shape, game.num_actions, settings
    with fork_rng(devices=[]):
        manual_seed(seed)
        if made_by in (WindowNetwork, PatternNetwork):
            return made_by(*arguments, len(game.cell_symmetries)).float()
        if settings.kind in _KINDS:
            # A notebook may have changed torch's default number format.
            return made_by(*arguments).float()
        return _own_network(made_by, *arguments)


def check_settings(game: Game, settings: NetworkSettings) -> None:
    """Check that the network's architecture exists and that its settings suit a game.

    Args:
        game: the game to play.
        settings: the settings to check.

    Raises:
        ConfigError: if there is no such architecture, or a setting does not suit the game; the
            error names the setting.
    """
    made_by = _class_of(settings.kind)
    if settings.kind in _KINDS and settings.options:
        reason = f"the {settings.kind} network takes no options; its settings are separate keys"
        raise ConfigError.of("network.options", settings.options, reason=reason)
    if hasattr(made_by, "check_settings"):
        made_by.check_settings(game.planes_shape, game.num_actions, settings)


def check_stored_kind(kind: str, source: str, named: str | None, key: str = "network_kind") -> None:
    """Reject a stored network whose class, a ``module:Class``, the user has not named as well.

    People exchange stored files, so a file alone must not cause a module to be imported (see
    `alphazero.own_games.registry.make_stored_game`). Networks from this package and from entry
    points need no permission.

    Args:
        kind: the stored file's `NetworkSettings.kind`.
        source: describes the stored file in the error message, such as "the network
            'x.safetensors'".
        named: the class that the user has named, as ``module:Class``; None if the user has named
            none.
        key: the setting with which the user names the class.

    Raises:
        ConfigError: if the network needs a ``module:Class`` and ``named`` is not that class.
    """
    if is_module_name(kind) and named != kind:
        message = f"{source} is of the network class '{kind}'. A stored file never runs a program "
        message += f"by itself: if you trust that class, name it with {key}={kind}."
        raise ConfigError(message, key=key, value=named, allowed=kind)


def is_own_kind(kind: str) -> bool:
    """Return whether ``kind`` names a network that is defined outside this package.

    Args:
        kind: a built-in name, ``module:Class``, or the name of an entry point.
    """
    return is_module_name(kind) or kind not in _KINDS and kind in announced(NETWORKS)


def _class_of(kind: str) -> Any:
    return _KINDS.get(kind) or load_own(kind, NETWORKS, _KEY, tuple(_KINDS))


def _own_network(
    made_by: Any, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
) -> nn.Module:
    """Make a user-defined network, and check its output for two positions of all-zero planes.

    Args:
        made_by: the network's class, or a function that returns the network.
        settings: the network's settings, passed to ``made_by``.

    Raises:
        ConfigError: if making or calling the network raises an error, or its output has the wrong
            type or shape or is not finite.
    """
    planes = torch.zeros(2, *planes_shape).contiguous(memory_format=torch.channels_last)
    try:
        network = made_by(planes_shape, num_actions, settings, **(settings.options or {}))
        with torch.inference_mode():
            output = network.eval()(planes)
    except Exception as error:  # the user's code may raise anything
        raise ConfigError.of(_KEY, settings.kind, reason=reason_of(error)) from error
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
