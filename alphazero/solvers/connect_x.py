"""Exact scores of Connect-X positions, found by a compiled alpha-beta search.

`ConnectXSolver` finds the score of every action, as defined in `alphazero.solvers.base`, in
positions on a `ConnectX` board (up to 64 bits). The search follows P. Pons, "Solving Connect 4: how
to build a perfect AI" (2015):

- moves that lose at once are not searched;
- moves that create more threats come first; among equals, those nearer to the middle column;
- a transposition table stores an upper and a lower bound for each position;
- a score is found by null-window tests of "is it above this bound?", beginning with the score of
  the move before.

The search keeps its own stack, so that it can pause after a number of nodes and resume.

Shapes: B positions, A actions, D depth of the search stack.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games.batched_game import CompiledGame
from alphazero.games.connect_x import ONE, ZERO, ConnectX
from alphazero.runtime.bits import popcount
from alphazero.runtime.jit import njit
from alphazero.solvers.alpha_beta import AlphaBetaSolver, insert_by_weight
from alphazero.solvers.base import ILLEGAL_SCORE
from alphazero.solvers.opening_book import NO_BOOK, UNKNOWN, OpeningBook, book_score, load_book

#: Factor that spreads keys over the table. It is odd, so that multiplying by it is one-to-one: the
#: index in the table and the rest of the product together identify the key.
SPREAD = np.uint64(0x9E3779B97F4A7C15)
#: Added to a bound (at most 33 away from 0) to store it as a positive number of seven bits.
OFFSET = 64
SEVEN = np.uint64(7)
SEVEN_BITS = np.uint64(127)
BOUNDS = np.uint64((1 << 14) - 1)
NO_BOUNDS = np.uint64(127 << 7 | 1)
#: The transposition table has 2 ** _TABLE_BITS entries of 8 bytes. It takes at least 14, because an
#: entry stores two bounds in 14 bits and the key's other bits in 50. A larger table solves early
#: positions with fewer nodes, but less of it stays in the processor's cache.
_TABLE_BITS = 20
#: Number of nodes to search before giving up on a position; they take three to ten minutes.
MAX_NODES = 3_000_000_000


class Search(NamedTuple):
    """The working memory of a Connect-X search: board constants, transposition table and stack."""

    table: np.ndarray  #: uint64[2 ** table_bits], packed: rest of key, upper bound, lower bound
    table_bits: int  #: binary logarithm of the number of table entries
    cells: int  #: number of cells of the board
    bottom: np.uint64  #: bits of the lowest cell of each column
    board: np.uint64  #: bits of all cells
    order: np.ndarray  #: uint64[A], the cells of each column, from the middle outwards
    mine: np.ndarray  #: uint64[D], discs of the player to move, on the current line of play
    occupied: np.ndarray  #: uint64[D], discs of both players
    best: np.ndarray  #: int64[D], the best score found so far, for the player to move
    num_moves: np.ndarray  #: int64[D], number of moves not yet searched
    moves: np.ndarray  #: uint64[D, A], these moves, each the bit of a cell, the most promising last
    weights: np.ndarray  #: int64[A], sorting keys of the moves that are being listed
    cursor: np.ndarray  #: int64[2]: depth to resume at (-1: finished), nodes until the next pause
    book: OpeningBook  #: scores that are looked up instead of searched for


class ConnectXSolver(AlphaBetaSolver):
    """Scores Connect-X positions with a compiled alpha-beta search; see `Solver`.

    Args:
        game: Connect-X on a board of up to 64 bits.
        max_nodes: number of nodes to search before giving up on a position with `UnsolvableError`;
            ten million take about a second.
    """

    def __init__(self, game: CompiledGame, max_nodes: int = MAX_NODES):
        search = new_search(game.rules, _TABLE_BITS, load_book(game.rules))
        super().__init__(game, search, max_nodes)

    def scores(self, states: np.ndarray) -> np.ndarray:
        """Search for the exact score of each action; see `Solver.scores`.

        The result is int16[B, A], `ILLEGAL_SCORE` where an action is illegal.
        """
        scores = np.full((len(states), self.game.num_actions), ILLEGAL_SCORE, np.int16)
        mask = self.game.legal_action_mask(states)
        for row, state in enumerate(states):
            last_node = self.num_nodes + self.max_nodes
            score = 0
            for action in np.flatnonzero(mask[row]).tolist():
                score = self._action_score(state, action, score, last_node)
                scores[row, action] = score
        return scores

    def _action_score(self, state: np.ndarray, action: int, guess: int, last_node: int) -> int:
        """Return the exact score of one legal action, for the player to move in ``state``.

        Args:
            state: the position, unfinished.
            guess: a score to test first; the search is shortest if it is exact.
            last_node: the value of `num_nodes` at which to give up.

        Raises:
            UnsolvableError: if `num_nodes` reaches ``last_node`` before the score is found.
        """
        game = self.game.rules
        search = self._search
        child = self.game.step(state[None], np.array([action])).states[0]
        mine = child[0]
        occupied = mine | child[1]
        plies = int(child[2]) >> 1
        if child[2] & ONE:  # the action completed a line
            return (search.cells + 2 - plies) // 2
        if plies == search.cells:
            return 0
        if can_win(game, search, mine, occupied):
            return -((search.cells + 1 - plies) // 2)
        most = book_score(search.book, state[0], state[0] | state[1])  # of the best action
        low = max(-most, -((search.cells - plies) // 2))
        high = (search.cells - 1 - plies) // 2
        search.mine[0] = mine
        search.occupied[0] = occupied
        guess = -guess
        while low < high:
            bound = min(max(guess, low), high - 1)
            guess = self._compare(bound, last_node)
            if guess > bound:
                low = guess
            else:
                high = guess
        return -low

    def _search_above(self, bound: int) -> int:
        return search_above(self.game.rules, self._search, bound)


def new_search(game: ConnectX, table_bits: int, book: OpeningBook = NO_BOOK) -> Search:
    """Allocate the working memory of a search, with an empty transposition table.

    Args:
        game: the rules, which give the size of the board.
        table_bits: the table has 2 ** ``table_bits`` entries of 8 bytes; at least 14.
        book: the opening book of the game.
    """
    columns = range(game.columns)
    from_middle = sorted(columns, key=lambda column: abs(2 * column - game.columns + 1))
    bottom = sum(1 << column * (game.rows + 1) for column in columns)
    column_cells = (1 << game.rows) - 1
    order = [column_cells << column * (game.rows + 1) for column in from_middle]
    cells = game.rows * game.columns
    depth = cells + 2
    return Search(
        table=np.zeros(1 << table_bits, np.uint64),
        table_bits=table_bits,
        cells=cells,
        bottom=np.uint64(bottom),
        board=np.uint64(bottom * column_cells),
        order=np.array(order, np.uint64),
        mine=np.zeros(depth, np.uint64),
        occupied=np.zeros(depth, np.uint64),
        best=np.zeros(depth, np.int64),
        num_moves=np.zeros(depth, np.int64),
        moves=np.zeros((depth, game.columns), np.uint64),
        weights=np.zeros(game.columns, np.int64),
        cursor=np.zeros(2, np.int64),
        book=book,
    )


@njit
def can_win(game, search, mine, occupied):
    """Return whether the player with the discs ``mine`` can win with the next disc.

    Args:
        game: the rules, a `ConnectX`.
        search: the working memory of a search on this board, a `Search`.
        mine: uint64, the discs of the player to move, one bit each.
        occupied: uint64, the discs of both players, one bit each.
    """
    playable = (occupied + search.bottom) & search.board & ~occupied
    return (winning_cells(game, mine) & playable) != ZERO


@njit
def winning_cells(game, discs):
    """Return the cells where one more disc completes a line.

    Args:
        game: the rules, a `ConnectX`.
        discs: uint64, one player's discs, one bit each.

    Returns:
        uint64, the bits of these cells; they may include occupied cells and some outside the board.
    """
    if game.length == 4:
        return _winning_cells_of_four(game, discs)
    return _winning_cells_of_any(game, discs)


@njit
def _winning_cells_of_four(game, discs):
    cells = (discs << ONE) & (discs << np.uint64(2)) & (discs << np.uint64(3))
    for shift in range(game.rows, game.rows + 3):
        s = np.uint64(min(shift, 63))
        up1 = discs << s
        up2 = up1 << s
        down1 = discs >> s
        down2 = down1 >> s
        cells |= up1 & up2 & ((up2 << s) | down1)
        cells |= down1 & down2 & ((down2 >> s) | up1)
    return cells


@njit
def _winning_cells_of_any(game, discs):
    cells = ZERO
    for direction in range(4):
        shift = np.uint64(1 if direction == 0 else min(game.rows - 1 + direction, 63))
        for before in range(game.length):
            line = ~ZERO
            shifted = discs
            for _ in range(before):
                shifted = shifted << shift
                line &= shifted
            shifted = discs
            for _ in range(game.length - 1 - before):
                shifted = shifted >> shift
                line &= shifted
            cells |= line
    return cells


@njit
def search_above(game, search, bound):
    """Test whether the score of a position is above ``bound``.

    The position is at the bottom of the search stack. A search starts at depth 0, and a paused one
    resumes at the depth ``search.cursor[0]``.

    Args:
        game: the rules, a `ConnectX`.
        search: the search's working memory, a `Search`; ``search.cursor[1]`` is the maximum number
            of nodes to search.
        bound: the score to compare with, for the player to move.

    Returns:
        A lower bound of the score if it is above ``bound``, otherwise an upper bound. If the search
        ran out of nodes first, 0, and ``search.cursor[0]`` >= 0.
    """
    plies = popcount(search.occupied[0])
    depth = search.cursor[0]
    nodes_left = search.cursor[1]
    while nodes_left > 0:
        nodes_left -= 1
        above = bound if depth & 1 == 0 else -bound - 1
        value = _expand(game, search, depth, plies + depth, above)
        # Go back to the last node that still has moves to search.
        while search.num_moves[depth] == 0:
            if depth == 0:
                search.cursor[0] = -1
                search.cursor[1] = nodes_left
                return value
            depth -= 1
            above = -above - 1
            value = max(-value, search.best[depth])
            search.best[depth] = value
            if value > above:
                search.num_moves[depth] = 0
            if search.num_moves[depth] == 0:
                _store_bound(search, depth, value, value > above)
        index = search.num_moves[depth] - 1
        search.num_moves[depth] = index
        search.mine[depth + 1] = search.occupied[depth] ^ search.mine[depth]
        search.occupied[depth + 1] = search.occupied[depth] | search.moves[depth, index]
        depth += 1
    search.cursor[0] = depth
    search.cursor[1] = 0
    return 0


@njit
def _expand(game, search, depth, plies, above):
    """Score the node at ``depth`` at once if possible; else list its moves on the search stack.

    Args:
        game: the rules, a `ConnectX`.
        search: the search's working memory, a `Search`.
        depth: the node's depth on the search stack.
        plies: number of discs on the board at this node.
        above: the bound to compare the score with, for the player to move at the node.

    Returns:
        The score, or a bound that decides whether the score is above ``above``; no moves are listed
        then. If neither is known, 0.
    """
    mine = search.mine[depth]
    occupied = search.occupied[depth]
    search.num_moves[depth] = 0
    left = search.cells - plies
    free = search.board & ~occupied
    threats = winning_cells(game, occupied ^ mine) & free
    moves = (occupied + search.bottom) & search.board
    forced = moves & threats
    if forced != ZERO:
        if (forced & (forced - ONE)) != ZERO:  # two threats cannot both be stopped
            return -(left // 2)
        moves = forced
    moves &= ~(threats >> ONE)  # a disc below a threat lets the opponent win
    if moves == ZERO:
        return -(left // 2)
    # Neither side can win with its next disc.
    if left <= 2:
        return 0
    score = book_score(search.book, mine, occupied)
    if score != UNKNOWN:
        return score
    lowest = -((left - 2) // 2)
    highest = (left - 1) // 2
    entry = _stored_bounds(search, mine, occupied)
    if entry != ZERO:
        highest = min(highest, np.int64((entry >> SEVEN) & SEVEN_BITS) - OFFSET)
        lowest = max(lowest, np.int64(entry & SEVEN_BITS) - OFFSET)
    if highest <= above:
        return highest
    if lowest > above:
        return lowest
    reply = _stored_reply(search, mine, occupied, moves)
    if reply > above:
        return reply
    search.best[depth] = -OFFSET
    search.num_moves[depth] = _list_by_threats(game, search, depth, mine, free, moves)
    return 0


@njit
def _stored_reply(search, mine, occupied, moves):
    """Return the best lower bound of a position's score that the table holds for its moves.

    Args:
        search: the search's working memory, a `Search`.
        mine: uint64, the discs of the player to move, one bit each.
        occupied: uint64, the discs of both players, one bit each.
        moves: uint64, the cells of the moves, one bit each.
    """
    best = np.int64(-OFFSET)
    while moves != ZERO:
        move = moves & (~moves + ONE)
        moves ^= move
        entry = _stored_bounds(search, occupied ^ mine, occupied | move)
        if entry != ZERO:
            best = max(best, OFFSET - np.int64((entry >> SEVEN) & SEVEN_BITS))
    return best


@njit
def _list_by_threats(game, search, depth, mine, free, moves):
    """List moves at ``depth`` of the search stack, most promising last; return their number.

    Moves that create more winning cells come last; among equals, those nearer to the middle.

    Args:
        game: the rules, a `ConnectX`.
        search: the search's working memory, a `Search`.
        depth: the node's depth on the search stack.
        mine: uint64, the discs of the player to move, one bit each.
        free: uint64, the empty cells, one bit each.
        moves: uint64, the cells of the moves to list, one bit each.
    """
    num = 0
    for index in range(search.order.shape[0] - 1, -1, -1):
        move = moves & search.order[index]
        if move != ZERO:
            weight = popcount(winning_cells(game, mine | move) & free & ~move)
            num = insert_by_weight(search, depth, num, move, weight)
    return num


@njit
def _stored_bounds(search, mine, occupied):
    """Return the two bounds on a position's score that the transposition table holds.

    Args:
        search: the search's working memory, a `Search`.
        mine: uint64, the discs of the player to move, one bit each.
        occupied: uint64, the discs of both players, one bit each.

    Returns:
        uint64: the upper bound in bits 7 to 13 and the lower bound in bits 0 to 6, each plus
        `OFFSET`; 0 if the table does not hold the position.
    """
    # mine + occupied identifies the position: in each column, its height and which discs are mine.
    key = (mine + occupied) * SPREAD
    entry = search.table[key >> np.uint64(64 - search.table_bits)]
    table_bits = np.uint64(search.table_bits)
    same = (entry ^ (key << table_bits)) < (ONE << table_bits)
    return entry & BOUNDS if same else ZERO


@njit
def _store_bound(search, depth, value, is_lower):
    """Store a bound on the score of the position at ``depth`` in the transposition table.

    The position's other bound, if stored, is kept.

    Args:
        search: the search's working memory, a `Search`.
        depth: the position's depth on the search stack.
        value: the bound, for the player to move there.
        is_lower: True for a lower bound of the score, False for an upper bound.
    """
    mine = search.mine[depth]
    occupied = search.occupied[depth]
    bounds = _stored_bounds(search, mine, occupied)
    if bounds == ZERO:
        bounds = NO_BOUNDS
    if is_lower:
        bounds = (bounds & ~SEVEN_BITS) | np.uint64(value + OFFSET)
    else:
        bounds = (bounds & SEVEN_BITS) | (np.uint64(value + OFFSET) << SEVEN)
    key = (mine + occupied) * SPREAD
    index = key >> np.uint64(64 - search.table_bits)
    search.table[index] = (key << np.uint64(search.table_bits)) | bounds
