"""Exact values and scores of a small game, found by enumerating all of its positions.

All reachable positions of the game are stored as arrays (`Positions`), each with its value under
perfect play; results are looked up with `ExactValues`, scores with `EnumeratedSolver`. Values are
computed backwards from the final positions: a position is solved once all its successors are.

Shapes: N enumerated positions, B positions to look up, K state words, A actions.
"""

import dataclasses
import functools
from collections import deque

import numpy as np

from alphazero.games.batched_game import Game, Transition
from alphazero.own_games.merged_positions import MergedPositions
from alphazero.runtime.errors import InputError
from alphazero.solvers.base import ILLEGAL_SCORE, ILLEGAL_VALUE, UnsolvableError

#: Maximum number of enumerated positions; more, with the graph of moves, would take gigabytes.
MAX_POSITIONS = 3_000_000

#: Maximum number of positions that `EnumeratedSolver` enumerates, in about ten seconds.
MAX_SOLVER_POSITIONS = 300_000
_BATCH = 128  # maximum number of positions expanded at once; in Gomoku, each has 225 successors

#: Entry of `Positions.children` for an illegal action.
NO_CHILD = -1


@dataclasses.dataclass(frozen=True)
class Positions:
    """All positions that can occur in a game, with their exact values; the start has index 0."""

    #: [N, K], the positions.
    states: np.ndarray
    #: int8[N], the player to move: 0 is the player who moves first in the game, 1 the other.
    players: np.ndarray
    #: bool[N], True where the game is over.
    over: np.ndarray
    #: int32[N, A], the index of the position after each action; `NO_CHILD` if it is illegal.
    children: np.ndarray
    #: float32[N], result of perfect play, in [-1, 1], from the viewpoint of the player to move.
    values: np.ndarray
    #: int16[N], number of actions on the longest path to the end of the game; lower after every
    #: action.
    plies_left: np.ndarray
    #: True if all states that the game treats as the same position were compared; False if only a
    #: sample was.
    are_all_compared: bool = True

    def __len__(self) -> int:
        return len(self.states)

    @functools.cached_property
    def action_values(self) -> np.ndarray:
        """float32[N, A], the result of perfect play after each action, in [-1, 1].

        Each result is for the player who takes the action; it is `ILLEGAL_VALUE` if the action is
        illegal.
        """
        values = (
            _sign_of_children(self.players, self.children, slice(None)) * self.values[self.children]
        )
        return np.where(self.children == NO_CHILD, np.float32(ILLEGAL_VALUE), values)


class ExactValues:
    """Looks up the results of perfect play in a small game.

    Args:
        positions: the game's positions, from `enumerate_positions`; if None, they are enumerated
            here.

    Raises:
        UnsolvableError: if the game has more than `MAX_POSITIONS` positions.
        InputError: if a position can occur twice in one game.
    """

    def __init__(self, game: Game, positions: Positions | None = None):
        self.game = game
        self.positions = positions or enumerate_positions(game)
        identities = game.identity(self.positions.states)
        self._index = {row.tobytes(): index for index, row in enumerate(identities)}

    def values(self, states: np.ndarray) -> np.ndarray:
        """Return the result of perfect play from each position, for the player to move.

        Args:
            states: [B, K], one position of K state words per row.

        Returns:
            float32[B], in [-1, 1].

        Raises:
            InputError: if a state is not one of the enumerated positions.
        """
        return self.positions.values[self.indices(states)]

    def action_values(self, states: np.ndarray) -> np.ndarray:
        """Return the result of perfect play after each action, for the player who takes it.

        Args:
            states: [B, K], the positions before the actions.

        Returns:
            float32[B, A], in [-1, 1]; `ILLEGAL_VALUE` where the action is illegal.

        Raises:
            InputError: if a state is not one of the enumerated positions.
        """
        return self.positions.action_values[self.indices(states)]

    def best_actions(self, state: np.ndarray) -> list[int]:
        """Return the actions that keep the best possible result; none in a finished game.

        Args:
            state: the position, an array of K state words.

        Raises:
            InputError: if the state is not one of the enumerated positions.
        """
        values = self.action_values(np.asarray(state)[None])[0]
        if values.max() == ILLEGAL_VALUE:
            return []
        return np.flatnonzero(values == values.max()).tolist()

    def indices(self, states: np.ndarray) -> np.ndarray:
        """Return the index of each state in the arrays of `positions`.

        Args:
            states: [B, K], the positions to look up.

        Returns:
            int64[B].

        Raises:
            InputError: if a state is not one of the enumerated positions.
        """
        self.game.check_states(states)
        identities = self.game.identity(np.ascontiguousarray(states))
        try:
            return np.array([self._index[row.tobytes()] for row in identities], np.int64)
        except KeyError:
            raise InputError(
                f"a position of {self.game.name} is not one of the enumerated positions."
            ) from None


class EnumeratedSolver:
    """Scores positions of a small game, all of which are enumerated on creation; see `Solver`.

    Args:
        max_positions: give up if the game has more reachable positions than this.

    Raises:
        UnsolvableError: if the game has more than ``max_positions`` positions, or too many
            different results for the range of exact scores.
        InputError: if a position can occur twice in one game.
    """

    name = "enumeration"
    meaning = "distance"

    def __init__(self, game: Game, max_positions: int = MAX_SOLVER_POSITIONS):
        self.game = game
        positions = enumerate_positions(game, max_positions)
        self.exact = ExactValues(game, positions)  #: results of perfect play in all positions
        self._action_scores = _action_scores(game, positions)

    def scores(self, states: np.ndarray) -> np.ndarray:
        """Look up the exact score of each action; see `Solver.scores`.

        The result is int16[B, A], `ILLEGAL_SCORE` where an action is illegal.

        Raises:
            InputError: if a state is not one of the enumerated positions.
        """
        return self._action_scores[self.exact.indices(states)]


def enumerate_positions(game: Game, max_positions: int = MAX_POSITIONS) -> Positions:
    """Enumerate all positions that can occur in a game, and solve them.

    Args:
        max_positions: give up if the game has more reachable positions than this.

    Raises:
        UnsolvableError: if there are more than ``max_positions``.
        InputError: if a position can occur twice in one game, or the game treats two states as the
            same position although an action leads from them to different positions.
    """
    batches, edges, are_all_compared = _reachable(game, max_positions)
    states, over, results, players, _ = (np.concatenate(part) for part in zip(*batches))
    children = np.full((len(states), game.num_actions), NO_CHILD, np.int32)
    rows, actions, targets = (np.concatenate(part) for part in zip(*edges))
    children[rows, actions] = targets
    values, plies_left = _solve(children, players, over, results)
    return Positions(states, players, over, children, values, plies_left, are_all_compared)


def _reachable(
    game: Game, max_positions: int
) -> tuple[list[Transition], list[tuple[np.ndarray, np.ndarray, np.ndarray]], bool]:
    """Find all positions that can occur in a game, by a breadth-first search from the start.

    Args:
        max_positions: give up if the game has more reachable positions than this.

    Returns:
        The positions in batches, and three arrays for the legal actions of each batch: the index of
        the position, the action, and the index of the position after it; and
        `Positions.are_all_compared`.

    Raises:
        UnsolvableError: if there are more than ``max_positions``.
    """
    start = game.initial_states()
    index_of = {game.identity(start)[0].tobytes(): 0}
    batches = []
    edges = []
    merged = MergedPositions(game)
    waiting = deque([start])  # arrays of positions whose actions have not been played yet
    num_done = 0
    while waiting:
        frontier = waiting.popleft()
        if len(frontier) > _BATCH:
            waiting.appendleft(frontier[_BATCH:])
            frontier = frontier[:_BATCH]
        batch = game.inspect(frontier)
        batches.append(batch)
        rows, actions = np.nonzero(batch.legal_action_mask)
        following = game.step(frontier[rows], actions).states
        if game.identity_size is not None:
            merged.add(following)
        num_known = len(index_of)
        identities = game.identity(following)
        indices = [index_of.setdefault(row.tobytes(), len(index_of)) for row in identities]
        targets = np.array(indices, np.int32)
        if len(index_of) > max_positions:
            raise UnsolvableError(
                f"{game.name} has more than {max_positions:,} positions: too many to enumerate."
            )
        edges.append((rows + num_done, actions, targets))
        num_done += len(frontier)
        different, first_places = np.unique(targets, return_index=True)
        if len(index_of) > num_known:
            waiting.append(following[first_places[different >= num_known]])
    return batches, edges, merged.are_all_compared


def _solve(children, players, over, results) -> tuple[np.ndarray, np.ndarray]:
    """Compute results of perfect play and distances to the end, backwards from final positions.

    Args:
        children: int32[N, A], the index of the position after each action; `NO_CHILD` if it is
            illegal.
        players: int8[N], the player to move.
        over: bool[N], True where the game is over.
        results: float32[N], the result of each final position for the player to move.

    Returns:
        `Positions.values` and `Positions.plies_left`.

    Raises:
        InputError: if a position can occur twice in one game.
    """
    values = results.copy()
    plies_left = np.where(over, 0, -1).astype(np.int16)
    unsolved = np.flatnonzero(~over)
    while len(unsolved):
        following = children[unsolved]
        legal = following != NO_CHILD
        ready = ((plies_left[following] >= 0) | ~legal).all(axis=1)
        if not ready.any():
            raise InputError(
                "a position can occur twice in one game: the game cannot be solved backwards."
            )
        rows = unsolved[ready]
        following = following[ready]
        legal = legal[ready]
        signs = _sign_of_children(players, following, rows)
        action_values = np.where(legal, signs * values[following], np.float32(-1))
        values[rows] = action_values.max(axis=1) + 0  # not -0
        action_plies = np.where(legal, plies_left[following], -1)
        plies_left[rows] = 1 + action_plies.max(axis=1)
        unsolved = unsolved[~ready]
    return values, plies_left


def _action_scores(game: Game, positions: Positions) -> np.ndarray:
    """Compute the exact score of every action, for the player to move, from the end backwards.

    `alphazero.solvers.base.Solver` defines the scores. Each further action before the end of the
    game brings a score one closer to 0, though never as close as the scores of the next smaller
    result.

    Args:
        game: the game, for the error message.
        positions: its N solved positions.

    Returns:
        int16[N, A], `ILLEGAL_SCORE` where an action is illegal.

    Raises:
        UnsolvableError: if there are too many different results for the range of exact scores.
    """
    longest = int(positions.plies_left.max())
    sizes = np.unique(np.abs(positions.values[positions.values != 0]))
    if len(sizes) * (longest + 1) >= -ILLEGAL_SCORE:
        raise UnsolvableError(f"{game.name} has more results than exact scores can tell apart.")
    ranks = np.searchsorted(sizes, np.abs(positions.values)) + 1
    scores = np.sign(positions.values) * ranks
    scores = (scores * (longest + 1)).astype(np.int16)
    action_scores = np.full(positions.children.shape, ILLEGAL_SCORE, np.int16)
    for plies_left in range(1, longest + 1):
        rows = np.flatnonzero(positions.plies_left == plies_left)
        children = positions.children[rows]
        closer = scores[children] - np.sign(scores[children])
        after = _sign_of_children(positions.players, children, rows) * closer
        action_scores[rows] = np.where(children == NO_CHILD, ILLEGAL_SCORE, after)
        scores[rows] = action_scores[rows].max(axis=1)
    return action_scores


def _sign_of_children(players, children, rows) -> np.ndarray:
    """Return 1 where the same player moves again after an action, otherwise -1.

    Args:
        players: int8[N], the player to move.
        children: int32[len(rows), A], the indices of the positions after each action.
        rows: the indices of the positions to describe.

    Returns:
        float32[len(rows), A]; arbitrary where the action is illegal.
    """
    same = players[children] == players[rows, None]
    return np.where(same, np.float32(1), np.float32(-1))
