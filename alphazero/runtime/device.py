"""Which processor torch computes on, and with how many threads."""

import os

import torch

from alphazero.runtime.errors import ConfigError

_ALLOWED = ["auto", "cpu", "cuda", "cuda:1"]


def choose_device(name: str) -> torch.device:
    """Return the torch device called ``name``; "auto" is the GPU if there is one, else the CPU.

    Raises:
        ConfigError: if this machine has no such device.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise ConfigError(
            f"device={name} is not a supported device; use auto, cpu, cuda or cuda:1.",
            key="device",
            value=name,
            allowed=_ALLOWED,
        )
    num_gpus = torch.cuda.device_count()
    if device.type == "cuda" and (device.index or 0) >= num_gpus:
        raise ConfigError(
            f"device={name} does not exist: torch finds {num_gpus} GPUs on this machine; "
            "use device=cpu or device=auto.",
            key="device",
            value=name,
            allowed=["auto", "cpu", *(f"cuda:{index}" for index in range(num_gpus))],
        )
    return device


def set_num_threads(num_threads: int) -> int:
    """Set the number of threads that torch uses.

    Args:
        num_threads: 0 is one for each core that this process may use.

    Returns:
        The number of threads set.
    """
    num_threads = num_threads or num_cores()
    torch.set_num_threads(num_threads)
    # Reading the number fixes it for this thread. A thread that has never read it would later take
    # over the number that another thread set for itself.
    torch.get_num_threads()
    return num_threads


def num_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
