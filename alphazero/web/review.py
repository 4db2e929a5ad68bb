"""Review a game: evaluate every position, and compute how much each move lowered the result.

The review proceeds from the end of the game to its start, and sends one message per ply. The last
positions are solved exactly, as long as solving is fast enough; earlier ones are searched.

Values are from the viewpoint of the player who began the game.
"""

import math
import time
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.solvers.base import UnsolvableError
from alphazero.web.catalogue import PlayerChoice
from alphazero.web.exact_scores import ExactScores
from alphazero.web.network_search import Emit, SearchTask
from alphazero.web.position import Position
from alphazero.web.search_view import number
from alphazero.web.thinking import Thinking

#: Number of simulations per position, by kind of player: the default, and the largest used.
NUM_SIMULATIONS = {"network": 200, "uct": 2_000}
MAX_SIMULATIONS = {"network": 400, "uct": 10_000}
_EXACT_S = 5.0
_LINE_LENGTH = 8  #: maximum number of moves of a line that explains a mistake
_LINE_SIMULATIONS = 50  #: of the search that chooses among its equally good moves


class _Verdict(NamedTuple):
    """The value and the best move of one position in a reviewed game."""

    value: float | None  #: for the player who began the game; None if not known
    best: int | None  #: the best action; None at the end of the game
    is_exact: bool  #: whether the value is exact
    line: list[int]  #: the line that the search expects; empty if the position is solved
    exact: ExactScores | None = None  #: the exact scores of all actions; None if not solved


def review_game(
    thinking: Thinking,
    position: Position,
    player: PlayerChoice,
    num_simulations: int,
    emit: Emit,
) -> None:
    """Evaluate every position of a game, from the last to the first, and send a message for each.

    Args:
        thinking: searches and solves positions.
        position: the game to review; all its positions are evaluated, not only the current one.
        player: the network or UCT player that searches the positions that are not solved within
            the first `_EXACT_S` seconds after the first solution.
        num_simulations: number of simulations in each of these searches.
        emit: called with each `api/review` message.
    """
    solve_until = math.inf  # the first solution may take long: solvers are compiled, or tables made
    after: _Verdict | None = None
    for ply in reversed(range(len(position.session.states))):
        verdict = None
        if time.monotonic() < solve_until:
            try:
                verdict = _exact_verdict(thinking, position, ply)
                if verdict.exact is not None and solve_until == math.inf:
                    solve_until = time.monotonic() + _EXACT_S
            except UnsolvableError:
                solve_until = 0.0  # earlier positions are harder
        if verdict is None:
            task = SearchTask(position.session.states[ply], num_simulations)
            view = thinking.search(position.game, player, task)
            value = None if view.value is None else view.value * _sign(position, ply)
            line = view.line[:_LINE_LENGTH]
            verdict = _Verdict(value, view.best, view.proven is not None, line)
        message = _message(position, ply, verdict, after)
        if message["loss"] and after is not None:
            lines = [
                found.line or _exact_line(thinking, position.game, player, state)
                for found, state in zip((verdict, after), position.session.states[ply:])
            ]
            message["better"], message["answer"] = lines
            message["best"] = lines[0][0]
        emit(message)
        after = verdict
    emit({"type": "done"})


def _exact_verdict(thinking: Thinking, position: Position, ply: int) -> _Verdict:
    session = position.session
    if session.over and ply == len(session.actions):
        return _Verdict(session.result, None, True, [])
    exact = thinking.solvers.scores(position.game, session.states[ply])
    value = float(exact.value * _sign(position, ply))
    return _Verdict(value, exact.best[0], True, [], exact)


def _exact_line(
    thinking: Thinking, game: Game, player: PlayerChoice, state: np.ndarray
) -> list[int]:
    """Return a line of perfect play from a solved position, as far as it is solved quickly.

    Args:
        player: the network or UCT player whose search chooses among equally good moves.
        state: the position, an array of K state words.
    """
    line: list[int] = []
    solving_s = 0.0
    for _ in range(_LINE_LENGTH):
        if game.over(state[None])[0] or solving_s > _EXACT_S / 10:
            break
        started = time.monotonic()
        try:
            best = thinking.solvers.scores(game, state).best
        except UnsolvableError:
            break
        solving_s += time.monotonic() - started
        if len(best) > 1:
            found = thinking.search(game, player, SearchTask(state, _LINE_SIMULATIONS))
            visits = {one["action"]: one["visits"] for one in found.actions}
            best = [max(best, key=visits.__getitem__)]
        line += best
        state = game.step(state[None], np.array(best, np.int32)).states[0]
    return line


def _sign(position: Position, ply: int) -> int:
    """Return 1 if the player who began the game is to move after ``ply`` moves, otherwise -1."""
    return 1 - 2 * position.session.player_at(ply)


def _message(
    position: Position, ply: int, verdict: _Verdict, after: _Verdict | None
) -> dict[str, Any]:
    """Return the `api/review` message: the position after ``ply`` moves and the move played there.

    The message's "loss" is how much value the move gave up: how much it lowers the result, in [-1,
    1], that its player can expect. It is None at the end of the game, or if it is not known. Its
    "score_loss" is how far the move's exact score is below the best one; None if not solved. If the
    move lost something, `review_game` adds "better", the line that begins with the best move, and
    "answer", the line that answers the move played.

    Args:
        position: the game that is reviewed.
        ply: number of moves before the position.
        verdict: the verdict on this position.
        after: the verdict on the next position; None at the end of the game.
    """
    message = {
        "type": "ply",
        "ply": ply,
        "value": number(verdict.value),
        "exact": verdict.is_exact,
        "best": verdict.best,
        "played": None,
        "loss": None,
        "score_loss": None,
        "better": [],
        "answer": [],
    }
    if after is None:
        return message
    played = position.session.actions[ply]
    message["played"] = played
    if verdict.exact is not None:
        scores = verdict.exact.scores
        message["score_loss"] = int(scores.max() - scores[played])
        if not message["score_loss"]:
            message["best"] = played  # no other move is better
        message["loss"] = float(verdict.exact.value - verdict.exact.values[played])
    elif played == verdict.best:
        message["loss"] = 0.0
    elif verdict.value is not None and after.value is not None:
        lost = (verdict.value - after.value) * _sign(position, ply)
        message["loss"] = number(max(lost, 0.0))
        message["exact"] = verdict.is_exact and after.is_exact
    return message
