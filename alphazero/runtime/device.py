"""Which processor torch computes on, and with how many threads."""

import os

import torch

from alphazero.runtime.errors import ConfigError


def choose_device(name: str) -> torch.device:
    """Return the torch device called ``name``; "auto" is the GPU when there is one.

    Raises:
        ConfigError: if there is no such device on this machine.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(
            f"device={name} is not a device; use auto, cpu, cuda or cuda:1."
        ) from None
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ConfigError(
            f"device={name} is not on this machine: torch sees {torch.cuda.device_count()} GPUs here; use device=cpu or device=auto."
        )
    if device.type not in ("cpu", "cuda"):
        raise ConfigError(f"device={name} is not supported; use auto, cpu, cuda or cuda:1.")
    return device


def set_num_threads(num_threads: int) -> int:
    """Let torch use this many threads, 0 for all the cores that this process may use; return how many that is."""
    num_threads = num_threads or num_cores()
    torch.set_num_threads(num_threads)
    torch.get_num_threads()  # a thread that has not asked yet would later take over what another one set for itself
    return num_threads


def num_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
