"""Code shared by the compiled alpha-beta solvers: node limits and move ordering."""

from typing import Any

from alphazero.games.batched_game import CompiledGame
from alphazero.runtime.jit import njit
from alphazero.solvers.base import UnsolvableError

#: Maximum nodes in one call of a solver's kernel, less than 0.1 s; Ctrl-C works between calls.
NODES_PER_CALL = 200_000


class AlphaBetaSolver:
    """Base class for exact solvers that run a compiled alpha-beta search in short, resumable calls.

    Args:
        search: the working memory of the compiled search; its ``cursor`` holds the depth to resume
            at and the number of nodes until the next pause.
        max_nodes: number of nodes to search before giving up on a position with `UnsolvableError`.

    Attributes:
        num_nodes: total nodes searched since the solver was made.
    """

    name = "alpha-beta"
    meaning = "distance"

    def __init__(self, game: CompiledGame, search: Any, max_nodes: int):
        self.game = game
        self.max_nodes = max_nodes
        self.num_nodes = 0
        self._search = search

    def load(self) -> None:
        """Load the compiled search, which otherwise delays the first position."""
        self._search.cursor[1] = 0  # pause at once
        self._search_above(0)

    def _search_above(self, bound: int) -> int:
        """Run the game's compiled search until it finishes or pauses.

        The search tests whether the score of the position at the bottom of the search stack is
        above ``bound``.

        Args:
            bound: the score to compare with, for the player to move.

        Returns:
            A lower bound of the score if it is above ``bound``, otherwise an upper bound;
            meaningless if the search has paused.
        """
        raise NotImplementedError

    def _compare(self, bound: int, last_node: int) -> int:
        """Test whether the score of a position is above ``bound``.

        The position is at the bottom of the search stack.

        Args:
            bound: the score to compare with, for the player to move.
            last_node: the value of `num_nodes` at which to give up.

        Returns:
            A lower bound of the score if it is above ``bound``, otherwise an upper bound.

        Raises:
            UnsolvableError: if `num_nodes` reaches ``last_node`` before the search finishes.
        """
        cursor = self._search.cursor
        cursor[0] = 0
        while True:
            max_nodes = min(NODES_PER_CALL, last_node - self.num_nodes)
            cursor[1] = max_nodes
            score = self._search_above(bound)
            self.num_nodes += max_nodes - int(cursor[1])
            if cursor[0] < 0:
                return int(score)
            if self.num_nodes >= last_node:
                raise UnsolvableError(
                    f"a position of {self.game.name} is too far from the end of the game: "
                    f"not solved within {self.max_nodes:,} nodes."
                )


@njit
def insert_by_weight(search, depth, num, move, weight):
    """Insert a move into the list of moves at one depth of a search, sorted by weight.

    The most promising move, which has the largest weight, comes last. The new move is placed after
    those of the same weight.

    Args:
        search: the search's working memory; ``search.moves[depth]`` and ``search.weights`` hold the
            listed moves and their weights.
        depth: the depth of the node on the search stack.
        num: number of moves listed so far.
        move: the move to insert.
        weight: the move's sorting key.

    Returns:
        The new number of listed moves.
    """
    place = num
    while place > 0 and search.weights[place - 1] > weight:
        search.moves[depth, place] = search.moves[depth, place - 1]
        search.weights[place] = search.weights[place - 1]
        place -= 1
    search.moves[depth, place] = move
    search.weights[place] = weight
    return num + 1
