"""Jobs: work that streams messages, and stops when nobody reads them any more."""

from collections.abc import Callable
from typing import Any, Protocol

#: Returns whether the client has stopped waiting for the answer.
IsStopped = Callable[[], bool]


class Stopped(Exception):
    """Ends a job whose client has stopped waiting for the answer."""


class Stream(Protocol):
    """The channel to which a job sends its messages."""

    def emit(self, message: dict[str, Any]) -> None:
        """Send a message to the client."""
        ...

    def is_stopped(self) -> bool:
        """Return whether the client has stopped reading."""
        ...


#: Work that sends messages to a stream, and ends early when the stream is stopped.
Job = Callable[[Stream], None]
