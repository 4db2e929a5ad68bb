"""An engine that takes over from another one: the first move is made at once, later ones faster.

In: a function that measures this machine and loads its fastest engine, which takes some seconds.
Out: the moment at which that engine is put in place, which is never during a search: all moves of a
search are weighed by one engine.
"""

import contextlib
import functools
import logging
import sys
import threading
from collections.abc import Callable, Iterator

NOTE = (
    "This machine is measured once, beside the first moves: they are made with torch in float32, "
    "later ones with the fastest engine."
)
#: Before the measurement begins, so that short sessions do without.
DELAY_S = 2.0
THREAD = "later engine"
_measuring = threading.Lock()  # one at a time: the next one finds what was stored
_log = logging.getLogger(__name__)


class LaterEngine:
    """Prepares an engine on a thread of its own, and puts it in place between two searches.

    Args:
        prepare: measures and loads; returns a function that puts the engine in place at once. It is
            called after `DELAY_S`, unless the program ends before.

    Attributes:
        number: of engines so far, less one.
    """

    def __init__(self, prepare: Callable[[], Callable[[], None]]):
        self.number = 0
        self._prepare = prepare
        self._lock = threading.Lock()  # of all below
        self._num_searches = 0
        self._put_in_place: Callable[[], None] | None = None
        # Not a daemon: a library that computes while Python ends may crash.
        self._thread = threading.Thread(target=self._run, name=THREAD, daemon=False)
        self._thread.start()

    @property
    def note(self) -> str:
        """A sentence about what is going on; "" when it is over."""
        return NOTE if self._thread.is_alive() or self.is_waiting else ""

    @property
    def is_waiting(self) -> bool:
        """Whether the engine is ready and waits for the end of the searches under way."""
        return self._put_in_place is not None

    @contextlib.contextmanager
    def search(self) -> Iterator[None]:
        """Give a context for a search, within which the engine stays the same."""
        with self._lock:
            self._switch()
            self._num_searches += 1
        try:
            yield
        finally:
            with self._lock:
                self._num_searches -= 1
                self._switch()

    def wait(self) -> None:
        """Wait until the engine is ready."""
        self._thread.join()

    def _switch(self) -> None:
        if self._num_searches == 0 and self._put_in_place is not None:
            self._put_in_place()
            self._put_in_place = None
            self.number += 1

    def _run(self) -> None:
        program = threading.main_thread()
        program.join(DELAY_S)
        if not program.is_alive():
            return
        try:
            with _measuring:
                put_in_place = self._prepare()
        except Exception as error:  # noqa: BLE001
            if program.is_alive():  # else the libraries' threads have ended already
                _log.warning("torch in float32 goes on: no other engine works here (%s).", error)
            return
        with self._lock:
            self._put_in_place = put_in_place
            self._switch()


@functools.cache
def say_once(note: str) -> None:
    """Print a sentence on standard error, unless it was printed before or is empty."""
    if note:
        print(note, file=sys.stderr, flush=True)
