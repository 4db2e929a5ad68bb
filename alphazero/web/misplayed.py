"""The positions whose exact result a network gives away.

In: a network of the catalogue, and positions with exact results: those of the game's evaluation
set, or all of a small game. Out: a message for each mistake, as `api/misplayed` has it.

Shapes: N positions, K state words, A actions.
"""

from typing import NamedTuple

import numpy as np

from alphazero.evaluation.exact.set_file import find_set
from alphazero.games.batched_game import Game
from alphazero.play.requests import Refusal
from alphazero.runtime.errors import ConfigError, InputError
from alphazero.solvers.base import ILLEGAL_VALUE, values_of
from alphazero.solvers.enumeration import NO_CHILD, Positions, enumerate_positions
from alphazero.web.jobs import Stopped, Stream
from alphazero.web.network_search import NetworkSearch
from alphazero.web.search_view import number

MAX_POSITIONS, MAX_SIMULATIONS, NUM_SIMULATIONS = 400, 400, 50
#: Games with more positions are not enumerated; so many take a second.
_MAX_ENUMERATED = 20_000
#: Few, so that a game played meanwhile does not wait.
_NUM_TOGETHER = 16


class KnownPositions(NamedTuple):
    """Unfinished positions with exact results."""

    states: np.ndarray  #: [N, K]
    #: [N, A], results, `alphazero.solvers.base.ILLEGAL_VALUE` where illegal
    action_values: np.ndarray
    moves: list[tuple[int, ...]]  #: that lead there

    def spread(self, most: int) -> "KnownPositions":
        """Return at most ``most`` of the positions, evenly spread."""
        rows = np.linspace(0, len(self.moves) - 1, min(len(self.moves), most)).astype(int)
        moves = [self.moves[row] for row in rows]
        return KnownPositions(self.states[rows], self.action_values[rows], moves)


def find_positions(game: Game) -> KnownPositions:
    """Return positions of a game on which a network can be tried.

    Raises:
        Refusal: if no exact results of the game are known.
    """
    try:
        found = find_set(None, game)
        moves = [tuple(map(int, line)) for line in found.moves]
        return KnownPositions(found.states, values_of(found.action_scores), moves)
    except ConfigError:
        pass  # no set ships for this game
    try:
        return _in_which_it_matters(enumerate_positions(game, max_positions=_MAX_ENUMERATED))
    except InputError:
        message = f"no exact results of {game.name} are stored, and it is too large to solve here."
        raise Refusal(message) from None


def _in_which_it_matters(positions: Positions) -> KnownPositions:
    """Return the positions in which a move can be wrong."""
    values = positions.action_values
    can_be_wrong = (values < values.max(axis=1, keepdims=True)) & (values != ILLEGAL_VALUE)
    rows = np.flatnonzero(can_be_wrong.any(axis=1)).tolist()
    lines = _lines(positions)
    return KnownPositions(positions.states[rows], values[rows], [lines[row] for row in rows])


def _lines(positions: Positions) -> dict[int, tuple[int, ...]]:
    """Return moves that lead to each position; children come after their parents."""
    lines: dict[int, tuple[int, ...]] = {0: ()}
    for index, children in enumerate(positions.children.tolist()):
        for action, child in enumerate(children):
            if child != NO_CHILD and child not in lines:
                lines[child] = (*lines[index], action)
    return lines


def find_misplayed(
    network: NetworkSearch, known: KnownPositions, num_simulations: int, stream: Stream
) -> None:
    """Emit the messages of `api/misplayed`, for at most `MAX_POSITIONS` positions."""
    known = known.spread(MAX_POSITIONS)
    num = len(known.moves)
    num_misplayed = 0
    for start in range(0, num, _NUM_TOGETHER):
        if stream.is_stopped():
            raise Stopped
        states = known.states[start : start + _NUM_TOGETHER]
        actions = network.choose(states, num_simulations).tolist()
        for row, played in enumerate(actions, start):
            mistake = _mistake(known, row, played)
            if mistake is not None:
                num_misplayed += 1
                stream.emit(mistake)
        stream.emit({"type": "progress", "done": start + len(states), "total": num})
    stream.emit({"type": "done", "num_positions": num, "num_misplayed": num_misplayed})


def _mistake(known: KnownPositions, row: int, played: int) -> dict | None:
    """Return the message about a position; None if the move keeps the result."""
    values = known.action_values[row]
    if values[played] == values.max():
        return None
    return {
        "type": "misplayed",
        "moves": list(known.moves[row]),
        "played": played,
        "best": np.flatnonzero(values == values.max()).tolist(),
        "value": number(values[played]),
        "best_value": number(values.max()),
    }
