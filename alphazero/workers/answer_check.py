"""Games from elsewhere are checked before they are believed.

In: an answer, or arrays that claim to be finished games. Out: an `AnswerError` that says what is
wrong, if something is. Every game is replayed by the rules: a worker may be broken, of another
version, or not a worker at all. What cannot be checked is whether the moves were searched well.
"""

from typing import Any

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.selfplay.flat_games import LENGTHS, REQUIRED
from alphazero.workers.unit import Answer, SelfPlayWork

_SUM_TOLERANCE = 1e-3
_MOST_WORK = 1e15  # of a unit; sums of such numbers are still finite


class AnswerError(ValueError):
    """Games that are refused; the message is a clause: "its games are not ..."."""


def check_answer(
    answer: Answer, game: Game, may_be_adjudicated: bool, newest_version: int
) -> SelfPlayWork:
    """Check that an answer has games of a network that there is; return its work.

    Args:
        may_be_adjudicated: see `check_games`.
        newest_version: of the networks that workers can have.

    Raises:
        AnswerError: if it has not.
    """
    try:
        check_games(answer.games, game, may_be_adjudicated)
        if not all(0 <= figure < _MOST_WORK for figure in (*answer.work, answer.seconds)):
            raise AnswerError("its counts of work are impossible")
        work = SelfPlayWork._make(map(float, answer.work))
        is_known = type(answer.version) is int and 0 <= answer.version <= newest_version
    except AnswerError:
        raise
    except Exception as error:  # an answer may be anything
        raise AnswerError(f"it answers what is no answer ({error})") from None
    if not is_known:
        raise AnswerError(f"it claims to play with network {answer.version!a:.20}")
    return work


def check_games(columns: dict[str, np.ndarray], game: Game, may_be_adjudicated: bool) -> None:
    """Check that arrays are finished games of ``game``; see `alphazero.selfplay.flat_games`.

    Args:
        may_be_adjudicated: whether games may end before their last move, with a proven result.

    Raises:
        AnswerError: if they are not.
    """
    _check_arrays(columns, game)
    _check_numbers(columns)
    _check_rules(columns, game, may_be_adjudicated)


def _check_arrays(columns: dict[str, np.ndarray], game: Game) -> None:
    """Check names, shapes and types."""
    if not REQUIRED <= columns.keys():
        raise AnswerError(f"its games lack {', '.join(sorted(REQUIRED - columns.keys()))}")
    lengths = columns[LENGTHS]
    if lengths.ndim != 1 or lengths.dtype != np.int64 or not len(lengths) or lengths.min() < 1:
        raise AnswerError("its games have impossible lengths")
    if lengths.max() > game.max_plies:
        raise AnswerError(f"it has a game of more than {game.max_plies} plies")
    num_plies = int(lengths.sum())
    expected: dict[str, tuple[Any, tuple[int, ...]]] = {
        "states": (game.state_dtype, (num_plies, game.state_size)),
        "actions": (np.int32, (num_plies,)),
        "action_weights": (np.float32, (num_plies, game.num_actions)),
        "root_values": (np.float32, (num_plies,)),
        "outcomes": (np.float32, (num_plies,)),
        "is_target": (np.bool_, (num_plies,)),
        "surprises": (np.float32, (num_plies,)),
    }
    if unknown := columns.keys() - expected.keys() - {LENGTHS}:
        raise AnswerError(f"its games have an unknown part {min(unknown)!a:.40}")
    for name, (dtype, shape) in expected.items():
        array = columns.get(name)
        if array is not None and (array.dtype != dtype or array.shape != shape):
            raise AnswerError(
                f"its {name} are {array.dtype}{list(array.shape)}, "
                f"where {np.dtype(dtype)}{list(shape)} is expected"
            )


def _check_numbers(columns: dict[str, np.ndarray]) -> None:
    """Check that policy targets are distributions and values are values."""
    weights, values = columns["action_weights"], columns["root_values"]
    targets = weights[columns["is_target"]]
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise AnswerError("its policy targets are not all finite and positive")
    if len(targets) and np.abs(targets.sum(axis=1) - 1).max() > _SUM_TOLERANCE:
        raise AnswerError("its policy targets do not sum to 1")
    if not np.isfinite(values).all() or np.abs(values).max() > 1 + _SUM_TOLERANCE:
        raise AnswerError("its values are not between -1 and 1")
    surprises = columns.get("surprises")
    if surprises is not None and not (np.isfinite(surprises).all() and (surprises >= 0).all()):
        raise AnswerError("its surprises are not all finite and positive")


def _check_rules(columns: dict[str, np.ndarray], game: Game, may_be_adjudicated: bool) -> None:
    """Replay all games at once."""
    states, actions, lengths = columns["states"], columns["actions"], columns[LENGTHS]
    lasts = np.cumsum(lengths) - 1
    firsts = lasts - lengths + 1
    if (states[firsts] != game.initial_states(len(firsts))).any():
        raise AnswerError("its games do not begin with the first position")
    # A position is inspected only once the rules have led to it: foreign states may be anything.
    is_last = np.zeros(len(states), np.bool_)
    is_last[lasts] = True
    players = np.empty(len(states), np.int8)
    last_players = np.empty(len(lengths), np.int8)
    last_results = np.empty(len(lengths), np.float32)
    mask = game.legal_action_mask(states[firsts])
    players[firsts] = game.players(states[firsts])
    legal = np.empty(columns["action_weights"].shape, np.bool_)
    rows, games = firsts, np.arange(len(lengths))
    while len(rows):
        own = actions[rows]
        if (
            (own < 0).any()
            or (own >= game.num_actions).any()
            or not mask[range(len(own)), own].all()
        ):
            raise AnswerError("it plays an illegal move")
        legal[rows] = mask
        after = game.step(states[rows], own)
        ends = is_last[rows]
        if (ends & ~after.over).any() and not may_be_adjudicated:
            raise AnswerError("it has a game that is not finished")
        if (~ends & after.over).any():
            raise AnswerError("it plays on after the end of a game")
        last_players[games[ends]] = after.players[ends]
        # The result of an adjudicated game is not checked.
        last_results[games[ends]] = np.where(after.over[ends], after.results[ends], np.nan)
        on = ~ends
        rows, games, mask = rows[on] + 1, games[on], after.legal_action_mask[on]
        if (states[rows] != after.states[on]).any():
            raise AnswerError("its positions do not follow from its moves")
        players[rows] = after.players[on]
    if ((columns["action_weights"] > 0) & ~legal).any():
        raise AnswerError("its policy targets allow illegal moves")
    _check_outcomes(columns["outcomes"], players, lengths, last_players, last_results)


def _check_outcomes(
    outcomes: np.ndarray,
    players: np.ndarray,
    lengths: np.ndarray,
    last_players: np.ndarray,
    last_results: np.ndarray,
) -> None:
    """Check the result of each game for the player of each ply."""
    results = np.repeat(last_results, lengths)
    expected = np.where(players == np.repeat(last_players, lengths), results, -results)
    known = np.isfinite(expected)
    if (outcomes[known] != expected[known]).any():
        raise AnswerError("its results are not those of its games")
    if not (np.abs(outcomes) <= 1).all():
        raise AnswerError("its results are not between -1 and 1")
