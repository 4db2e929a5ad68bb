"""Thinking on the opponent's time: a search on another thread while a person chooses a move.

In: an engine, and the position before the person's move. Out: nothing but what the engine remembers
of the positions it has evaluated: its next search is faster, and its answers are the same.
"""

import threading
from typing import Self

import numpy as np

from alphazero.players.base import Player


class _StoppedError(Exception):
    """Ends a search from its progress report."""


class Pondering:
    """Ponders about a position within a ``with`` block, if the engine can.

    Args:
        engine: see `ponderer`.
        state: [K], the position.

    Attributes:
        num_simulations: made so far.
    """

    def __init__(self, engine: Player | None, state: np.ndarray):
        self.num_simulations = 0
        self._engine = engine
        self._state = state.copy()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ponder, daemon=True)

    def __enter__(self) -> Self:
        if self._engine is not None:
            self._thread.start()
        return self

    def __exit__(self, *error) -> None:
        self._stop.set()
        if self._engine is not None:
            self._thread.join()

    def _ponder(self) -> None:
        try:
            self._engine.analyse(self._state, self._go_on)
        except _StoppedError:
            pass

    def _go_on(self, num_done: int, _total: int | None) -> None:
        self.num_simulations = num_done
        if self._stop.is_set():
            raise _StoppedError


def ponderer(engine) -> Player | None:
    """Return what ponders for an engine; None if it remembers nothing."""
    make = getattr(engine, "ponderer", None)
    return None if make is None else make()
