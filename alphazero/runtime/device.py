"""Choose the device on which torch computes, and torch's number of CPU threads.

Training on the GPU of an Apple computer ("mps") is untested; "auto" chooses this GPU only if it
computes a convolution and its gradient without an error.
"""

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path

import torch

from alphazero.runtime.errors import ConfigError

_ROOT = Path("/")
_ALLOWED = ["auto", "cpu", "cuda", "cuda:1", "mps"]


def choose_device(name: str) -> torch.device:
    """Return the torch device called ``name``; "auto" selects a GPU if there is one, else the CPU.

    Args:
        name: "auto", "cpu", "cuda", "cuda:1" (the second GPU) or "mps" (an Apple GPU).

    Raises:
        ConfigError: if the name is not one of these, or this machine has no such device.
    """
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if _apple_gpu_works() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda", "mps"):
        raise ConfigError.of("device", name, _ALLOWED)
    if device.type == "mps" and not _apple_gpu_works():
        reason = "the GPU of an Apple computer does not work on this machine"
        raise ConfigError.of("device", name, ["auto", "cpu"], reason)
    num_gpus = torch.cuda.device_count()
    if device.type == "cuda" and (device.index or 0) >= num_gpus:
        allowed = ["auto", "cpu", *(f"cuda:{index}" for index in range(num_gpus))]
        reason = f"torch finds {num_gpus} GPUs on this machine"
        raise ConfigError.of("device", name, allowed, reason)
    return device


def _apple_gpu_works() -> bool:
    """Return whether this machine has an Apple GPU that computes a convolution and its gradient."""
    if not torch.backends.mps.is_available():
        return False
    try:
        planes = torch.ones((2, 3, 8, 8), device="mps")
        layer = torch.nn.Conv2d(3, 4, 3, padding=1).to("mps")
        layer(planes).square().mean().backward()
        return bool(torch.isfinite(layer.weight.grad).all())
    except RuntimeError:
        return False


def has_bfloat16(device: torch.device) -> bool:
    """Return whether a device computes bfloat16 in hardware, and so faster than float32."""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    if device.type != "cpu":
        return False
    # These queries are private, and older versions of torch lack them.
    queries = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name, bool)() for name in queries)


def set_num_threads(num_threads: int) -> int:
    """Set the number of CPU threads that torch uses for one operation.

    Args:
        num_threads: the number to set; 0 means one thread for each core that this process may use.

    Returns:
        The number of threads that was set.
    """
    num_threads = num_threads or num_cores()
    torch.set_num_threads(num_threads)
    # Reading the number fixes it for this thread. Otherwise this thread would later adopt a number
    # that another thread sets for itself.
    torch.get_num_threads()
    return num_threads


@contextlib.contextmanager
def torch_threads(num_threads: int) -> Iterator[None]:
    """Set torch's number of CPU threads within a ``with`` block, and restore it afterwards.

    Args:
        num_threads: number of threads within the block.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(num_threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def num_cores() -> int:
    """Return the number of CPU cores that this process may use at a time, rounded up."""
    has_affinity = hasattr(os, "sched_getaffinity")
    allowed = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return min([allowed, *map(math.ceil, _quotas())])


def _quotas() -> Iterator[float]:
    """Yield the limits on CPU time, in cores, that Linux's control groups set for this process.

    Containers and batch systems set them. A group is also bound by those that contain it. Where a
    container sees its group's path on the host instead of its own, its group is the topmost one.
    """
    memberships = _ROOT / "proc/self/cgroup"
    lines = memberships.read_text().splitlines() if memberships.exists() else []
    for line in lines:
        _, controllers, path = line.split(":", 2)  # version 2 has no controllers here
        names = ("cpu.cfs_quota_us", "cpu.cfs_period_us") if controllers else ("cpu.max",)
        group = _ROOT / "sys/fs/cgroup" / controllers / path.strip("/")
        for folder in (group, *group.parents):
            with contextlib.suppress(OSError, ValueError):  # no such file, or no limit: "max"
                texts = [(folder / name).read_text() for name in names]
                quota, period = map(int, " ".join(texts).split())
                if quota > 0:
                    yield quota / period
