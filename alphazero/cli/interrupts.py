"""Ctrl-C and SIGTERM: each raises KeyboardInterrupt once, and that is never lost.

Python drops an exception that is raised in a destructor or in the callback of a weak reference, of
ctypes or of a C extension; it prints "Exception ignored" and goes on. A dropped KeyboardInterrupt
is sent again here. Nothing but the process's signals is changed: it is for programs, not libraries.
"""

import _thread
import math
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from alphazero.runtime.process import end_process

#: Seconds after an interrupt in which others are ignored: a second Ctrl-C must not cut short what
#: is tidied up.
IGNORED_S = 5.0
_SEND_AGAIN_AFTER_S = 0.02  # the callback that dropped it should have ended by then

_EXTENSIONS = ("torch", "openvino")

_last_s = -math.inf  # when KeyboardInterrupt was last raised
_show_unraisable: Any = None  # the hook before ours


def handle_interrupts() -> None:
    """Install the handlers, unless the caller is not the main thread, which alone can have them.

    SIGINT stays ignored where the shell asked for that, as for a command in the background.
    """
    global _last_s, _show_unraisable
    if threading.current_thread() is not threading.main_thread():
        return
    _last_s = -math.inf
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    # Batch systems and shutdowns send SIGTERM: a command then reports what it stored, too.
    signal.signal(signal.SIGTERM, _interrupt)
    if sys.unraisablehook is not _unraisable:
        _show_unraisable, sys.unraisablehook = sys.unraisablehook, _unraisable


def is_interrupted() -> bool:
    """Return whether a signal has interrupted the process within the last `IGNORED_S`."""
    return time.monotonic() - _last_s < IGNORED_S


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _last_s
    if _is_importing_extensions():
        print("stopped.", file=sys.stderr)
        end_process(130)  # there is hardly anything to tidy up yet
    if is_interrupted():
        return
    if _is_in(_unraisable, frame):  # Python drops what is raised there, too
        _thread.start_new_thread(_send_again, ())
        return
    _last_s = time.monotonic()
    raise KeyboardInterrupt


def _is_in(function: Callable[..., Any], frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


def _is_importing_extensions() -> bool:
    """Return whether a module is being imported whose C++ aborts at an exception of Python's."""
    modules = list(sys.modules.items())
    specs = [
        getattr(one, "__spec__", None) for name, one in modules if name.startswith(_EXTENSIONS)
    ]
    return any(getattr(spec, "_initializing", False) for spec in specs)


def _unraisable(unraisable: Any) -> None:
    """Send an interrupt again that Python has dropped; show anything else as before.

    After an interrupt the destructors of objects that were not complete complain: that is nothing.
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
        signal.pthread_kill(main_thread, signal.SIGTERM)  # it also ends a wait of that thread
    else:
        _thread.interrupt_main(signal.SIGTERM)
