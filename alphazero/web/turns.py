"""Work for people who may leave: jobs, which end when nobody reads their messages, and turns."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from alphazero.play.requests import BUSY, Refusal

#: Whether nobody waits for an answer any more.
IsStopped = Callable[[], bool]


class Stopped(Exception):
    """Nobody waits for the answer any more."""


class Stream(Protocol):
    """Where a job sends its messages."""

    def emit(self, message: dict[str, Any]) -> None:
        """Send a message; drop a progress message while another one is still queued."""
        ...

    def is_stopped(self) -> bool:
        """Return whether nobody reads the messages any more."""
        ...


#: The work of a stream; it ends early when its stream is stopped.
Job = Callable[[Stream], None]


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
