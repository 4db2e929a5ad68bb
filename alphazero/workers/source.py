"""The source of training games: the interface between the trainer and the workers.

`alphazero.workers.thread_source` plays on threads of this process; `alphazero.workers.dispatcher`
hands out units of work to workers in other processes or on other machines.
"""

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import torch

from alphazero.inference.engines.agreement import PositionSample
from alphazero.selfplay.game_record import GameRecord
from alphazero.workers.unit import SelfPlayWork


class Played(NamedTuple):
    """Finished games and notices for the user, as a source of games yields them."""

    records: list[GameRecord]  #: the finished games; may be empty
    notices: list[str]  #: sentences for the user, such as that a worker has joined or died


@dataclasses.dataclass
class WorkersTally:
    """The number of connected workers, and counts since the last tally."""

    num_workers: int = 0
    num_lost: int = 0  #: number of workers that were lost or dismissed
    num_games: int = 0  #: number of games that counted
    total_staleness: int = 0  #: sum over these games of how many networks out of date each was
    num_stale_games: int = 0  #: number of games dropped for being too many networks out of date


class GameSource:
    """Base class for sources of training games: threads, other processes, other machines.

    Methods that do nothing here apply only to workers in other processes or on other machines.

    Every source obeys these rules: each game is yielded once, and `play` yields at least every few
    seconds, even without games, so that the user sees that the run is alive.
    """

    plays_on = False  #: whether workers go on playing while the network learns

    def update(self, version: int, network: torch.nn.Module, sample: PositionSample) -> None:
        """Play with a new network from now on.

        Args:
            version: number of iterations for which the network has been trained.
            network: the network to play with.
            sample: positions on which engines are calibrated and compared.
        """
        raise NotImplementedError

    def play(self, num_games: int, progress: float) -> Iterator[Played]:
        """Play training games, yielding those that have finished and notices for the user.

        Args:
            num_games: minimum number of games to yield in total; a few more may follow.
            progress: fraction of the run that is done, in [0, 1], which may determine the number of
                simulations per move.
        """
        raise NotImplementedError

    @property
    def work(self) -> SelfPlayWork:
        """Counts and timings of the self-play done so far, summed over all threads."""
        raise NotImplementedError

    def poll(self) -> None:
        """Hand out more games and receive finished ones, without waiting, while the network learns.

        Nothing happens if games are played on threads of this process.
        """

    def tally(self) -> WorkersTally | None:
        """Return the number of workers, and counts since the last call.

        It is None if games are played on threads of this process.
        """
        return None

    def state_dict(self) -> dict:
        """Return what a resumed run needs to continue unfinished games; {} if there are none."""
        return {}

    def load_state_dict(self, state: dict) -> None:
        """Restore a state that `state_dict` returned; ignore one from another kind of source."""

    def close(self) -> None:
        """Stop all workers."""
