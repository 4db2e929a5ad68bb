"""Where training games come from: the interface between the trainer and those who play.

`alphazero.workers.thread_source` plays on threads of this process;
`alphazero.workers.dispatcher` gives units to workers elsewhere.
"""

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import torch

from alphazero.inference.engines.agreement import PositionSample
from alphazero.selfplay.game_record import GameRecord
from alphazero.workers.unit import SelfPlayWork, WorkerFacts


class Played(NamedTuple):
    """What a source has to say since it was asked last."""

    records: list[GameRecord]
    notices: list[str]  #: sentences for the user: a worker has joined, has died, ...


@dataclasses.dataclass
class WorkerReport:
    """One worker in an iteration."""

    name: str
    facts: WorkerFacts
    games_per_s: float = 0.0  #: while it played; 0 until it has answered
    num_games: int = 0  #: that counted
    total_staleness: int = 0  #: sum over these games of the networks they lagged behind
    num_stale_games: int = 0  #: dropped, because they lagged too far behind
    is_alive: bool = True  #: False if it was lost or dismissed since


class GameSource(Protocol):
    """Plays training games.

    Laws: each game is yielded once. `play` yields at least every few seconds, with or without
    games, so that the user sees that the run is alive.
    """

    #: Whether workers elsewhere play on while the network learns.
    plays_on: bool

    def update(self, version: int, network: torch.nn.Module, sample: PositionSample) -> None:
        """Let new units be played with this network.

        Args:
            version: the number of iterations that it has learned.
            sample: positions on which engines are calibrated and compared.
        """
        ...

    def play(self, num_games: int, progress: float) -> Iterator[Played]:
        """Yield ``num_games`` finished games or a few more.

        See `alphazero.selfplay.lockstep.SelfPlay.begin` for ``progress``.
        """
        ...

    def play_ahead(self, num_games: int, progress: float) -> None:
        """Begin the games of the next `play` if this process plays them; returns at once.

        The evaluator must keep its weights until `wait` has ended.
        """
        ...

    def wait(self) -> Iterator[int]:
        """Wait for the games that `play_ahead` began; yield now and then how many there are."""
        ...

    def tend(self) -> None:
        """Keep workers elsewhere busy that play on while the network learns; returns at once."""
        ...

    @property
    def work(self) -> SelfPlayWork:
        """The work for all games so far."""
        ...

    def worker_reports(self) -> list[WorkerReport]:
        """Return what each worker did since the last call; [] without workers elsewhere."""
        ...

    def state_dict(self) -> dict:
        """Return what a resume needs, besides the games that were yielded."""
        ...

    def load_state_dict(self, state: dict) -> None:
        """Restore what `state_dict` of any kind of source returned, as far as it fits."""
        ...

    def close(self) -> None:
        """Let go of all workers."""
        ...
