"""Caches an evaluator's results, so that positions seen before are not evaluated again.

In self-play, each thread has its own cache in front of the
`alphazero.inference.verified_engine.VerifiedEngine` that all threads share; a player has a cache in
front of its `alphazero.inference.network_evaluator.NetworkEvaluator`. A position's key is a hash of
its planes, which are all that the network sees. Symmetric positions can share one entry. The table
has a fixed size, so a new position may overwrite an older one.
"""

import threading
import time
from typing import NamedTuple

import numpy as np

from alphazero.inference.evaluator import Engine, Evaluator
from alphazero.runtime.jit import njit

_WAYS = 4  # entries per group; with four, few are overwritten before the table is full
_EMPTY = np.uint64(0)
_NOT_PENDING = -1
_FOUND = -1
_KEY_SEED = 20_181_207  # fixed, so that runs are reproducible


class CacheTable(NamedTuple):
    """The cache's E entries, each of which stores the results for one position.

    Entries form groups of `_WAYS`; the hash of a position selects its group.
    """

    keys: np.ndarray  #: uint64[E], hash of the stored position; 0 in an empty entry
    pending: np.ndarray  #: int32[E], index of the miss that will fill the entry; -1 if none
    logits: np.ndarray  #: float32[E, A], policy logits for the position's canonical image
    values: np.ndarray  #: float32[E], in [-1, 1], for the player to move


class Lookup(NamedTuple):
    """The result of looking up a batch of B positions in the cache's table.

    A position that is not stored is a miss; equal positions in a batch share one miss. The arrays
    are reused for every batch and may be longer than B.
    """

    symmetries: np.ndarray  #: int32[B], symmetry that maps each position to its canonical image
    misses: np.ndarray  #: int32[B], index of the miss that each position belongs to; -1 if stored
    miss_rows: np.ndarray  #: int32[B], for each miss: row of the batch to evaluate
    miss_entries: np.ndarray  #: int64[B], for each miss: table entry that it will fill
    #: int32[B], for each miss: symmetry that maps the evaluated image to the canonical one
    miss_symmetries: np.ndarray


class EvaluationCounts(NamedTuple):
    """How many positions a cache was asked for and had evaluated, and the evaluator's seconds."""

    num_requested: int  #: number of positions passed to `CachedEvaluator.evaluate`
    num_evaluated: int  #: number of positions passed on to the evaluator behind the cache
    evaluator_s: float  #: wall-clock seconds spent in the evaluator behind the cache


class CachedEvaluator(Evaluator):
    """An `alphazero.inference.evaluator.Evaluator` that remembers the results of another evaluator.

    Several threads may call `evaluate`, but only one call runs at a time. In self-play, each thread
    has its own cache: a shared cache would have slightly more hits, but the last bits of a result
    would depend on which thread came first, so runs would not be reproducible.

    Args:
        evaluator: evaluates the positions that are not stored; call `clear` when its weights
            change.
        planes_shape: (C, H, W), the shape of one position's planes.
        cell_symmetries: int32[S, H * W], the cells' permutations, as
            `alphazero.games.rules.symmetries` returns them.
        action_symmetries: int32[S, A]; pass only the first row of both tables, the identity, to
            store symmetric positions separately.
        max_bytes: memory limit of the stored results; 0 disables the cache.
        evaluates_canonical: whether to evaluate the canonical symmetric image of a position that is
            not stored, instead of the position itself; the result then does not depend on which
            image is requested first.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        planes_shape: tuple[int, int, int],
        cell_symmetries: np.ndarray,
        action_symmetries: np.ndarray,
        max_bytes: int,
        evaluates_canonical: bool = False,
    ):
        self.evaluator = evaluator
        self._num_requested = 0
        self._num_evaluated = 0
        self._evaluator_s = 0.0
        self._factors = _key_factors(planes_shape, cell_symmetries)
        self._actions = np.ascontiguousarray(action_symmetries)
        self._cells = cell_symmetries if evaluates_canonical else None
        self._table = _empty_table(action_symmetries.shape[1], max_bytes) if max_bytes else None
        self._lookup = _lookup_buffers(0)
        self._turn = threading.Lock()

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions, taking stored results from the cache; see `Evaluator.evaluate`.

        The results are policy logits, float32[B, A], and values, float32[B].
        """
        with self._turn:
            self._num_requested += len(planes)
            if self._table is None:
                return self._ask(planes)
            return self._look_up(planes, self._table)

    @property
    def engine(self) -> Engine | None:
        """The engine behind the cache; a search in kernels does not need the cache."""
        return self.evaluator.engine

    @property
    def counts(self) -> EvaluationCounts:
        """How many positions were requested and evaluated so far, and the evaluator's seconds."""
        return EvaluationCounts(self._num_requested, self._num_evaluated, self._evaluator_s)

    def _ask(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions with the evaluator behind the cache; count them and the seconds."""
        start = time.perf_counter()
        answers = self.evaluator.evaluate(planes)
        self._evaluator_s += time.perf_counter() - start
        self._num_evaluated += len(planes)
        return answers

    def _look_up(self, planes: np.ndarray, table: CacheTable) -> tuple[np.ndarray, np.ndarray]:
        """Return logits and values from the table; evaluate and store missing positions first."""
        num_rows = len(planes)
        bits = np.ascontiguousarray(planes).reshape(num_rows, -1).view(np.uint32)
        logits = np.empty((num_rows, table.logits.shape[1]), np.float32)
        values = np.empty(num_rows, np.float32)
        if num_rows > len(self._lookup.misses):
            self._lookup = _lookup_buffers(num_rows)
        actions = self._actions
        lookup = self._lookup
        try:
            with np.errstate(over="ignore"):  # hashes overflow; numpy warns when interpreted
                num_misses = look_up(table, self._factors, actions, bits, lookup, logits, values)
            if num_misses:
                answers = self._ask(self._missing(planes, num_misses))
                store(table, actions, lookup, *answers, logits, values)
        except BaseException:
            self.clear()  # no entry may stay pending: the next batch would fill it
            raise
        return logits, values

    def _missing(self, planes: np.ndarray, num_misses: int) -> np.ndarray:
        """Return the planes to evaluate for the misses of the last lookup, [num_misses, C, H, W].

        If canonical images are evaluated, this sets ``miss_symmetries`` of the misses to the
        identity.
        """
        rows = self._lookup.miss_rows[:num_misses]
        symmetries = self._lookup.miss_symmetries[:num_misses]
        if self._cells is None:
            return planes if num_misses == len(planes) else planes[rows]
        images = planes.reshape(*planes.shape[:2], -1)[rows]
        images = np.take_along_axis(images, self._cells[symmetries][:, None, :], axis=2)
        symmetries[:] = 0  # the results are for the entries' own images
        return images.reshape(num_misses, *planes.shape[1:])

    def clear(self) -> None:
        """Empty the cache; call this when the evaluator's weights have changed."""
        if self._table is not None:
            self._table.keys.fill(_EMPTY)
            self._table.pending.fill(_NOT_PENDING)


def bytes_per_entry(num_actions: int) -> int:
    """Return the memory that one stored position takes in a `CacheTable`, in bytes."""
    return 16 + 4 * num_actions


def _empty_table(num_actions: int, max_bytes: int) -> CacheTable:
    """Allocate an empty table of at most ``max_bytes``, but at least two groups of entries.

    The number of entries is a power of two.

    Args:
        num_actions: A, the number of policy logits per position.
        max_bytes: memory limit of the table.
    """
    size = max(max_bytes // bytes_per_entry(num_actions), 2 * _WAYS)
    size = 1 << (int(size).bit_length() - 1)
    return CacheTable(
        keys=np.zeros(size, np.uint64),  # all `_EMPTY`; takes no physical memory until it is used
        pending=np.full(size, _NOT_PENDING, np.int32),
        logits=np.zeros((size, num_actions), np.float32),
        values=np.zeros(size, np.float32),
    )


def _lookup_buffers(num_rows: int) -> Lookup:
    return Lookup(
        symmetries=np.empty(num_rows, np.int32),
        misses=np.empty(num_rows, np.int32),
        miss_rows=np.empty(num_rows, np.int32),
        miss_entries=np.empty(num_rows, np.int64),
        miss_symmetries=np.empty(num_rows, np.int32),
    )


def _key_factors(planes_shape, cell_symmetries: np.ndarray) -> np.ndarray:
    """Make a random odd hash factor for each entry of the planes, under each symmetry.

    Each symmetry permutes the identity's factors in the same way as it permutes the cells. A
    position under one symmetry therefore has the same hash as its image under the identity.

    Args:
        planes_shape: (C, H, W), the shape of one position's planes.
        cell_symmetries: int32[S, H * W], the cells' permutation under each symmetry.

    Returns:
        uint64[S, C * H * W]
    """
    num_planes, height, width = planes_shape
    shape = (num_planes, height * width)
    generator = np.random.default_rng(_KEY_SEED)
    random = generator.integers(0, 2**63, shape, dtype=np.uint64)
    factors = random * np.uint64(2) + np.uint64(1)
    images = np.empty((len(cell_symmetries), *shape), np.uint64)
    for image, cells in zip(images, cell_symmetries):
        image[:, cells] = factors
    return images.reshape(len(cell_symmetries), -1)


@njit
def look_up(table, factors, actions, bits, lookup, logits, values):
    """Copy the results of stored positions, and reserve table entries for the others.

    Args:
        table: the `CacheTable`; entries are reserved in place.
        factors: uint64[S, C * H * W], hash factors from `_key_factors`.
        actions: int32[S, A], the action symmetries.
        bits: uint32[B, C * H * W], the planes' floats reinterpreted as integers.
        lookup: the `Lookup` to fill.
        logits, values: float32[B, A] and float32[B]; rows of stored positions are written, others
            are left unchanged.

    Returns:
        The number of misses, that is, of distinct positions to evaluate.
    """
    num_misses = 0
    mask = np.uint64(table.keys.shape[0] // _WAYS - 1)
    for row in range(bits.shape[0]):
        key, symmetry = _key(bits, row, factors)
        lookup.symmetries[row] = symmetry
        first = np.int64((key >> np.uint64(20)) & mask) * _WAYS
        entry = _find(table.keys, first, key)
        if table.keys[entry] == key and table.pending[entry] == _NOT_PENDING:
            lookup.misses[row] = _FOUND
            values[row] = table.values[entry]
            for action in range(actions.shape[1]):
                logits[row, actions[symmetry, action]] = table.logits[entry, action]
        elif table.keys[entry] == key:  # an earlier row of this batch is the same position
            lookup.misses[row] = table.pending[entry]
        else:
            table.keys[entry] = key
            table.pending[entry] = num_misses
            lookup.misses[row] = num_misses
            lookup.miss_rows[num_misses] = row
            lookup.miss_entries[num_misses] = entry
            lookup.miss_symmetries[num_misses] = symmetry
            num_misses += 1
    return num_misses


@njit
def store(table, actions, lookup, new_logits, new_values, logits, values):
    """Write the results for the misses to the batch rows that need them and to the table.

    If a later miss of the same batch has taken over an entry, that miss fills it.

    Args:
        table, actions, lookup: as in `look_up`, after it was called for the same batch.
        new_logits, new_values: float32[M, A] and float32[M], the evaluator's results for the M
            misses.
        logits, values: float32[B, A] and float32[B]; the rows that `look_up` left unchanged are
            written.
    """
    for row in range(values.shape[0]):
        miss = lookup.misses[row]
        if miss != _FOUND:
            own = lookup.symmetries[row]
            other = lookup.miss_symmetries[miss]
            values[row] = new_values[miss]
            for action in range(actions.shape[1]):
                logits[row, actions[own, action]] = new_logits[miss, actions[other, action]]
    for miss in range(new_values.shape[0]):
        entry = lookup.miss_entries[miss]
        if table.pending[entry] == miss:
            table.pending[entry] = _NOT_PENDING
            table.values[entry] = new_values[miss]
            symmetry = lookup.miss_symmetries[miss]
            for action in range(actions.shape[1]):
                table.logits[entry, action] = new_logits[miss, actions[symmetry, action]]


@njit
def _key(bits, row, factors):
    """Return the smallest hash among a position's symmetric images, and that image's symmetry.

    The image with the smallest hash is the canonical one.

    Args:
        bits: uint32[B, C * H * W], the planes' floats reinterpreted as integers.
        row: the index of the position in the batch.
        factors: uint64[S, C * H * W], hash factors from `_key_factors`.
    """
    best = ~np.uint64(0)
    best_symmetry = 0
    for symmetry in range(factors.shape[0]):
        key = np.uint64(0)
        for cell in range(bits.shape[1]):
            word = np.uint64(bits[row, cell])
            if word != np.uint64(0):
                word = word * np.uint64(0x9E3779B97F4A7C15)
                key += (word ^ (word >> np.uint64(32))) * factors[symmetry, cell]
        key = (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        key = key ^ (key >> np.uint64(32)) | np.uint64(1)  # never `_EMPTY`
        if key < best:
            best = key
            best_symmetry = symmetry
    return best, best_symmetry


@njit
def _find(keys, first, key):
    """Return the index of the entry that holds ``key`` or, failing that, of the one to store it in.

    The latter is an empty entry of the key's group or, if the group is full, an entry to overwrite.

    Args:
        keys: uint64[E], the keys of all entries.
        first: index of the first entry of the key's group.
        key: the hash of a position, from `_key`.
    """
    overwritten = first + np.int64((key >> np.uint64(8)) & np.uint64(_WAYS - 1))
    for entry in range(first, first + _WAYS):
        if keys[entry] == key or keys[entry] == _EMPTY:
            return entry
    return overwritten
