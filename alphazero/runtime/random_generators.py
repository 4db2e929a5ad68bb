"""Random numbers: one root seed, named child generators, and no global state.

Python code uses numpy's generators. In compiled code, the random state is a one-element uint64
array, which xorshift64 advances in place (G. Marsaglia, "Xorshift RNGs", 2003). This algorithm
needs only shifts and exclusive-ors, so compiled and interpreted runs agree bit for bit.
"""

import zlib

import numpy as np

from alphazero.runtime.jit import njit

_7 = np.uint64(7)
_13 = np.uint64(13)
_17 = np.uint64(17)
_32 = np.uint64(32)


def child_generator(seed: int, name: str) -> np.random.Generator:
    """Derive the random generator called ``name`` from a root seed.

    The same seed and name always give a generator with the same random numbers; different names
    give independent streams.

    Args:
        seed: the root seed, not negative.
        name: the purpose of the random numbers, such as "replay".
    """
    sequence = np.random.SeedSequence([seed, zlib.crc32(name.encode())])
    return np.random.default_rng(sequence)


def uniform_actions(legal_action_mask: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw a uniformly random legal action for each row of a mask.

    Args:
        legal_action_mask: bool[B, A], True where an action is legal; each row must have one.
        generator: the generator to draw from.

    Returns:
        The actions, int32[B].
    """
    keys = np.where(legal_action_mask, generator.random(legal_action_mask.shape), -1.0)
    return keys.argmax(axis=1).astype(np.int32)


def kernel_rng(generator: np.random.Generator) -> np.ndarray:
    """Draw the initial random state of compiled code, for `next_bits`: uint64[1], never zero.

    Args:
        generator: the generator to draw from.
    """
    return generator.integers(1, 2**64 - 1, size=1, dtype=np.uint64)


@njit
def next_bits(rng):
    """Advance the random state ``rng`` (uint64[1], not zero) and return it as 64 random bits."""
    x = rng[0]
    x ^= x << _13
    x ^= x >> _7
    x ^= x << _17
    rng[0] = x
    return x


@njit
def random_below(rng, bound):
    """Return a uniformly random integer in [0, bound), for 1 <= bound < 2**32.

    This is D. Lemire's multiply-and-shift method, applied to 32 random bits. Without his rejection
    step, the probabilities of the results differ by up to 2**-32.

    Args:
        rng: the random state, uint64[1], which is advanced in place.
    """
    return np.int64(((next_bits(rng) >> _32) * np.uint64(bound)) >> _32)


@njit
def random_unit(rng):
    """Return a uniformly random float in [0, 1), advancing the random state ``rng`` (uint64[1])."""
    return np.float64(next_bits(rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
