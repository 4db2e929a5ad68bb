"""The source of training games: the interface between the trainer and the workers.

`alphazero.workers.thread_source` plays on threads of this process; `alphazero.workers.dispatcher`
distributes units to workers elsewhere, which are other processes or machines.
"""

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import torch

from alphazero.inference.engines.agreement import PositionSample
from alphazero.selfplay.game_record import GameRecord
from alphazero.workers.unit import SelfPlayWork


class Played(NamedTuple):
    """What a source of games reports since the last report."""

    records: list[GameRecord]
    notices: list[str]  #: sentences for the user: a worker has joined, has died, ...


@dataclasses.dataclass
class WorkerReport:
    """What one worker did in an iteration."""

    name: str
    games_per_s: float = 0.0  #: speed while it played; 0 before its first answer
    num_games: int = 0  #: games that counted
    total_staleness: int = 0  #: sum over these games of the networks they lagged behind
    num_stale_games: int = 0  #: games dropped because they lagged too far behind
    is_alive: bool = True  #: False if it was lost or dismissed


class GameSource:
    """Plays training games. Methods with a default concern only some kinds of workers.

    Laws: each game is yielded once. `play` yields at least every few seconds, even without games,
    so that the user sees that the run is alive.
    """

    plays_on = False  #: whether workers elsewhere play on while the network learns

    def update(self, version: int, network: torch.nn.Module, sample: PositionSample) -> None:
        """Play new units with this network.

        Args:
            version: number of iterations that the network has learned.
            sample: positions on which engines are calibrated and compared.
        """
        raise NotImplementedError

    def play(self, num_games: int, progress: float) -> Iterator[Played]:
        """Yield ``num_games`` finished games or a few more.

        See `alphazero.selfplay.lockstep.SelfPlay.begin` for ``progress``.
        """
        raise NotImplementedError

    @property
    def work(self) -> SelfPlayWork:
        """The work for all games so far."""
        raise NotImplementedError

    def play_ahead(self, num_games: int, progress: float) -> None:
        """Start the games of the next `play` if this process plays them; return at once.

        The evaluator must keep its weights until `wait` is finished.
        """

    def wait(self) -> Iterator[int]:
        """Wait for the games that `play_ahead` started; yield their number from time to time."""
        yield from ()

    def tend(self) -> None:
        """Send units to workers elsewhere while the network learns; return at once."""

    def worker_reports(self) -> list[WorkerReport]:
        """Return what each worker elsewhere did since the last call."""
        return []

    def state_dict(self) -> dict:
        """Return the state that a resume needs besides the yielded games."""
        return {}

    def load_state_dict(self, state: dict) -> None:
        """Restore the state of any kind of source, as far as it applies."""

    def close(self) -> None:
        """End all workers."""
