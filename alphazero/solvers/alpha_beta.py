"""What the compiled alpha-beta searches share: limits of nodes and of time, and lists of moves."""

from typing import Any

from alphazero.games.batched_game import CompiledGame
from alphazero.runtime.jit import njit
from alphazero.solvers.base import UnsolvableError

#: Nodes of a solver in one call of its kernel, less than 0.1 s; Ctrl-C works between the calls.
NODES_PER_CALL = 200_000


class AlphaBetaSolver:
    """Searches with a kernel that pauses after a number of nodes; see the solver of each game.

    Args:
        search: the memory of the kernel, in which ``cursor`` says where to resume.
        max_nodes: give up a position after this many nodes.

    Attributes:
        num_nodes: nodes searched since the solver was made.
    """

    name = "alpha-beta"
    meaning = "distance"
    #: Advice appended to the error about a position that takes too many nodes.
    hint = ""

    def __init__(self, game: CompiledGame, search: Any, max_nodes: int):
        self.game = game
        self.max_nodes = max_nodes
        self.num_nodes = 0
        self._search = search

    def _search_above(self, bound: int) -> int:
        """Run the kernel of the game, see `search_above` in the solver's module."""
        raise NotImplementedError

    def _compare(self, bound: int, last_node: int) -> int:
        """Test the position at the bottom of the stack, until `num_nodes` reaches ``last_node``.

        Returns:
            A lower bound of the score if it is above ``bound``, otherwise an upper bound.
        """
        cursor = self._search.cursor
        cursor[0] = 0
        while True:
            cursor[1] = given = min(NODES_PER_CALL, last_node - self.num_nodes)
            found = self._search_above(bound)
            self.num_nodes += given - int(cursor[1])
            if cursor[0] < 0:
                return int(found)
            if self.num_nodes >= last_node:
                raise UnsolvableError(
                    f"a position of {self.game.name} is too far from the end of the game: "
                    f"not solved within {self.max_nodes:,} nodes{self.hint}."
                )


@njit
def insert_by_weight(search, depth, num, move, weight):
    """Insert ``move`` into the ``num`` moves of ``search.moves[depth]``, sorted by weight.

    The most promising move comes last. A move goes behind those of the same weight.
    ``search.weights`` holds the weights of the list.

    Returns:
        The new number of moves.
    """
    place = num
    while place > 0 and search.weights[place - 1] > weight:
        search.moves[depth, place] = search.moves[depth, place - 1]
        search.weights[place] = search.weights[place - 1]
        place -= 1
    search.moves[depth, place] = move
    search.weights[place] = weight
    return num + 1
