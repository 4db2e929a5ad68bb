"""The record of a finished game: its positions, search results and final result.

Positions are stored as the words of game states that identify them; planes and symmetric images are
computed when the replay buffer makes a batch. For files and messages, games are flattened to one
array per field, in which the games follow each other, and an array of their lengths.

Shape letters: T plies, I words that identify a position, A actions, G games.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.batched_game import Game


class GameRecord(NamedTuple):
    """One finished game, with one row per ply."""

    #: [T, I], the position before each action, without the moves that led to it (see
    #: `alphazero.games.batched_game.Game.identity`)
    states: np.ndarray
    actions: np.ndarray  #: int32[T], the actions played
    #: float32[T, A], policy targets (see `alphazero.search.roots.PolicyOutput.action_weights`)
    action_weights: np.ndarray
    root_values: np.ndarray  #: float32[T], the search's value in [-1, 1], for the player to move
    outcomes: np.ndarray  #: float32[T], the game's result in [-1, 1], for the player to move
    #: bool[T], True for plies whose move was searched, which become training samples; False for
    #: the moves of a random opening
    is_target: np.ndarray
    #: float32[T], KL divergence of the policy target from the root's priors (noise included), in
    #: nats
    surprises: np.ndarray

    @property
    def first_player_result(self) -> float:
        """The game's result in [-1, 1], for the player who moves at ply 0."""
        return float(self.outcomes[0])


LENGTHS = "lengths"  #: int64[G], the number of plies of each game


class GamesError(ValueError):
    """Raised for arrays that are not valid games.

    The message is a clause that callers add to the file's name, such as "its outcomes are
    float64[9], where float32[9] is expected".
    """


def flatten(records: Sequence[GameRecord]) -> dict[str, np.ndarray]:
    """Concatenate the records of games into one array per field.

    Args:
        records: at least one game.

    Returns:
        {field name: array}, with the plies of all games along the first axis, and the number of
        plies of each game under the key `LENGTHS`.
    """
    columns = {
        name: np.concatenate(column) for name, column in zip(GameRecord._fields, zip(*records))
    }
    lengths = [len(record.actions) for record in records]
    columns[LENGTHS] = np.array(lengths, np.int64)
    return columns


def unflatten(columns: dict[str, np.ndarray]) -> list[GameRecord]:
    """Split the arrays returned by `flatten` into one record per game, without copying.

    Args:
        columns: {field name: array}, as `flatten` returns it.
    """
    ends = np.cumsum(columns[LENGTHS])
    parts = {
        name: np.split(column, ends[:-1]) for name, column in columns.items() if name != LENGTHS
    }
    records = []
    for arrays in zip(*parts.values()):
        fields = dict(zip(parts, arrays))
        records.append(GameRecord(**fields))
    return records


def check_games(columns: dict[str, np.ndarray], game: Game) -> None:
    """Check that flattened games have the arrays, dtypes and shapes that ``game`` requires.

    Whether the moves are legal is not checked: files have checksums, and workers run the learner's
    own code.

    Args:
        columns: {field name: array}, as returned by `flatten`.
        game: the rules of the game that was played.

    Raises:
        GamesError: if an array is missing, unknown, or of the wrong dtype or shape.
    """
    if columns.keys() != {LENGTHS, *GameRecord._fields}:
        raise GamesError(f"its arrays are {', '.join(sorted(columns))[:200]}")
    num_plies = int(columns[LENGTHS].sum())
    expected: dict[str, tuple[Any, tuple[int, ...]]] = {
        LENGTHS: (np.int64, (len(columns[LENGTHS]),)),
        "states": (game.state_dtype, (num_plies, game.identity_size)),
        "actions": (np.int32, (num_plies,)),
        "action_weights": (np.float32, (num_plies, game.num_actions)),
        "is_target": (np.bool_, (num_plies,)),
    }
    for name, array in columns.items():
        dtype, shape = expected.get(name, (np.float32, (num_plies,)))
        if array.dtype != dtype or array.shape != shape:
            actual = f"{array.dtype}{list(array.shape)}"
            required = f"{np.dtype(dtype)}{list(shape)}"
            raise GamesError(f"its {name} are {actual}, where {required} is expected")
