"""The optimizers: which weights each one trains, their learning rates and their stored states.

If the settings choose Muon, `alphazero.learner.muon` trains the kernels of convolutions and torch's
AdamW all other weights; otherwise one of torch's optimizers trains all weights.
"""

import math

import numpy as np
import torch

from alphazero.learner.muon import Muon
from alphazero.learner.settings import LearnerSettings

#: What each optimizer stores per parameter: "step" counts steps, all others have its shape.
_NAMES: dict[type, set[str]] = {
    torch.optim.SGD: {"momentum_buffer"},
    torch.optim.Adam: {"step", "exp_avg", "exp_avg_sq"},
    torch.optim.AdamW: {"step", "exp_avg", "exp_avg_sq"},
    Muon: {"momentum"},
}


def make_optimizers(
    network: torch.nn.Module, settings: LearnerSettings
) -> dict[str, torch.optim.Optimizer]:
    """Make the optimizers for a network's trainable weights.

    Returns:
        {name: optimizer}: "optimizer" for all weights or, if the settings choose Muon and there are
        convolutions, "muon" for their kernels and "optimizer" for the rest.
    """
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    rate = settings.learning_rate
    decay = settings.weight_decay
    options = {"weight_decay": decay, "fused": True, "capturable": parameters[0].is_cuda}
    if settings.optimizer == "sgd":
        momentum = settings.momentum
        nesterov = momentum > 0
        sgd = torch.optim.SGD(parameters, rate, momentum, weight_decay=decay, nesterov=nesterov)
        return {"optimizer": sgd}
    if settings.optimizer == "adam":
        adam = torch.optim.Adam(parameters, rate, **options)
        return {"optimizer": adam}
    kernels = _kernels(network) if settings.optimizer == "muon" else []
    is_kernel = {id(kernel) for kernel in kernels}
    others = [parameter for parameter in parameters if id(parameter) not in is_kernel]
    adamw = torch.optim.AdamW(others, rate, **options)
    if not kernels:
        return {"optimizer": adamw}
    dtype = torch.bfloat16 if settings.precision == "bfloat16" else torch.float32
    muon = Muon(kernels, settings.muon_learning_rate, dtype=dtype)
    return {"optimizer": adamw, "muon": muon}


def learning_rate(settings: LearnerSettings, progress: float) -> float:
    """Return the learning rate at a given point of the run.

    The rate starts at ``settings.learning_rate``. With the schedule "cosine", it falls to
    ``settings.final_learning_rate`` along half a cosine wave; with "constant", it does not change.

    Args:
        settings: the learner's settings, with the rates and the schedule.
        progress: fraction of the run that is done; clipped to [0, 1].
    """
    first = settings.learning_rate
    last = settings.final_learning_rate
    progress = min(max(progress, 0.0), 1.0)
    if settings.schedule == "constant":
        return first
    return last + (first - last) * 0.5 * (1 + math.cos(math.pi * progress))


def set_learning_rate(
    optimizers: dict[str, torch.optim.Optimizer], settings: LearnerSettings, rate: float
) -> None:
    """Set the learning rate of every optimizer.

    Args:
        optimizers: the optimizers by name, from `make_optimizers`.
        settings: the learner's settings, with the first learning rate.
        rate: the new rate of optimizers that started with ``settings.learning_rate``. The rate of
            an optimizer that started with another rate (Muon) changes in the same proportion.
    """
    for optimizer in optimizers.values():
        ratio = 1.0
        if settings.learning_rate:
            ratio = optimizer.defaults["lr"] / settings.learning_rate
        for group in optimizer.param_groups:
            group["lr"] = rate * ratio


def optimizer_arrays(optimizer: torch.optim.Optimizer) -> dict:
    """Copy an optimizer's state to numpy arrays and numbers.

    The result is {parameter index as text: {name: value}}.
    """
    arrays: dict[str, dict] = {}
    for index, state in optimizer.state_dict()["state"].items():
        entry = {}
        for name, value in state.items():
            if torch.is_tensor(value):
                value = value.detach().cpu().numpy().copy()
            entry[name] = value
        arrays[str(index)] = entry
    return arrays


def load_optimizer(optimizer: torch.optim.Optimizer, arrays: dict) -> None:
    """Restore an optimizer's state from the result of `optimizer_arrays`.

    Args:
        optimizer: the new optimizer, for parameters of the same shapes.
        arrays: {parameter index: {name: value}}.

    Raises:
        ValueError: if the names, shapes or dtypes of the values do not fit the optimizer's
            parameters.
    """
    parameters = optimizer.param_groups[0]["params"]
    state: dict[int, dict] = {}
    for index, entry in arrays.items():
        shape = tuple(parameters[int(index)].shape)
        expected = {name: () if name == "step" else shape for name in _NAMES[type(optimizer)]}
        shapes = {name: np.shape(value) for name, value in entry.items()}
        are_numbers = all(np.asarray(value).dtype == np.float32 for value in entry.values())
        if shapes != expected or not are_numbers:
            raise ValueError(f"the optimizer's state {index} does not fit its weights")
        values = {}
        for name, value in entry.items():
            if isinstance(value, np.ndarray):
                value = torch.from_numpy(np.array(value))
            values[name] = value
        state[int(index)] = values
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def _kernels(network: torch.nn.Module) -> list[torch.nn.Parameter]:
    """Return the kernels of convolutions but for depthwise ones, which mix no channels."""
    convolutions = [part for part in network.modules() if isinstance(part, torch.nn.Conv2d)]
    return [convolution.weight for convolution in convolutions if convolution.groups == 1]
