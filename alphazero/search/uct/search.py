"""The UCT baseline: a tree search that needs no network, because it plays each new position to its end at random.

In: one position of a game with compiled rules. Out: `UctOutput`, the move and what the search thinks of all moves. The four phases of a
simulation are the textbook's: `select`, `expand`, `rollout`, `backpropagate`. The kernel runs in chunks of a few milliseconds, so that a time
limit, a progress bar and Ctrl-C work.

Several threads search by root parallelism (Chaslot, Winands and van den Herik, "Parallel Monte-Carlo tree search", 2008): each grows a tree of
its own, and the roots' statistics are summed when all have ended. Nothing is shared in between, so that the result does not depend on their pace.
"""

import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.runtime.jit import njit
from alphazero.runtime.random_generators import child_generator, kernel_rng, random_below
from alphazero.search.uct.rollout import (
    RolloutScratch,
    check_weights,
    make_rollout_scratch,
    rollout,
)
from alphazero.search.uct.tree import (
    NO_CHILDREN,
    ROOT_INDEX,
    Scratch,
    Tree,
    action_of,
    backpropagate,
    child_of,
    children_of,
    expand,
    make_scratch,
    make_tree,
    on_own_lines,
    select,
    start_tree,
    wins_of,
)

#: A visit adds at most 2 points, which are counted in 32 bits.
MAX_SIMULATIONS = 2**30 - 1
#: 64 MB by node; by position 64 MB and, for each of them, the state, 12 bytes and 8 to 16 of the table: see `UctSearch.memory_bytes`.
DEFAULT_MAX_NODES = 4_000_000

FIRST_CHUNK = 16  # simulations; few, because a slow game's clock must be looked at soon
CHUNK_S = 0.004
PROGRESS_S = 0.05

_wins_of = getattr(wins_of, "py_func", wins_of)  # the same rule for arrays, not compiled


class UctOutput(NamedTuple):
    """What a search found; values are from the viewpoint of the player to move."""

    action: int  #: the move to play
    action_weights: np.ndarray  #: float32[A], shares of the visits, 1 in sum
    value: float  #: mean result of the simulations, in [-1, 1]
    visits: (
        np.ndarray
    )  #: int32[A], of the positions that the actions lead to; by node they sum to `num_simulations`
    values: np.ndarray  #: float32[A], mean results in [-1, 1], nan where an action was not visited
    num_simulations: int


class Rollouts(NamedTuple):
    """How rollouts choose their moves."""

    weighted: bool  #: by the game's evaluation, otherwise uniformly
    weights: np.ndarray  #: float64[F], of the evaluation
    scratch: RolloutScratch


@njit
def run_simulations(game, tree, root_state, uct_c, rollouts, scratch, rng, num_simulations):
    """Run simulations from the root: walk down by `select`, `expand` a leaf that was visited before, `rollout`, `backpropagate`.

    `start_tree` comes before the first. One simulation is not a function of its own, because the call, with all these arrays, took as long
    as the simulation (tic-tac-toe: 2.1 and 4.2 million simulations/s).
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
        points = rollout(game, state, rollouts.weighted, rollouts.weights, rollouts.scratch, rng)
        backpropagate(tree, path, length, points)


class Worker:
    """What a thread has for itself: a tree, random numbers, scratch memory and the number of simulations it has made.

    Args:
        simulations: its share of those of a search.
        generator: seeds its random numbers.
    """

    def __init__(
        self,
        game: CompiledGame,
        uct_c: float,
        rollouts: Rollouts,
        tree: Tree,
        simulations: int,
        generator: np.random.Generator,
    ):
        self.tree = tree._replace(sizes=on_own_lines(tree.sizes))
        self.simulations = simulations
        self.rng = on_own_lines(kernel_rng(generator))
        self.done = 0
        self.stopped = False  #: another thread may set it; the search then ends after the chunk that is running
        self._game, self._uct_c = game, uct_c
        self._rollouts = rollouts._replace(
            scratch=RolloutScratch(*map(on_own_lines, rollouts.scratch))
        )
        scratch = make_scratch(game.num_actions, game.max_plies, game.state_size, game.state_dtype)
        self._scratch = Scratch(*map(on_own_lines, scratch))

    def start(self, state: np.ndarray) -> None:
        """Make a tree of the root and its children."""
        self.done, self.stopped = 0, False
        start_tree(self._game.rules, self.tree, state, self._scratch)

    def simulate(self, state: np.ndarray, num_simulations: int) -> None:
        """Run simulations and count them."""
        arrays = (self.tree, state, self._uct_c, self._rollouts, self._scratch, self.rng)
        run_simulations(self._game.rules, *arrays, np.int64(num_simulations))
        self.done += num_simulations

    def run(
        self,
        state: np.ndarray,
        started: float,
        limit_s: float,
        after_chunk: Callable[[], None] | None = None,
    ) -> None:
        """Run simulations until the worker's share is made or ``limit_s`` seconds have passed since ``started``, at least one chunk."""
        chunk, now = FIRST_CHUNK, time.perf_counter()
        while (
            self.done < self.simulations
            and not self.stopped
            and (self.done == 0 or now - started < limit_s)
        ):
            chunk = min(chunk, self.simulations - self.done)
            self.simulate(state, chunk)
            before, now = now, time.perf_counter()
            chunk_s = max(now - before, 1e-9)
            next_s = min(CHUNK_S, started + limit_s - now)
            chunk = max(1, int(chunk * min(4.0, next_s / chunk_s)))
            if after_chunk is not None:
                after_chunk()


class UctSearch:
    """Upper confidence bounds applied to trees, with random rollouts.

    Args:
        game: a game with compiled rules.
        uct_c: the exploration constant C of UCB1, 0 or more.
        num_simulations: simulations for a move; None needs a time limit.
        time_limit_s: seconds for a move; with `num_simulations`, whichever ends first. Kept to within a few milliseconds.
        statistics: "node", each node of the tree learns for itself; "position", equal positions share what they learn.
        final_move: "visits" plays the most visited move, "value" the one of the best mean result.
        rollout: "random" moves, or "weighted" by the game's evaluation (`rules.action_scores`).
        rollout_weights: the evaluation's weights; None takes the game's own.
        max_nodes: bound of the tree, or of all threads' trees together; once it is reached, simulations go on without adding to it.
            `memory_bytes` says what it takes.
        num_threads: each searches a tree of its own, with its share of the simulations and all of the time; 0 takes all cores.
        seed: the same seed, the same number of threads and the same searches one after another give the same moves, if no time limit cuts
            them short.

    Raises:
        ValueError: with one plain sentence for an impossible value.
    """

    def __init__(
        self,
        game: Game,
        *,
        uct_c: float = math.sqrt(2.0),
        num_simulations: int | None = 1000,
        time_limit_s: float | None = None,
        statistics: str = "node",
        final_move: str = "visits",
        rollout: str = "random",
        rollout_weights=None,
        max_nodes: int = DEFAULT_MAX_NODES,
        num_threads: int = 1,
        seed: int = 0,
    ):
        if not isinstance(game, CompiledGame):
            raise ValueError(
                f"UCT needs a game with compiled rules, and {game.name} exists only as Python objects."
            )
        num_threads = _checked_threads(num_threads)
        _check_settings(game, uct_c, num_simulations, time_limit_s, max_nodes, num_threads)
        _check_choice("statistics", statistics, ("node", "position"))
        _check_choice("final_move", final_move, ("visits", "value"))
        _check_choice("rollout", rollout, ("random", "weighted"))
        if rollout == "random" and rollout_weights is not None:
            raise ValueError(
                "rollout_weights belong to rollout=weighted: leave them out, or choose weighted rollouts."
            )
        self.game = game
        self._num_simulations = num_simulations
        self._time_limit_s = time_limit_s
        self._final_move = final_move
        self._state: np.ndarray | None = None  # of the last search
        self._best_child = 0  # of its root: the number of the move to play
        weighted = rollout == "weighted"
        weights = check_weights(game, rollout_weights) if weighted else np.zeros(0)
        total = MAX_SIMULATIONS if num_simulations is None else num_simulations
        #: one for each thread; their trees are those of the last search
        self.workers = []
        for index in range(num_threads):
            simulations = total // num_threads + (index < total % num_threads)
            # Each simulation expands one leaf at most, so that a search of few simulations needs no more nodes than this.
            nodes = min(max_nodes // num_threads, 1 + game.num_actions * (1 + simulations))
            tree = make_tree(nodes, game.state_size, game.state_dtype, statistics == "position")
            rollouts = Rollouts(weighted, weights, make_rollout_scratch(game.num_actions))
            generator = child_generator(seed, f"uct {index}" if index else "uct")
            self.workers.append(Worker(game, float(uct_c), rollouts, tree, simulations, generator))

    @property
    def tree(self) -> Tree:
        """The first thread's tree of the last search."""
        return self.workers[0].tree

    @property
    def memory_bytes(self) -> int:
        """The largest number of bytes that the trees can take."""
        return sum(array.nbytes for worker in self.workers for array in worker.tree)

    def run(self, state: np.ndarray, progress=None) -> UctOutput:
        """Search one position.

        Args:
            state: [K], a position that is not finished.
            progress: called every now and then with the number of simulations done and to do, None where a time limit decides.

        Raises:
            ValueError: if the game is over.
        """
        state = np.ascontiguousarray(state, self.game.state_dtype)
        if self.game.over(state[None])[0]:
            raise ValueError("the game is over: there is no move to search for.")
        for worker in self.workers:
            worker.start(state)
        self.workers[0].simulate(
            state, 0
        )  # compiles, or loads what was compiled, before the clock starts
        report = _Report(
            self.workers, self._num_simulations if self._time_limit_s is None else None, progress
        )
        self._run_workers(state, report.after_chunk)
        report.send()
        self._state = state
        return self._output()

    def principal_variation(self) -> list[int]:
        """Return the line that the last search expects: the move to play, then the most visited moves.

        After its first move it is that of the tree which visited this move most.
        """
        best = self._best_child
        tree = max(
            (worker.tree for worker in self.workers),
            key=lambda tree: _counts(tree, children_of(tree, ROOT_INDEX)[1])[0][best],
        )
        actions, indices = children_of(tree, ROOT_INDEX)
        states, line = self._state[None], []
        while True:
            line.append(int(actions[best]))
            node = int(indices[best])
            if tree.nodes[node]["first_child"] == NO_CHILDREN:
                return line
            transition = self.game.step(states, line[-1:])
            states = transition.states
            actions, indices = children_of(tree, node)
            visits, points = _counts(tree, indices)
            if visits.max() == 0:
                return line
            best = int(
                _best(visits, _values(int(transition.players[0]), visits, points), "visits")[0]
            )

    def _run_workers(self, state, after_chunk) -> None:
        """Let the workers search side by side, the first one in this thread; whatever ends it early ends the others too."""
        started = time.perf_counter()
        limit_s = math.inf if self._time_limit_s is None else self._time_limit_s
        first, *others = self.workers
        if not others:
            first.run(state, started, limit_s, after_chunk)
            return
        # Threads of its own for every search: they cost some 0.1 ms, and a player that is no longer used leaves none behind.
        with ThreadPoolExecutor(len(others)) as pool:
            try:
                searches = [pool.submit(worker.run, state, started, limit_s) for worker in others]
                first.run(state, started, limit_s, after_chunk)
                for search in searches:
                    search.result()
            finally:
                for worker in others:
                    worker.stopped = True

    def _output(self) -> UctOutput:
        """Return what the statistics of all trees' roots together say."""
        player = int(self.game.players(self._state[None])[0])
        actions = children_of(self.tree, ROOT_INDEX)[0]  # the same in every tree, like their order
        visits, points = sum(
            _counts(worker.tree, children_of(worker.tree, ROOT_INDEX)[1]) for worker in self.workers
        )
        values = _values(player, visits, points)
        best = _best(visits, values, self._final_move)
        best = self._best_child = int(best[random_below(self.workers[0].rng, len(best))])
        all_visits = np.zeros(self.game.num_actions, np.int32)
        all_values = np.full(self.game.num_actions, np.nan, np.float32)
        all_visits[actions] = visits
        all_values[actions[visits > 0]] = values[visits > 0]
        root_counts = sum(_counts(worker.tree, np.array([ROOT_INDEX])) for worker in self.workers)
        return UctOutput(
            int(actions[best]),
            (all_visits / all_visits.sum()).astype(np.float32),
            float(_values(player, *root_counts)[0]),
            all_visits,
            all_values,
            sum(worker.done for worker in self.workers),
        )


class _Report:
    """Tells ``progress`` of the simulations of all workers, not more often than every `PROGRESS_S` seconds."""

    def __init__(self, workers: list[Worker], total: int | None, progress):
        self._workers, self._total, self._progress = workers, total, progress
        self._sent = time.perf_counter()

    def after_chunk(self) -> None:
        if self._progress is not None and time.perf_counter() - self._sent >= PROGRESS_S:
            self.send()

    def send(self) -> None:
        if self._progress is not None:
            self._progress(sum(worker.done for worker in self._workers), self._total)
            self._sent = time.perf_counter()


def _counts(tree: Tree, nodes: np.ndarray) -> np.ndarray:
    """Return int64[2, ...]: the visits and the points of nodes."""
    return np.stack([tree.nodes[nodes]["visits"], tree.nodes[nodes]["points"]]).astype(np.int64)


def _values(player: int, visits: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the mean results in [-1, 1] for ``player``, float64; -inf without visits."""
    return np.where(
        visits > 0, 2.0 * _wins_of(player, points, visits) / np.maximum(visits, 1) - 1.0, -np.inf
    )


def _best(visits: np.ndarray, values: np.ndarray, final_move: str) -> np.ndarray:
    """Return the indices of the most visited moves, those of the best value among them ("visits"), or the other way round ("value")."""
    first_key, second_key = (visits, values) if final_move == "visits" else (values, visits)
    largest = np.flatnonzero(first_key == first_key.max())
    return largest[second_key[largest] == second_key[largest].max()]


def _checked_threads(num_threads: int) -> int:
    """Return the number of threads, where 0 stands for all cores that this process may use."""
    if num_threads < 0:
        raise ValueError(
            f"num_threads={num_threads} is not allowed: it is a number from 0 on, and 0 takes all cores."
        )
    return num_threads or (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )


def _check_settings(game, uct_c, num_simulations, time_limit_s, max_nodes, num_threads) -> None:
    if not (0.0 <= uct_c < math.inf):
        raise ValueError(f"uct_c={uct_c} is not allowed: it is a number from 0 on.")
    if num_simulations is None and time_limit_s is None:
        raise ValueError(
            "a search without an end is not allowed: give num_simulations or time_limit_s."
        )
    if num_simulations is not None and not 1 <= num_simulations <= MAX_SIMULATIONS:
        raise ValueError(
            f"num_simulations={num_simulations} is not allowed: it is a number from 1 to {MAX_SIMULATIONS}."
        )
    if time_limit_s is not None and not 0.0 < time_limit_s < math.inf:
        raise ValueError(
            f"time_limit_s={time_limit_s} is not allowed: it is a number of seconds above 0."
        )
    least = num_threads * (1 + game.num_actions)
    if not least <= max_nodes <= MAX_SIMULATIONS:
        threads = f" with {num_threads} threads" if num_threads > 1 else ""
        raise ValueError(
            f"max_nodes={max_nodes} is not allowed: for {game.name}{threads} it goes from {least} to {MAX_SIMULATIONS}."
        )


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name}={value} is not allowed: it is one of {', '.join(choices)}.")
