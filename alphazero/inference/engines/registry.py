"""The engines by name, their number formats on this machine, and the function that makes one.

To add an engine, write a module with a class that implements `Engine` and the two functions of
`EngineModule`; add its name to `ENGINES`, and any new number format to `PRECISIONS`. A module is
imported when its engine is requested, because torch and OpenVINO take seconds to import.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

from alphazero.inference.engines.engine import Engine, EngineChoice
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.own_code import reason_of

if TYPE_CHECKING:
    import torch


class EngineModule(Protocol):
    """The functions that an engine's module defines."""

    def make(self, choice: EngineChoice, device: torch.device, num_threads: int) -> Engine:
        """Make an engine, which has no network yet.

        Raises:
            ConfigError: if the engine does not run on this machine.
        """
        ...

    def precisions(self, device: torch.device) -> list[str]:
        """Return the number formats that the engine supports on a device; [] if none."""
        ...


ENGINES = ("torch", "openvino")  #: the module of each is NAME_engine.py in this package
PRECISIONS = ("float32", "bfloat16", "int8")


def make_engine(choice: EngineChoice, device: torch.device, num_threads: int) -> Engine:
    """Make an engine, which has no network yet; call its `load` next.

    Args:
        device: torch device.
        num_threads: number of concurrent calls of `evaluate` on a CPU.

    Raises:
        ConfigError: if there is no such engine, or it does not run on this machine.
    """
    return _module(choice.engine).make(choice, device, num_threads)


def load_checked(
    engine: Engine, choice: EngineChoice, network: torch.nn.Module, planes: Any
) -> None:
    """Load a network into an engine, and evaluate two positions as a test.

    It fails if a user's network has operations or types that the engine does not support.

    Args:
        planes: float32[M, C, H, W], see `Engine.load`.

    Raises:
        ConfigError: if the engine cannot run this network.
    """
    try:
        engine.load(network, planes)
        engine.evaluate(planes[:2])
    except ConfigError:
        raise
    except Exception as error:  # engines raise many types, few of them public
        reason = f"it cannot run this network with {choice.precision} ({reason_of(error)[:300]})"
        allowed = [name for name in ("auto", "torch") if name != choice.engine]
        raise ConfigError.of("engine", choice.engine, allowed, reason) from error


def precisions(engine: str, device: torch.device) -> list[str]:
    """Return the number formats that an engine supports on a device of this machine; [] if none.

    Raises:
        ConfigError: if there is no such engine.
    """
    return _module(engine).precisions(device)


def _module(engine: str) -> EngineModule:
    if engine not in ENGINES:
        raise ConfigError.of("engine", engine, ENGINES)
    return importlib.import_module(f"{__package__}.{engine}_engine")
