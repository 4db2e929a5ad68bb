"""The list of moves that a solver still has to look at, the most promising one last; both compiled solvers keep theirs with it."""

from alphazero.runtime.jit import njit


@njit
def insert_by_weight(search, depth, num, move, weight):
    """Put ``move`` into the ``num`` moves of ``search.moves[depth]`` behind those that weigh no more, and return how many there are now.

    ``search.weights`` holds the weights of the list that is just being made.
    """
    place = num
    while place > 0 and search.weights[place - 1] > weight:
        search.moves[depth, place] = search.moves[depth, place - 1]
        search.weights[place] = search.weights[place - 1]
        place -= 1
    search.moves[depth, place] = move
    search.weights[place] = weight
    return num + 1
