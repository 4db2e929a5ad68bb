"""Exact scores of Othello's endgames by alpha-beta search, compiled.

In: positions with few empty squares, on boards of any size that `Othello` has. Out: the score of every action, the margin of discs at the end.
Whether a score is above a number is asked again and again, from a guess towards the answer (A. Plaat et al., "Best-first fixed-depth minimax
algorithms", 1996). Moves that leave the other side few moves come first (fastest first), in the last plies those into regions with an odd
number of empty squares, where one gets the last move; a table remembers bounds and the best move. The search runs on a stack of its own.
Letters for shapes: B positions, A actions, D depth of the stack.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.games.othello import Othello, flips, moves_of
from alphazero.runtime.bits import lowest_bit_index, popcount
from alphazero.runtime.jit import njit
from alphazero.solvers.move_list import insert_by_weight
from alphazero.solvers.solver import ILLEGAL_SCORE

ONE = np.uint64(1)
ZERO = np.uint64(0)
SPREAD = np.uint64(0x9E3779B97F4A7C15)
SPREAD_OTHER = np.uint64(0xC2B2AE3D27D4EB4F)
HALF = np.uint64(32)
#: The move that is a pass; squares are bits from 0 to 63.
PASS = 64
#: With so few empty squares the table and the counting of moves cost more than they save.
FEW_EMPTIES = 5
#: Below and above every score.
WORST, BEST = -65, 65
#: Nodes between two chances to interrupt the search from the keyboard: about a second.
SLICE = 10_000_000
#: Empty squares up to which a position is scored, by the side of the board: some seconds for most positions.
MAX_EMPTIES = {4: 12, 6: 22, 8: 20}


class Search(NamedTuple):
    """The memory of one search."""

    positions: np.ndarray  #: uint64[2 ** table_bits, 2], the position that a place of the table holds: discs of the player to move, of the other
    answers: np.ndarray  #: int8[2 ** table_bits, 3], what is known of it: a lower bound, an upper bound, the best move
    table_bits: int
    board: np.uint64  #: all squares
    corners: np.uint64
    quarters: np.ndarray  #: uint64[4], the squares of each quarter of the board
    mine: (
        np.ndarray
    )  #: uint64[D], discs of the player to move, along the line that is being looked at
    other: np.ndarray  #: uint64[D], discs of the other
    best: np.ndarray  #: int64[D], the best score found so far
    best_moves: np.ndarray  #: int64[D], the move that has it
    num_moves: np.ndarray  #: int64[D], moves not yet looked at
    moves: np.ndarray  #: int64[D, 64], these moves, the most promising one last
    weights: np.ndarray  #: int64[64], how promising the moves are that are just being sorted
    progress: np.ndarray  #: int64[2], the depth to go on at (-1 where a search is finished), and the nodes left until the next stop


class OthelloSolver:
    """Scores Othello's endgames.

    Args:
        max_empties: positions with more empty squares are refused; None is `MAX_EMPTIES` of the board.
        table_bits: the table has 2 ** table_bits places of 19 bytes.
    """

    name = "alpha-beta"

    def __init__(self, game: Game, max_empties: int | None = None, table_bits: int = 18):
        self.game = game
        self.max_empties = MAX_EMPTIES[game.rules.size] if max_empties is None else max_empties
        self.num_nodes = 0  #: looked at since it was made
        self._search = _new_search(game.rules, table_bits)

    def scores(self, states: np.ndarray) -> np.ndarray:
        inspected = self.game.inspect(states)
        self._check_empties(states[~inspected.over])
        scores = np.full((len(states), self.game.num_actions), ILLEGAL_SCORE, np.int16)
        guess = 0
        for row, action in zip(*np.nonzero(inspected.legal_action_mask)):
            child = self.game.step(states[row][None], [action]).states[0]
            guess = scores[row, action] = -self._solve(child[0], child[1], -int(guess))
        return scores

    def _check_empties(self, states: np.ndarray) -> None:
        most = max(
            (self.game.rules.size**2 - int(mine | other).bit_count() for mine, other, *_ in states),
            default=0,
        )
        if most > self.max_empties:
            raise ValueError(
                f"{self.game.name} is solved from {self.max_empties} empty squares on: a position with {most} of them is too far from the end."
            )

    def _solve(self, mine, other, guess: int) -> int:
        """Return the score of a position from the viewpoint of the player to move."""
        low, high = WORST, BEST
        while low < high:
            # Is it at least the guess? Then at least one more than that? The answer of each question is the next guess.
            bound = max(low, guess - 1) if guess > low else low
            guess = self._compare(mine, other, min(bound, high - 1))
            low, high = (guess, high) if guess > bound else (low, guess)
        return low

    def _compare(self, mine, other, bound: int) -> int:
        """Return a bound of the score: a lower one if it is above ``bound``, otherwise an upper one."""
        search = self._search
        search.mine[0], search.other[0], search.progress[0] = mine, other, 0
        while search.progress[0] >= 0:
            search.progress[1] = SLICE
            found = search_above(search, bound)
            self.num_nodes += SLICE - int(search.progress[1])
        return int(found)


def _new_search(game: Othello, table_bits: int) -> Search:
    half, last = game.size // 2, game.size - 1
    quarter = sum(1 << row * 8 + column for row in range(half) for column in range(half))
    shifts = [0, half, 8 * half, 9 * half]
    depth = 2 * game.size**2 + 2  # no two passes follow each other
    return Search(
        positions=np.zeros((1 << table_bits, 2), np.uint64),
        answers=np.zeros((1 << table_bits, 3), np.int8),
        table_bits=table_bits,
        board=np.uint64(sum(quarter << shift for shift in shifts)),
        corners=np.uint64(sum(1 << square for square in (0, last, 8 * last, 9 * last))),
        quarters=np.array([quarter << shift for shift in shifts], np.uint64),
        mine=np.zeros(depth, np.uint64),
        other=np.zeros(depth, np.uint64),
        best=np.zeros(depth, np.int64),
        best_moves=np.zeros(depth, np.int64),
        num_moves=np.zeros(depth, np.int64),
        moves=np.zeros((depth, 64), np.int64),
        weights=np.zeros(64, np.int64),
        progress=np.zeros(2, np.int64),
    )


@njit
def search_above(search, bound):
    """Search the position at the bottom of the stack, or go on with it: is its score above ``bound``?

    Returns:
        A lower bound of the score if it is above ``bound``, otherwise an upper one; 0 with ``progress[0]`` >= 0 if the nodes ran out before.
    """
    depth, nodes_left = search.progress[0], search.progress[1]
    while nodes_left > 0:
        nodes_left -= 1
        above = bound if depth & 1 == 0 else -bound - 1
        value = _open(search, depth, above)
        # Go back to the latest node that is not settled.
        while search.num_moves[depth] == 0:
            if depth == 0:
                search.progress[0], search.progress[1] = -1, nodes_left
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
                _remember(search, depth, value, value > above)
        search.num_moves[depth] -= 1
        _play(search, depth, search.moves[depth, search.num_moves[depth]])
        depth += 1
    search.progress[0], search.progress[1] = depth, 0
    return 0


@njit
def _play(search, depth, move):
    """Write the position after ``move`` one higher on the stack."""
    mine, other = search.mine[depth], search.other[depth]
    if move != PASS:
        turned = flips(mine, other, move)
        mine |= turned | (ONE << np.uint64(move))
        other &= ~turned
    search.mine[depth + 1] = other
    search.other[depth + 1] = mine


@njit
def _open(search, depth, above):
    """List the moves of the node at ``depth``; where its score or a bound that decides is known at once, list none and return that."""
    mine, other = search.mine[depth], search.other[depth]
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
    place = _place(search, mine, other)
    if _holds(search, place, mine, other):
        lowest, highest, best_move = (
            search.answers[place, 0],
            search.answers[place, 1],
            search.answers[place, 2],
        )
        if highest <= above:
            return np.int64(highest)
        if lowest > above:
            return np.int64(lowest)
    search.num_moves[depth] = _list_by_mobility(search, depth, mine, other, empty, moves, best_move)
    return 0


@njit
def _list_by_parity(search, depth, empty, moves):
    """List ``moves`` so that those into quarters with an odd number of empty squares come last; return their number."""
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
    """List ``moves`` so that those that leave the other side few moves come last, ``best_move`` after all; return their number."""
    num = 0
    while moves != ZERO:
        move = lowest_bit_index(moves)
        bit = ONE << np.uint64(move)
        moves &= moves - ONE
        turned = flips(mine, other, move)
        replies = moves_of(other & ~turned, mine | turned | bit) & empty & ~bit
        # A corner among the replies counts twice, and so does a corner for oneself.
        weight = (
            2 * ((bit & search.corners) != ZERO)
            - popcount(replies)
            - popcount(replies & search.corners)
        )
        if move == best_move:
            weight = 100
        num = insert_by_weight(search, depth, num, move, weight)
    return num


@njit
def _place(search, mine, other):
    """Return the place of a position in the table."""
    key = mine * SPREAD + other * SPREAD_OTHER
    key = (key ^ (key >> HALF)) * SPREAD
    return np.int64(key >> np.uint64(64 - search.table_bits))


@njit
def _holds(search, place, mine, other):
    """Return whether a place of the table holds this position; no position is empty of discs, as the places are at first."""
    return search.positions[place, 0] == mine and search.positions[place, 1] == other


@njit
def _remember(search, depth, value, is_lower):
    """Write a lower or an upper bound into the table, beside the other one if the place holds the same position."""
    mine, other = search.mine[depth], search.other[depth]
    if popcount(search.board & ~(mine | other)) <= FEW_EMPTIES:
        return
    place = _place(search, mine, other)
    if not _holds(search, place, mine, other):
        search.positions[place, 0], search.positions[place, 1] = mine, other
        search.answers[place, 0], search.answers[place, 1] = WORST, BEST
    search.answers[place, 0 if is_lower else 1] = value
    search.answers[place, 2] = search.best_moves[depth]
