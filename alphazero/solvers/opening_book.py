"""The opening book of Connect Four (6 x 7): exact scores of positions with 0, 4, 8 or 12 discs.

With it, a search looks at most three plies ahead as long as the board has fewer than 12 discs.

The file `connect_four_book.xz` holds no positions, only scores in a fixed order: one for each
arrangement of discs without gaps in which both players have equally many.
`scripts/make_connect_four_book.py` makes it. Two numbers identify an arrangement, and the entries
are sorted by them:

- its stacks: the heights of the columns, from left to right, as the digits of a number in base 7;
- its coloring: one bit for each disc, 1 if it belongs to the player to move, and a 1 above them.
  Bit 0 is the lowest disc of the first column; columns from left to right, each from the bottom up.

Mirror images share an entry: that of the smaller stacks or, if these are equal, coloring.
"""

import functools
import lzma
from pathlib import Path
from typing import NamedTuple

import numpy as np

from alphazero.games.connect_x import ONE, ZERO, ConnectX
from alphazero.runtime.bits import popcount
from alphazero.runtime.jit import njit

CONNECT_FOUR = ConnectX(rows=6, columns=7, length=4)
BOOK_PLIES = (0, 4, 8, 12)
#: Entry of an arrangement without a score: a finished game, one in which the player to move can win
#: at once, or one that no game can reach.
UNKNOWN = 100
BOOK_PATH = Path(__file__).with_name("connect_four_book.xz")
_COLUMN = np.uint64(127)


class OpeningBook(NamedTuple):
    """Scores of early positions and the tables that locate them, for compiled code."""

    max_plies: int  #: number of discs of the latest positions in the book; -1 if it is empty
    scores: np.ndarray  #: int8[N], for the player to move, or `UNKNOWN`
    stacks: np.ndarray  #: int32[7 ** 7], the first entry with these stacks
    colorings: np.ndarray  #: int16[2 ** 13], the place among the entries with equal stacks, or -1


NO_BOOK = OpeningBook(-1, np.zeros(0, np.int8), np.zeros(0, np.int32), np.zeros(0, np.int16))


@functools.cache
def load_book(game: ConnectX) -> OpeningBook:
    """Read the opening book of Connect Four, which takes 11 MB of memory; others have none."""
    if game != CONNECT_FOUR:
        return NO_BOOK
    return make_book(np.array(np.frombuffer(lzma.decompress(BOOK_PATH.read_bytes()), np.int8)))


def make_book(scores: np.ndarray) -> OpeningBook:
    """Make the book with these scores, int8[N]."""
    shape = (CONNECT_FOUR.rows + 1,) * CONNECT_FOUR.columns
    stacks = np.arange(np.prod(shape)).reshape(shape)
    num_discs = np.indices(shape, np.int8).sum(axis=0, dtype=np.int8)
    num_colorings = np.zeros(num_discs.max() + 1, np.int32)
    colorings = np.full(2 << BOOK_PLIES[-1], -1, np.int16)
    for plies in BOOK_PLIES:
        equal = [code for code in range(1 << plies) if 2 * code.bit_count() == plies]
        colorings[np.array(equal) + (1 << plies)] = range(len(equal))
        num_colorings[plies] = len(equal)
    num_entries = (num_colorings[num_discs] * (stacks <= stacks.T)).ravel()
    first_entries = np.cumsum(num_entries, dtype=np.int32) - num_entries
    return OpeningBook(BOOK_PLIES[-1], scores, first_entries.astype(np.int32), colorings)


@njit
def book_score(book, mine, occupied):
    """Return the score of a position for the player to move, or `UNKNOWN`.

    Args:
        book: an `OpeningBook`.
        mine: uint64, the discs of the player to move, one bit each.
        occupied: uint64, the discs of both players, one bit each.
    """
    if popcount(occupied) > book.max_plies:
        return UNKNOWN
    index = book_index(book, mine, occupied)
    return np.int64(book.scores[index]) if index >= 0 else UNKNOWN


@njit
def book_index(book, mine, occupied):
    """Return the index of an early position's entry, or -1.

    Args:
        book: an `OpeningBook` that is not empty.
        mine: uint64, the discs of the player to move, one bit each.
        occupied: uint64, the discs of both players, one bit each; at most ``book.max_plies``.
    """
    stacks = 0
    coloring = ZERO
    mirrored_stacks = 0
    mirrored_coloring = ONE
    power = 1
    num_discs = ZERO
    for column in range(CONNECT_FOUR.columns):
        shift = np.uint64(column * (CONNECT_FOUR.rows + 1))
        discs = (mine >> shift) & _COLUMN
        height = popcount((occupied >> shift) & _COLUMN)
        stacks = stacks * (CONNECT_FOUR.rows + 1) + height
        coloring |= discs << num_discs
        mirrored_stacks += power * height
        mirrored_coloring = (mirrored_coloring << np.uint64(height)) | discs
        power *= CONNECT_FOUR.rows + 1
        num_discs += np.uint64(height)
    coloring |= ONE << num_discs
    if mirrored_stacks < stacks:
        stacks = mirrored_stacks
        coloring = mirrored_coloring
    elif mirrored_stacks == stacks:
        coloring = min(coloring, mirrored_coloring)
    place = np.int64(book.colorings[coloring])
    return np.int64(book.stacks[stacks]) + place if place >= 0 else -1
