"""What a run has for each of its boards. Most runs have one."""

import dataclasses

from alphazero.games.batched_game import Game
from alphazero.inference.engines.agreement import PositionSample
from alphazero.inference.network_evaluator import NetworkEvaluator
from alphazero.replay.buffer import ReplayBuffer
from alphazero.workers.source import GameSource
from alphazero.workers.unit import SelfPlayWork

NUM_ENGINE_POSITIONS = 256  #: positions on which the engine is calibrated and compared


@dataclasses.dataclass
class Board:
    """A game on a board of one size, with the parts of a run that depend on it."""

    game: Game
    sample: PositionSample  #: positions on which the network's engine is compared with torch
    evaluator: NetworkEvaluator  #: runs the newest network for self-play and measurements
    source: GameSource
    replay: ReplayBuffer

    def __post_init__(self) -> None:
        self._work = self.source.work

    def new_work(self) -> SelfPlayWork:
        """Return the self-play work since the last call."""
        before, self._work = self._work, self.source.work
        return self._work.since(before)

    def newest_positions(self) -> PositionSample:
        """Return up to 256 positions of the newest games; before the first game, random positions.

        On these positions, the network's engine is calibrated and compared with torch in float32.
        """
        newest = self.replay.evenly_spaced(NUM_ENGINE_POSITIONS, NUM_ENGINE_POSITIONS)
        if newest is not None:
            self.sample = PositionSample(newest.planes, newest.legal_action_mask)
        return self.sample
