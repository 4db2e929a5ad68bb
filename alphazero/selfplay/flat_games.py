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
    """Concatenate games into one array per field.

    Args:
        records: at least one game.

    Returns:
        Arrays by field name, their first axis all plies of all games, and `LENGTHS`, which tells
        the games apart. A field that is None in any record is left out.
    """
    columns = {
        name: np.concatenate(column)
        for name, column in zip(GameRecord._fields, zip(*records))
        if all(array is not None for array in column)
    }
    columns[LENGTHS] = np.array([len(record.actions) for record in records], np.int64)
    return columns


def unflatten(columns: dict[str, np.ndarray]) -> list[GameRecord]:
    """Split the arrays that `flatten` returned into games, whose arrays are views of them."""
    ends = np.cumsum(columns[LENGTHS])
    parts = {
        name: np.split(column, ends[:-1]) for name, column in columns.items() if name != LENGTHS
    }
    return [GameRecord(**dict(zip(parts, fields))) for fields in zip(*parts.values())]
