"""Exact scores: how good every move of a position is under perfect play.

In: a game. Out: a `Solver`, which gives each action a whole number from the viewpoint of the player to move. Its sign is the result of
perfect play after the action, 1 win, 0 draw, -1 loss; among equal results the larger is the better one: an earlier win, a later loss, at
Othello a larger margin of discs. This file knows which solver a game has; it does not know players or networks.
Letters for shapes: B positions, K state words, A actions, N positions of an enumeration.
"""

import importlib.util
from typing import Protocol

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.solvers.enumeration import ExactValues, enumerate_positions

#: The score of an action that is not legal, below every other score.
ILLEGAL_SCORE = -1000

RESULT_WORDS = {1: "win", 0: "draw", -1: "loss"}

#: Positions up to which `make_solver` looks at every position of a game that has no solver of its own (some ten seconds).
MAX_ENUMERATED = 300_000


class Solver(Protocol):
    """Gives every action its exact score.

    How scores are counted:

    - Connect-X, after P. Pons: a win with the winner's last possible disc is 1, and each disc that the winner has left over is one more; a loss is the
      same number with a minus, a draw 0. The start of Connect Four scores -2, -1, 0, 1, 0, -1, -2 by column.
    - Othello: the margin of discs at the end, the mover's minus the other's; squares that stay empty count for nobody.
    - other games: a result that is n actions away scores N + 1 - n, a loss with a minus, where N is the length of the longest game.

    Laws: -1000 (`ILLEGAL_SCORE`) exactly where an action is not legal, and everywhere in a finished game; ``states`` is never changed; the
    same position gets the same scores whatever was asked before; positions that are images of each other under a symmetry get the same
    scores in another order.
    """

    name: str

    def scores(self, states: np.ndarray) -> np.ndarray:
        """Return int16[B, A]: the score of each action in each of ``states`` ([B, K]), from the viewpoint of the player to move there.

        Raises:
            ValueError: with one plain sentence for a position that is out of reach.
        """


def values_of(scores: np.ndarray) -> np.ndarray:
    """Return int8 in the shape of ``scores``: the results 1, 0 or -1 that stand behind them, -2 where the action is not legal."""
    return np.where(scores == ILLEGAL_SCORE, -2, np.sign(scores)).astype(np.int8)


def solver_advice(game: Game) -> str:
    """Return what would make `make_solver`'s choice faster on this machine, in one sentence, '' if nothing would."""
    if not _is_connect_four(game) or _has_bitbully():
        return ""
    return "The compiled solver takes minutes for a position of Connect Four's first plies; 'pip install bitbully' brings one that answers any at once."


def make_solver(game: Game) -> Solver:
    """Return the fastest solver of a game that there is on this machine.

    Raises:
        ValueError: with one plain sentence if the game has no solver and too many positions to look at every one.
    """
    kind = type(getattr(game, "rules", None)).__name__
    if kind == "ConnectX":
        if _is_connect_four(game) and _has_bitbully():
            from alphazero.solvers.bitbully import BitbullySolver

            return BitbullySolver(game)
        from alphazero.solvers.connect_x import ConnectXSolver

        return ConnectXSolver(game)
    if kind == "Othello":
        from alphazero.solvers.othello import OthelloSolver

        return OthelloSolver(game)
    return EnumeratedSolver(game)


def _is_connect_four(game: Game) -> bool:
    return type(getattr(game, "rules", None)).__name__ == "ConnectX" and tuple(game.rules) == (
        6,
        7,
        4,
    )


def _has_bitbully() -> bool:
    return importlib.util.find_spec("bitbully") is not None


class EnumeratedSolver:
    """Looks scores up among all positions of a small game.

    Raises:
        ValueError: if the game has too many positions.
    """

    name = "enumeration"

    def __init__(self, game: Game):
        self.game = game
        self._exact = ExactValues(game, enumerate_positions(game, max_positions=MAX_ENUMERATED))
        self._action_scores = _action_scores(self._exact.positions)

    def scores(self, states: np.ndarray) -> np.ndarray:
        return self._action_scores[self._exact.indices(states)]


def _action_scores(positions) -> np.ndarray:
    """Return int16[N, A], from final positions backwards: a score loses one with every action between it and the end."""
    longest = int(positions.plies_left.max())
    scores = (positions.values * (longest + 1)).astype(np.int16)
    by_action = np.full(positions.children.shape, ILLEGAL_SCORE, np.int16)
    for plies_left in range(1, longest + 1):
        rows = np.flatnonzero(positions.plies_left == plies_left)
        children = positions.children[rows]
        signs = np.where(positions.players[children] == positions.players[rows, None], 1, -1)
        after = signs * (scores[children] - np.sign(scores[children]))
        by_action[rows] = np.where(children >= 0, after, ILLEGAL_SCORE)
        scores[rows] = by_action[rows].max(axis=1)
    return by_action
