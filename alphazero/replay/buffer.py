"""Replay: the positions of recent games, raw, in a window that grows as the run does.

In: `GameRecord`s. Out: batches of planes and targets, each row under a random symmetry. Planes are made when a batch is sampled, so that a change
of the input planes does not invalidate stored games. Knows neither network nor torch.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from alphazero.replay.augmentation import permuted, under_symmetries
from alphazero.replay.targets import owners, target_rows
from alphazero.runtime.settings import option
from alphazero.selfplay.game_record import GameRecord

_GATHERED_BATCHES = (
    32  # of an epoch, made at once: for batches of 64 rows the calls cost more than the rows
)


@dataclasses.dataclass
class ReplaySettings:
    """How much of the past is trained on. The window is KataGo's (arXiv 1902.10565, appendix C): start * (1 + beta * ((rows / start)^alpha - 1) / alpha)."""

    window_start: int = option(20_000, "rows in the window while fewer have been made", low=1)
    window_alpha: float = option(
        0.75, "exponent of the window's growth; smaller forgets faster", low=0.01, high=1.0
    )
    window_beta: float = option(
        0.4, "slope of the window's growth at the start; 0 keeps its size", low=0.0, high=1.0
    )
    window_max: int = option(500_000, "rows kept at the most; this bounds the memory", low=1)
    symmetries: bool = option(True, "show each sampled row under a random symmetry of its game")
    surprise_fraction: float = option(
        0.0,
        "share of a game's rows that go to its plies by how far the search moved the policy; the rest is even (KataGo: 0.5)",
        low=0.0,
        high=1.0,
    )


class Batch(NamedTuple):
    """Rows to learn from."""

    planes: np.ndarray  #: float32[M, C, H, W], of the player to move
    action_weights: np.ndarray  #: float32[M, A], the policy target
    legal_action_mask: np.ndarray  #: bool[M, A]
    outcomes: np.ndarray  #: int8[M], 1, 0 or -1, of the player to move
    root_values: np.ndarray  #: float32[M], the search's value, same viewpoint
    owners: np.ndarray | None = (
        None  #: int8[M, H*W], see `alphazero.replay.targets.owners`; None where nothing learns from it
    )


class Replay:
    """A ring of rows, one for each move that a full search chose.

    Args:
        game: a batched game.
        generator: draws rows and symmetries.
        with_owners: keep and show what the network's ownership head learns from.
    """

    def __init__(
        self,
        game,
        settings: ReplaySettings,
        generator: np.random.Generator,
        with_owners: bool = False,
    ):
        self.game = game
        self.settings = settings
        self.num_added = 0  #: rows ever added
        self._num_lost = 0  # the first rows of all, whose games a resume did not find
        self._generator = generator
        size = settings.window_max
        self._states = np.zeros((size, game.state_size), game.state_dtype)
        self._weights = np.zeros((size, game.num_actions), np.float32)
        self._outcomes = np.zeros(size, np.int8)
        self._values = np.zeros(size, np.float32)
        self._owners = (
            np.zeros((size, game.cell_symmetries.shape[1]), np.int8) if with_owners else None
        )

    def add(self, record: GameRecord) -> int:
        """Take the target rows of a finished game; return how many."""
        rows = target_rows(record, self.settings.surprise_fraction)[-self.settings.window_max :]
        places = (self.num_added + np.arange(len(rows))) % self.settings.window_max
        self._states[places] = record.states[rows]
        self._weights[places] = record.action_weights[rows]
        self._outcomes[places] = record.outcomes[rows]
        self._values[places] = record.root_values[rows]
        if self._owners is not None:
            self._owners[places] = owners(record, self.game)[rows]
        self.num_added += len(rows)
        return len(rows)

    @property
    def window(self) -> int:
        """The number of newest rows that are trained on."""
        return min(window_rows(self.num_added, self.settings), self.num_added - self._num_lost)

    def sample(self, batch_size: int) -> Batch:
        """Draw rows from the window, each with the same chance, with replacement; raises ValueError if there is none."""
        if self.window == 0:
            raise ValueError("there is nothing to sample from: no row has been added.")
        return self._batch(self._generator.integers(self.window, size=batch_size))

    def epoch(self, batch_size: int):
        """Yield batches that hold every row of the window once, in random order; a last batch of fewer rows is left out unless it is the only one."""
        ages = self._generator.permutation(self.window)
        ages = ages[: max(len(ages) // batch_size, 1) * batch_size]
        for start in range(0, len(ages), _GATHERED_BATCHES * batch_size):
            gathered = self._batch(ages[start : start + _GATHERED_BATCHES * batch_size])
            for first in range(0, len(gathered.outcomes), batch_size):
                yield Batch(
                    *(
                        None if rows is None else rows[first : first + batch_size]
                        for rows in gathered
                    )
                )

    def newest_states(self, num_rows: int) -> np.ndarray:
        """Return the states of the newest rows, at most ``num_rows`` of them: [M, K]."""
        newest = np.arange(min(num_rows, self.num_added - self._num_lost, self.settings.window_max))
        return self._states[(self.num_added - 1 - newest) % self.settings.window_max]

    def spread(self, num_newest: int, num_rows: int) -> Batch | None:
        """Return ``num_rows`` rows, evenly spaced over the ``num_newest`` newest ones, as they were played; None if there is no row.

        Draws nothing at random: whoever only looks does not change what is sampled next.
        """
        num_newest = min(num_newest, self.num_added - self._num_lost, self.settings.window_max)
        if num_newest == 0:
            return None
        places = (
            self.num_added
            - 1
            - np.linspace(0, num_newest - 1, min(num_rows, num_newest)).astype(np.int64)
        ) % self.settings.window_max
        states = self._states[places]
        planes, mask = self.game.observe(states), self.game.legal_action_mask(states)
        return Batch(
            planes, self._weights[places], mask, self._outcomes[places], self._values[places]
        )

    def state_dict(self) -> dict:
        """Return the random state and the number of rows ever added; the rows themselves are stored with the games of the run."""
        return {"generator": self._generator.bit_generator.state, "num_added": self.num_added}

    def load_state_dict(self, state: dict, records) -> None:
        """Restore what `state_dict` returned.

        Args:
            records: the stored games, the oldest first, of which the last rows are those of the window. Where they are fewer than the window
                wants, as after window_max has grown, it begins with the first of them.
        """
        self._generator.bit_generator.state = state["generator"]
        records = list(records)
        self.num_added = state["num_added"] - sum(
            min(int(record.is_target.sum()), self.settings.window_max) for record in records
        )
        self._num_lost = self.num_added
        for record in records:
            self.add(record)

    def _batch(self, ages) -> Batch:
        """Return the rows of the given ages (0 is the newest) under random symmetries."""
        places = (self.num_added - 1 - ages) % self.settings.window_max
        states, weights = self._states[places], self._weights[places]
        outcomes, values = self._outcomes[places], self._values[places]
        planes, mask = self.game.observe(states), self.game.legal_action_mask(states)
        owners_shown = None if self._owners is None else self._owners[places]
        if self.settings.symmetries and len(self.game.cell_symmetries) > 1:
            chosen = self._generator.integers(len(self.game.cell_symmetries), size=len(ages))
            planes, weights, mask = under_symmetries(chosen, self.game, planes, weights, mask)
            owners_shown = (
                None
                if owners_shown is None
                else permuted(chosen, self.game.cell_symmetries, owners_shown)
            )
        return Batch(planes, weights, mask, outcomes, values, owners_shown)


def window_rows(num_added: int, settings: ReplaySettings) -> int:
    """Return the size of the window after ``num_added`` rows."""
    start, alpha, beta = settings.window_start, settings.window_alpha, settings.window_beta
    if num_added <= start:
        return min(start, settings.window_max)
    return int(
        min(start * (1 + beta * ((num_added / start) ** alpha - 1) / alpha), settings.window_max)
    )
