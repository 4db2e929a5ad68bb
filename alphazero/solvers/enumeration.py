"""Every position of a small game with its exact value.

In: a game. Out: its reachable positions as arrays, each with the value of perfect play, found backwards from the final positions (negamax
without a search: a position is settled once all that follow from it are). Nothing here knows about players or networks.
Letters for shapes: N positions, K state words, A actions, B positions asked about.
"""

import dataclasses
import functools

import numpy as np

from alphazero.games.batched_game import Game

#: Positions of which an enumeration gives up: with the graph between them they would take gigabytes.
MAX_POSITIONS = 3_000_000

ILLEGAL = -1


@dataclasses.dataclass(frozen=True)
class Positions:
    """All positions of a game that can be reached from one of them, index 0, in the order in which a breadth-first walk meets them."""

    states: np.ndarray  #: [N, K]
    players: np.ndarray  #: int8[N], the player to move, 0 for the one who moves first in the game
    over: np.ndarray  #: bool[N], True where the game is finished
    children: np.ndarray  #: int32[N, A], the index of the position after an action, `ILLEGAL` where the action is not legal
    values: (
        np.ndarray
    )  #: int8[N], result of perfect play, 1, 0 or -1 from the viewpoint of the player to move
    plies_left: (
        np.ndarray
    )  #: int16[N], the longest way to the end of the game; it falls along every move

    def __len__(self) -> int:
        return len(self.states)

    @functools.cached_property
    def action_values(self) -> np.ndarray:
        """int8[N, A], the value of each action from the viewpoint of the player to move, -2 where the action is not legal."""
        signs = np.where(self.players[self.children] == self.players[:, None], 1, -1)
        return np.where(self.children == ILLEGAL, -2, signs * self.values[self.children]).astype(
            np.int8
        )


class ExactValues:
    """Perfect play of a small game, looked up.

    Args:
        positions: the positions it knows; by default all that can be reached from the start.

    Raises:
        ValueError: if the game has too many positions.
    """

    def __init__(self, game: Game, positions: Positions | None = None):
        self.game = game
        self.positions = positions or enumerate_positions(game)
        self._index = {state.tobytes(): index for index, state in enumerate(self.positions.states)}

    def values(self, states: np.ndarray) -> np.ndarray:
        """Return int8[B]: the result of perfect play from each of ``states`` ([B, K]), from the viewpoint of the player to move there."""
        return self.positions.values[self.indices(states)]

    def action_values(self, states: np.ndarray) -> np.ndarray:
        """Return int8[B, A]: the result after each action, from the viewpoint of the player to move in ``states``; -2 where illegal."""
        return self.positions.action_values[self.indices(states)]

    def best_actions(self, state: np.ndarray) -> list[int]:
        """Return the actions that keep the best possible result of one position ([K]); a finished game has none."""
        values = self.action_values(np.asarray(state)[None])[0]
        return [] if values.max() < -1 else np.flatnonzero(values == values.max()).tolist()

    def indices(self, states: np.ndarray) -> np.ndarray:
        """Return int64[B]: the places of ``states`` in `positions`.

        Raises:
            ValueError: for a state that is not among them.
        """
        states = np.ascontiguousarray(states, self.game.state_dtype)
        try:
            return np.array([self._index[state.tobytes()] for state in states], np.int64)
        except KeyError:
            raise ValueError(
                "a position was asked about that cannot be reached from the start of the enumeration."
            ) from None


def enumerate_positions(
    game: Game, start: np.ndarray | None = None, max_positions: int = MAX_POSITIONS
) -> Positions:
    """Walk through all positions that can be reached from ``start`` ([K], default the start of the game) and settle their values.

    Raises:
        ValueError: if there are more than ``max_positions``, or if positions repeat within a game.
    """
    frontier = game.initial_states() if start is None else np.asarray(start, game.state_dtype)[None]
    index_of = {frontier[0].tobytes(): 0}
    batches, edges = [], []
    while len(frontier):
        batch = game.inspect(frontier)
        batches.append(batch)
        rows, actions = np.nonzero(batch.legal_action_mask)
        following = game.step(frontier[rows], actions).states
        known = len(index_of)
        targets = np.array(
            [index_of.setdefault(state.tobytes(), len(index_of)) for state in following], np.int32
        )
        if len(index_of) > max_positions:
            raise ValueError(
                f"{game.name} has more than {max_positions:,} positions: too many to look at every one."
            )
        edges.append((rows + known - len(frontier), actions, targets))
        new_targets, first_places = np.unique(targets, return_index=True)
        frontier = following[first_places[new_targets >= known]]
    states, over, results, players, _ = (np.concatenate(part) for part in zip(*batches))
    children = np.full((len(states), game.num_actions), ILLEGAL, np.int32)
    rows, actions, targets = (np.concatenate(part) for part in zip(*edges))
    children[rows, actions] = targets
    values, plies_left = _settle(children, players, over, results)
    return Positions(states, players, over, children, values, plies_left)


def _settle(children, players, over, results) -> tuple[np.ndarray, np.ndarray]:
    """Return the values int8[N] and plies left int16[N]: best over the actions, from final positions backwards."""
    values = results.astype(np.int8)
    plies_left = np.where(over, 0, -1).astype(np.int16)
    open_rows = np.flatnonzero(~over)
    while len(open_rows):
        following = children[open_rows]
        legal = following != ILLEGAL
        ready = ((plies_left[following] >= 0) | ~legal).all(axis=1)
        if not ready.any():
            raise ValueError(
                "positions repeat within a game: their values cannot be found backwards from the end."
            )
        rows, following, legal = open_rows[ready], following[ready], legal[ready]
        signs = np.where(players[following] == players[rows, None], 1, -1)
        values[rows] = np.where(legal, signs * values[following], -1).max(axis=1)
        plies_left[rows] = 1 + np.where(legal, plies_left[following], -1).max(axis=1)
        open_rows = open_rows[~ready]
    return values, plies_left


def count_games(positions: Positions) -> int:
    """Return how many different games, from the first of ``positions`` to an end, there are: sequences of moves, not positions."""
    games = np.zeros(len(positions), object)
    for row in np.argsort(positions.plies_left, kind="stable"):
        following = positions.children[row]
        games[row] = (
            1
            if positions.over[row]
            else sum(games[child] for child in following[following != ILLEGAL])
        )
    return int(games[0])
