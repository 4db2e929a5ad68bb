"""Finished games as flat arrays: what is stored in a run's folder and sent between processes.

In: `GameRecord`s. Out: one array for each of their fields, the games one after the other, and the
lengths of the games; and back.
"""

from collections.abc import Sequence

import numpy as np

from alphazero.selfplay.game_record import GameRecord

LENGTHS = "lengths"  #: int64[G], the number of plies of each game
#: The arrays without which there are no games.
REQUIRED = {LENGTHS, *GameRecord._fields} - GameRecord._field_defaults.keys()


def flatten(records: Sequence[GameRecord]) -> dict[str, np.ndarray]:
    """Return the games as arrays by name; fields that a record lacks are left out.

    Args:
        records: at least one.
    """
    columns = {
        name: np.concatenate(column)
        for name, column in zip(GameRecord._fields, zip(*records))
        if all(array is not None for array in column)
    }
    columns[LENGTHS] = np.array([len(record.actions) for record in records], np.int64)
    return columns


def unflatten(columns: dict[str, np.ndarray]) -> list[GameRecord]:
    """Return the games that `flatten` was given; each has the arrays of its fields as views."""
    ends = np.cumsum(columns[LENGTHS])
    parts = {
        name: np.split(column, ends[:-1]) for name, column in columns.items() if name != LENGTHS
    }
    return [GameRecord(**dict(zip(parts, fields))) for fields in zip(*parts.values())]
