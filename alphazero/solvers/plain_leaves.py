"""Exact results of leaves of any game with compiled rules, within a number of nodes for each.

In: positions. Out: their results where a plain alpha-beta search over the rules proves them, with
moves in the order of their numbers and without a table. The search keeps its own stack, so that
a budget of nodes can end it.

Shapes: M positions, K state words, A actions, D depth of the stack.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.games.batched_game import CompiledGame
from alphazero.runtime.jit import njit
from alphazero.search.tree import UNPROVEN
from alphazero.solvers.alpha_beta import BEGUN, ROW, SPENT, PausingProver

#: The longest line of play that is searched.
MAX_DEPTH = 256
#: Below every result.
WORST = -2.0


class Stack(NamedTuple):
    """The current line of play. Values are for the player to move in their position."""

    states: np.ndarray  #: [D, K]
    masks: np.ndarray  #: bool[D, A], the legal actions
    players: np.ndarray  #: int64[D], the player to move
    next_actions: np.ndarray  #: int64[D], the first action not yet searched
    best: np.ndarray  #: float32[D], the best result found so far
    enough: np.ndarray  #: float32[D], a result that ends the search of the position


class PlainProver(PausingProver):
    """See `alphazero.solvers.exact_leaves.Prover`; a position's stage is its legal actions.

    In most games their number shrinks towards the end. Where it does not, no stage is worth asking
    about, and none is.
    """

    def __init__(self, game: CompiledGame):
        self._game = game
        self.num_stages = game.num_actions + 1
        depth = min(game.max_plies, MAX_DEPTH) + 1
        stack = Stack(
            states=np.zeros((depth, game.state_size), game.state_dtype),
            masks=np.zeros((depth, game.num_actions), np.bool_),
            players=np.zeros(depth, np.int64),
            next_actions=np.zeros(depth, np.int64),
            best=np.zeros(depth, np.float32),
            enough=np.zeros(depth, np.float32),
        )
        super().__init__(game.rules, _prove_rows, stack)

    def stages(self, states: np.ndarray) -> np.ndarray:
        """See `Prover.stages`."""
        return self._game.legal_action_mask(states).sum(axis=1)

    def forget(self) -> None:
        """See `Prover.forget`; there is no table."""


@njit
def _prove_rows(game, stack, at, states, budgets, results, num_nodes):
    """See `PausingProver`; the entry `BEGUN` of ``at`` is the depth to resume at, plus 1."""
    left = num_nodes
    while left > 0 and at[ROW] < states.shape[0]:
        row = at[ROW]
        if at[BEGUN] == 0 and budgets[row] > 0:
            _copy(states[row], stack.states[0])
            _enter(game, stack, 0, 1.0)
            at[BEGUN] = 1
        depth, nodes = -1, 0
        if at[BEGUN] > 0:
            budget = min(budgets[row] - at[SPENT], left)
            results[row], depth, nodes = _prove(game, stack, at[BEGUN] - 1, budget)
        left -= nodes
        at[BEGUN], at[SPENT] = depth + 1, at[SPENT] + nodes
        if depth < 0 or at[SPENT] >= budgets[row]:
            at[ROW] += 1
            at[BEGUN] = at[SPENT] = 0
    return num_nodes - left


@njit
def _prove(game, stack, depth, budget):
    """Search on from ``depth``.

    Returns:
        The result of the position at the bottom of the stack, or UNPROVEN; the depth to resume at,
        -1 if the search is over; and the nodes.
    """
    num_nodes = 0
    while True:
        action = _next_action(stack, depth)
        if action < 0 or stack.best[depth] >= stack.enough[depth]:
            if depth == 0:
                return stack.best[0], -1, num_nodes
            value = stack.best[depth]
            same = stack.players[depth] == stack.players[depth - 1]
            depth -= 1
            stack.best[depth] = max(stack.best[depth], value if same else -value)
            continue
        if depth + 1 == stack.states.shape[0]:
            return UNPROVEN, -1, num_nodes
        if num_nodes >= budget:
            stack.next_actions[depth] = action
            return UNPROVEN, depth, num_nodes
        num_nodes += 1
        child = stack.states[depth + 1]
        _copy(stack.states[depth], child)
        rules.step(game, child, action)
        same = rules.player_to_move(game, child) == stack.players[depth]
        if rules.is_over(game, child):
            result = np.float32(rules.scaled_result(game, child))
            stack.best[depth] = max(stack.best[depth], result if same else -result)
        else:
            # A loss of the opponent is enough there to reject the move here, and so on.
            known = max(stack.best[depth], np.float32(-1.0))
            _enter(game, stack, depth + 1, stack.enough[depth] if same else -known)
            depth += 1


@njit
def _copy(source, target):
    for word in range(source.shape[0]):
        target[word] = source[word]


@njit
def _enter(game, stack, depth, enough):
    """Prepare the position at ``depth`` for its search."""
    for action in range(stack.masks.shape[1]):
        stack.masks[depth, action] = False
    rules.legal_actions(game, stack.states[depth], stack.masks[depth])
    stack.players[depth] = rules.player_to_move(game, stack.states[depth])
    stack.next_actions[depth] = 0
    stack.best[depth] = WORST
    stack.enough[depth] = enough


@njit
def _next_action(stack, depth):
    """Return the next legal action that has not been searched, and step over it; -1 if none."""
    for action in range(stack.next_actions[depth], stack.masks.shape[1]):
        if stack.masks[depth, action]:
            stack.next_actions[depth] = action + 1
            return action
    stack.next_actions[depth] = stack.masks.shape[1]
    return -1
