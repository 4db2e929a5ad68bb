"""Exact scores of Othello endgames, found by a compiled alpha-beta search.

`OthelloSolver` finds the score of every action, the final margin of discs (see
`alphazero.solvers.base`), in positions with few empty squares, on any board size of `Othello`. How
the search works:

- a score is found by null-window tests of "is it above this bound?", each starting from the last
  result, as in MTD(f) (A. Plaat et al., "Best-first fixed-depth minimax algorithms", 1996);
- moves that leave the opponent few replies come first ("fastest first"); near the end, moves into
  regions with an odd number of empty squares, where the mover can get the last move;
- a transposition table stores bounds and the best move.

The search keeps its own stack, so that it can pause after a number of nodes and resume.

Shapes: B positions, A actions, D depth of the search stack.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games.batched_game import CompiledGame
from alphazero.games.othello import ONE, ZERO, Othello, flips, moves_of
from alphazero.runtime.bits import lowest_bit_index, popcount
from alphazero.runtime.jit import njit
from alphazero.solvers.alpha_beta import AlphaBetaSolver, insert_by_weight
from alphazero.solvers.base import ILLEGAL_SCORE, UnsolvableError

SPREAD = np.uint64(0x9E3779B97F4A7C15)
SPREAD_OTHER = np.uint64(0xC2B2AE3D27D4EB4F)
HALF = np.uint64(32)
#: The number that stands for a pass; the other moves, 0 to 63, are bit indices of squares.
PASS = 64
#: With at most this many empty squares, the transposition table and counting the opponent's replies
#: cost more time than they save.
FEW_EMPTIES = 5
WORST = -65  #: a number below every score
BEST = 65  #: a number above every score
_UNLIMITED = 2**62
#: The transposition table has 2 ** _TABLE_BITS entries of 19 bytes.
_TABLE_BITS = 18
#: Maximum empty squares in a solvable position, by board size; most such positions take seconds.
MAX_EMPTIES = {4: 12, 6: 22, 8: 20}


class Search(NamedTuple):
    """The working memory of an Othello search: board constants, transposition table and stack."""

    positions: np.ndarray  #: uint64[2 ** table_bits, 2]: own discs, opponent's discs
    answers: np.ndarray  #: int8[2 ** table_bits, 3]: lower bound, upper bound, best move
    table_bits: int  #: binary logarithm of the number of table entries
    board: np.uint64  #: bits of all squares
    corners: np.uint64  #: bits of the four corner squares
    quarters: np.ndarray  #: uint64[4], bits of the squares in each quarter of the board
    mine: np.ndarray  #: uint64[D], discs of the player to move, on the current line of play
    other: np.ndarray  #: uint64[D], discs of the opponent
    best: np.ndarray  #: int64[D], the best score found so far, for the player to move
    best_moves: np.ndarray  #: int64[D], the move with that score
    num_moves: np.ndarray  #: int64[D], number of moves not yet searched
    moves: np.ndarray  #: int64[D, 64], these moves, the most promising one last
    weights: np.ndarray  #: int64[64], sorting keys of the moves that are being listed
    cursor: np.ndarray  #: int64[2]: depth to resume at (-1: finished), nodes until the next pause


class OthelloSolver(AlphaBetaSolver):
    """Scores Othello endgames with a compiled alpha-beta search; see `Solver`.

    Args:
        game: Othello, on any board size in `MAX_EMPTIES`.
        max_nodes: number of nodes to search before giving up on a position with `UnsolvableError`.
    """

    meaning = "discs"

    def __init__(self, game: CompiledGame, max_nodes: int = _UNLIMITED):
        super().__init__(game, new_search(game.rules, _TABLE_BITS), max_nodes)

    def scores(self, states: np.ndarray) -> np.ndarray:
        """Search for each action's exact score, the final margin of discs; see `Solver.scores`.

        The result is int16[B, A], `ILLEGAL_SCORE` where an action is illegal.
        """
        inspected = self.game.inspect(states)
        self._check_empties(states[~inspected.over])
        scores = np.full((len(states), self.game.num_actions), ILLEGAL_SCORE, np.int16)
        guess = 0  # the score of the previous action is a good guess for the next one
        last_row = -1
        last_node = 0
        for row, action in zip(*np.nonzero(inspected.legal_action_mask)):
            if row != last_row:
                last_row = row
                last_node = self.num_nodes + self.max_nodes
            child = self.game.step(states[row][None], np.array([action])).states[0]
            guess = -self._solve(child[0], child[1], -guess, last_node)
            scores[row, action] = guess
        return scores

    def _check_empties(self, states: np.ndarray) -> None:
        """Raise an error if any position has too many empty squares to be solved.

        Args:
            states: [B, K], unfinished positions.

        Raises:
            UnsolvableError: if a position has more empty squares than `MAX_EMPTIES` allows.
        """
        size = self.game.rules.size
        limit = MAX_EMPTIES[size]
        num_discs = [int(mine | other).bit_count() for mine, other, *_ in states]
        most = max((size**2 - num for num in num_discs), default=0)
        if most > limit:
            raise UnsolvableError(
                f"a position of {self.game.name} is too far from the end of the game: "
                f"it has {most} empty squares; up to {limit} are solved."
            )

    def _solve(self, mine: np.uint64, other: np.uint64, guess: int, last_node: int) -> int:
        """Return the exact score of a position, for the player to move.

        Args:
            mine: the discs of the player to move, one bit each.
            other: the opponent's discs, one bit each.
            guess: an estimate of the score, which is tested first.
            last_node: the value of `num_nodes` at which to give up.

        Raises:
            UnsolvableError: if `num_nodes` reaches ``last_node`` before the score is found.
        """
        low = WORST
        high = BEST
        self._search.mine[0] = mine
        self._search.other[0] = other
        while low < high:
            # Is the score at least the guess? If so, is it larger? Each result is the next guess.
            bound = max(low, guess - 1)
            guess = self._compare(min(bound, high - 1), last_node)
            if guess > bound:
                low = guess
            else:
                high = guess
        return low

    def _search_above(self, bound: int) -> int:
        return search_above(self._search, bound)


def new_search(game: Othello, table_bits: int) -> Search:
    """Allocate the working memory of a search, with an empty transposition table.

    Args:
        game: the rules, which give the size of the board.
        table_bits: the table has 2 ** ``table_bits`` entries of 19 bytes.
    """
    half = game.size // 2
    last = game.size - 1
    quarter = sum(1 << row * 8 + column for row in range(half) for column in range(half))
    shifts = [0, half, 8 * half, 9 * half]
    corners = [0, last, 8 * last, 9 * last]
    depth = 2 * game.size**2 + 2  # no two passes follow each other
    return Search(
        positions=np.zeros((1 << table_bits, 2), np.uint64),
        answers=np.zeros((1 << table_bits, 3), np.int8),
        table_bits=table_bits,
        board=np.uint64(sum(quarter << shift for shift in shifts)),
        corners=np.uint64(sum(1 << square for square in corners)),
        quarters=np.array([quarter << shift for shift in shifts], np.uint64),
        mine=np.zeros(depth, np.uint64),
        other=np.zeros(depth, np.uint64),
        best=np.zeros(depth, np.int64),
        best_moves=np.zeros(depth, np.int64),
        num_moves=np.zeros(depth, np.int64),
        moves=np.zeros((depth, 64), np.int64),
        weights=np.zeros(64, np.int64),
        cursor=np.zeros(2, np.int64),
    )


@njit
def search_above(search, bound):
    """Test whether the score of a position is above ``bound``.

    The position is at the bottom of the search stack. A search starts at depth 0, and a paused one
    resumes at the depth ``search.cursor[0]``.

    Args:
        search: the search's working memory, a `Search`; ``search.cursor[1]`` is the maximum number
            of nodes to search.
        bound: the score to compare with, for the player to move.

    Returns:
        A lower bound of the score if it is above ``bound``, otherwise an upper bound. If the search
        ran out of nodes first, 0, and ``search.cursor[0]`` >= 0.
    """
    depth = search.cursor[0]
    nodes_left = search.cursor[1]
    while nodes_left > 0:
        nodes_left -= 1
        above = bound if depth & 1 == 0 else -bound - 1
        value = _expand(search, depth, above)
        # Go back to the last node that still has moves to search.
        while search.num_moves[depth] == 0:
            if depth == 0:
                search.cursor[0] = -1
                search.cursor[1] = nodes_left
                return value
            depth -= 1
            above = -above - 1
            if -value > search.best[depth]:
                search.best[depth] = -value
                search.best_moves[depth] = search.moves[depth, search.num_moves[depth]]
            value = search.best[depth]
            if value > above:
                search.num_moves[depth] = 0
            if search.num_moves[depth] == 0:
                _store_bound(search, depth, value, value > above)
        search.num_moves[depth] -= 1
        _play(search, depth, search.moves[depth, search.num_moves[depth]])
        depth += 1
    search.cursor[0] = depth
    search.cursor[1] = 0
    return 0


@njit
def _play(search, depth, move):
    """Play a move in the position at ``depth`` of the search stack; store the result one deeper.

    Args:
        search: the search's working memory, a `Search`.
        depth: the depth of the position on the search stack.
        move: a square, 0 to 63, or `PASS`.
    """
    mine = search.mine[depth]
    other = search.other[depth]
    if move != PASS:
        turned = flips(mine, other, move)
        mine |= turned | (ONE << np.uint64(move))
        other &= ~turned
    search.mine[depth + 1] = other
    search.other[depth + 1] = mine


@njit
def _expand(search, depth, above):
    """Score the node at ``depth`` at once if possible; else list its moves on the search stack.

    Args:
        search: the search's working memory, a `Search`.
        depth: the node's depth on the search stack.
        above: the bound to compare the score with, for the player to move at the node.

    Returns:
        The score, or a bound that decides whether the score is above ``above``; no moves are listed
        then. If neither is known, 0.
    """
    mine = search.mine[depth]
    other = search.other[depth]
    search.num_moves[depth] = 0
    search.best[depth] = WORST
    empty = search.board & ~(mine | other)
    margin = popcount(mine) - popcount(other)
    if empty == ZERO:
        return margin
    moves = moves_of(mine, other) & empty
    if moves == ZERO:
        if (moves_of(other, mine) & empty) == ZERO:
            return margin
        search.moves[depth, 0] = PASS
        search.num_moves[depth] = 1
        return 0
    num_empties = popcount(empty)
    if num_empties == 1:
        return margin + 1 + 2 * popcount(flips(mine, other, lowest_bit_index(empty)))
    if num_empties <= FEW_EMPTIES:
        search.num_moves[depth] = _list_by_parity(search, depth, empty, moves)
        return 0
    best_move = -1
    entry = _entry_of(search, mine, other)
    if _holds(search, entry, mine, other):
        lowest = search.answers[entry, 0]
        highest = search.answers[entry, 1]
        best_move = search.answers[entry, 2]
        if highest <= above:
            return np.int64(highest)
        if lowest > above:
            return np.int64(lowest)
    search.num_moves[depth] = _list_by_mobility(search, depth, mine, other, empty, moves, best_move)
    return 0


@njit
def _list_by_parity(search, depth, empty, moves):
    """List moves at ``depth`` of the search stack, most promising last; return their number.

    Moves into quarters with an odd number of empty squares come last.

    Args:
        search: the search's working memory, a `Search`.
        depth: the node's depth on the search stack.
        empty: uint64, the empty squares, one bit each.
        moves: uint64, the squares of the moves to list, one bit each.
    """
    odd = ZERO
    for index in range(4):
        if popcount(empty & search.quarters[index]) & 1:
            odd |= search.quarters[index]
    num = 0
    for part in (moves & ~odd, moves & odd):
        while part != ZERO:
            search.moves[depth, num] = lowest_bit_index(part)
            part &= part - ONE
            num += 1
    return num


@njit
def _list_by_mobility(search, depth, mine, other, empty, moves, best_move):
    """List moves at ``depth`` of the search stack, most promising last; return their number.

    Moves that leave the opponent few replies come last, ``best_move`` after all others.

    Args:
        search: the search's working memory, a `Search`.
        depth: the node's depth on the search stack.
        mine: uint64, the discs of the player to move, one bit each.
        other: uint64, the opponent's discs, one bit each.
        empty: uint64, the empty squares, one bit each.
        moves: uint64, the squares of the moves to list, one bit each.
        best_move: the best move stored in the table, or -1 if there is none.
    """
    num = 0
    while moves != ZERO:
        move = lowest_bit_index(moves)
        bit = ONE << np.uint64(move)
        moves &= moves - ONE
        turned = flips(mine, other, move)
        replies = moves_of(other & ~turned, mine | turned | bit) & empty & ~bit
        # A corner counts double, both as the move and among the replies.
        weight = 2 * ((bit & search.corners) != ZERO) - popcount(replies)
        weight -= popcount(replies & search.corners)
        if move == best_move:
            weight = 100
        num = insert_by_weight(search, depth, num, move, weight)
    return num


@njit
def _entry_of(search, mine, other):
    """Return the index of the transposition table's entry for a position.

    Args:
        search: the search's working memory, a `Search`.
        mine: uint64, the discs of the player to move, one bit each.
        other: uint64, the opponent's discs, one bit each.
    """
    key = mine * SPREAD + other * SPREAD_OTHER
    key = (key ^ (key >> HALF)) * SPREAD
    return np.int64(key >> np.uint64(64 - search.table_bits))


@njit
def _holds(search, entry, mine, other):
    """Return whether an entry of the transposition table stores the given position.

    Unused entries have no discs, so they match no position.

    Args:
        search: the search's working memory, a `Search`.
        entry: index of the entry in the transposition table.
        mine: uint64, the discs of the player to move, one bit each.
        other: uint64, the opponent's discs, one bit each.
    """
    return search.positions[entry, 0] == mine and search.positions[entry, 1] == other


@njit
def _store_bound(search, depth, value, is_lower):
    """Store a bound on the score of the position at ``depth`` in the transposition table.

    The position's other bound, if stored, is kept, and the best move is stored too. Nothing is
    stored for positions with at most `FEW_EMPTIES` empty squares.

    Args:
        search: the search's working memory, a `Search`.
        depth: the position's depth on the search stack.
        value: the bound, for the player to move there.
        is_lower: True for a lower bound of the score, False for an upper bound.
    """
    mine = search.mine[depth]
    other = search.other[depth]
    if popcount(search.board & ~(mine | other)) <= FEW_EMPTIES:
        return
    entry = _entry_of(search, mine, other)
    if not _holds(search, entry, mine, other):
        search.positions[entry, 0] = mine
        search.positions[entry, 1] = other
        search.answers[entry, 0] = WORST
        search.answers[entry, 1] = BEST
    search.answers[entry, 0 if is_lower else 1] = value
    search.answers[entry, 2] = search.best_moves[depth]
