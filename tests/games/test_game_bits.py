"""Bit tricks: the n-th set bit, and four in a row on boards of every shape that fits a word."""

import numpy as np
import pytest

from alphazero.games.connect_x import ConnectX, has_line
from alphazero.games.othello import nth_bit_index


def set_bits(word: int) -> list[int]:
    return [index for index in range(64) if word >> index & 1]


def test_the_nth_bit_is_found_wherever_it_is():
    generator = np.random.default_rng(0)
    words = [1 << index for index in range(64)]
    words += [2**64 - 1, 0x8000000000000001, 0x00FF00FF00FF00FF]
    words += [int(word) for word in generator.integers(1, 2**64 - 1, 200, dtype=np.uint64)]
    words += [
        int(a & b & c) | 1 << 40
        for a, b, c in generator.integers(0, 2**64 - 1, (200, 3), dtype=np.uint64)
    ]
    for word in words:
        found = [int(nth_bit_index(np.uint64(word), n)) for n in range(word.bit_count())]
        assert found == set_bits(word)


def slow_has_four(rows: int, columns: int, discs: int) -> bool:
    """Return whether the discs hold four in a row, cell by cell."""
    cells = {(bit // (rows + 1), bit % (rows + 1)) for bit in set_bits(discs)}
    directions = [(0, 1), (1, 0), (1, 1), (1, -1)]
    return any(
        all((column + i * right, row + i * up) in cells for i in range(4))
        for column, row in cells
        for right, up in directions
    )


@pytest.mark.parametrize(
    ("rows", "columns"),
    [(6, 7), (4, 4), (7, 8), (5, 10), (1, 32), (3, 16), (11, 5), (20, 3)]
    + [(29, 2), (30, 2), (31, 2), (61, 1), (62, 1), (63, 1)],
)
def test_four_in_a_row_are_found_on_boards_of_every_shape(rows, columns):
    game, generator = ConnectX(rows, columns, 4), np.random.default_rng(rows)
    found = set()
    for trial in range(300):
        share = (0.35, 0.6, 0.8)[trial % 3]
        cells = [
            column * (rows + 1) + row
            for column in range(columns)
            for row in range(rows)
            if generator.random() < share
        ]
        discs = sum(1 << cell for cell in cells)
        wanted = slow_has_four(rows, columns, discs)
        assert bool(has_line(game, np.uint64(discs))) == wanted
        found.add(wanted)
    assert found == {True, False}
