"""The review of a game: the value of every position, and how much each move lost.

In: a whole game. Out: one message per ply, from the end of the game backwards. Values are exact as
long as the solver is fast enough, and come from searches before that.

Values are from the viewpoint of the player who moves first in the game.
"""

import time
from typing import Any, NamedTuple

from alphazero.solvers.base import UnsolvableError
from alphazero.web.catalogue import PlayerChoice
from alphazero.web.exact_scores import ExactScores
from alphazero.web.jobs import Stream
from alphazero.web.network_search import Question
from alphazero.web.position import Position
from alphazero.web.search_view import number
from alphazero.web.thinking import Thinking

#: Simulations per position: the default and the maximum that a request may ask for.
NUM_SIMULATIONS = {"network": 200, "uct": 2_000}
MAX_SIMULATIONS = {"network": 400, "uct": 10_000}
_EXACT_S = 5.0


class _Verdict(NamedTuple):
    """The value and best move of a position in a reviewed game."""

    value: float | None  #: for the player who moves first in the game
    best: int | None
    is_exact: bool
    exact: ExactScores | None = None


def review_game(
    thinking: Thinking,
    position: Position,
    player: PlayerChoice,
    num_simulations: int,
    stream: Stream,
) -> None:
    """Evaluate every position of a game, from the last to the first; emit one message for each.

    Args:
        player: the network or UCT player that evaluates positions the solver cannot solve.
    """
    solve_until = time.monotonic() + _EXACT_S
    after: _Verdict | None = None
    for ply in reversed(range(len(position.session.states))):
        verdict = None
        if time.monotonic() < solve_until:
            try:
                verdict = _exact_verdict(thinking, position, ply)
            except UnsolvableError:
                solve_until = 0.0  # earlier positions are harder
        if verdict is None:
            question = Question(position.session.states[ply], num_simulations, stream.is_stopped)
            view = thinking.search(position.game, player, question)
            value = None if view.value is None else view.value * _sign(position, ply)
            verdict = _Verdict(value, view.best, view.proven is not None)
        stream.emit(_message(position, ply, verdict, after))
        after = verdict
    stream.emit({"type": "done"})


def _exact_verdict(thinking: Thinking, position: Position, ply: int) -> _Verdict:
    session = position.session
    if session.over and ply == len(session.actions):
        return _Verdict(session.result, None, True)
    exact = thinking.solvers.scores(position.game, session.states[ply])
    return _Verdict(float(exact.value * _sign(position, ply)), exact.best[0], True, exact)


def _sign(position: Position, ply: int) -> int:
    """Return 1 if the player who moves first in the game is to move at a ply, else -1."""
    return 1 - 2 * position.session.player_at(ply)


def _message(
    position: Position, ply: int, verdict: _Verdict, after: _Verdict | None
) -> dict[str, Any]:
    """Return the message about a ply; ``after`` is the verdict on the next position."""
    message = {
        "type": "ply",
        "ply": ply,
        "value": number(verdict.value),
        "exact": verdict.is_exact,
        "best": verdict.best,
        "played": None,
        "loss": None,
    }
    if after is None:
        return message
    played = position.session.actions[ply]
    message["played"] = played
    if verdict.exact is not None:
        if verdict.exact.values[played] == verdict.exact.value:
            message["best"] = played  # as good a result as any
        message["loss"] = float(verdict.exact.value - verdict.exact.values[played])
    elif played == verdict.best:
        message["loss"] = 0.0
    elif verdict.value is not None and after.value is not None:
        lost = (verdict.value - after.value) * _sign(position, ply)
        message["loss"] = number(max(lost, 0.0))
        message["exact"] = verdict.is_exact and after.is_exact
    return message
