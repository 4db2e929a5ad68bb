"""Turns: a few threads work at a time, a few more wait, and the rest are told to come later."""

import contextlib
import threading
from collections.abc import Callable, Iterator

from alphazero.web.refusal import BUSY, Refusal, Stopped

#: Whether nobody waits for an answer any more.
IsStopped = Callable[[], bool]


class Turns:
    """Lets a few threads work at a time, and refuses more than a few that wait."""

    def __init__(self, num_working: int, max_waiting: int):
        self._working = threading.Semaphore(num_working)
        self._places = threading.Semaphore(num_working + max_waiting)

    @contextlib.contextmanager
    def turn(self, is_stopped: IsStopped) -> Iterator[None]:
        """Wait for a turn.

        Raises:
            Refusal: if too many wait already.
            Stopped: if nobody waits for the answer any more.
        """
        if not self._places.acquire(blocking=False):
            raise Refusal("too many people ask at the same time: try again soon.", BUSY)
        try:
            while not self._working.acquire(timeout=0.1):
                if is_stopped():
                    raise Stopped
            try:
                yield
            finally:
                self._working.release()
        finally:
            self._places.release()
