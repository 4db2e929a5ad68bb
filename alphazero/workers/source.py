"""The source of training games: the interface between the trainer and the workers.

`alphazero.workers.thread_source` plays on threads of this process; `alphazero.workers.dispatcher`
distributes units of work to workers elsewhere, that is, in other processes or on other machines.
"""

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import torch

from alphazero.inference.engines.agreement import PositionSample
from alphazero.selfplay.game_record import GameRecord
from alphazero.workers.unit import SelfPlayWork


class Played(NamedTuple):
    """What a source of games yields: finished games, and notices for the user."""

    records: list[GameRecord]
    notices: list[str]  #: sentences for the user: a worker has joined, has died, ...


@dataclasses.dataclass
class WorkerReport:
    """One worker's speed, and its games in an iteration."""

    name: str
    games_per_s: float = 0.0  #: speed while it played; 0 before its first reply
    num_games: int = 0  #: games that counted
    total_staleness: int = 0  #: sum over these games of how many networks out of date each was
    num_stale_games: int = 0  #: games dropped because they were too many networks out of date
    is_alive: bool = True  #: False if it was lost or dismissed


class GameSource:
    """Plays training games: the base class of all kinds of workers.

    Methods that do nothing here apply only to workers in other processes or on other machines.

    Contract: each game is yielded once. `play` yields at least every few seconds, even without
    games, so that the user sees that the run is alive.
    """

    plays_on = False  #: whether workers elsewhere play on while the network learns

    def update(self, version: int, network: torch.nn.Module, sample: PositionSample) -> None:
        """Play with a new network from now on.

        Args:
            version: number of iterations for which the network has been trained.
            sample: positions on which engines are calibrated and compared.
        """
        raise NotImplementedError

    def play(self, num_games: int, progress: float) -> Iterator[Played]:
        """Yield at least ``num_games`` finished games, and at most a few more.

        Args:
            progress: fraction of the run that is done, in [0, 1].
        """
        raise NotImplementedError

    @property
    def work(self) -> SelfPlayWork:
        """The self-play work done so far."""
        raise NotImplementedError

    def tend(self) -> None:
        """Keep workers elsewhere busy while the network learns; return at once."""

    def worker_reports(self) -> list[WorkerReport]:
        """Return a report of each worker elsewhere since the last call."""
        return []

    def state_dict(self) -> dict:
        """Return what a resumed run needs to continue unfinished games; {} if there is nothing."""
        return {}

    def load_state_dict(self, state: dict) -> None:
        """Restore a state from `state_dict`; ignore one that another kind of source stored."""

    def close(self) -> None:
        """End all workers."""
