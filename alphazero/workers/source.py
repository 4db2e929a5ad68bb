"""Where training games come from: the interface between the trainer and those who play.

`alphazero.workers.thread_source` plays on threads of this process;
`alphazero.workers.dispatcher` gives units to workers elsewhere.
"""

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import torch

from alphazero.inference.engines.agreement import PositionSample
from alphazero.selfplay.game_record import GameRecord
from alphazero.workers.unit import SelfPlayWork


class Played(NamedTuple):
    """News of a source since it was last asked."""

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
    """Plays training games; the methods with a default concern only some kinds of workers.

    Laws: each game is yielded once. `play` yields at least every few seconds, with or without
    games, so that the user sees that the run is alive.
    """

    plays_on = False  #: whether workers elsewhere play on while the network learns

    def update(self, version: int, network: torch.nn.Module, sample: PositionSample) -> None:
        """Play new units with this network.

        Args:
            version: the number of iterations that it has learned.
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

        The evaluator must keep its weights until `wait` has ended.
        """

    def wait(self) -> Iterator[int]:
        """Wait for the games that `play_ahead` started; yield now and then how many there are."""
        yield from ()

    def tend(self) -> None:
        """Keep workers elsewhere busy while the network learns; return at once."""

    def worker_reports(self) -> list[WorkerReport]:
        """Return what each worker elsewhere did since the last call."""
        return []

    def state_dict(self) -> dict:
        """Return what a resume needs, besides the games that were yielded."""
        return {}

    def load_state_dict(self, state: dict) -> None:
        """Restore the state of any kind of source, as far as it fits."""

    def close(self) -> None:
        """End all workers."""
