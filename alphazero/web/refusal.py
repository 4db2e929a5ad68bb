"""A request that is refused: a status of HTTP, and one plain sentence."""

from alphazero.runtime.errors import InputError

MALFORMED, UNKNOWN, IMPOSSIBLE, BUSY = 400, 404, 422, 503


class Refusal(InputError):
    """A request that is refused.

    Attributes:
        status: of HTTP, 4xx or 5xx.
    """

    def __init__(self, message: str, status: int = IMPOSSIBLE):
        super().__init__(message)
        self.status = status


class Stopped(Exception):
    """Nobody waits for the answer any more."""
