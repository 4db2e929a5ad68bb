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
    """The games and notices since the last report of a source of games."""

    records: list[GameRecord]
    notices: list[str]  #: sentences for the user: a worker has joined, has died, ...


@dataclasses.dataclass
class WorkerReport:
    """The games of one worker in an iteration."""

    name: str
    games_per_s: float = 0.0  #: speed while it played; 0 before its first reply
    num_games: int = 0  #: games that counted
    total_staleness: int = 0  #: sum over these games of how many networks out of date each was
    num_stale_games: int = 0  #: games dropped because they were too many networks out of date
    is_alive: bool = True  #: False if it was lost or dismissed


class GameSource:
    """Plays training games. Methods that do nothing here concern only some kinds of workers.

    Contract: each game is yielded once. `play` yields at least every few seconds, even without
    games, so that the user sees that the run is alive.
    """

    plays_on = False  #: whether workers elsewhere play on while the network learns

    def update(self, version: int, network: torch.nn.Module, sample: PositionSample) -> None:
        """Use this network for new units of work.

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
        """Counts of all self-play work so far."""
        raise NotImplementedError

    def tend(self) -> None:
        """Keep workers elsewhere busy while the network learns; return at once."""

    def worker_reports(self) -> list[WorkerReport]:
        """Return a report of each worker elsewhere since the last call."""
        return []

    def state_dict(self) -> dict:
        """Return the state that resuming needs besides the yielded games."""
        return {}

    def load_state_dict(self, state: dict) -> None:
        """Restore a state, as far as it applies; another kind of source may have stored it."""

    def close(self) -> None:
        """End all workers."""
