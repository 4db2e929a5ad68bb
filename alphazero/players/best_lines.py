"""Remember the best lines of play that searches have found in a game of one player.

In: finished searches. Out: the next action at each position of a known line. With one player, a
known line can always be followed. The player follows it once its result is at least the value that
the search expects, so a good result, once found, is not lost if a later search misses it (M. Schadd
et al., "Single-player Monte-Carlo tree search", 2008).

Shapes: B positions, K state words.
"""

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.base import Choice
from alphazero.search.batched_search import TreeSearch

_MAX_POSITIONS = 100_000


class BestLines:
    """Remembers the best result found from each position, and the action that leads to it."""

    def __init__(self, game: Game):
        self._game = game
        self._known: dict[bytes, tuple[float, int]] = {}

    def add(self, state: np.ndarray, actions: list[int], result: float) -> None:
        """Remember a line of play.

        Args:
            state: [K], the position where the line begins.
            actions: its moves.
            result: the result at its end, in [-1, 1].
        """
        if len(self._known) > _MAX_POSITIONS:
            self._known.clear()
        for action in actions:
            key = self._key(state)
            if key not in self._known or self._known[key][0] < result:
                self._known[key] = result, action
            after = self._game.step(state[None], np.array([action], np.int32))
            state = after.states[0]

    def line(self, state: np.ndarray) -> tuple[list[int], float]:
        """Return the best line known from a position ([K]) and its result, or [] and -inf."""
        actions: list[int] = []
        result, _ = self._known.get(self._key(state), (-np.inf, 0))
        while self._key(state) in self._known:
            _, action = self._known[self._key(state)]
            actions.append(action)
            after = self._game.step(state[None], np.array([action], np.int32))
            state = after.states[0]
        return actions, result

    def followed(self, search: TreeSearch, states: np.ndarray, choice: Choice) -> Choice:
        """Return a search's choice, with a known line's action wherever that is at least as good.

        Args:
            search: a finished search, whose first B games started from ``states``.
            states: [B, K], the positions.
            choice: the moves that the search chose.
        """
        actions = choice.actions.copy()
        values = choice.values.copy()
        for row, state in enumerate(states):
            self.add(state, *search.best_line(row))
            line, result = self.line(state)
            if result >= values[row]:
                actions[row] = line[0]
                values[row] = result
        return choice._replace(actions=actions, values=values)

    def _key(self, state: np.ndarray) -> bytes:
        return self._game.identity(state[None])[0].tobytes()
