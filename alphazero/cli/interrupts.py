"""Handle Ctrl-C and SIGTERM by raising a KeyboardInterrupt that is never lost.

Python discards an exception that is raised in a destructor or in a callback of a weak reference,
ctypes or a C extension: it prints "Exception ignored" and continues. If a KeyboardInterrupt is
discarded this way, these handlers raise it again. They apply to the whole process, so only programs
should install them, not libraries.
"""

import _thread
import math
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

from alphazero.runtime.process import end_process

#: Seconds after an interrupt during which others are ignored, so that a second Ctrl-C does not
#: abort the clean-up.
IGNORED_S = 5.0
_SEND_AGAIN_AFTER_S = 0.02  # by then, the callback that lost the interrupt should have returned

_EXTENSIONS = ("torch", "openvino")

_last_s = -math.inf  # when KeyboardInterrupt was last raised, on the monotonic clock
_show_unraisable: Any = None  # the hook that ours replaced


def handle_interrupts() -> None:
    """Install handlers that raise a KeyboardInterrupt for SIGINT (Ctrl-C) and SIGTERM.

    Outside the main thread, where Python forbids it, nothing is installed. If the shell has made
    the process ignore SIGINT, as for background commands, it stays ignored.
    """
    global _last_s, _show_unraisable
    if threading.current_thread() is not threading.main_thread():
        return
    _last_s = -math.inf
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    # Batch systems and shutdowns send SIGTERM: a command then also reports what it has stored.
    signal.signal(signal.SIGTERM, _interrupt)
    if sys.unraisablehook is not _unraisable:
        _show_unraisable = sys.unraisablehook
        sys.unraisablehook = _unraisable


def is_interrupted() -> bool:
    """Return whether Ctrl-C or SIGTERM interrupted the process in the last `IGNORED_S` seconds."""
    return time.monotonic() - _last_s < IGNORED_S


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _last_s
    if _is_importing_extensions():
        print("stopped.", file=sys.stderr)
        end_process(130)  # there is nothing to clean up yet
    if is_interrupted():
        return
    _last_s = time.monotonic()
    raise KeyboardInterrupt


def _is_importing_extensions() -> bool:
    """Return whether torch or OpenVINO is being imported.

    An exception raised in the meantime would make their C++ code abort the process.
    """
    modules = sys.modules.copy().items()  # another thread may import
    specs = [
        getattr(one, "__spec__", None) for name, one in modules if name.startswith(_EXTENSIONS)
    ]
    return any(getattr(spec, "_initializing", False) for spec in specs)


def _unraisable(unraisable: Any) -> None:
    """Raise a discarded KeyboardInterrupt again; pass other exceptions to the previous hook.

    For `IGNORED_S` seconds after an interrupt, other exceptions are ignored, since destructors of
    incomplete objects raise them.

    Args:
        unraisable: describes the discarded exception (see `sys.unraisablehook`).
    """
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(_send_again, ())
    elif not is_interrupted():
        _show_unraisable(unraisable)


def _send_again() -> None:
    global _last_s
    time.sleep(_SEND_AGAIN_AFTER_S)
    _last_s = -math.inf
    main_thread = threading.main_thread().ident
    if main_thread is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main_thread, signal.SIGTERM)  # also wakes that thread if it waits
    else:
        _thread.interrupt_main(signal.SIGTERM)
