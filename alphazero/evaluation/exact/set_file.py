"""Files of exact evaluation sets.

In: a file, or a set to write to one. Out: an `EvaluationSet`. Some sets ship with the package. A
file is CSV after a few comment lines, which say what the set contains and how to make it again:

    # game: connect_four
    # seed: 20
    moves,scores,source
    3 3 2,0:-4 1:-2 2:0 3:-1 4:1 5:-2 6:-3,strong
"""

import csv
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from alphazero.evaluation.exact.sets import (
    SOURCES,
    EvaluationSet,
    can_be_misplayed,
    canonical_keys,
    make_set,
)
from alphazero.games.batched_game import Game
from alphazero.games.registry import same_game
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.runtime.files import read_text, unwritable
from alphazero.solvers.base import ILLEGAL_SCORE

COLUMNS = ["moves", "scores", "source"]
_SHIPPED_FOLDER = Path(__file__).parent / "data"
_MAX_SCORE = 999  # of either sign; `ILLEGAL_SCORE` is outside


def shipped_path(game_name: str) -> Path | None:
    """Return the file of the set that ships for a game, None if there is none."""
    path = _SHIPPED_FOLDER / f"{game_name.replace(':', '_')}.csv"
    return path if not game_name.endswith(".py") and path.is_file() else None


def find_set(path: str | Path | None, game: Game) -> EvaluationSet:
    """Read the set at ``path``, or the one that ships for the game if that is None.

    Raises:
        ConfigError: if ``path`` is None and no set ships for the game.
        StoredFileError: if the file is not an evaluation set of this game.
    """
    found = path or shipped_path(game.name)
    if found is None:
        message = f"no evaluation set ships for {game.name}; make one with "
        message += f"'alphazero make_evaluation_set game={game.name}' and name it with set=. "
        message += "('alphazero prove' examines every position of a small game.)"
        raise ConfigError(message, key="set", value=path, allowed="the path of an evaluation set")
    return read_set(found, game)


def write_set(path: str | Path, evaluation_set: EvaluationSet) -> None:
    """Write a set, the notes first; the same set gives the same bytes.

    Raises:
        ConfigError: if the file cannot be written.
    """
    notes = {"game": evaluation_set.game_name} | evaluation_set.notes
    each = zip(evaluation_set.moves, evaluation_set.action_scores, evaluation_set.sources)
    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.writelines(f"# {name}: {note}\n" for name, note in notes.items())
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for moves, scores, source in each:
                legal = np.flatnonzero(scores != ILLEGAL_SCORE)
                pairs = (f"{action}:{scores[action]}" for action in legal)
                writer.writerow([" ".join(map(str, moves)), " ".join(pairs), source])
    except OSError as error:
        raise unwritable(path, "out", error.strerror or "the disk refuses it") from None


def game_of_set(path: str | Path) -> str:
    """Return the name of a set's game.

    Raises:
        StoredFileError: as `read_set`.
    """
    return _read(path)[1]["game"]


def read_set(path: str | Path, game: Game) -> EvaluationSet:
    """Read a set and check it.

    Raises:
        StoredFileError: naming the file and the line, if it cannot be read or a line is wrong.
    """
    lines, notes = _read(path)
    if not same_game(game.name, notes["game"]):
        raise StoredFileError(
            f"the evaluation set '{path}' is for {notes['game']}, not {game.name}.", path=path
        )
    # Comments become blank lines, which the reader skips and counts.
    uncommented = ("" if line.startswith("#") else line.strip() for line in lines)
    reader = csv.DictReader(uncommented, COLUMNS, restval="")
    try:
        table = [(reader.line_num, fields) for fields in reader]
    except csv.Error:
        table = []
    if len(table) < 2 or table[0][1] != dict(zip(COLUMNS, COLUMNS)):
        raise StoredFileError(
            f"the evaluation set '{path}' needs a line {','.join(COLUMNS)} and then at least one "
            "position.",
            path=path,
        )
    try:
        rows = [_parsed(line, fields, game.num_actions) for line, fields in table[1:]]
        states = _played(game, rows)
        scores = np.stack([row.scores for row in rows])
        _check(game, states, scores, rows)
    except _WrongLine as error:
        raise StoredFileError(f"line {error.line} of '{path}': {error}.", path=path) from None
    moves, sources = [row.moves for row in rows], [row.source for row in rows]
    return make_set(game, states, scores, sources, moves, notes)


class _WrongLine(Exception):
    """What is wrong with a line of a file, a clause without a full stop."""

    def __init__(self, line: int, reason: str):
        super().__init__(reason)
        self.line = line


class _Row(NamedTuple):
    """A position as a file describes it."""

    line: int  # its number in the file
    moves: tuple[int, ...]
    scores: np.ndarray  # int16[A]
    source: str


def _read(path: str | Path) -> tuple[list[str], dict[str, str]]:
    """Return the lines of a set, and its notes."""
    command = "'alphazero make_evaluation_set' makes one"
    if not os.path.lexists(path):
        raise StoredFileError(f"there is no evaluation set '{path}'; {command}.", path=path)
    lines = read_text(path).splitlines()
    notes = dict(line[1:].strip().partition(": ")[::2] for line in lines if line.startswith("#"))
    if "game" not in notes:
        raise StoredFileError(f"'{path}' is not an evaluation set; {command}.", path=path)
    return lines, notes


def _parsed(line: int, fields: dict, num_actions: int) -> _Row:
    """Return the position in a line of a file of a game with A actions."""
    try:
        moves = tuple(map(int, fields["moves"].split()))
        pairs = [pair.split(":") for pair in fields["scores"].split()]
        score_of = {int(action): int(score) for action, score in pairs}
        actions_exist = all(0 <= action < num_actions for action in (*moves, *score_of))
        scores_are_small = all(abs(score) <= _MAX_SCORE for score in score_of.values())
        if not (actions_exist and scores_are_small and fields.keys() == set(COLUMNS)):
            raise ValueError
    except ValueError:
        reason = f"not of the form {','.join(COLUMNS)}, such as 3 3 2,0:-4 1:2,random, with "
        reason += f"actions from 0 to {num_actions - 1} and scores up to {_MAX_SCORE}"
        raise _WrongLine(line, reason) from None
    scores = np.full(num_actions, ILLEGAL_SCORE, np.int16)
    scores[list(score_of)] = list(score_of.values())
    return _Row(line, moves, scores, fields["source"])


def _played(game: Game, rows: list[_Row]) -> np.ndarray:
    """Return the positions ([N, K]) after the moves; all games are played in lockstep."""
    states = game.initial_states(len(rows))
    for ply in range(max(len(row.moves) for row in rows)):
        longer = [index for index, row in enumerate(rows) if len(row.moves) > ply]
        actions = np.array([rows[index].moves[ply] for index in longer])
        legal = game.legal_action_mask(states[longer])[np.arange(len(longer)), actions]
        for index in np.array(longer)[~legal]:
            move = rows[index].moves[ply]
            raise _WrongLine(rows[index].line, f"move {ply + 1}, {move}, is illegal")
        states[longer] = game.step(states[longer], actions).states
    return states


def _check(game: Game, states: np.ndarray, scores: np.ndarray, rows: list[_Row]) -> None:
    """Check that the positions can be those of an `EvaluationSet`."""
    inspected, misplayable = game.inspect(states), can_be_misplayed(scores)
    first_lines: dict[bytes, int] = {}
    for index, (row, key) in enumerate(zip(rows, canonical_keys(game, states))):
        legal = inspected.legal_action_mask[index]
        first = first_lines.setdefault(key, row.line)
        if inspected.over[index]:
            reason = "the game is over in this position"
        elif not np.array_equal(row.scores != ILLEGAL_SCORE, legal):
            reason = f"there must be a score for each legal action {np.flatnonzero(legal).tolist()}"
        elif not misplayable[index]:
            reason = "every move keeps the best possible result"
        elif row.source not in SOURCES:
            reason = f"the source '{row.source}' is not one of {', '.join(SOURCES)}"
        elif first != row.line:
            reason = f"the position is that of line {first}, or a symmetric image of it"
        else:
            continue
        raise _WrongLine(row.line, reason)
