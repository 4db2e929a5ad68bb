"""The positions of an evaluation set whose result a network gives away.

In: a network of the catalogue. Out: a message for each of its mistakes, as `api/misplayed` has it.
"""

from collections.abc import Callable

import numpy as np

from alphazero.evaluation.exact.sets import EvaluationSet, find_set
from alphazero.games.batched_game import Game
from alphazero.runtime.errors import InputError
from alphazero.solvers.base import values_of
from alphazero.web.refusal import Refusal, Stopped
from alphazero.web.shared_search import SharedSearch

MAX_POSITIONS, MAX_SIMULATIONS, NUM_SIMULATIONS = 400, 400, 50
#: Few, so that those who play meanwhile do not wait.
_NUM_TOGETHER = 16


def find_positions(game: Game) -> EvaluationSet:
    """Return the evaluation set that ships with a game.

    Raises:
        Refusal: if there is none.
    """
    try:
        return find_set(None, game)
    except InputError as error:
        raise Refusal(str(error)) from None


def find_misplayed(
    shared: SharedSearch,
    positions: EvaluationSet,
    num_simulations: int,
    is_stopped: Callable[[], bool],
    emit: Callable[[dict], None],
) -> None:
    """Emit the messages of `api/misplayed`, for at most `MAX_POSITIONS` positions of the set."""
    num = min(len(positions), MAX_POSITIONS)
    rows = np.linspace(0, len(positions) - 1, num).astype(int)
    num_done = num_misplayed = 0
    for start in range(0, num, _NUM_TOGETHER):
        part = rows[start : start + _NUM_TOGETHER]
        states = positions.states[part]
        asked = shared.begin(list(states), num_simulations, is_stopped, with_tree=False)
        for row, question in zip(part.tolist(), asked):
            if is_stopped():
                raise Stopped
            mistake = _mistake(positions, row, shared.wait(question).best)
            if mistake is not None:
                num_misplayed += 1
                emit(mistake)
        num_done += len(part)
        emit({"type": "progress", "done": num_done, "total": num})
    emit({"type": "done", "num_positions": num, "num_misplayed": num_misplayed})


def _mistake(positions: EvaluationSet, row: int, played: int) -> dict | None:
    """Return the message about a position; None if the move keeps the result."""
    values = values_of(positions.action_scores[row])
    best_value = int(positions.values[row])
    if values[played] == best_value:
        return None
    return {
        "type": "misplayed",
        "moves": [int(move) for move in positions.moves[row]],
        "played": int(played),
        "best": np.flatnonzero(values == best_value).tolist(),
        "value": int(values[played]),
        "best_value": best_value,
    }
