"""Pondering: a search on another thread while a person chooses a move.

In: an engine, and the position before the person's move. Out: nothing, but the engine caches its
evaluations, so its next search is faster. Its answers do not change.
"""

import contextlib
import threading
from collections.abc import Iterator

import numpy as np

from alphazero.players.base import Player


class _StoppedError(Exception):
    """Ends a search, raised from its progress callback."""


@contextlib.contextmanager
def pondering(engine: Player | None, state: np.ndarray) -> Iterator[None]:
    """Ponder about a position during the ``with`` block.

    Args:
        engine: from `ponderer`; None does not ponder.
        state: [K], the position.
    """
    is_over, state = threading.Event(), state.copy()

    def go_on(_num_done: int, _total: int | None) -> None:
        if is_over.is_set():
            raise _StoppedError

    def ponder() -> None:
        if engine is not None:
            with contextlib.suppress(_StoppedError):
                engine.analyse(state, go_on)

    thread = threading.Thread(target=ponder, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def ponderer(engine: Player) -> Player | None:
    """Return the player that ponders for an engine; None if the engine has no cache to fill."""
    make = getattr(engine, "ponderer", None)
    return None if make is None else make()
