"""Makes engines by name, and chooses the fastest engine and its fallbacks.

To add an engine, write a module NAME_engine.py in this package with a subclass of `Engine` and two
functions: `make`, with the parameters of `make_engine`, and `precisions`, which
takes a device and includes "float32". Add the name to `ENGINES`, and any new number format to
`PRECISIONS` and to the order in `preferred_engine`. A module is imported only when its engine is
requested, because torch and OpenVINO take seconds to import.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from alphazero.inference.evaluator import Engine
from alphazero.network.window_states import LOOKED_UP
from alphazero.runtime.errors import ConfigError

if TYPE_CHECKING:
    import torch


ENGINES = ("torch", "openvino", "table")  #: the module of each is NAME_engine.py in this package
PRECISIONS = ("float32", "bfloat16", "int8")


class EngineChoice(NamedTuple):
    """The name of an engine and the number format it uses, such as OpenVINO in int8."""

    engine: str  #: one of `ENGINES`
    precision: str  #: one of `PRECISIONS`

    def __str__(self) -> str:
        return f"{self.engine} {self.precision}"

    def device_for(self, device: torch.device) -> torch.device:
        """Return the device on which the engine evaluates in a run on ``device``.

        Tables are looked up on the CPU, also if the network learns on a GPU.
        """
        import torch

        return device if self.engine != "table" else torch.device("cpu")


REFERENCE = EngineChoice("torch", "float32")


def make_engine(choice: EngineChoice, device: torch.device, num_threads: int) -> Engine:
    """Make an engine without a network; load one into it with `Engine.load`.

    Args:
        choice: the engine and its number format.
        device: the torch device that evaluates.
        num_threads: maximum number of concurrent calls of `evaluate` on a CPU.

    Raises:
        ConfigError: if there is no such engine, or it does not run on this machine.
    """
    return _module(choice.engine).make(choice, device, num_threads)


def precisions(engine: str, device: torch.device) -> list[str]:
    """Return the number formats in which an engine is fast on a device.

    Args:
        engine: name of the engine, one of `ENGINES`.
        device: the torch device that evaluates.

    Returns:
        Some of "float32", "bfloat16" and "int8"; [] if the engine cannot run on the device.

    Raises:
        ConfigError: if there is no such engine.
    """
    return _module(engine).precisions(device)


def preferred_engine(
    wanted: EngineChoice, device: torch.device, network_kind: str = ""
) -> EngineChoice:
    """Replace "auto" in the user's choice of engine and precision by the first available one.

    Tables are the fastest for the networks that have them. For other networks on a CPU, OpenVINO is
    faster than torch, and int8 is faster than bfloat16 and float32, for all but tiny networks; see
    `docs/performance.md`. An engine or precision that the user names is kept even if this machine
    lacks it; the error from `make_engine` then says what is missing.

    Args:
        wanted: the user's choice, in which either field may be "auto".
        device: the torch device that evaluates.
        network_kind: `alphazero.network.interface.NetworkSettings.kind`.

    Raises:
        ConfigError: if there is no engine with the given name.
    """
    engines = ("openvino", "torch") if wanted.engine == "auto" else (wanted.engine,)
    if wanted.engine == "auto" and network_kind in LOOKED_UP:
        engines = ("table", *engines)
    for engine in engines:
        available = precisions(engine, device)
        for precision in ("int8", "bfloat16", "float32"):
            if precision in available and wanted.precision in ("auto", precision):
                return EngineChoice(engine, precision)
    return EngineChoice(engine, "float32" if wanted.precision == "auto" else wanted.precision)


def fallbacks(choice: EngineChoice, device: torch.device) -> list[EngineChoice]:
    """Return ``choice``, followed by the engines to try in turn if its outputs are inaccurate.

    Each is at least as precise as the one before; the last one is the reference, torch in float32.

    Args:
        choice: the preferred engine and number format.
        device: the torch device that evaluates.
    """
    order = [choice]
    if choice.precision == "int8" and "bfloat16" in precisions(choice.engine, device):
        order.append(choice._replace(precision="bfloat16"))  # some processors have only int8
    order += [choice._replace(precision="float32"), REFERENCE]
    return list(dict.fromkeys(order))


def _module(engine: str) -> ModuleType:
    if engine not in ENGINES:
        raise ConfigError.of("engine", engine, ENGINES)
    return importlib.import_module(f"{__package__}.{engine}_engine")
