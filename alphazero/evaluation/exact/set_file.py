"""Read files of exact evaluation sets, such as those that ship with the package.

Each file, written by `scripts/make_evaluation_set.py`, becomes an `EvaluationSet`. Comment lines
hold a checksum, facts about the set and how to make it again; the rest is CSV, one position a line:

    # sha256: 0b9c...
    # game: connect_four
    # seed: 20
    moves,scores,source
    3 3 2,0:-4 1:-2 2:0 3:-1 4:1 5:-2 6:-3,strong
"""

import os
from pathlib import Path

import numpy as np

from alphazero.evaluation.exact.sets import EvaluationSet, make_set
from alphazero.games.batched_game import Game
from alphazero.own_games.registry import same_game
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.runtime.files import read_text
from alphazero.solvers.base import ILLEGAL_SCORE

COLUMNS = "moves,scores,source"
_SHIPPED_FOLDER = Path(__file__).parent / "data"
_MAX_SCORE = 999  # maximum size of a score, of either sign; `ILLEGAL_SCORE` is larger


def shipped_path(game_name: str) -> Path | None:
    """Return the path of the evaluation set that ships for a game, or None if there is none.

    Args:
        game_name: the game's name; the path of a user's game file gives None.
    """
    path = _SHIPPED_FOLDER / f"{game_name.replace(':', '_')}.csv"
    return path if path.is_file() else None


def find_set(path: str | Path | None, game: Game) -> EvaluationSet:
    """Read the evaluation set at ``path``, or the game's shipped set if ``path`` is None.

    Args:
        path: the path of a CSV file; None means the set that ships with the game.
        game: the game that the file must be for.

    Raises:
        ConfigError: if ``path`` is None and no evaluation set ships for the game.
        StoredFileError: if the file is not an evaluation set for this game.
    """
    set_path = path or shipped_path(game.name)
    if set_path is None:
        message = (
            f"no evaluation set ships for {game.name}: make one with "
            "scripts/make_evaluation_set.py, and name it with set=. "
            "('alphazero prove' examines every position of a small game.)"
        )
        raise ConfigError(message, key="set", value=path, allowed="the path of an evaluation set")
    return read_set(set_path, game)


def game_of_set(path: str | Path) -> str:
    """Return the name of the game that an evaluation set's file is for.

    Raises:
        StoredFileError: if the file is missing, cannot be read, or is not an evaluation set.
    """
    _, notes = _read(path)
    return notes["game"]


def read_set(path: str | Path, game: Game) -> EvaluationSet:
    """Read an evaluation set from a CSV file, and check every position against the rules.

    Args:
        path: the path of the CSV file.
        game: the game that the set must be for.

    Raises:
        StoredFileError: if the file is missing, cannot be read, is for another game or other rules,
            or has an invalid line; the message names the file and the line.
    """
    lines, notes = _read(path)
    digest = notes.get("rules_digest", "")
    has_changed = len({digest, game.rules_digest} - {""}) > 1
    if has_changed or not same_game(game.name, notes["game"], game.rules_digest, digest):
        raise StoredFileError(
            f"the evaluation set '{path}' is for {notes['game']}, whose rules differ from those of "
            f"{game.name}.",
            path=path,
        )
    numbered = [(n, line) for n, line in enumerate(lines, 1) if line and not line.startswith("#")]
    if len(numbered) < 2 or numbered[0][1] != COLUMNS:
        message = f"the evaluation set '{path}' needs a line {COLUMNS}, then at least one position."
        raise StoredFileError(message, path=path)
    rows = []
    for number, line in numbered[1:]:
        try:
            rows.append(_parsed(line, game))
        except ValueError as error:
            raise StoredFileError(f"line {number} of '{path}': {error}", path=path) from None
    moves, states, scores, sources = zip(*rows)
    return make_set(game, np.stack(states), np.stack(scores), sources, moves, notes)


def _read(path: str | Path) -> tuple[list[str], dict[str, str]]:
    """Read an evaluation set's file without checking its positions.

    Returns:
        All lines of the file, and the notes in the comments except the checksum, as {key: value},
        such as {"game": "othello"}.

    Raises:
        StoredFileError: if the file is missing, cannot be read, or names no game.
    """
    command = "scripts/make_evaluation_set.py makes one"
    if not os.path.lexists(path):
        raise StoredFileError(f"there is no evaluation set '{path}'; {command}.", path=path)
    lines = [line.strip() for line in read_text(path).splitlines()]
    notes = dict[str, str]()
    for line in lines:
        if line.startswith("#"):
            key, _, value = line[1:].strip().partition(": ")
            notes[key] = value
    notes.pop("sha256", None)
    if "game" not in notes:
        raise StoredFileError(f"'{path}' is not an evaluation set; {command}.", path=path)
    return lines, notes


def _parsed(line: str, game: Game) -> tuple[tuple[int, ...], np.ndarray, np.ndarray, str]:
    """Parse one line of an evaluation set's file, which describes a position.

    Returns:
        The moves that lead to the position; its state, K words; the exact score of each action for
        the player to move, int16[A], `ILLEGAL_SCORE` if illegal; and the position's source,
        "random" or "strong".

    Raises:
        ValueError: if the line is malformed, a legal action has no score, the source is unknown,
            the game is over, or every move keeps the best possible result.
    """
    try:
        moves_text, scores_text, source = line.split(",")
        moves = tuple(map(int, moves_text.split()))
        pairs = (pair.split(":") for pair in scores_text.split())
        score_of = {int(action): int(score) for action, score in pairs}
    except ValueError:
        raise ValueError(
            f"it is not of the form {COLUMNS}, such as 3 3 2,0:-4 1:2,random."
        ) from None
    state = game.play_moves(moves)
    legal = np.flatnonzero(game.legal_action_mask(state[None])[0]).tolist()
    largest = max(map(abs, score_of.values()), default=0)
    if sorted(score_of) != legal or largest > _MAX_SCORE:
        raise ValueError(
            f"each legal action, {legal}, must have a score from -{_MAX_SCORE} to {_MAX_SCORE}."
        )
    scores = np.full(game.num_actions, ILLEGAL_SCORE, np.int16)
    scores[list(score_of)] = list(score_of.values())
    return moves, state, scores, source
