"""The UCT baseline: a tree search that needs no network, because it plays each new position to its end at random.

In: one position of a game with compiled rules. Out: `UctOutput`, the move and what the search thinks of all moves. The four phases of a
simulation are the textbook's: `select`, `expand`, `rollout`, `backpropagate`. The kernel runs in chunks of a few milliseconds, so that a time
limit, a progress bar and Ctrl-C work.
"""

import math
import time
from typing import NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.games.game import CompiledGame, Game
from alphazero.jit import njit
from alphazero.rng import child_generator, kernel_rng, random_below
from alphazero.search.rollout import RolloutScratch, check_weights, make_rollout_scratch, rollout
from alphazero.search.uct_tree import (
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
    visits: np.ndarray  #: int32[A], of the positions that the actions lead to; by node they sum to `num_simulations`
    values: np.ndarray  #: float32[A], mean results in [-1, 1], nan where an action was not visited
    principal_variation: list[int]  #: the expected line, `action` first
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
        while tree.nodes[node]["first_child"] != NO_CHILDREN or expand(game, tree, node, state, scratch):
            edge = select(tree, node, rules.player_to_move(game, state), uct_c, rng)
            rules.step(game, state, action_of(tree, edge))
            node = child_of(tree, edge)
            path[length] = node
            length += 1
        points = rollout(game, state, rollouts.weighted, rollouts.weights, rollouts.scratch, rng)
        backpropagate(tree, path, length, points)


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
        max_nodes: bound of the tree; once it is reached, simulations go on without adding to it. `memory_bytes` says what it takes.
        seed: the same seed and the same searches one after another give the same moves, if no time limit cuts them short.

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
        seed: int = 0,
    ):
        if not isinstance(game, CompiledGame):
            raise ValueError(f"UCT needs a game with compiled rules, and {game.name} exists only as Python objects.")
        _check_settings(game, uct_c, num_simulations, time_limit_s, max_nodes)
        _check_choice("statistics", statistics, ("node", "position"))
        _check_choice("final_move", final_move, ("visits", "value"))
        _check_choice("rollout", rollout, ("random", "weighted"))
        if rollout == "random" and rollout_weights is not None:
            raise ValueError("rollout_weights belong to rollout=weighted: leave them out, or choose weighted rollouts.")
        self.game = game
        self._uct_c = float(uct_c)
        self._num_simulations = MAX_SIMULATIONS if num_simulations is None else num_simulations
        self._time_limit_s = time_limit_s
        self._final_move = final_move
        weighted = rollout == "weighted"
        weights = check_weights(game, rollout_weights) if weighted else np.zeros(0)
        self._rollouts = Rollouts(weighted, weights, make_rollout_scratch(game.num_actions))
        self._rng = kernel_rng(child_generator(seed, "uct"))
        # Each simulation expands one leaf at most, so that a search of few simulations needs no more nodes than this.
        needed = 1 + game.num_actions * (1 + self._num_simulations)
        #: the tree of the last search
        self.tree = make_tree(min(max_nodes, needed), game.state_size, game.state_dtype, statistics == "position")
        self._scratch = make_scratch(game.num_actions, game.max_plies, game.state_size, game.state_dtype)

    @property
    def memory_bytes(self) -> int:
        """The largest number of bytes that the tree can take."""
        return sum(array.nbytes for array in self.tree)

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
        start_tree(self.game.rules, self.tree, state, self._scratch)
        self._simulate(state, 0)  # compiles, or loads what was compiled, before the clock starts
        done = self._run_chunks(state, progress)
        return self._output(state, done)

    def _simulate(self, state, num_simulations: int) -> None:
        run_simulations(self.game.rules, self.tree, state, self._uct_c, self._rollouts, self._scratch, self._rng, np.int64(num_simulations))

    def _run_chunks(self, state, progress) -> int:
        """Run simulations until their number or the time limit is reached, at least one chunk; return how many."""
        limit_s = math.inf if self._time_limit_s is None else self._time_limit_s
        total = self._num_simulations if self._time_limit_s is None else None
        started = now = reported = time.perf_counter()
        chunk, done = FIRST_CHUNK, 0
        while done < self._num_simulations and (done == 0 or now - started < limit_s):
            chunk = min(chunk, self._num_simulations - done)
            self._simulate(state, chunk)
            done += chunk
            before, now = now, time.perf_counter()
            chunk_s = max(now - before, 1e-9)
            next_s = min(CHUNK_S, started + limit_s - now)
            chunk = max(1, int(chunk * min(4.0, next_s / chunk_s)))
            if progress is not None and now - reported >= PROGRESS_S:
                progress(done, total)
                reported = now
        if progress is not None:
            progress(done, total)
        return done

    def _output(self, state, num_simulations: int) -> UctOutput:
        player = int(self.game.players(state[None])[0])
        actions, _, visits, values = self._children(ROOT_INDEX, player)
        best = _best(visits, values, self._final_move)
        best = best[random_below(self._rng, len(best))]
        all_visits = np.zeros(self.game.num_actions, np.int32)
        all_values = np.full(self.game.num_actions, np.nan, np.float32)
        all_visits[actions] = visits
        all_values[actions[visits > 0]] = values[visits > 0]
        return UctOutput(
            int(actions[best]),
            (all_visits / all_visits.sum()).astype(np.float32),
            float(_values(player, self.tree.nodes[ROOT_INDEX])),
            all_visits,
            all_values,
            self._principal_variation(state, best),
            num_simulations,
        )

    def _children(self, node: int, player: int):
        """Return the actions, indices, visits and values (for ``player``; -inf without visits) of a node's children."""
        actions, indices = children_of(self.tree, node)
        children = self.tree.nodes[indices]
        return actions, indices, children["visits"], np.where(children["visits"] > 0, _values(player, children), -np.inf)

    def _principal_variation(self, state, best: int) -> list[int]:
        """Return the line that begins with the root's child number ``best`` and goes on with the most visited moves."""
        actions, indices = children_of(self.tree, ROOT_INDEX)
        states, line = state[None], []
        while True:
            line.append(int(actions[best]))
            node = int(indices[best])
            if self.tree.nodes[node]["first_child"] == NO_CHILDREN:
                return line
            transition = self.game.step(states, line[-1:])
            states = transition.states
            actions, indices, visits, values = self._children(node, int(transition.players[0]))
            if visits.max() == 0:
                return line
            best = int(_best(visits, values, "visits")[0])


def _values(player: int, nodes: np.ndarray) -> np.ndarray:
    """Return the mean results of nodes in [-1, 1] for ``player``, float64; without visits anything."""
    visits = nodes["visits"].astype(np.int64)
    return 2.0 * _wins_of(player, nodes["points"], visits) / np.maximum(visits, 1) - 1.0


def _best(visits: np.ndarray, values: np.ndarray, final_move: str) -> np.ndarray:
    """Return the indices of the most visited moves, those of the best value among them ("visits"), or the other way round ("value")."""
    first_key, second_key = (visits, values) if final_move == "visits" else (values, visits)
    largest = np.flatnonzero(first_key == first_key.max())
    return largest[second_key[largest] == second_key[largest].max()]


def _check_settings(game, uct_c, num_simulations, time_limit_s, max_nodes) -> None:
    if not (0.0 <= uct_c < math.inf):
        raise ValueError(f"uct_c={uct_c} is not allowed: it is a number from 0 on.")
    if num_simulations is None and time_limit_s is None:
        raise ValueError("a search without an end is not allowed: give num_simulations or time_limit_s.")
    if num_simulations is not None and not 1 <= num_simulations <= MAX_SIMULATIONS:
        raise ValueError(f"num_simulations={num_simulations} is not allowed: it is a number from 1 to {MAX_SIMULATIONS}.")
    if time_limit_s is not None and not 0.0 < time_limit_s < math.inf:
        raise ValueError(f"time_limit_s={time_limit_s} is not allowed: it is a number of seconds above 0.")
    if not 1 + game.num_actions <= max_nodes <= MAX_SIMULATIONS:
        raise ValueError(f"max_nodes={max_nodes} is not allowed: for {game.name} it goes from {1 + game.num_actions} to {MAX_SIMULATIONS}.")


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name}={value} is not allowed: it is one of {', '.join(choices)}.")
