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
from types import FrameType
from typing import Any

#: Seconds after an interrupt in which others are ignored: a second Ctrl-C must not cut short what
#: is tidied up.
IGNORED_S = 5.0
_SEND_AGAIN_AFTER_S = 0.02  # the callback that dropped it should have ended by then

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
    if not is_interrupted():
        _last_s = time.monotonic()
        raise KeyboardInterrupt


def _unraisable(unraisable: Any) -> None:
    """Send an interrupt again that Python has dropped; show anything else as before."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        _show_unraisable(unraisable)
        return
    again = threading.Timer(_SEND_AGAIN_AFTER_S, _send_again)
    again.daemon = True
    again.start()


def _send_again() -> None:
    global _last_s
    _last_s = -math.inf
    if hasattr(signal, "pthread_kill"):  # it also ends a wait of the main thread
        signal.pthread_kill(threading.main_thread().ident, signal.SIGTERM)
    else:
        _thread.interrupt_main(signal.SIGTERM)
