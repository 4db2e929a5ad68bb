"""Bit operations on 64-bit boards; in compiled code, each is one machine instruction per board."""

import numba
import numpy as np
from numba.extending import intrinsic, overload

from alphazero.runtime.jit import njit


def popcount(bits) -> int:
    """Return the number of set bits in a uint64."""
    return int(bits).bit_count()


def lowest_bit_index(bits) -> int:
    """Return the index (0 to 63) of the lowest set bit of a uint64, which must not be zero."""
    value = int(bits)
    return (value & -value).bit_length() - 1


def highest_bit_index(bits) -> int:
    """Return the index (0 to 63) of the highest set bit of a uint64, which must not be zero."""
    return int(bits).bit_length() - 1


@intrinsic
def _ctpop(typing_context, bits):
    def codegen(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return numba.types.uint64(numba.types.uint64), codegen


@intrinsic
def _cttz(typing_context, bits):
    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(numba.types.boolean, True))

    return numba.types.uint64(numba.types.uint64), codegen


@intrinsic
def _ctlz(typing_context, bits):
    def codegen(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], context.get_constant(numba.types.boolean, True))

    return numba.types.uint64(numba.types.uint64), codegen


@overload(popcount)
def _popcount(bits):
    return lambda bits: np.int64(_ctpop(np.uint64(bits)))


@overload(lowest_bit_index)
def _lowest_bit_index(bits):
    return lambda bits: np.int64(_cttz(np.uint64(bits)))


@overload(highest_bit_index)
def _highest_bit_index(bits):
    return lambda bits: np.int64(63) - np.int64(_ctlz(np.uint64(bits)))


@njit
def count_bits(words, out_counts):
    """Write the number of set bits of each word (uint64[M]) into ``out_counts`` (int64[M])."""
    for i in range(words.shape[0]):
        out_counts[i] = popcount(words[i])
