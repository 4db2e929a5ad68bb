"""List the modules that `alphazero train` passes on its way to the first compiled functions.

    python scripts/path_to_first_kernel.py game=connect_four
    python scripts/path_to_first_kernel.py game=examples/breakthrough_python.py

A module counts once a function or method that is written in it runs; imports and the constructors
that `dataclass` and `NamedTuple` generate do not count. A climb is a call into a module that has
been entered before; the calls of one function into one module count once. The numbers are printed
at the first kernel, and at the first that self-play calls, where the path ends. Kernels run as
plain Python, so that the path can be followed into them.
"""

import os
import sys
import tempfile
import threading
from types import CodeType, FrameType
from typing import Any

os.environ["NUMBA_DISABLE_JIT"] = "1"

import numba

from alphazero import cli

_TINY = (
    "run.num_iterations=1 run.num_threads=1 device=cpu selfplay.num_parallel_games=1 "
    "selfplay.games_per_iteration=2 selfplay.num_simulations=2 workers.kind=threads "
    "evaluation.num_games=0 evaluation.final_num_games=0"
)
_KERNELS: set[CodeType] = set()


def main(overrides: list[str]) -> int:
    """Train with the given settings until the first kernel of self-play, and print the path."""
    _note_kernels()
    path = _Path()
    threading.setprofile(path.follow)
    sys.setprofile(path.follow)
    with tempfile.TemporaryDirectory() as folder:
        cli.main(["train", *_TINY.split(), f"run.root={folder}", *overrides])
        sys.setprofile(None)
    return 1  # self-play has called no kernel


def _note_kernels() -> None:
    """Make `numba.njit` collect the code of all functions that are compiled with it."""
    compile_with = numba.njit

    def njit(*functions: Any, **options: Any) -> Any:
        _KERNELS.update(function.__code__ for function in functions)
        made = compile_with(*functions, **options)
        return made if functions else lambda function: njit(function, **options)

    numba.njit = njit


class _Path:
    """Follows the calls between modules of the package, and prints them."""

    def __init__(self) -> None:
        self._entered: set[str] = set()
        self._calls: set[tuple[tuple[str, str], str]] = set()  # (function, module that it calls)
        self._num_climbs = 0
        self._has_kernel = False

    def follow(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call; this is the function that `sys.setprofile` takes."""
        code = frame.f_code
        if event != "call" or not _is_ours(frame) or "<" in code.co_filename:
            return
        functions = _functions(frame)
        if any(name == "<module>" for _, name in functions):  # an import
            return
        (module, name), *callers = functions
        call = callers[0] if callers else ("", "the command"), module
        if module != call[0][0] and call not in self._calls:
            self._calls.add(call)
            is_climb = module in self._entered
            self._num_climbs += is_climb
            self._entered.add(module)
            caller = ".".join(call[0]).strip(".")
            print(f"{caller}{'  climbs to' if is_climb else ''} -> {module}.{name}")
        if code in _KERNELS:
            self._at_kernel(any(module.startswith("alphazero.selfplay") for module, _ in callers))

    def _at_kernel(self, in_selfplay: bool) -> None:
        if in_selfplay or not self._has_kernel:
            self._has_kernel = True
            kernel = "the first kernel of self-play" if in_selfplay else "the first kernel"
            print(f"== {kernel}: {len(self._entered)} modules, {self._num_climbs} climbs")
        if in_selfplay:
            sys.stdout.flush()
            os._exit(0)


def _functions(frame: FrameType | None) -> list[tuple[str, str]]:
    """Return (module, function) of a frame and its callers in the package, innermost first."""
    functions = []
    while frame:
        if _is_ours(frame):
            functions.append((frame.f_globals["__name__"], frame.f_code.co_name))
        frame = frame.f_back
    return functions


def _is_ours(frame: FrameType) -> bool:
    return f"{frame.f_globals.get('__name__')}.".startswith("alphazero.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
