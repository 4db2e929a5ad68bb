"""Files of games that workers leave in a shared folder.

In: an `Answer` of a worker. Out: the bytes of a safetensors file. And back: a file is believed only
after every check. What it says about itself has to agree with its name and with the run, and its
games are replayed (`alphazero.workers.answer_check`).
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.runtime.files import from_safetensors, to_safetensors
from alphazero.selfplay.flat_games import unflatten
from alphazero.selfplay.game_record import GameRecord
from alphazero.workers.answer_check import AnswerError, check_answer
from alphazero.workers.folder.shared_folder import GamesName, read_regular
from alphazero.workers.unit import Answer, Job, SelfPlayWork

FORMAT = "alphazero-worker-games-2"
MOST_BYTES = 256_000_000  # of a file of games; a thousand games of Othello have 20 MB
_KEY = "games"  # of the text in the metadata


class GamesFile(NamedTuple):
    """Checked games of a file."""

    name: GamesName
    version: int  #: of the network that played them
    records: list[GameRecord]
    work: SelfPlayWork
    seconds: float  #: that it took to play them


def games_per_file(game: Game) -> int:
    """Return a number of games that is sure to fit into half of the largest file.

    A unit may end with more games than it was asked for.
    """
    state_bytes = game.state_size * np.dtype(game.state_dtype).itemsize
    ply_bytes = state_bytes + 4 * game.num_actions + 32
    return max(1, MOST_BYTES // 2 // (ply_bytes * game.max_plies))


def to_bytes(answer: Answer, name: GamesName, job: Job) -> bytes:
    """Return the contents of the file ``name`` with the games of an answer."""
    facts = _origin(name, job) | {
        "version": answer.version,
        "work": list(map(float, answer.work)),
        "seconds": float(answer.seconds),
    }
    return to_safetensors(answer.games, {_KEY: json.dumps(facts)})


def read_games(
    path: Path, name: GamesName, job: Job, newest: int, game: Game, may_be_adjudicated: bool
) -> GamesFile:
    """Return the games of a file.

    Args:
        name: of the file.
        job: of the run.
        newest: the highest number of a network that was ever published.
        may_be_adjudicated: see `alphazero.selfplay.game_check.check_games`.

    Raises:
        AnswerError: if the file does not hold games of this run; the message is a clause.
        StoredFileError: if it is not a plain file, or too large.
        OSError: if it cannot be read.
    """
    data = read_regular(path, MOST_BYTES)
    try:
        facts, columns = _parsed(data)
        for key, expected in _origin(name, job).items():
            if facts.get(key) != expected:
                raise AnswerError(f"its {key} is {facts.get(key)!a:.60}, not {expected}")
        answer = Answer(0, facts["version"], columns, facts["work"], facts["seconds"])
        work = check_answer(answer, game, may_be_adjudicated, newest)
        records = unflatten(columns)
        if len(records) != name.num_games:
            raise AnswerError(f"its name says {name.num_games} games, and it has {len(records)}")
        return GamesFile(name, answer.version, records, work, answer.seconds)
    except AnswerError:
        raise
    except Exception as error:  # a file may be anything
        raise AnswerError(f"it holds no games ({type(error).__name__}: {error})") from None


def _parsed(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return what a file says about its games, and their arrays."""
    try:
        metadata, columns = from_safetensors(data)
        facts = json.loads(metadata[_KEY])
    except (ValueError, KeyError, RecursionError) as error:
        reason = "it is empty" if not data else f"it is not a file of games: {error}"
        raise AnswerError(reason) from error
    return facts, columns


def _origin(name: GamesName, job: Job) -> dict[str, Any]:
    """Return the facts in the name of a file of the run; None for other files."""
    return {
        "format": FORMAT,
        "run": job.run,
        "code_version": job.code_version,
        "worker": name.worker,
        "number": name.number,
    }
