"""The cache in front of an evaluator: its answers are the evaluator's, whatever it stores."""

import functools
import hashlib

import numpy as np
import pytest
from game_samples import EXAMPLE, label, random_games, random_states
from interpreted import printed_without_compiler
from naive import NaiveCache, naive_images

from alphazero.inference import cache as evaluation_cache
from alphazero.inference.cache import CachedEvaluator, bytes_per_entry
from alphazero.inference.evaluator import Evaluator
from alphazero.own_games.registry import make_game

NAMES = ("tic_tac_toe", "connect_x:5x4x3", "othello:4", "connect_four")
LARGE = 1_000_000  # bytes: room for every position of these tests
SIZES = (8, 64)  # entries: one set of places that collide, and a few


class EquivariantEvaluator(Evaluator):
    """Returns pseudo-random answers that depend on the planes alone and turn with the board.

    The numbers have few binary digits, so that their means are exact and comparable bit by bit.
    """

    def __init__(self, game, salt=b""):
        self.game, self.salt = game, salt
        self.calls = []  # the planes of each
        self.fails = False

    def evaluate(self, planes):
        self.calls.append(planes.copy())
        if self.fails:
            raise KeyboardInterrupt
        logits = np.zeros((len(planes), self.game.num_actions), np.float32)
        values = np.zeros(len(planes), np.float32)
        for row, position in enumerate(planes):
            images = naive_images(position, self.game.cell_symmetries)
            for image, actions in zip(images, self.game.action_symmetries):
                numbers = numbers_of(self.salt + image.tobytes(), self.game.num_actions + 1)
                logits[row, actions] += numbers[:-1] / len(images)
                values[row] += numbers[-1] / len(images)
        return logits, values


@functools.cache
def numbers_of(data, count):
    """Return pseudo-random numbers between -1 and 1 that depend on the data, float32[count]."""
    seed = int.from_bytes(hashlib.sha256(data).digest()[:8], "little")
    return np.random.default_rng(seed).integers(-64, 65, count).astype(np.float32) / 64


def symmetries_of(game, shared):
    """Return the tables for a cache in which symmetric positions share an entry, or do not."""
    used = slice(None) if shared else slice(1)
    return game.cell_symmetries[used], game.action_symmetries[used]


def make_cache(game, evaluator, max_bytes=LARGE, shared=True):
    return CachedEvaluator(evaluator, game.planes_shape, *symmetries_of(game, shared), max_bytes)


@functools.cache
def positions_of(name, num_positions=50):
    planes = make_game(name).observe(random_states(name, num_games=10))
    return planes[np.random.default_rng(1).permutation(len(planes))[:num_positions]]


def random_batch(name, generator):
    """Return positions from a small pool, so that many repeat, half of them as a random image."""
    pool, cells = positions_of(name), make_game(name).cell_symmetries
    rows = pool[generator.integers(len(pool), size=generator.integers(1, 25))]
    chosen = (generator.integers(len(cells)) * generator.integers(2) for _ in rows)
    return np.stack([naive_images(row, cells)[symmetry] for row, symmetry in zip(rows, chosen)])


def random_operations(name, seed, num=60):
    """Yield batches of positions and, sometimes, None: the weights have changed."""
    generator = np.random.default_rng(seed)
    for _ in range(num):
        yield None if generator.random() < 0.08 else random_batch(name, generator)


# --- comparison with the naive cache --------------------------------------------------------------


@pytest.mark.parametrize("shared", (True, False))
@pytest.mark.parametrize("name", NAMES)
def test_a_large_cache_equals_the_naive_cache(name, shared):
    game = make_game(name)
    evaluator, behind = EquivariantEvaluator(game), EquivariantEvaluator(game)
    cache = make_cache(game, evaluator, shared=shared)
    naive = NaiveCache(behind, *symmetries_of(game, shared))
    num_hits = 0
    for number, planes in enumerate(random_operations(name, seed=2)):
        if planes is None:
            evaluator.salt = behind.salt = bytes([number])
            cache.clear()
            naive.clear()
            continue
        evaluator.calls.clear()
        logits, values, evaluated = naive.evaluate(planes)
        found = cache.evaluate(planes)
        assert found[0].dtype == found[1].dtype == np.float32
        assert np.array_equal(found[0], logits) and np.array_equal(found[1], values)
        # At most one call, with each position once, in the order of the batch.
        assert len(evaluator.calls) == bool(evaluated)
        assert not evaluated or np.array_equal(evaluator.calls[0], planes[evaluated])
        assert cache.counts[:2] == (naive.num_lookups, naive.num_misses)
        num_hits += len(planes) - len(evaluated)
    assert num_hits > 100


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shared", (True, False))
@pytest.mark.parametrize("name", NAMES)
def test_a_cache_that_keeps_losing_entries_still_answers_correctly(name, shared, size):
    game = make_game(name)
    evaluator, direct = EquivariantEvaluator(game), EquivariantEvaluator(game)
    max_bytes = size * bytes_per_entry(game.num_actions)
    cache = make_cache(game, evaluator, max_bytes, shared)
    naive = NaiveCache(EquivariantEvaluator(game), *symmetries_of(game, shared))
    for number, planes in enumerate(random_operations(name, seed=3, num=30)):
        if planes is None:
            evaluator.salt = direct.salt = bytes([number])
            cache.clear()
            naive.clear()
            continue
        naive.evaluate(planes)
        for ours, theirs in zip(cache.evaluate(planes), direct.evaluate(planes)):
            assert np.array_equal(ours, theirs)
    assert cache.counts.num_requested == naive.num_lookups
    assert cache.counts.num_evaluated == sum(map(len, evaluator.calls)) < cache.counts.num_requested
    assert naive.num_misses < cache.counts.num_evaluated or size == max(SIZES)


class ByPlanes(EquivariantEvaluator):
    """Answers each image of a position differently."""

    def evaluate(self, planes):
        count = self.game.num_actions + 1
        answers = [numbers_of(position.tobytes(), count) for position in planes]
        numbers = np.array(answers, np.float32)
        return numbers[:, :-1], numbers[:, -1]


@pytest.mark.parametrize("name", NAMES)
def test_answers_for_canonical_images_do_not_depend_on_what_was_asked_before(name):
    game = make_game(name)
    tables, evaluator = symmetries_of(game, True), ByPlanes(game)
    answers = {}
    for seed in range(3):
        cache = CachedEvaluator(evaluator, game.planes_shape, *tables, LARGE, True)
        generator = np.random.default_rng(seed)
        for _ in range(20):
            planes = random_batch(name, generator)
            for position, logits, value in zip(planes, *cache.evaluate(planes)):
                found = answers.setdefault(position.tobytes(), (position, logits, value))
                assert np.array_equal(found[1], logits) and found[2] == value
        assert cache.counts.num_evaluated < cache.counts.num_requested
    for position, logits, value in list(answers.values())[:30]:
        images = naive_images(position, tables[0])
        theirs = evaluator.evaluate(images)
        turned = [
            np.array_equal(logits[actions], image_logits)
            for actions, image_logits in zip(tables[1], theirs[0])
        ]
        assert any(turned) and value == theirs[1][turned.index(True)]
        if len({image.tobytes() for image in images}) < len(images):
            continue  # a symmetric position has several answers' images
        for image, actions in zip(images, tables[1]):
            if image.tobytes() in answers:
                assert np.array_equal(answers[image.tobytes()][1], logits[actions])


def test_answers_belong_to_the_caller_and_planes_may_have_any_memory_layout():
    game = make_game("connect_four")
    planes = positions_of("connect_four")[:20]
    cache = make_cache(game, EquivariantEvaluator(game))
    expected = [answer.copy() for answer in cache.evaluate(planes)]
    before, num_misses = planes.copy(), cache.counts.num_evaluated
    for view in (planes, np.asfortranarray(planes), np.repeat(planes, 2, axis=0)[::2]):
        answers = cache.evaluate(view)
        for answer, right in zip(answers, expected):
            assert np.array_equal(answer, right)
            answer[:] = 9.0  # the caller's changes do not reach the next caller
    assert np.array_equal(planes, before)
    assert cache.counts.num_requested == 80 and cache.counts.num_evaluated == num_misses


# --- interruptions --------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ("evaluator", "store"))
def test_a_cache_still_works_after_an_interruption(monkeypatch, where):
    game = make_game("connect_x:5x4x3")
    evaluator, direct = EquivariantEvaluator(game), EquivariantEvaluator(game)
    cache, store, calls = make_cache(game, evaluator), evaluation_cache.store, []

    def interrupted(*arguments):
        calls.append(0)
        if where == "store" and len(calls) % 3 == 0:
            raise KeyboardInterrupt
        store(*arguments)

    monkeypatch.setattr(evaluation_cache, "store", interrupted)
    num_interrupted = 0
    for number, planes in enumerate(random_operations("connect_x:5x4x3", seed=4, num=200)):
        if planes is None:
            continue
        evaluator.fails = where == "evaluator" and number % 3 == 0
        try:
            found = cache.evaluate(planes)
        except KeyboardInterrupt:
            num_interrupted += 1
            continue
        for ours, theirs in zip(found, direct.evaluate(planes)):
            assert np.array_equal(ours, theirs)
    assert num_interrupted >= 3


# --- memory and keys ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ("tic_tac_toe", "connect_four", "othello"))
def test_the_table_stays_within_its_memory_limit(name):
    game = make_game(name)
    for max_bytes in (5_000, 100_000, 3_000_000):
        cache = make_cache(game, EquivariantEvaluator(game), max_bytes)
        table = cache._table
        taken = sum(array.nbytes for array in table)
        assert taken == len(table.keys) * bytes_per_entry(game.num_actions)
        assert max_bytes / 2 < taken <= max_bytes
        for planes in (random_batch(name, np.random.default_rng(5)) for _ in range(3)):
            cache.evaluate(planes)
        assert cache._table is table and taken == sum(array.nbytes for array in table)
        # No other array of the cache is as large as the table.
        buffers = [*cache._lookup, cache._factors, cache._actions]
        assert max(map(len, buffers)) <= max(24, len(game.cell_symmetries))


def keys_of(game, planes, shared):
    cells, _ = symmetries_of(game, shared)
    factors = evaluation_cache._key_factors(game.planes_shape, cells)
    bits = np.ascontiguousarray(planes).reshape(len(planes), -1).view(np.uint32)
    return [int(evaluation_cache._key(bits, row, factors)[0]) for row in range(len(bits))]


@pytest.mark.parametrize(
    "name", ("tic_tac_toe", "connect_four", "connect_x:5x40x6", "othello:6", "othello", EXAMPLE)
)
def test_keys_of_different_positions_differ(name):
    """The probability that two of 30,000 random 63-bit keys are equal is 5e-11."""
    game, known, wanted = make_game(name), {}, {"tic_tac_toe": 3_000}.get(name, 30_000)
    for seed in range(100):
        plies, final = random_games(game, 1000, seed)
        for planes in (game.observe(states) for states in [*(ply.states for ply in plies), final]):
            known |= {hash(row.tobytes()): row for row in planes[: wanted - len(known)]}
        if len(known) >= wanted:
            break
    planes = np.stack(list(known.values()))
    assert len(planes) == wanted
    keys = keys_of(game, planes, shared=False)
    assert len(set(keys)) == wanted and 0 not in keys

    some = planes[:: wanted // 2000]
    canonical = [
        min(image.tobytes() for image in naive_images(row, game.cell_symmetries)) for row in some
    ]
    keys = keys_of(game, some, shared=True)
    assert len(set(keys)) == len(set(canonical)) == len(set(zip(keys, canonical)))


# --- without the compiler -------------------------------------------------------------------------


def digest(name):
    """Return a line that depends on all answers, counts and keys of a cache."""
    game, total = make_game(name), hashlib.sha256()
    for max_bytes in (1, LARGE):
        for shared in (True, False):
            cache = make_cache(game, EquivariantEvaluator(game), max_bytes, shared)
            for planes in random_operations(name, seed=6, num=12):
                if planes is None:
                    cache.clear()
                    continue
                table = cache._table
                for array in (*cache.evaluate(planes), table.keys, table.pending):
                    total.update(array.tobytes())
                total.update(str(cache.counts.num_evaluated).encode())
    return f"{label(name)} {total.hexdigest()}"


@pytest.mark.slow
def test_the_interpreted_cache_equals_the_compiled_one_without_warnings():
    assert printed_without_compiler(__file__) == [digest(name) for name in NAMES]


if __name__ == "__main__":
    for name in NAMES:
        print(digest(name))
