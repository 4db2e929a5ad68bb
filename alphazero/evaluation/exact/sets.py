"""Exact evaluation sets: positions with the exact score of every move, in small text files.

In: a file, or positions to write to one. Out: an `EvaluationSet`. Some sets ship with the package;
`alphazero.evaluation.exact.sampling` makes new ones, `alphazero.evaluation.exact.accuracy` measures
players on them. A file is CSV after a few comment lines, which say what the set contains and how to
make it again:

    # game: connect_four
    # seed: 20
    moves,scores,source
    3 3 2,0:-4 1:-2 2:0 3:-1 4:1 5:-2 6:-3,strong
"""

import csv
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from alphazero.evaluation.exact.kinds import kinds_of
from alphazero.games.batched_game import Game
from alphazero.games.registry import same_game
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.runtime.files import unwritable
from alphazero.solvers.base import ILLEGAL_SCORE, ILLEGAL_VALUE, values_of

COLUMNS = ["moves", "scores", "source"]
SOURCES = ("random", "strong")  #: uniformly random play; strong play with some random moves
_SHIPPED_FOLDER = Path(__file__).parent / "data"
_MAX_SCORE = 999  # of either sign; `ILLEGAL_SCORE` is outside


@dataclasses.dataclass(frozen=True)
class EvaluationSet:
    """N positions, none final; in each, at least one move gives up the best possible result."""

    game_name: str
    states: np.ndarray  #: [N, K]
    #: int16[N, A], for the player to move; `ILLEGAL_SCORE` for illegal actions.
    action_scores: np.ndarray
    plies: np.ndarray  #: int32[N], actions since the start of the game
    sources: np.ndarray  #: str[N], each one of `SOURCES`
    kinds: np.ndarray  #: str[N], each one of `alphazero.evaluation.exact.kinds.KINDS`
    #: [M, K], the positions after a best move, without finished games. Values are measured there
    #: too, because no position of `states` is lost for the player to move.
    replies: np.ndarray
    reply_values: np.ndarray  #: int8[M], results of perfect play, for the player to move there
    moves: tuple[tuple[int, ...], ...]  #: the actions that lead to each position
    notes: dict[str, str]  #: the comments of the file

    def __len__(self) -> int:
        return len(self.states)

    @property
    def values(self) -> np.ndarray:
        """int8[N], the result of perfect play, 1, 0 or -1, for the player to move."""
        return values_of(self.action_scores.max(axis=1))


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


def can_be_misplayed(action_scores: np.ndarray) -> np.ndarray:
    """Return bool[N]: whether some legal action gives up the best possible result.

    Args:
        action_scores: int16[N, A].
    """
    values = values_of(action_scores)
    worse = values < values.max(axis=1, keepdims=True)
    return ((values != ILLEGAL_VALUE) & worse).any(axis=1)


def canonical_keys(game: Game, states: np.ndarray) -> list[bytes]:
    """Return a key for each of ``states``, [N, K].

    Two positions have the same key if one is a symmetric image of the other, as seen by the player
    to move.
    """
    planes = game.observe(states)
    flat = planes.reshape(*planes.shape[:2], -1)
    images = np.stack([flat[:, :, table] for table in game.cell_symmetries], axis=1)
    return [min(image.tobytes() for image in row) for row in images]


def make_set(
    game: Game,
    states: np.ndarray,
    action_scores: np.ndarray,
    sources: Sequence[str],
    moves: Sequence[tuple[int, ...]],
    notes: dict[str, str],
) -> EvaluationSet:
    """Return the set of these positions; the fields that follow from the arguments are computed."""
    best = action_scores.argmax(axis=1)
    after = game.step(states, best)
    signs = np.where(after.players == game.players(states), 1, -1)
    reply_values = (signs * values_of(action_scores.max(axis=1))).astype(np.int8)
    return EvaluationSet(
        game_name=game.name,
        states=states,
        action_scores=action_scores,
        plies=np.array([len(line) for line in moves], np.int32),
        sources=np.array(sources),
        kinds=kinds_of(game, states),
        replies=after.states[~after.over],
        reply_values=reply_values[~after.over],
        moves=tuple(moves),
        notes=notes,
    )


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
    numbered = [
        (number, line)
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.startswith("#")
    ]
    try:
        table = list(csv.reader(line for _, line in numbered))
    except csv.Error:
        table = []
    if len(table) < 2 or table[0] != COLUMNS:
        raise StoredFileError(
            f"the evaluation set '{path}' needs a line {','.join(COLUMNS)} and then at least one "
            "position.",
            path=path,
        )
    origin = _Origin(path, [number for number, _ in numbered[1:]])
    moves, scores, sources = _parsed(table[1:], game, origin)
    states = _played(game, moves, origin)
    _check(game, states, scores, sources, origin)
    return make_set(game, states, scores, sources, moves, notes)


def game_of_set(path: str | Path) -> str:
    """Return the name of a set's game.

    Raises:
        StoredFileError: as `read_set`.
    """
    return _read(path)[1]["game"]


def _read(path: str | Path) -> tuple[list[str], dict[str, str]]:
    """Return the lines of a set, and its notes."""
    command = "'alphazero make_evaluation_set' makes one"
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise StoredFileError(
            f"there is no evaluation set '{path}'; {command}.", path=path
        ) from None
    except (OSError, UnicodeDecodeError):
        raise StoredFileError(f"'{path}' is not a text file that can be read.", path=path) from None
    notes = dict(line[1:].strip().partition(": ")[::2] for line in lines if line.startswith("#"))
    if "game" not in notes:
        raise StoredFileError(f"'{path}' is not an evaluation set; {command}.", path=path)
    return lines, notes


class _Origin(NamedTuple):
    """Where positions have been read, for error messages."""

    path: str | Path
    lines: list[int]  # the line number of each position

    def error(self, row: int, reason: str) -> StoredFileError:
        return StoredFileError(
            f"line {self.lines[row]} of '{self.path}': {reason}.", path=self.path
        )


def _parsed(
    rows: list[list[str]], game: Game, origin: _Origin
) -> tuple[list[tuple[int, ...]], np.ndarray, list[str]]:
    """Return moves, scores (int16[N, A]) and sources of the rows of a file."""
    moves, sources = [], []
    scores = np.full((len(rows), game.num_actions), ILLEGAL_SCORE, np.int16)
    for index, row in enumerate(rows):
        try:
            line, pairs, source = row
            moves.append(tuple(np.array(line.split(), np.int32).tolist()))
            _parse_scores(pairs, scores[index])
        except (ValueError, OverflowError):
            raise origin.error(
                index, "not of the form moves,scores,source, such as 3 3 2,0:-4 1:2,random"
            ) from None
        sources.append(source)
    return moves, scores, sources


def _parse_scores(text: str, out_scores: np.ndarray) -> None:
    """Write the scores of a text such as "0:-4 1:2" into ``out_scores``, int16[A]."""
    for pair in text.split():
        action, score = map(int, pair.split(":"))
        if not (0 <= action < len(out_scores) and abs(score) <= _MAX_SCORE):
            raise ValueError(pair)
        out_scores[action] = score


def _played(game: Game, moves: list[tuple[int, ...]], origin: _Origin) -> np.ndarray:
    """Return the positions ([N, K]) after the moves; all games are played in lockstep."""
    states = game.initial_states(len(moves))
    lengths = np.array([len(line) for line in moves])
    for ply in range(lengths.max(initial=0)):
        rows = np.flatnonzero(lengths > ply)
        actions = np.array([moves[row][ply] for row in rows])
        inside = (actions >= 0) & (actions < game.num_actions)
        mask = game.legal_action_mask(states[rows])
        legal = inside & mask[np.arange(len(rows)), np.where(inside, actions, 0)]
        for row in rows[~legal]:
            raise origin.error(row, f"move {ply + 1}, {moves[row][ply]}, is illegal")
        states[rows] = game.step(states[rows], actions).states
    return states


def _check(
    game: Game,
    states: np.ndarray,
    scores: np.ndarray,
    sources: list[str],
    origin: _Origin,
) -> None:
    """Check that the positions can be those of an `EvaluationSet`."""
    inspected = game.inspect(states)
    rows_by_key, misplayable = {}, can_be_misplayed(scores)
    for row, key in enumerate(canonical_keys(game, states)):
        legal = inspected.legal_action_mask[row]
        if inspected.over[row]:
            reason = "the game is over in this position"
        elif not np.array_equal(scores[row] != ILLEGAL_SCORE, legal):
            reason = f"there must be a score for each legal action {np.flatnonzero(legal).tolist()}"
        elif not misplayable[row]:
            reason = "every move keeps the best possible result"
        elif sources[row] not in SOURCES:
            reason = f"the source '{sources[row]}' is not one of {', '.join(SOURCES)}"
        elif key in rows_by_key:
            first = origin.lines[rows_by_key[key]]
            reason = f"the position is that of line {first}, or a symmetric image of it"
        else:
            rows_by_key[key] = row
            continue
        raise origin.error(row, reason)
