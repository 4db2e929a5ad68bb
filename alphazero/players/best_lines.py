"""Remember the best lines of play that searches have found in a one-player game.

Finished searches supply the lines; for each position of a known line, the next action can be looked
up. With only one player, a known line can always be followed. The player follows it if its result
is at least the value that the search expects, so a good result, once found, is not lost if a later
search misses it (M. Schadd et al., "Single-player Monte-Carlo tree search", 2008).

Shapes: B positions, K state words.
"""

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.base import Choice
from alphazero.search.batched_search import TreeSearch

_MAX_POSITIONS = 100_000


class BestLines:
    """Stores the best result found from each position of a one-player game, and the next action.

    All stored lines are discarded once there are more than 100,000 positions.
    """

    def __init__(self, game: Game):
        self._game = game
        self._known: dict[bytes, tuple[float, int]] = {}

    def add(self, state: np.ndarray, actions: list[int], result: float) -> None:
        """Store a line of play at each of its positions for which no equally good line is known.

        Args:
            state: the position where the line begins, an array of K state words.
            actions: the actions of the line, in order.
            result: the result at the end of the line, in [-1, 1].
        """
        if len(self._known) > _MAX_POSITIONS:
            self._known.clear()
        for action in actions:
            key = self._key(state)
            if key not in self._known or self._known[key][0] < result:
                self._known[key] = result, action
            state = self._game.play_moves([action], state)

    def line(self, state: np.ndarray) -> tuple[list[int], float]:
        """Return the best line of play known from a position, and its result.

        Args:
            state: the position, an array of K state words.

        Returns:
            The actions of the line and its result in [-1, 1]; [] and -inf if no line is known.
        """
        actions: list[int] = []
        result, _ = self._known.get(self._key(state), (-np.inf, 0))
        while self._key(state) in self._known:
            _, action = self._known[self._key(state)]
            actions.append(action)
            state = self._game.play_moves([action], state)
        return actions, result

    def followed(self, search: TreeSearch, states: np.ndarray, choice: Choice) -> Choice:
        """Replace a search's moves with those of known lines that are at least as good.

        Args:
            search: a finished search, whose first B games started from ``states``; the best lines
                that it found are stored first.
            states: [B, K], the positions that were searched.
            choice: the moves that the search chose.

        Returns:
            A copy of ``choice`` with the actions and values replaced; its action weights are
            unchanged.
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
