"""Print what this machine is, what works on it, and what would make it faster: the text to paste
into a bug report. Engines evaluate two positions and extras are imported, so that what is listed as
working has been tried.

    alphazero doctor
    alphazero doctor device=cpu
"""

import contextlib
import dataclasses
import importlib
import io
import os
import platform
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from alphazero.config.settings import option
from alphazero.inference.engines.registry import ENGINES, EngineChoice, make_engine, precisions
from alphazero.network.interface import NetworkSettings
from alphazero.network.registry import make_network
from alphazero.own_games.registry import make_game
from alphazero.runtime.console import Console
from alphazero.runtime.device import choose_device, num_cores
from alphazero.runtime.jit import cache_directory, private_folder
from alphazero.runtime.own_code import reason_of
from alphazero.runtime.process import version_of
from alphazero.storage.run_folder import LIBRARIES

#: The modules that an extra of pyproject.toml installs.
EXTRAS = {
    "openvino": "openvino",
    "web": "starlette uvicorn",
    "plot": "matplotlib",
    "onnx": "onnx onnxruntime onnxscript",
    "pettingzoo": "pettingzoo pygame",
    "open_spiel": "pyspiel",
    "pgx": "jax pgx",
    "cluster": "ray",
    "cuda": "numba_cuda",
    "hub": "huggingface_hub",
    "mcp": "mcp",
    "notebook": "ipykernel nbclient",
}


@dataclasses.dataclass
class Settings:
    """Settings of the `doctor` command: the device to try."""

    device: str = option("auto", "auto, cpu, cuda, cuda:1 (the second GPU) or mps")


def run(settings: Settings, console: Console) -> None:
    """Print one line for each fact, then one for each thing that would make this machine faster.

    Raises:
        ConfigError: if this machine has no such device.
    """
    device = choose_device(settings.device)
    found = {}
    for name, text in _facts(device):
        found[name] = text
        console.print(f"{name:<20} {text}", markup=False)
    for advice in list(_advice(found, device)) or ["nothing else that is known here"]:
        console.print(f"{'faster with':<20} {advice}", markup=False)


def _facts(device: torch.device) -> Iterator[tuple[str, str]]:
    yield from ((name, version_of(name)) for name in LIBRARIES)
    yield "python", platform.python_version()
    yield "system", platform.platform()
    yield "processor", f"{processor_name()}, {torch.backends.cpu.get_cpu_capability()}"
    yield "cores", str(num_cores())
    if hasattr(os, "sysconf"):
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        yield "memory", f"{size / 2**30:.0f} GiB"
    gpu = f" ({torch.cuda.get_device_properties(device)})" if device.type == "cuda" else ""
    yield "device", f"{device}{gpu}"
    yield "kernels", _kernels()
    for engine in ENGINES:
        yield f"engine {engine}", _try_engine(engine, device)
    for extra, modules in EXTRAS.items():
        yield f"extra {extra}", _try_import(modules)


def processor_name() -> str:
    """Return the name of this machine's processor, or "unknown"."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text() if cpuinfo.exists() else ""
    named = re.search("model name.*: (.*)", text)
    return named[1] if named else platform.processor() or "unknown"


def _kernels() -> str:
    """Describe the cache of compiled kernels: its folder, and whether a game's rules are in it."""
    try:
        folder = private_folder(cache_directory())
    except OSError as error:
        return f"not kept ({error.filename}: {error.strerror}): set ALPHAZERO_CACHE_DIR"
    is_warm = any(folder.glob("batched_game.*.nbc"))
    return f"{'warm' if is_warm else 'cold'}: {folder}"


def _try_engine(engine: str, device: torch.device) -> str:
    """Evaluate two positions in each number format of an engine; return the formats that work."""
    game = make_game("tic_tac_toe")
    kind = "windows" if engine == "table" else "resnet"
    network = make_network(game, NetworkSettings(kind=kind, blocks=1, channels=8)).eval()
    planes = game.observe(game.initial_states(2))
    works = []
    for precision in precisions(engine, device):
        try:
            made = make_engine(EngineChoice(engine, precision), device, 1)
            made.load(network, planes)
            if all(np.isfinite(outputs).all() for outputs in made.evaluate(planes)):
                works.append(precision)
        except Exception as error:  # a library may raise anything
            works.append(f"{precision} fails: {reason_of(error)}")
    return ", ".join(works) or f"not on {device}, or not installed"


def _try_import(modules: str) -> str:
    """Import the modules of an extra, without what they print, and say whether that works."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            for name in modules.split():
                importlib.import_module(name)
    except ModuleNotFoundError as error:
        return f"{error.name} is not installed"
    except Exception as error:  # a library may raise anything
        return f"fails: {reason_of(error)}"
    return "works"


def _advice(found: dict[str, str], device: torch.device) -> Iterator[str]:
    if device.type == "cpu" and found["extra openvino"] != "works":
        yield 'pip install "alphazero-selfplay[openvino]": int8, about twice the speed on a CPU'
    if device.type == "cuda" and found["extra cuda"] != "works":
        yield 'pip install "alphazero-selfplay[cuda]": trees of self-play on the GPU, too'
    if not torch.cuda.is_available() and shutil.which("nvidia-smi"):
        yield "a torch for your NVIDIA GPU: the one installed does not find it"
