"""The sorted list of moves that a compiled solver has yet to search, the most promising one last.

Both solvers keep it in their `Search`: ``moves[depth]``, with the sorting keys in ``weights``.
"""

from alphazero.runtime.jit import njit


@njit
def insert_by_weight(search, depth, num, move, weight):
    """Insert ``move`` into the ``num`` moves of ``search.moves[depth]``, sorted by weight.

    It goes behind moves of the same weight. ``search.weights`` holds the weights of the list.

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
