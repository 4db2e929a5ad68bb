"""A cache in front of an evaluator: a position that was answered before, by any game of the batch, is not evaluated again.

In: planes. Out: the answers that the evaluator behind gives, or gave. The key is made from the planes themselves, which are all that a network
sees of a position; positions that are symmetric to each other share one entry, if asked for. Memory is fixed. Knows neither network nor game.
"""

import numpy as np

from alphazero.runtime.jit import njit

_WAYS = 4  # entries that a key may lie in; the table is full of chance, four make early loss of an entry rare
_EMPTY = np.uint64(0)
_NOT_PENDING = -1
_KEY_SEED = 20_181_207  # fixed, so that runs repeat


class CachedEvaluator:
    """See `alphazero.inference.evaluator.Evaluator`; not for calls from several threads at once.

    Args:
        evaluator: answers what is not in the cache; `clear` must be called when its answers change.
        planes_shape: (C, H, W).
        cell_symmetries, action_symmetries: int32[S, H*W] and int32[S, A], see `alphazero.games.rules.symmetries`; the first row of each alone
            keeps symmetric positions apart.
        max_bytes: of the table.
    """

    def __init__(
        self,
        evaluator,
        planes_shape,
        cell_symmetries: np.ndarray,
        action_symmetries: np.ndarray,
        max_bytes: int,
    ):
        num_actions = action_symmetries.shape[1]
        size = max(max_bytes // bytes_per_entry(num_actions), 2 * _WAYS)
        size = 1 << (int(size).bit_length() - 1)
        self.evaluator = evaluator
        self.num_rows = 0  #: positions asked for so far
        self.num_misses = 0  #: of these, the ones that the evaluator answered
        self._factors = _key_factors(planes_shape, cell_symmetries)
        self._actions = np.ascontiguousarray(action_symmetries)
        self._keys = np.zeros(size, np.uint64)
        self._pending = np.full(size, _NOT_PENDING, np.int32)
        self._logits = np.zeros((size, num_actions), np.float32)
        self._values = np.zeros(size, np.float32)

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `alphazero.inference.evaluator.Evaluator.evaluate`."""
        num_rows = len(planes)
        bits = np.ascontiguousarray(planes).reshape(num_rows, -1).view(np.uint32)
        logits, values = (
            np.empty((num_rows, self._logits.shape[1]), np.float32),
            np.empty(num_rows, np.float32),
        )
        symmetries, misses = np.empty(num_rows, np.int32), np.empty(num_rows, np.int32)
        slots, miss_rows = np.empty(num_rows, np.int64), np.empty(num_rows, np.int32)
        table = (self._keys, self._pending, self._logits, self._values)
        try:
            with np.errstate(
                over="ignore"
            ):  # keys wrap around, which numpy mentions where the kernel is interpreted
                num_misses = look_up(
                    *table,
                    bits,
                    self._factors,
                    self._actions,
                    symmetries,
                    misses,
                    slots,
                    miss_rows,
                    logits,
                    values,
                )
            self.num_rows += num_rows
            self.num_misses += num_misses
            if num_misses:
                miss_rows = miss_rows[:num_misses]
                answers = self.evaluator.evaluate(
                    planes if num_misses == num_rows else planes[miss_rows]
                )
                store(
                    *table,
                    self._actions,
                    symmetries,
                    misses,
                    slots,
                    miss_rows,
                    *answers,
                    logits,
                    values,
                )
        except BaseException:
            self.clear()  # entries that wait for an answer must not wait for the next batch's
            raise
        return logits, values

    def clear(self) -> None:
        """Forget every answer."""
        self._keys.fill(_EMPTY)
        self._pending.fill(_NOT_PENDING)


def bytes_per_entry(num_actions: int) -> int:
    """Return the memory of one position."""
    return 16 + 4 * num_actions


def _key_factors(planes_shape, cell_symmetries) -> np.ndarray:
    """Return uint64[S, C * H * W]: a random odd factor for each number in the planes, moved along with the cells by each symmetry."""
    num_planes, height, width = planes_shape
    generator = np.random.default_rng(_KEY_SEED)
    factors = generator.integers(
        0, 2**63, (num_planes, height * width), dtype=np.uint64
    ) * np.uint64(2) + np.uint64(1)
    moved = np.empty((len(cell_symmetries), num_planes, height * width), np.uint64)
    for symmetry, table in enumerate(cell_symmetries):
        moved[symmetry][:, table] = factors
    return moved.reshape(len(cell_symmetries), -1)


@njit
def look_up(
    keys,
    pending,
    table_logits,
    table_values,
    bits,
    factors,
    actions,
    symmetries,
    misses,
    slots,
    miss_rows,
    logits,
    values,
):
    """Answer the rows that the table knows, and make room for the others; return how many different ones those are.

    Args:
        bits: uint32[M, C*H*W], the planes.
        symmetries: int32[M], out: the symmetry that brings a row into the form under which it is stored.
        misses: int32[M], out: the index in ``miss_rows`` of the row whose answer it takes, -1 where it has one.
        slots: int64[M], out: the entry of the table that waits for that row's answer.
        miss_rows: int32[M], out: the rows to be evaluated, each position once.
        logits, values: [M, A] and [M], out: the answers of the rows that have one.
    """
    num_misses = 0
    mask = np.uint64(keys.shape[0] // _WAYS - 1)
    for row in range(bits.shape[0]):
        key, symmetry = _key(bits, row, factors)
        symmetries[row] = symmetry
        first = np.int64((key >> np.uint64(20)) & mask) * _WAYS
        slot = _find(keys, first, key)
        if keys[slot] == key and pending[slot] == _NOT_PENDING:
            misses[row] = -1
            values[row] = table_values[slot]
            for action in range(actions.shape[1]):
                logits[row, actions[symmetry, action]] = table_logits[slot, action]
        elif keys[slot] == key:
            misses[row] = pending[slot]
        else:
            keys[slot] = key
            pending[slot] = num_misses
            misses[row] = num_misses
            slots[num_misses] = slot
            miss_rows[num_misses] = row
            num_misses += 1
    return num_misses


@njit
def store(
    keys,
    pending,
    table_logits,
    table_values,
    actions,
    symmetries,
    misses,
    slots,
    miss_rows,
    new_logits,
    new_values,
    logits,
    values,
):
    """Hand the evaluator's answers to the rows that wait for them, and keep them.

    An entry that was given to another row of the same batch meanwhile is left to the later one.

    Args:
        new_logits, new_values: of ``miss_rows``; the rest as in `look_up`.
    """
    for row in range(misses.shape[0]):
        miss = misses[row]
        if miss >= 0:
            own, other = symmetries[row], symmetries[miss_rows[miss]]
            values[row] = new_values[miss]
            for action in range(actions.shape[1]):
                logits[row, actions[own, action]] = new_logits[miss, actions[other, action]]
    for miss in range(miss_rows.shape[0]):
        slot = slots[miss]
        if pending[slot] == miss:
            pending[slot] = _NOT_PENDING
            table_values[slot] = new_values[miss]
            symmetry = symmetries[miss_rows[miss]]
            for action in range(actions.shape[1]):
                table_logits[slot, action] = new_logits[miss, actions[symmetry, action]]


@njit
def _key(bits, row, factors):
    """Return the smallest key of a row under all symmetries, and which symmetry gives it."""
    best, best_symmetry = ~np.uint64(0), 0
    for symmetry in range(factors.shape[0]):
        key = np.uint64(0)
        for cell in range(bits.shape[1]):
            word = np.uint64(bits[row, cell])
            if word != np.uint64(0):
                word = word * np.uint64(0x9E3779B97F4A7C15)
                key += (word ^ (word >> np.uint64(32))) * factors[symmetry, cell]
        key = (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        key = key ^ (key >> np.uint64(32)) | np.uint64(1)
        if key < best:
            best, best_symmetry = key, symmetry
    return best, best_symmetry


@njit
def _find(keys, first, key):
    """Return the entry that holds ``key``, otherwise an empty one of its place, otherwise one chosen by the key."""
    free = first + np.int64((key >> np.uint64(8)) & np.uint64(_WAYS - 1))
    for slot in range(first, first + _WAYS):
        if keys[slot] == key:
            return slot
        if keys[slot] == _EMPTY:
            return slot
    return free
