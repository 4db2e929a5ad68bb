"""Exact evaluation sets: positions with the score of every move, in small text files that ship with the package or that a person makes.

In: a file, or rows to write into one. Out: an `EvaluationSet`. `alphazero.evaluation.exact.sampling` draws new sets,
`alphazero.evaluation.exact.accuracy` measures players with them. A file is CSV behind a few lines of comment; the comments say what the set is of
and how to make it again:

    # game: connect_four
    # seed: 20
    moves,scores,source
    3 3 2,0:-4 1:-2 2:0 3:-1 4:1 5:-2 6:-3,strong

``moves`` are the actions from the start of the game, ``scores`` one ``action:score`` for each legal action as `alphazero.solvers.base` defines them, and
``source`` is the kind of play that led there. Letters for shapes: N positions, K state words, A actions.
"""

import csv
import dataclasses
from pathlib import Path

import numpy as np

from alphazero.evaluation.exact.kinds import kinds_of
from alphazero.games.batched_game import Game
from alphazero.games.registry import same_game
from alphazero.runtime.errors import ConfigError
from alphazero.solvers.base import ILLEGAL_SCORE, values_of

COLUMNS = ["moves", "scores", "source"]
SOURCES = ("random", "strong")  #: uniformly random play; strong play with a share of random moves
_SETS = Path(__file__).parent / "data"
_MOST = 999  # the largest score: what ILLEGAL_SCORE can never be


@dataclasses.dataclass(frozen=True)
class EvaluationSet:
    """N positions, none final, in each of which at least one move gives up the best possible result."""

    game_name: str
    states: np.ndarray  #: [N, K]
    action_scores: np.ndarray  #: int16[N, A], from the viewpoint of the player to move, `ILLEGAL_SCORE` where an action is not legal
    plies: np.ndarray  #: int32[N], actions since the start of the game
    sources: np.ndarray  #: str[N], one of `SOURCES`
    kinds: np.ndarray  #: str[N], one of `alphazero.evaluation.exact.kinds.KINDS`
    replies: np.ndarray  #: [M, K], the positions after a best move, as far as the game goes on: values are measured there too, as nobody has lost in `states`
    reply_values: (
        np.ndarray
    )  #: int8[M], their results, from the viewpoint of the player to move there
    moves: tuple[tuple[int, ...], ...]  #: the actions that lead to each position
    notes: dict[str, str]  #: what the file says about itself

    def __len__(self) -> int:
        return len(self.states)

    @property
    def values(self) -> np.ndarray:
        """int8[N], the result of perfect play, 1, 0 or -1 from the viewpoint of the player to move."""
        return values_of(self.action_scores.max(axis=1))


def shipped_path(game_name: str) -> Path | None:
    """Return the file of the set that ships for a game, None if there is none."""
    path = _SETS / f"{game_name.replace(':', '_')}.csv"
    return path if not game_name.endswith(".py") and path.is_file() else None


def find_set(path: str | None, game: Game) -> "EvaluationSet":
    """Read the set at ``path``, or the one that ships with the game where that is None.

    Raises:
        ValueError: with one plain sentence if none ships, or the file is not such a set.
    """
    path = path or shipped_path(game.name)
    if path is None:
        raise ValueError(
            f"no evaluation set ships with {game.name}: make one with 'alphazero make_evaluation_set game={game.name}', and name it with set=. "
            "(A small game is looked at whole by 'alphazero prove'.)"
        )
    return read_set(path, game)


def can_be_misplayed(action_scores: np.ndarray) -> np.ndarray:
    """Return bool[N]: where some legal action has a worse result than the best one has; ``action_scores`` is int16[N, A]."""
    values = values_of(action_scores)
    return ((values != -2) & (values < values.max(axis=1, keepdims=True))).any(axis=1)


def canonical_keys(game: Game, states: np.ndarray) -> list[bytes]:
    """Return a key for each of ``states`` ([N, K]) that two positions share if, seen by the player to move, one is an image of the other."""
    planes = game.observe(states)
    flat = planes.reshape(*planes.shape[:2], -1)
    images = np.stack([flat[:, :, table] for table in game.cell_symmetries], axis=1)
    return [min(image.tobytes() for image in row) for row in images]


def read_set(path: str | Path, game: Game) -> EvaluationSet:
    """Read and check a set.

    Raises:
        ConfigError: with one plain sentence that names the file and the line, if it cannot be read or a line is wrong.
    """
    lines, notes = _read(path)
    if not same_game(game.name, notes["game"]):
        raise ConfigError(f"the evaluation set '{path}' is of {notes['game']}, not of {game.name}.")
    numbered = [
        (number, line)
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.startswith("#")
    ]
    table = list(csv.reader(line for _, line in numbered))
    if len(table) < 2 or table[0] != COLUMNS:
        raise ConfigError(
            f"the evaluation set '{path}' should begin with the line {','.join(COLUMNS)} and hold one position or more."
        )
    where = [f"line {number} of '{path}'" for number, _ in numbered[1:]]
    moves, scores, sources = _parsed(table[1:], game, where)
    states = _played(game, moves, where)
    _check(game, states, scores, sources, where)
    return make_set(game, states, scores, sources, moves, notes)


def game_of_set(path: str | Path) -> str:
    """Return the name of the game that a set's positions are of; raises ConfigError as `read_set`."""
    return _read(path)[1]["game"]


def _read(path: str | Path) -> tuple[list[str], dict[str, str]]:
    """Return the lines of a set, and what its comments say."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise ConfigError(
            f"there is no file '{path}'; 'alphazero make_evaluation_set out={path}' makes an evaluation set."
        ) from None
    except (OSError, UnicodeDecodeError):
        raise ConfigError(
            f"the evaluation set '{path}' cannot be read: it should be a text file made by 'alphazero make_evaluation_set'."
        ) from None
    notes = dict(line[1:].strip().partition(": ")[::2] for line in lines if line.startswith("#"))
    if "game" not in notes:
        raise ConfigError(
            f"'{path}' is no evaluation set: 'alphazero make_evaluation_set' makes one."
        )
    return lines, notes


def make_set(
    game: Game, states: np.ndarray, action_scores: np.ndarray, sources, moves, notes: dict[str, str]
) -> EvaluationSet:
    """Return the set of these positions; the arguments are its fields, and what follows from them is found here."""
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
    """Write a set, its notes first; the same set gives the same bytes.

    Raises:
        ConfigError: if the file cannot be written.
    """
    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            for name, note in ({"game": evaluation_set.game_name} | evaluation_set.notes).items():
                file.write(f"# {name}: {note}\n")
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for moves, scores, source in zip(
                evaluation_set.moves, evaluation_set.action_scores, evaluation_set.sources
            ):
                shown = [
                    f"{action}:{scores[action]}"
                    for action in np.flatnonzero(scores != ILLEGAL_SCORE)
                ]
                writer.writerow([" ".join(map(str, moves)), " ".join(shown), source])
    except OSError as error:
        raise ConfigError(f"out={path} cannot be written ({error.strerror}).") from None


def _parsed(
    rows: list[list[str]], game: Game, where: list[str]
) -> tuple[list[tuple[int, ...]], np.ndarray, list[str]]:
    """Return moves, scores (int16[N, A]) and sources of the rows of a file."""
    moves, sources = [], []
    scores = np.full((len(rows), game.num_actions), ILLEGAL_SCORE, np.int16)
    for index, row in enumerate(rows):
        try:
            line, pairs, source = row
            moves.append(tuple(map(int, line.split())))
            for pair in pairs.split():
                action, score = map(int, pair.split(":"))
                if not (0 <= action < game.num_actions and abs(score) <= _MOST):
                    raise ValueError
                scores[index, action] = score
        except ValueError:
            raise ConfigError(
                f"{where[index]} is not of the form moves,scores,source with moves such as 3 3 2 and scores such as 0:-4 1:2."
            ) from None
        sources.append(source)
    return moves, scores, sources


def _played(game: Game, moves: list[tuple[int, ...]], where: list[str]) -> np.ndarray:
    """Return the positions ([N, K]) after the moves, all rows in lockstep."""
    states = game.initial_states(len(moves))
    lengths = np.array([len(line) for line in moves])
    for ply in range(lengths.max(initial=0)):
        rows = np.flatnonzero(lengths > ply)
        actions = np.array([moves[row][ply] for row in rows])
        inside = (actions >= 0) & (actions < game.num_actions)
        legal = (
            inside
            & game.legal_action_mask(states[rows])[
                np.arange(len(rows)), np.where(inside, actions, 0)
            ]
        )
        for row in rows[~legal]:
            raise ConfigError(
                f"{where[row]}: move {ply + 1}, {moves[row][ply]}, is not legal there."
            )
        states[rows] = game.step(states[rows], actions).states
    return states


def _check(
    game: Game, states: np.ndarray, scores: np.ndarray, sources: list[str], where: list[str]
) -> None:
    """Hold positions to the laws of an `EvaluationSet`."""
    inspected = game.inspect(states)
    keys, misplayable = {}, can_be_misplayed(scores)
    for row, key in enumerate(canonical_keys(game, states)):
        if inspected.over[row]:
            raise ConfigError(f"{where[row]}: the game is over there.")
        if not np.array_equal(scores[row] != ILLEGAL_SCORE, inspected.legal_action_mask[row]):
            raise ConfigError(
                f"{where[row]}: the scores are not those of the legal actions, {np.flatnonzero(inspected.legal_action_mask[row]).tolist()}."
            )
        if not misplayable[row]:
            raise ConfigError(
                f"{where[row]}: every move keeps the best possible result, so nothing can be misplayed there."
            )
        if sources[row] not in SOURCES:
            raise ConfigError(
                f"{where[row]}: the source '{sources[row]}' is not one of {', '.join(SOURCES)}."
            )
        if key in keys:
            raise ConfigError(
                f"{where[row]}: the position is that of {where[keys[key]]}, or an image of it under a symmetry."
            )
        keys[key] = row
