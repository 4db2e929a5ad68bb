"""The UCT baseline: Monte Carlo tree search with UCB1 and rollouts, without a network.

In: one position of a game with compiled rules. Out: `UctOutput`, the chosen move and the statistics
of all moves. A simulation has the four textbook phases `select`, `expand`, `rollout`,
`backpropagate`. Simulations run in chunks of a few milliseconds of compiled code, so that a time
limit, a progress bar and Ctrl-C work between them.

The formulas are next to the kernels, in `alphazero.search.uct.tree`. Sources: L. Kocsis and
C. Szepesvari, "Bandit based Monte-Carlo planning", 2006; C. Browne et al., "A survey of Monte Carlo
tree search methods", 2012, section 3.
"""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.jit import njit
from alphazero.runtime.random_generators import child_generator, kernel_rng, random_below
from alphazero.search.uct.rollout import (
    RolloutPolicy,
    check_weights,
    make_rollout_scratch,
    rollout,
)
from alphazero.search.uct.settings import MAX_SIMULATIONS, UctSettings
from alphazero.search.uct.tree import (
    NO_CHILDREN,
    ROOT_INDEX,
    action_of,
    backpropagate,
    child_of,
    children_of,
    expand,
    make_scratch,
    make_tree,
    select,
    start_tree,
    wins_of,
)

FIRST_CHUNK = 16  # simulations; few, so that a slow game looks at the clock soon
CHUNK_S = 0.004
PROGRESS_S = 0.05

_wins_of = getattr(wins_of, "py_func", wins_of)  # the uncompiled function works on arrays too

#: ``progress(simulations done, simulations to do)``; the second is None with a time limit.
SearchProgress = Callable[[int, int | None], None]


class UctOutput(NamedTuple):
    """The result of a search. Values are from the viewpoint of the player to move."""

    action: int  #: the move to play
    action_weights: np.ndarray  #: float32[A], fractions of the visits, sum 1
    value: float  #: mean result of the simulations, in [-1, 1]
    #: int32[A], visits of the positions that the actions lead to. With statistics by node they sum
    #: to `num_simulations`; by position, a child may also have been visited from elsewhere in the
    #: tree.
    visits: np.ndarray
    values: np.ndarray  #: float32[A], mean results in [-1, 1], nan for an unvisited action
    num_simulations: int


@njit
def run_simulations(game, tree, root_state, uct_c, policy, scratch, rng, num_simulations):
    """Run simulations from the root.

    Each one walks down by `select` to a leaf; a leaf that was visited before gets its children by
    `expand` and the walk takes one more step; `rollout` plays the game to its end and
    `backpropagate` adds the result to every node of the path. `start_tree` must come before the
    first simulation.

    One simulation is not a function of its own: the call, with all these arrays, took as long as
    the simulation itself (tic-tac-toe: 2.1 instead of 4.2 million simulations/s).
    """
    state, path = scratch.state, scratch.path
    for _ in range(num_simulations):
        for word in range(state.shape[0]):
            state[word] = root_state[word]
        node = np.int64(ROOT_INDEX)
        path[0] = node
        length = 1
        while tree.nodes[node]["first_child"] != NO_CHILDREN or expand(
            game, tree, node, state, scratch
        ):
            edge = select(tree, node, rules.player_to_move(game, state), uct_c, rng)
            rules.step(game, state, action_of(tree, edge))
            node = child_of(tree, edge)
            path[length] = node
            length += 1
        points = rollout(game, state, policy, rng)
        backpropagate(tree, path, length, points)


class UctSearch:
    """Upper confidence bounds applied to trees (UCT), one position at a time.

    The same seed and sequence of searches give the same moves, unless a time limit cuts in.

    Args:
        game: a game with compiled rules.
        seed: of the rollouts and of the choice between equal moves.

    Raises:
        ConfigError: if a setting is not allowed, or the game has no compiled rules.
    """

    def __init__(self, game: Game, settings: UctSettings | None = None, seed: int = 0):
        if not isinstance(game, CompiledGame):
            message = f"UCT needs a game with compiled rules; {game.name} is a Python game."
            raise ConfigError(message, key="game", value=game.name)
        settings = settings or UctSettings()
        settings.check(game)
        self.game = game
        self.settings = settings
        self.rng = kernel_rng(child_generator(seed, "uct"))
        self.num_done = 0  #: simulations of the last search
        self._state: np.ndarray | None = None  # of the last search
        self._best_child = 0  # index of the chosen move among the root's children
        self._max_simulations = settings.num_simulations or MAX_SIMULATIONS
        # Each simulation expands at most one leaf: a search of few simulations needs few nodes.
        num_nodes = min(settings.max_nodes, 1 + game.num_actions * (1 + self._max_simulations))
        by_position = settings.statistics == "position"
        self.tree = make_tree(num_nodes, game.state_size, game.state_dtype, by_position)
        self._scratch = make_scratch(
            game.num_actions, game.max_plies, game.state_size, game.state_dtype
        )
        weighted = settings.rollout == "weighted"
        weights = check_weights(game, settings.rollout_weights) if weighted else np.zeros(0)
        scratch = make_rollout_scratch(game.num_actions)
        self._rollout_policy = RolloutPolicy(weighted, weights, scratch)

    @property
    def memory_bytes(self) -> int:
        """The largest number of bytes that the tree can take."""
        return sum(array.nbytes for array in self.tree)

    def run(self, state: np.ndarray, progress: SearchProgress | None = None) -> UctOutput:
        """Search one position.

        Args:
            state: [K], a position that is not finished.
            progress: called at most every `PROGRESS_S` seconds, and once at the end.

        Raises:
            ValueError: if the game is over.
        """
        state = np.ascontiguousarray(state, self.game.state_dtype)
        if self.game.over(state[None])[0]:
            raise ValueError("the game is over: there is no move to search for.")
        self._state = state
        self.num_done = 0
        start_tree(self.game.rules, self.tree, state, self._scratch)
        self._simulate(0)  # compiles the kernel, or loads it, before the clock starts
        self._run_chunks(progress)
        return self._output()

    def principal_variation(self) -> list[int]:
        """Return the line that the last search expects: its move, then the most visited moves."""
        best = self._best_child
        actions, nodes = children_of(self.tree, ROOT_INDEX)
        states, line = self._state[None], []
        while True:
            line.append(int(actions[best]))
            node = int(nodes[best])
            if self.tree.nodes[node]["first_child"] == NO_CHILDREN:
                return line
            transition = self.game.step(states, line[-1:])
            states = transition.states
            actions, nodes = children_of(self.tree, node)
            visits, values = self._statistics(nodes, int(transition.players[0]))
            if visits.max() == 0:
                return line
            best = int(_best(visits, values, "visits")[0])

    def _run_chunks(self, progress: SearchProgress | None) -> None:
        """Run simulations until either limit is reached, at least one chunk."""
        limit_s = self.settings.time_limit_s or math.inf
        total = None if self.settings.time_limit_s else self.settings.num_simulations
        chunk, started = FIRST_CHUNK, time.perf_counter()
        now = reported = started
        while self.num_done < self._max_simulations:
            chunk = min(chunk, self._max_simulations - self.num_done)
            self._simulate(chunk)
            before, now = now, time.perf_counter()
            if now - started >= limit_s:
                break
            next_s = min(CHUNK_S, started + limit_s - now)
            chunk = max(1, int(chunk * min(4.0, next_s / max(now - before, 1e-9))))
            if progress is not None and now - reported >= PROGRESS_S:
                progress(self.num_done, total)
                reported = now
        if progress is not None:
            progress(self.num_done, total)

    def _simulate(self, num_simulations: int) -> None:
        run_simulations(
            self.game.rules,
            self.tree,
            self._state,
            float(self.settings.uct_c),
            self._rollout_policy,
            self._scratch,
            self.rng,
            np.int64(num_simulations),
        )
        self.num_done += num_simulations

    def _output(self) -> UctOutput:
        player = int(self.game.players(self._state[None])[0])
        actions, nodes = children_of(self.tree, ROOT_INDEX)
        visits, values = self._statistics(nodes, player)
        best = _best(visits, values, self.settings.final_move)
        self._best_child = int(best[random_below(self.rng, len(best))])
        all_visits = np.zeros(self.game.num_actions, np.int32)
        all_values = np.full(self.game.num_actions, np.nan, np.float32)
        all_visits[actions] = visits
        all_values[actions[visits > 0]] = values[visits > 0]
        _, root_values = self._statistics(np.array([ROOT_INDEX]), player)
        return UctOutput(
            action=int(actions[self._best_child]),
            action_weights=(all_visits / all_visits.sum()).astype(np.float32),
            value=float(root_values[0]),
            visits=all_visits,
            values=all_values,
            num_simulations=self.num_done,
        )

    def _statistics(self, nodes: np.ndarray, player: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the visits of nodes and their mean results in [-1, 1] for ``player``.

        Returns:
            int64[...] and float64[...]; the mean is -inf without visits.
        """
        visits = self.tree.nodes[nodes]["visits"].astype(np.int64)
        points = self.tree.nodes[nodes]["points"].astype(np.int64)
        means = 2.0 * _wins_of(player, points, visits) / np.maximum(visits, 1) - 1.0
        return visits, np.where(visits > 0, means, -np.inf)


def _best(visits: np.ndarray, values: np.ndarray, final_move: str) -> np.ndarray:
    """Return the indices of the best moves.

    "visits": the most visited ones, and among these the best values; "value": the other way round.
    """
    first_key, second_key = (visits, values) if final_move == "visits" else (values, visits)
    largest = np.flatnonzero(first_key == first_key.max())
    return largest[second_key[largest] == second_key[largest].max()]
