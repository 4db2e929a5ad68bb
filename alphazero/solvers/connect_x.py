"""Exact scores of Connect-X positions by alpha-beta search, compiled.

In: positions of a `ConnectX` board (up to 64 bits). Out: the score of every action; how they are counted says `alphazero.solvers.solver`.
The search follows P. Pons, "Solving Connect 4: how to build a perfect AI" (2015): only moves are looked at that do not lose at once, those that
make more threats first, from the middle outwards; a table remembers bounds; and a score is found by asking whether it is above a number, again
and again, halving what is left. It runs on a stack of its own, so that it can stop after so many nodes and go on later.
Letters for shapes: B positions, A actions, D depth of the stack.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.games.connect_x import ConnectX
from alphazero.runtime.bits import popcount
from alphazero.runtime.jit import njit
from alphazero.solvers.move_list import insert_by_weight
from alphazero.solvers.solver import ILLEGAL_SCORE

ONE = np.uint64(1)
ZERO = np.uint64(0)
#: Spreads the keys over the table. Odd, so that different keys stay different: the place and the rest of the product are the whole key.
SPREAD = np.uint64(0x9E3779B97F4A7C15)
#: A bound is at most 33 away from 0; this much more, it is a positive number of seven bits.
OFFSET = 64
SEVEN = np.uint64(7)
SEVEN_BITS = np.uint64(127)
BOUNDS = np.uint64((1 << 14) - 1)
NO_BOUNDS = np.uint64(127 << 7 | 1)
#: Nodes between two chances to interrupt the search from the keyboard: about a second.
SLICE = 10_000_000
#: Bits of the two bounds in a place of the table; what is left must hold the part of the key that the place does not tell.
BOUND_BITS = 14
#: Nodes after which a position is given up: three to ten minutes.
MAX_NODES = 3_000_000_000


class Search(NamedTuple):
    """The memory of one search."""

    table: np.ndarray  #: uint64[2 ** table_bits], the part of a key that its place does not tell, an upper and a lower bound
    table_bits: int
    cells: int  #: how many the board has
    bottom: np.uint64  #: the lowest cell of each column
    board: np.uint64  #: all cells
    order: np.ndarray  #: uint64[A], the cells of each column, from the middle outwards
    mine: (
        np.ndarray
    )  #: uint64[D], discs of the player to move, along the line that is being looked at
    occupied: np.ndarray  #: uint64[D], discs of both
    best: np.ndarray  #: int64[D], the best score found so far
    num_moves: np.ndarray  #: int64[D], moves not yet looked at
    moves: np.ndarray  #: uint64[D, A], these moves, each as its cell, the most promising one last
    weights: np.ndarray  #: int64[A], how promising the moves are that are just being sorted
    progress: np.ndarray  #: int64[2], the depth to go on at (-1 where a search is finished), and the nodes left until the next stop


class ConnectXSolver:
    """Scores Connect-X positions.

    Args:
        table_bits: the table has 2 ** table_bits places of 8 bytes; 14 bits are the fewest. A larger one finds early positions with fewer nodes, but
            less of it stays in the processor's cache.
        max_nodes: a position that takes more is refused; ten million take about a second.
    """

    name = "alpha-beta"

    def __init__(self, game: Game, table_bits: int = 20, max_nodes: int = MAX_NODES):
        if table_bits < BOUND_BITS:
            raise ValueError(
                f"table_bits={table_bits} is not allowed: a table of {BOUND_BITS} bits is the smallest."
            )
        self.game = game
        self.max_nodes = max_nodes
        self.num_nodes = 0  #: looked at since it was made
        self._search = _new_search(game.rules, table_bits)

    def scores(self, states: np.ndarray) -> np.ndarray:
        scores = np.full((len(states), self.game.num_actions), ILLEGAL_SCORE, np.int16)
        mask = self.game.legal_action_mask(states)
        for row, state in enumerate(states):
            last_node = self.num_nodes + self.max_nodes
            for action in np.flatnonzero(mask[row]):
                scores[row, action] = self._action_score(state, action, last_node)
        return scores

    def _action_score(self, state: np.ndarray, action: int, last_node: int) -> int:
        """Return the score of one legal action from the viewpoint of who plays it."""
        game, search = self.game.rules, self._search
        child = self.game.step(state[None], [action]).states[0]
        mine, occupied = child[0], child[0] | child[1]
        plies = int(child[2]) >> 1
        if child[2] & ONE:
            return (search.cells + 2 - plies) // 2
        if plies == search.cells:
            return 0
        if can_win(game, search, mine, occupied):
            return -((search.cells + 1 - plies) // 2)
        low, high = -((search.cells - plies) // 2), (search.cells - 1 - plies) // 2
        while low < high:
            bound = _between(low, high)
            found = self._compare(mine, occupied, bound, last_node)
            low, high = (found, high) if found > bound else (low, found)
        return -low

    def _compare(self, mine, occupied, bound: int, last_node: int) -> int:
        """Return a bound of the score: a lower one if it is above ``bound``, otherwise an upper one."""
        search = self._search
        search.mine[0], search.occupied[0], search.progress[0] = mine, occupied, 0
        while True:
            search.progress[1] = given = min(SLICE, last_node - self.num_nodes)
            found = search_above(self.game.rules, search, bound)
            self.num_nodes += given - int(search.progress[1])
            if search.progress[0] < 0:
                return int(found)
            if self.num_nodes >= last_node:
                raise ValueError(
                    f"a position of {self.game.name} is too far from the end to be solved: no answer after {self.max_nodes:,} nodes"
                    f"{' (with the package bitbully installed, every position of it is).' if tuple(self.game.rules) == (6, 7, 4) else '.'}"
                )


def _between(low: int, high: int) -> int:
    """Return a number with low <= it < high: the middle, but nearer to 0 while 0 is far, since most scores are small."""
    middle = low + (high - low) // 2
    if middle <= 0 and int(low / 2) < middle:
        return int(low / 2)
    if middle >= 0 and int(high / 2) > middle:
        return int(high / 2)
    return middle


def _new_search(game: ConnectX, table_bits: int) -> Search:
    columns = sorted(
        range(game.columns), key=lambda column: (abs(2 * column - game.columns + 1), column)
    )
    bottom = sum(1 << column * (game.rows + 1) for column in range(game.columns))
    column = (1 << game.rows) - 1
    cells = game.rows * game.columns
    depth = cells + 2
    return Search(
        table=np.zeros(1 << table_bits, np.uint64),
        table_bits=table_bits,
        cells=cells,
        bottom=np.uint64(bottom),
        board=np.uint64(bottom * column),
        order=np.array([column << c * (game.rows + 1) for c in columns], np.uint64),
        mine=np.zeros(depth, np.uint64),
        occupied=np.zeros(depth, np.uint64),
        best=np.zeros(depth, np.int64),
        num_moves=np.zeros(depth, np.int64),
        moves=np.zeros((depth, game.columns), np.uint64),
        weights=np.zeros(game.columns, np.int64),
        progress=np.zeros(2, np.int64),
    )


@njit
def can_win(game, search, mine, occupied):
    return (
        winning_cells(game, mine) & (occupied + search.bottom) & search.board & ~occupied
    ) != ZERO


@njit
def winning_cells(game, discs):
    """Return the cells where one disc more would make a line, occupied ones and some outside of the board among them."""
    return (
        _winning_cells_of_four(game, discs)
        if game.length == 4
        else _winning_cells_of_any(game, discs)
    )


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
    """Search the position at the bottom of the stack, or go on with it: is its score above ``bound``?

    Returns:
        A lower bound of the score if it is above ``bound``, otherwise an upper one; 0 with ``progress[0]`` >= 0 if the nodes ran out before.
    """
    plies = popcount(search.occupied[0])
    depth, nodes_left = search.progress[0], search.progress[1]
    while nodes_left > 0:
        nodes_left -= 1
        above = bound if depth & 1 == 0 else -bound - 1
        value = _open(game, search, depth, plies + depth, above)
        # Go back to the latest node that is not settled.
        while search.num_moves[depth] == 0:
            if depth == 0:
                search.progress[0], search.progress[1] = -1, nodes_left
                return value
            depth -= 1
            above = -above - 1
            value = max(-value, search.best[depth])
            search.best[depth] = value
            if value > above:
                search.num_moves[depth] = 0
            if search.num_moves[depth] == 0:
                _remember(search, depth, value, value > above)
        index = search.num_moves[depth] - 1
        search.num_moves[depth] = index
        search.mine[depth + 1] = search.occupied[depth] ^ search.mine[depth]
        search.occupied[depth + 1] = search.occupied[depth] | search.moves[depth, index]
        depth += 1
    search.progress[0], search.progress[1] = depth, 0
    return 0


@njit
def _open(game, search, depth, plies, above):
    """List the moves of the node at ``depth``; where its value or a bound that decides is known at once, list none and return that."""
    mine, occupied = search.mine[depth], search.occupied[depth]
    search.num_moves[depth] = 0
    left = search.cells - plies
    free = search.board & ~occupied
    threats = winning_cells(game, occupied ^ mine) & free
    moves = (occupied + search.bottom) & search.board
    forced = moves & threats
    if forced != ZERO:
        if (forced & (forced - ONE)) != ZERO:
            return -(left // 2)
        moves = forced
    moves &= ~(threats >> ONE)
    if moves == ZERO:
        return -(left // 2)
    # Neither side can win with its next disc.
    if left <= 2:
        return 0
    lowest, highest = -((left - 2) // 2), (left - 1) // 2
    entry = _entry(search, mine, occupied)
    if entry != ZERO:
        highest = min(highest, np.int64((entry >> SEVEN) & SEVEN_BITS) - OFFSET)
        lowest = max(lowest, np.int64(entry & SEVEN_BITS) - OFFSET)
    if highest <= above:
        return highest
    if lowest > above:
        return lowest
    search.best[depth] = -OFFSET
    search.num_moves[depth] = _sort(game, search, depth, mine, free, moves)
    return 0


@njit
def _sort(game, search, depth, mine, free, moves):
    """List ``moves`` so that those that leave more winning cells come last, those nearer to the middle among equals; return their number."""
    num = 0
    for index in range(search.order.shape[0] - 1, -1, -1):
        move = moves & search.order[index]
        if move != ZERO:
            weight = popcount(winning_cells(game, mine | move) & free & ~move)
            num = insert_by_weight(search, depth, num, move, weight)
    return num


@njit
def _entry(search, mine, occupied):
    """Return the bounds that the table holds for a position, 0 where it holds none."""
    # In each column, the top of the discs and which of them are mine: mine + occupied tells both.
    key = (mine + occupied) * SPREAD
    entry = search.table[key >> np.uint64(64 - search.table_bits)]
    same = (entry ^ (key << np.uint64(search.table_bits))) < (ONE << np.uint64(search.table_bits))
    return entry & BOUNDS if same else ZERO


@njit
def _remember(search, depth, value, is_lower):
    """Write a lower or an upper bound into the table, beside the other one if the place holds the same position."""
    mine, occupied = search.mine[depth], search.occupied[depth]
    bounds = _entry(search, mine, occupied)
    if bounds == ZERO:
        bounds = NO_BOUNDS
    if is_lower:
        bounds = (bounds & ~SEVEN_BITS) | np.uint64(value + OFFSET)
    else:
        bounds = (bounds & SEVEN_BITS) | (np.uint64(value + OFFSET) << SEVEN)
    key = (mine + occupied) * SPREAD
    search.table[key >> np.uint64(64 - search.table_bits)] = (
        key << np.uint64(search.table_bits)
    ) | bounds
