"""The replay buffer: samples of recent games, in a window that grows during the run.

Finished games (`GameRecord`) are added; batches of planes and targets are drawn. Depending on the
settings, each sample is transformed by a random symmetry, each symmetric image is a separate
sample, or symmetries are not used. Of a position, the words of its state that identify it are
stored; planes are computed when a batch is made, so stored games stay valid if the input planes
change. This module never imports torch.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from alphazero.replay.augmentation import apply_symmetries, distinct_symmetries
from alphazero.replay.settings import ReplaySettings, window_size
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.sparse_rows import SparseRows, lengthened

# Number of batches of an epoch computed at once; with batches of 64, call overhead would dominate.
_BATCHES_AT_ONCE = 32
_FIRST_SAMPLES = 4096  # initial capacity in samples; the arrays grow as needed


class Batch(NamedTuple):
    """A batch of M training samples."""

    planes: np.ndarray  #: float32[M, C, H, W], from the viewpoint of the player to move
    action_weights: np.ndarray  #: float32[M, A], policy target; each row sums to 1
    legal_action_mask: np.ndarray  #: bool[M, A], True for legal actions
    outcomes: np.ndarray  #: float32[M], the game's result in [-1, 1], for the player to move
    root_values: np.ndarray  #: float32[M], the search's value in [-1, 1], for the player to move


class _Samples(NamedTuple):
    """The stored samples; `GameRecord` describes the fields, which have one row per sample."""

    states: np.ndarray
    action_weights: Any  #: stored as `SparseRows`
    outcomes: np.ndarray
    root_values: np.ndarray
    symmetries: np.ndarray  #: int8[...], the symmetry of each sample; 0, the identity, by default


class ReplayBuffer:
    """Stores training samples in a ring buffer, the newest of which form the replay window.

    Args:
        game: the rules of the game, which compute planes and legal actions from stored states.
        settings: the window's size and the use of symmetries; ``window_max`` is the capacity, in
            samples.
        generator: random generator that draws samples and their symmetries.

    Attributes:
        num_added: number of samples ever added, including those overwritten since.
        iteration_starts: `num_added` at the start of each iteration in the window; empty unless the
            window's size is set in iterations.
    """

    def __init__(self, game, settings: ReplaySettings, generator: np.random.Generator):
        self.game = game
        self.settings = settings
        self.num_added = 0
        self.iteration_starts: list[int] = []
        self._num_lost = 0  # number of oldest samples whose games were missing when resuming
        self._generator = generator
        size = min(settings.window_max, _FIRST_SAMPLES)
        self._stored = _Samples(
            states=np.zeros((size, game.identity_size), game.state_dtype),
            action_weights=SparseRows((size,), game.num_actions),
            outcomes=np.zeros(size, np.float32),
            root_values=np.zeros(size, np.float32),
            symmetries=np.zeros(size, np.int8),
        )

    def begin_iteration(self) -> None:
        """Record that a training iteration starts, for a window that is measured in iterations.

        This has no effect unless `ReplaySettings.window_iterations` sets the window's size in
        iterations.
        """
        if self.settings.window_iterations:
            newest = [*self.iteration_starts, self.num_added]
            self.iteration_starts = newest[-self.settings.window_iterations :]

    def add(self, record: GameRecord) -> int:
        """Add the samples of a finished game, overwriting the oldest samples if the buffer is full.

        Returns:
            The number of samples added.
        """
        plies, symmetries = self._samples(record)
        slots = (self.num_added + np.arange(len(plies))) % self.settings.window_max
        self._make_room(int(slots.max(initial=-1)) + 1)
        samples = _Samples(
            record.states[plies],
            record.action_weights[plies],
            record.outcomes[plies],
            record.root_values[plies],
            symmetries,
        )
        for column, new in zip(self._stored, samples):
            column[slots] = new
        self.num_added += len(plies)
        return len(plies)

    @property
    def window(self) -> int:
        """The size of the replay window: the number of newest samples to train on."""
        if self.iteration_starts:
            return min(self.num_added - self.iteration_starts[0], self._num_kept)
        return min(window_size(self.num_added, self.settings), self.num_added - self._num_lost)

    def sample(self, batch_size: int) -> Batch:
        """Draw a batch of samples uniformly from the window, with replacement.

        `ReplaySettings.symmetries` determines whether each sample is transformed by a symmetry.

        Args:
            batch_size: M, number of samples to draw.

        Raises:
            ValueError: if the window is empty.
        """
        if self.window == 0:
            raise ValueError("there is nothing to sample from: no sample has been added.")
        ages = self._generator.integers(self.window, size=batch_size)
        return self._batch(ages)

    def epochs(self, batch_size: int, num_epochs: int, reshuffle: bool = True) -> Iterator[Batch]:
        """Yield batches that cover the window ``num_epochs`` times, in random order.

        Each pass contains each sample once, except that an incomplete last batch is left out unless
        it is the only one.

        Args:
            batch_size: number of samples in a batch.
            num_epochs: number of passes over the window.
            reshuffle: whether to draw a new order for each pass; if False, all passes have the same
                order.
        """
        ages = np.zeros(0, np.int64)
        for epoch in range(num_epochs):
            if epoch == 0 or reshuffle:
                ages = self._generator.permutation(self.window)
                num_batches = max(len(ages) // batch_size, 1)
                ages = ages[: num_batches * batch_size]
            yield from self._pass(ages, batch_size)

    def _pass(self, ages: np.ndarray, batch_size: int) -> Iterator[Batch]:
        """Yield batches of the samples with the given ages, in that order; age 0 is the newest.

        Args:
            ages: int64[N], the ages in the order of the batches.
            batch_size: number of samples in a batch.
        """
        num_at_once = _BATCHES_AT_ONCE * batch_size
        for start in range(0, len(ages), num_at_once):
            samples = self._batch(ages[start : start + num_at_once])
            for first in range(0, len(samples.outcomes), batch_size):
                yield Batch(*(column[first : first + batch_size] for column in samples))

    def evenly_spaced(self, num_newest: int, num_samples: int) -> Batch | None:
        """Return samples evenly spaced among the newest ones; None if the buffer is empty.

        The samples are not transformed by symmetries. No random numbers are drawn, so this does not
        change which samples are drawn later.

        Args:
            num_newest: number of newest samples to select from.
            num_samples: size of the batch, which is smaller if there are fewer samples.
        """
        num_newest = min(num_newest, self._num_kept)
        if num_newest == 0:
            return None
        ages = np.linspace(0, num_newest - 1, min(num_samples, num_newest))
        return self._raw_batch(self._slots(ages.astype(np.int64)))

    def state_dict(self) -> dict:
        """Return the generator's state and the counts of samples; the caller stores the games."""
        return {
            "generator": self._generator.bit_generator.state,
            "num_added": self.num_added,
            "iteration_starts": self.iteration_starts,
        }

    def load_state_dict(self, state: dict, records: Iterable[GameRecord]) -> None:
        """Restore a state that `state_dict` returned, with the samples of stored games.

        Args:
            state: the result of `state_dict`.
            records: the stored games, oldest first, up to the newest in the window. If the window
                reaches further back, for example because ``window_max`` was increased, it starts
                with the first stored game.

        Raises:
            ValueError: if the games have more samples than were ever added, or the start of an
                iteration is out of range.
        """
        self._generator.bit_generator.state = state["generator"]
        num_added = state["num_added"]
        num_iterations = self.settings.window_iterations
        starts = state.get("iteration_starts", [])
        self.iteration_starts = list(starts[-num_iterations:]) if num_iterations else []
        records = list(records)
        sizes = (len(self._samples(record)[0]) for record in records)
        self._num_lost = num_added - sum(sizes)
        self.num_added = self._num_lost
        are_in_range = all(0 <= start <= num_added for start in self.iteration_starts)
        if self._num_lost < 0 or not are_in_range:
            raise ValueError(f"a window of {num_added} samples")
        for record in records:
            self.add(record)

    def _make_room(self, num_slots: int) -> None:
        """Lengthen the arrays, if necessary, to hold at least ``num_slots`` samples."""
        room = len(self._stored.outcomes)
        if num_slots > room:
            room = max(min(2 * room, self.settings.window_max), num_slots)
            self._stored = _Samples(*(lengthened(column, room) for column in self._stored))

    @property
    def _num_kept(self) -> int:
        return min(self.num_added - self._num_lost, self.settings.window_max)

    def _slots(self, ages: np.ndarray) -> np.ndarray:
        """Convert samples' ages, int64[M], to indices into the arrays; age 0 is the newest."""
        return (self.num_added - 1 - ages) % self.settings.window_max

    def _samples(self, record: GameRecord) -> tuple[np.ndarray, np.ndarray]:
        """Return the plies of a game that become samples, and each sample's symmetry: two int[M].

        M is at most ``window_max``. All symmetries are 0, the identity, unless each distinct
        symmetric image is stored as a sample of its own.
        """
        plies = sample_plies(record, self.settings.surprise_fraction)
        symmetries = np.zeros(len(plies), np.int64)
        if self.settings.symmetries == "all":
            planes = self.game.observe(record.states[plies])
            is_distinct = distinct_symmetries(planes, self.game.cell_symmetries)
            rows, symmetries = np.nonzero(is_distinct)
            plies = plies[rows]
        newest = slice(-self.settings.window_max, None)
        return plies[newest], symmetries[newest]

    def _batch(self, ages: np.ndarray) -> Batch:
        """Make a batch of the samples with the given ages, transformed by their symmetries.

        A sample's symmetry is random, or the stored one if each image is a separate sample.
        """
        slots = self._slots(ages)
        batch = self._raw_batch(slots)
        num_symmetries = len(self.game.cell_symmetries)
        if self.settings.symmetries == "none" or num_symmetries == 1:
            return batch
        if self.settings.symmetries == "all":
            symmetries = self._stored.symmetries[slots].astype(np.int64)
        else:
            symmetries = self._generator.integers(num_symmetries, size=len(ages))
        transformed = apply_symmetries(symmetries, self.game, *batch[:3])
        return Batch(*transformed, *batch[3:])

    def _raw_batch(self, slots: np.ndarray) -> Batch:
        """Make a batch of the samples at the given indices without transforming them.

        Args:
            slots: int64[M], indices into the arrays.
        """
        states, action_weights, outcomes, root_values, _ = (part[slots] for part in self._stored)
        planes = self.game.observe(states)
        legal_action_mask = self.game.legal_action_mask(states)
        return Batch(planes, action_weights, legal_action_mask, outcomes, root_values)


def sample_plies(record: GameRecord, surprise_fraction: float) -> np.ndarray:
    """Return the plies of a game that become training samples, in order: int64[number of samples].

    Without surprise weighting, each searched ply appears once. With it, the weight of a ply is

        1 - surprise_fraction + surprise_fraction * the ply's surprise / the game's mean surprise

    and a ply may appear several times or never: KataGo's policy surprise weighting ("Other methods
    implemented in KataGo since the paper"). Fractional weights are carried over along the game
    instead of being rounded at random, so a stored game always gives the same samples.

    Args:
        record: the game.
        surprise_fraction: fraction of the samples that are assigned by surprise, in [0, 1].
    """
    plies = np.flatnonzero(record.is_target)
    if surprise_fraction == 0.0 or len(plies) == 0:
        return plies
    surprises = record.surprises[plies]
    mean = surprises.sum(dtype=np.float64) / len(plies)
    if not mean > 0.0:
        return plies
    weights = 1.0 - surprise_fraction + surprise_fraction * surprises / mean
    ends = np.floor(np.cumsum(weights) + 0.5).astype(np.int64)
    return np.repeat(plies, np.diff(ends, prepend=0))
