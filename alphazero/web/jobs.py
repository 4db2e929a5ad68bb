"""Jobs: work that streams messages to a client, and stops when the client stops reading them."""

from collections.abc import Callable
from typing import Any, Protocol

#: A function that returns whether the client has stopped waiting for the response.
IsStopped = Callable[[], bool]


class Stopped(Exception):
    """Raised to end a job whose client has stopped waiting for the response."""


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
