"""The UCT baseline: Monte Carlo tree search with UCB1 and rollouts, without a network.

It searches one position at a time, of a game with compiled rules, and returns the chosen move with
the statistics of all moves (`UctOutput`). A simulation has the four textbook phases `select`,
`expand`, `rollout`, `backpropagate`. Compiled code runs simulations in chunks of a few
milliseconds; time limits, progress bars and Ctrl-C take effect between chunks.

The formulas are next to the kernels, in `alphazero.search.uct.tree`. Sources: L. Kocsis and C.
Szepesvari, "Bandit based Monte-Carlo planning", 2006; C. Browne et al., "A survey of Monte Carlo
tree search methods", 2012, section 3.
"""

import math
import time
from collections.abc import Callable

import numpy as np

from alphazero.games import rules
from alphazero.games.batched_game import CompiledGame
from alphazero.runtime.jit import njit
from alphazero.runtime.random_generators import child_generator, kernel_rng, random_below
from alphazero.search.uct.rollout import (
    RolloutPolicy,
    check_weights,
    make_rollout_scratch,
    rollout,
)
from alphazero.search.uct.settings import (
    MAX_SIMULATIONS,
    PositionStatistics,
    UctOutput,
    UctSettings,
    best_moves,
)
from alphazero.search.uct.table import UNKNOWN, follows_root, look_up, move_to_root
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
    open_root,
    select,
    start_tree,
    wins_of,
)

FIRST_CHUNK = 16  # simulations; few, so that slow games check the clock early
CHUNK_S = 0.004
PROGRESS_S = 0.05

_wins_of = getattr(wins_of, "py_func", wins_of)  # uncompiled, it also takes arrays

#: A function called with the number of simulations done and the total, which is None if there is a
#: time limit.
SearchProgress = Callable[[int, int | None], None]


@njit
def run_simulations(game, tree, root_state, uct_c, policy, scratch, rng, num_simulations):
    """Run simulations from the root, which must have children.

    Each simulation walks down with `select` to a leaf. If the leaf was visited before, `expand`
    adds its children and the walk takes one more step. Then `rollout` plays the game to its end,
    and `backpropagate` adds the result to every node of the path.

    A simulation is not a separate function, because calling it with all these arrays took as long
    as the simulation itself (tic-tac-toe: 2.1 instead of 4.2 million simulations/s).

    Args:
        game: the game's compiled rules.
        tree: the search tree, changed in place.
        root_state: [K], the position of the root, as a state of K words.
        uct_c: exploration constant C of UCB1.
        policy: the `RolloutPolicy`, which chooses the moves of rollouts.
        scratch: memory that is overwritten, from `make_scratch`.
        rng: uint64[1], the random state, which is advanced in place.
        num_simulations: number of simulations to run.
    """
    state = scratch.state
    path = scratch.path
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
    """Searches one position at a time with UCT, upper confidence bounds applied to trees.

    The same seed and sequence of searches give the same moves, unless a time limit ends a search.

    With `keep_table`, a search continues with the previous search's table if its position can
    follow from that search's position. Otherwise, as in a new match or after an undo, it starts
    with an empty table. A table that is more than half full is emptied as well, to make room.

    Args:
        game: the compiled rules of the game.
        settings: the settings of every search; None means the defaults.
        seed: seed of the rollouts and of the choice between tied moves.

    Attributes:
        num_done: number of simulations in the last search.

    Raises:
        ConfigError: if settings contradict each other, the game has no move evaluation for weighted
            rollouts, or the rollout weights are not one finite number per feature of it.
    """

    def __init__(self, game: CompiledGame, settings: UctSettings | None = None, seed: int = 0):
        settings = settings or UctSettings()
        settings.check()
        self.game = game
        self.settings = settings
        self.rng = kernel_rng(child_generator(seed, "uct"))
        self.num_done = 0  #: number of simulations in the last search
        self._state = np.zeros(0, game.state_dtype)  # the last position searched; empty at first
        self._num_in_table = 0  # simulations since the table was last emptied
        self._best_child = 0  # index of the chosen move among the root's children
        self._max_simulations = settings.num_simulations or MAX_SIMULATIONS
        # Each simulation expands at most one leaf, so a search with few of them needs few nodes.
        num_nodes = settings.max_nodes
        if not settings.keep_table:
            num_nodes = min(num_nodes, 1 + game.num_actions * (1 + self._max_simulations))
        by_position = settings.statistics == "position"
        self.tree = make_tree(num_nodes, game.state_size, game.state_dtype, by_position)
        self._scratch = make_scratch(
            game.num_actions, game.max_plies, game.state_size, game.state_dtype
        )
        weighted = settings.rollout == "weighted"
        weights = np.zeros(0)
        if weighted:
            weights = check_weights(game, settings.rollout_weights)
        scratch = make_rollout_scratch(game.num_actions)
        self._rollout_policy = RolloutPolicy(weighted, weights, scratch)

    def run(self, state: np.ndarray, progress: SearchProgress | None = None) -> UctOutput:
        """Search one position until the number of simulations or the time limit is reached.

        Args:
            state: [K], an unfinished position, as a state of K words.
            progress: called at most every `PROGRESS_S` seconds, and once at the end, with the
                number of simulations done and the total, which is None with a time limit.

        Returns:
            The chosen move, and the visits and values of all moves for the player to move.

        Raises:
            ValueError: if the game is over.
        """
        state = np.ascontiguousarray(state)
        if self.game.over(state[None])[0]:
            raise ValueError("the game is over, so there is no move to search for.")
        self._set_root(state)
        self.num_done = 0
        self._simulate(0)  # compiles the kernel, or loads it, before the clock starts
        self._run_chunks(progress)
        return self._output()

    def principal_variation(self) -> list[int]:
        """Return the last search's expected line: its chosen move, then the most visited moves."""
        best = self._best_child
        actions, nodes = children_of(self.tree, ROOT_INDEX)
        states = self._state[None]
        line = []
        while True:
            line.append(int(actions[best]))
            node = int(nodes[best])
            if self.tree.nodes[node]["first_child"] == NO_CHILDREN:
                return line
            transition = self.game.step(states, np.array(line[-1:]))
            states = transition.states
            actions, nodes = children_of(self.tree, node)
            visits, values = self.statistics(nodes, int(transition.players[0]))
            if visits.max() == 0:
                return line
            best = int(best_moves(visits, values, "visits")[0])

    def lookup(self, state: np.ndarray) -> PositionStatistics | None:
        """Return the statistics of a position, or None if the table does not contain it.

        The table is from the last search and, with `keep_table`, earlier searches of the same game.
        Without statistics by position there is no table, and the result is always None.

        Args:
            state: [K], the position, as a state of K words.
        """
        node = self._look_up(np.ascontiguousarray(state, self.game.state_dtype))
        if node == UNKNOWN:
            return None
        visits = int(self.tree.nodes[node]["visits"])
        points = float(self.tree.nodes[node]["points"])
        player = int(self.game.players(np.asarray(state)[None])[0])
        wins = float(_wins_of(player, points, visits))
        value = 2 * wins / visits - 1 if visits else math.nan
        return PositionStatistics(visits, wins, value)

    def _set_root(self, state: np.ndarray) -> None:
        """Make a position the root of the previous table if possible, else of an empty table."""
        node = self._kept_node(state)
        if node == UNKNOWN:
            start_tree(self.game.rules, self.tree, state, self._scratch)
            self._num_in_table = 0
        else:
            move_to_root(self.tree, node)
            open_root(self.game.rules, self.tree, state, self._scratch)
        self._state = state

    def _kept_node(self, state: np.ndarray) -> int:
        """Return a position's node in the previous table; UNKNOWN if that table cannot be kept."""
        if not self.settings.keep_table or not len(self._state):
            return UNKNOWN
        node = self._look_up(state)
        num_needed = self.tree.sizes.max() + self.game.num_actions
        is_full = num_needed > len(self.tree.nodes) // 2
        num_wanted = self.settings.num_simulations or MAX_SIMULATIONS // 2
        would_overflow = self._num_in_table + num_wanted > MAX_SIMULATIONS
        if node == UNKNOWN or is_full or would_overflow:
            return UNKNOWN
        return node if follows_root(self.tree, np.int64(node)) else UNKNOWN

    def _look_up(self, state: np.ndarray) -> int:
        """Return the node of a position; UNKNOWN if the table does not contain it."""
        if self.settings.statistics != "position":
            return UNKNOWN
        return int(look_up(self.tree, state)[0])

    def _run_chunks(self, progress: SearchProgress | None) -> None:
        """Run at least one chunk of simulations, then more until a limit is reached."""
        limit_s = self.settings.time_limit_s or math.inf
        total = None if self.settings.time_limit_s else self.settings.num_simulations
        max_simulations = min(self._max_simulations, MAX_SIMULATIONS - self._num_in_table)
        chunk = FIRST_CHUNK
        started = time.perf_counter()
        now = started
        reported = started
        while self.num_done < max_simulations:
            chunk = min(chunk, max_simulations - self.num_done)
            self._simulate(chunk)
            before = now
            now = time.perf_counter()
            if now - started >= limit_s:
                break
            next_s = min(CHUNK_S, started + limit_s - now)
            growth = min(4.0, next_s / max(now - before, 1e-9))
            chunk = max(1, int(chunk * growth))
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
        self._num_in_table += num_simulations

    def _output(self) -> UctOutput:
        player = int(self.game.players(self._state[None])[0])
        actions, nodes = children_of(self.tree, ROOT_INDEX)
        visits, values = self.statistics(nodes, player)
        best = best_moves(visits, values, self.settings.final_move)
        self._best_child = int(best[random_below(self.rng, len(best))])
        all_visits = np.zeros(self.game.num_actions, np.int32)
        all_values = np.full(self.game.num_actions, np.nan, np.float32)
        all_visits[actions] = visits
        is_visited = visits > 0
        all_values[actions[is_visited]] = values[is_visited]
        _, root_values = self.statistics(np.array([ROOT_INDEX]), player)
        return UctOutput(
            action=int(actions[self._best_child]),
            action_weights=(all_visits / all_visits.sum()).astype(np.float32),
            value=float(root_values[0]),
            visits=all_visits,
            values=all_values,
            num_simulations=self.num_done,
        )

    def statistics(self, nodes: np.ndarray, player: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the visits of nodes, and their mean results in [-1, 1] for ``player``.

        Args:
            nodes: int[M], the indices of the nodes.
            player: the viewpoint: 0 for the player who moves first in the game, or 1.

        Returns:
            int64[M], the visits, and float64[M], the mean results; -inf for an unvisited node.
        """
        visits = self.tree.nodes[nodes]["visits"].astype(np.int64)
        points = self.tree.nodes[nodes]["points"]
        wins = _wins_of(player, points, visits)
        means = 2.0 * wins / np.maximum(visits, 1) - 1.0
        return visits, np.where(visits > 0, means, -np.inf)
