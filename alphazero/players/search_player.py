"""A player that runs a tree search guided by an evaluator's policies and values.

Positions near the end of some games are solved instead (see `alphazero.solvers.endings`). The
evaluator is usually a network, but can be anything with the interface `Evaluator`. Stored
networks are loaded as players in `alphazero.players.network`; nothing here needs torch.

Shapes: B positions, K state words, A actions.
"""

import dataclasses
import functools
import math
import time
from collections.abc import Callable

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.inference.backends import make_tree_search
from alphazero.inference.evaluator import Evaluator
from alphazero.players.base import Analysis, Choice, Player, SearchProgress, joined
from alphazero.players.best_lines import BestLines
from alphazero.players.network_alone import MAX_BATCH_SIZE, NetworkAlone, choice_by_policy
from alphazero.players.without_search import direct_analysis
from alphazero.runtime.random_generators import child_generator
from alphazero.search.batched_search import TreeSearch
from alphazero.search.settings import SearchSettings
from alphazero.search.tree import bytes_per_node
from alphazero.solvers.base import ILLEGAL_SCORE, values_of
from alphazero.solvers.endings import Endings

#: Simulations per move if neither their number nor the time is limited.
DEFAULT_SIMULATIONS = 200
#: Maximum simulations per move if only the time is limited. The tree is allocated for all of them,
#: but takes memory only as it grows.
TIMED_SIMULATIONS = 1_000_000
#: Maximum memory for the trees of a batch; positions that do not fit are searched in later batches.
TREE_MEMORY_BYTES = 400_000_000
#: Maximum number of leaves of one tree to evaluate together.
MAX_LEAVES_PER_STEP = 64
#: Assumed speed of searching one position, to estimate the simulations within a time limit.
USUAL_SIMULATIONS_PER_S = 10_000
#: Maximum nodes when solving a position: per simulation of a move; per second of its time limit
#: (these nodes take about half a second); and in total for a move (about a second).
NODES_PER_SIMULATION = 1_000
NODES_PER_S = 2_000_000
MAX_NODES = 4_000_000


@dataclasses.dataclass(frozen=True, eq=False)
class SearchPlayer:
    """Plays the moves that a tree search chooses, guided by an evaluator; see `Player`.

    Among the moves with the best exact score in a position that is solved, the player chooses the
    one that the evaluator's policy prefers.
    """

    game: Game
    evaluator: Evaluator  #: shared with the players that `limited` returns
    num_simulations: int  #: maximum simulations per move
    #: maximum seconds per move; None means no limit. A search ends at the first limit it reaches.
    time_limit_s: float | None = None
    _: dataclasses.KW_ONLY
    settings: SearchSettings = dataclasses.field(default_factory=SearchSettings)
    seed: int = 0
    name: str = "network"
    #: Whether to evaluate several leaves of a single position's tree at once (see
    #: `alphazero.search.in_flight`).
    batches_leaves: bool = False
    #: Used in place of the evaluator in searches of single positions; copies of the player share
    #: it.
    cache: Evaluator | None = None
    endings: Endings | None = None  #: solves positions near the end; None: search all positions
    #: The latest search of a batch (key False) and of one position (True), to reuse their memory.
    _searches: dict[bool, TreeSearch] = dataclasses.field(
        default_factory=dict, init=False, repr=False
    )

    @property
    def batch_size(self) -> int:
        """Number of positions to search at once: those whose trees fit into `TREE_MEMORY_BYTES`.

        It is at most `MAX_BATCH_SIZE`, and 1 with a time limit.
        """
        if self.time_limit_s is not None:
            return 1
        game = self.game
        node_bytes = bytes_per_node(game.num_actions) + game.state_size * game.state_dtype.itemsize
        tree_bytes = (self.num_simulations + 1) * node_bytes
        return min(max(TREE_MEMORY_BYTES // tree_bytes, 1), MAX_BATCH_SIZE)

    @property
    def method(self) -> str:
        """How the player finds its moves: "search" or "search with exact endings"."""
        return "search" if self.endings is None else "search with exact endings"

    @property
    def engine(self) -> str:
        """The engine that runs the network, such as "openvino int8"; "" if it is not known."""
        report = getattr(self.evaluator, "report", None)
        return report.name if report else ""

    def choose(self, states: np.ndarray) -> Choice:
        """Search the positions in batches of `batch_size` and choose moves; see `Player.choose`."""
        starts = range(0, len(states), self.batch_size)
        return joined(self._choose(states[start : start + self.batch_size]) for start in starts)

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """Search one position and report its move, values and visits; see `Player.analyse`."""
        start = time.monotonic()
        solved = self.solved(state)
        if solved is not None:
            return solved
        search = self._searched(state[None], start, progress)
        choice = self._choice(search, state[None])
        tree = search.tree
        action = int(choice.actions[0])
        line = search.principal_variation(0)
        if self._best_lines is not None:
            best_line, result = self._best_lines.line(state)
            if result >= choice.values[0]:
                line = best_line
        visits = tree.children_visits[0, 0].copy()
        values = np.where(visits > 0, tree.children_values[0, 0], np.float32(math.nan))
        return Analysis(
            action=action,
            action_weights=choice.action_weights[0],
            value=float(choice.values[0]),
            visits=visits,
            values=values,
            principal_variation=line,
            num_simulations=int(tree.node_visits[0, 0]) - 1,
        )

    def solved(self, state: np.ndarray) -> Analysis | None:
        """Analyse a position near the end of the game exactly; return None if it is not solved.

        Args:
            state: an unfinished position, an array of K state words.
        """
        scores = self._exact_scores(state[None])
        if scores.max() == ILLEGAL_SCORE:
            return None
        choice = self._choice_by_scores(state[None], scores)
        values = np.where(scores[0] == ILLEGAL_SCORE, np.nan, values_of(scores[0]))
        return direct_analysis(choice, values, scores[0])

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> Player:
        """Return a player with the same evaluator and the given limits; see `Player.limited`.

        Args:
            num_simulations: maximum simulations per move. With 0, the policy's most likely move is
                played without a search. With None, it is `TIMED_SIMULATIONS` if there is a time
                limit.
            time_limit_s: maximum seconds per move; None means no limit. If both are None, this
                player's limits are kept.
        """
        if num_simulations == 0:
            return NetworkAlone(self.game, self.evaluator, self)
        if num_simulations is None and time_limit_s is None:
            return dataclasses.replace(self)
        num_simulations = simulations_per_move(num_simulations, time_limit_s)
        return dataclasses.replace(self, num_simulations=num_simulations, time_limit_s=time_limit_s)

    def make_search(self, num_simulations: int) -> TreeSearch:
        """Make a tree search of a single position, for the caller to run step by step.

        Args:
            num_simulations: maximum number of simulations.
        """
        return make_tree_search(
            self.game,
            self.cache or self.evaluator,
            num_games=1,
            max_simulations=num_simulations,
            settings=dataclasses.replace(self.settings, root="puct"),
            generator=child_generator(self.seed, "network player"),
            leaves_per_step=leaves_per_step(num_simulations),
        )

    @functools.cached_property
    def _best_lines(self) -> BestLines | None:
        return BestLines(self.game) if self.game.num_players == 1 else None

    def _choose(self, states: np.ndarray) -> Choice:
        """Choose a move in each of at most `batch_size` positions: by its exact score or a search.

        Args:
            states: [B, K], one position of K state words per row.
        """
        start = time.monotonic()
        scores = self._exact_scores(states)
        is_solved = scores.max(axis=1) > ILLEGAL_SCORE
        parts = []
        if is_solved.any():
            parts.append(self._choice_by_scores(states[is_solved], scores[is_solved]))
        if not is_solved.all():
            search = self._searched(states[~is_solved], start)
            parts.append(self._choice(search, states[~is_solved]))
        order = np.argsort(np.argsort(~is_solved, kind="stable"))
        return Choice(*(field[order] for field in joined(parts)))

    def _exact_scores(self, states: np.ndarray) -> np.ndarray:
        """Return the exact scores of all actions in the positions that are solved.

        Args:
            states: [B, K], unfinished positions.

        Returns:
            int16[B, A], `ILLEGAL_SCORE` where an action is illegal and in positions not solved.
        """
        self.game.check_states(states)
        scores = np.full((len(states), self.game.num_actions), ILLEGAL_SCORE, np.int16)
        if self.endings is None:
            return scores
        max_nodes = min(self.num_simulations * NODES_PER_SIMULATION, MAX_NODES)
        if self.time_limit_s is not None:
            max_nodes = min(int(self.time_limit_s * NODES_PER_S), max_nodes)
        for row, state in enumerate(states):
            solved = self.endings.scores(state, max_nodes)
            if solved is not None:
                scores[row] = solved
        return scores

    def _choice_by_scores(self, states: np.ndarray, scores: np.ndarray) -> Choice:
        """Choose the action that the policy prefers among those with the best exact score.

        Args:
            states: [B, K], the positions.
            scores: int16[B, A], the exact scores of all actions, for the player to move.
        """
        is_best = scores == scores.max(axis=1, keepdims=True)
        choice = choice_by_policy(self.game, self.evaluator, states, is_best)
        return choice._replace(values=values_of(scores.max(axis=1)).astype(np.float32))

    def _choice(self, search: TreeSearch, states: np.ndarray) -> Choice:
        """Return the moves that a finished search has chosen.

        In a one-player game, known lines of play replace moves that are no better.

        Args:
            search: the finished search.
            states: [B, K], the positions that were searched.
        """
        output = search.output(np.arange(len(states)))
        choice = Choice(output.actions, output.action_weights, output.root_values)
        if self._best_lines is None:
            return choice
        return self._best_lines.followed(search, states, choice)

    def _searched(
        self, states: np.ndarray, start: float, progress: SearchProgress | None = None
    ) -> TreeSearch:
        """Search each of at most `batch_size` positions and return the finished search.

        Every search starts with an empty tree, so that no move depends on earlier searches. Only in
        a one-player game are the best lines of play kept.

        Args:
            states: [B, K], one position of K state words per row.
            start: the time by `time.monotonic` from which the time limit counts.
            progress: called from time to time with the number of simulations made so far and in
                total; the total is None with a time limit.
        """
        is_single = len(states) == 1
        search = self._searches.get(is_single)
        if search is None or len(search.root_states) < len(states):
            search = make_tree_search(
                self.game,
                self.cache if self.cache and is_single else self.evaluator,
                num_games=len(states),
                max_simulations=self.num_simulations,
                settings=self._search_settings(),
                generator=child_generator(self.seed, "network player"),
                leaves_per_step=self._leaves_per_step(len(states)),
            )
            self._searches[is_single] = search
        deadline = None if self.time_limit_s is None else start + self.time_limit_s
        search.stop(np.arange(len(search.root_states)))
        search.reset(np.arange(len(states)), states, self.num_simulations)
        search.run(deadline, None if progress is None else self._by_simulations(progress))
        return search

    def _leaves_per_step(self, num_positions: int) -> int:
        """Return how many leaves of one tree to evaluate together.

        It is 1 for several positions; for a single one it grows with the expected number of
        simulations.

        Args:
            num_positions: number of positions that are searched in parallel.
        """
        if num_positions > 1 or not self.batches_leaves or self._search_settings().root != "puct":
            return 1
        num = self.num_simulations
        if self.time_limit_s is not None:
            num = min(num, int(self.time_limit_s * USUAL_SIMULATIONS_PER_S))
        return leaves_per_step(num)

    def _by_simulations(self, progress: SearchProgress) -> Callable[[float], None]:
        """Make a callback that reports a search's progress in simulations.

        Args:
            progress: called with the number of simulations made so far and in total; the total is
                None with a time limit.

        Returns:
            A function that takes the finished fraction of the search, in [0, 1], and calls
            ``progress``.
        """
        num = self.num_simulations
        total = num if self.time_limit_s is None else None
        return lambda fraction: progress(int(fraction * num), total)

    def _search_settings(self) -> SearchSettings:
        """Return the search settings, with PUCT at the root if the time is limited.

        The alternative, sequential halving, needs to know the number of simulations in advance.
        """
        if self.time_limit_s is None:
            return self.settings
        return dataclasses.replace(self.settings, root="puct")


def leaves_per_step(num_simulations: int) -> int:
    """Return how many leaves of one tree to evaluate together in a search of ``num_simulations``.

    The number grows with the number of simulations, from 1 to `MAX_LEAVES_PER_STEP`. More leaves
    make more efficient batches, but each is chosen without knowing the values of the others
    (`scripts/several_leaves.py` measures what that costs).
    """
    num_leaves = round(num_simulations ** (2 / 3) / 8)
    return min(max(num_leaves, 1), MAX_LEAVES_PER_STEP)


def simulations_per_move(num_simulations: int | None, time_limit_s: float | None) -> int:
    """Return the maximum simulations per move: the given number, or a default if it is None.

    Args:
        num_simulations: the user's limit, which is returned unless it is None.
        time_limit_s: maximum seconds per move, or None. It decides only the default:
            `TIMED_SIMULATIONS` with a time limit, otherwise `DEFAULT_SIMULATIONS`.
    """
    if num_simulations is not None:
        return num_simulations
    return DEFAULT_SIMULATIONS if time_limit_s is None else TIMED_SIMULATIONS
