"""Jobs: the work behind a stream of messages, which ends when nobody reads them any more."""

from collections.abc import Callable
from typing import Any, Protocol

#: Whether nobody waits for an answer any more.
IsStopped = Callable[[], bool]


class Stopped(Exception):
    """Nobody waits for the answer any more."""


class Stream(Protocol):
    """Where a job sends its messages."""

    def emit(self, message: dict[str, Any]) -> None:
        """Send a message."""
        ...

    def is_stopped(self) -> bool:
        """Return whether nobody reads the messages any more."""
        ...


#: The work of a stream; it ends early when its stream is stopped.
Job = Callable[[Stream], None]
