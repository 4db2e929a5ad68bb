"""Find the positions that a network misplays: its move gives up the best possible result.

The network is tested on positions whose exact results are known, the evaluation set that ships with
the game. Each mistake is sent as one `api/misplayed` message.

Shapes: N positions, K state words, A actions.
"""

from typing import NamedTuple

import numpy as np

from alphazero.evaluation.exact.set_file import find_set, shipped_path
from alphazero.games.batched_game import Game
from alphazero.play.requests import Refusal
from alphazero.solvers.base import values_of
from alphazero.web.network_search import Emit, NetworkSearch
from alphazero.web.search_view import number

MAX_POSITIONS = 400
MAX_SIMULATIONS = 400
NUM_SIMULATIONS = 50
#: Number of positions per batch; small, so that other users of the network do not wait long.
_BATCH_SIZE = 16


class KnownPositions(NamedTuple):
    """Unfinished positions of a game, each with the exact result of every action."""

    states: np.ndarray  #: [N, K]
    #: int8[N, A], results for the player to move; illegal actions have
    #: `alphazero.solvers.base.ILLEGAL_VALUE`
    action_values: np.ndarray
    moves: list[tuple[int, ...]]  #: the moves from the start to each position

    def spread(self, max_positions: int) -> "KnownPositions":
        """Return at most ``max_positions`` of the positions, evenly spaced in their order."""
        num_positions = len(self.moves)
        num_selected = min(num_positions, max_positions)
        rows = np.linspace(0, num_positions - 1, num_selected).astype(int)
        moves = [self.moves[row] for row in rows]
        return KnownPositions(self.states[rows], self.action_values[rows], moves)


def find_positions(game: Game) -> KnownPositions:
    """Return the positions of the evaluation set that ships with a game.

    Raises:
        Refusal: if none ships with it.
    """
    if shipped_path(game.name) is None:
        message = f"no positions with exact results ship with {game.name}; 'alphazero prove' "
        raise Refusal(message + "examines every position of a small game.")
    evaluation_set = find_set(None, game)
    moves = [tuple(map(int, line)) for line in evaluation_set.moves]
    values = values_of(evaluation_set.action_scores)
    return KnownPositions(evaluation_set.states, values, moves)


def find_misplayed(
    network: NetworkSearch, known: KnownPositions, num_simulations: int, emit: Emit
) -> None:
    """Test a network on known positions, and send each mistake and the progress to the client.

    Args:
        network: the network to test, loaded.
        known: the positions; if there are more than `MAX_POSITIONS`, only that many, evenly
            spaced, are tested.
        num_simulations: simulations per move; with 0, the network is tested without search.
        emit: called with each `api/misplayed` message.
    """
    known = known.spread(MAX_POSITIONS)
    num = len(known.moves)
    for start in range(0, num, _BATCH_SIZE):
        states = known.states[start : start + _BATCH_SIZE]
        actions = network.choose(states, num_simulations).tolist()
        for row, played in enumerate(actions, start):
            mistake = _mistake(known, row, played)
            if mistake is not None:
                emit(mistake)
        emit({"type": "progress", "done": start + len(states), "total": num})
    emit({"type": "done"})


def _mistake(known: KnownPositions, row: int, played: int) -> dict | None:
    """Return the `api/misplayed` message about a move, or None if it keeps the best result.

    Args:
        known: the positions with their exact results.
        row: index of the position in ``known``.
        played: the action that the network chose.
    """
    values = known.action_values[row]
    best_value = values.max()
    if values[played] == best_value:
        return None
    return {
        "type": "misplayed",
        "moves": list(known.moves[row]),
        "played": played,
        "best": np.flatnonzero(values == best_value).tolist(),
        "value": number(values[played]),
        "best_value": number(best_value),
    }
