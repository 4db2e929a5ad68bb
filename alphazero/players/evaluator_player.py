"""A player that uses an evaluator of positions, with a PUCT search or without.

In: anything that evaluates positions. Out: moves, see `alphazero.players.base.Player`. The player
of a stored network is in `alphazero.players.network`; nothing here needs torch.

Shapes: B positions, K state words, A actions.
"""

import dataclasses
import math
import time
from collections.abc import Callable

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.inference.evaluator import Evaluator
from alphazero.players.base import Analysis, Choice, SearchProgress
from alphazero.players.endgame import Endgame
from alphazero.runtime.random_generators import child_generator
from alphazero.search.batched_search import TreeSearch
from alphazero.search.settings import SearchSettings
from alphazero.search.tree import bytes_per_node

#: Simulations per move if neither their number nor the time is limited.
DEFAULT_SIMULATIONS = 200
#: Simulations per move if only the time is limited: the memory of the tree must have a size.
TIMED_SIMULATIONS = 200_000
#: The most memory for the trees of a batch; more positions are searched in several batches.
TREE_MEMORY_BYTES = 400_000_000
MAX_BATCH_SIZE = 256
#: The most leaves of one tree that are evaluated together.
MAX_LEAVES_PER_STEP = 64
#: Of a single position: tells with a time limit how many simulations may be expected.
USUAL_SIMULATIONS_PER_S = 10_000


class EvaluatorPlayer:
    """Plays by the answers of an evaluator, with a PUCT search or without; see `Player`.

    Args:
        evaluator: is shared with the players that `limited` returns.
        num_simulations: per move; 0 plays the action with the largest prior, without a search.
        time_limit_s: seconds per move; with num_simulations, whichever ends first.
        settings: of the search.
        batches_leaves: search a single position with several leaves at once, see
            `alphazero.search.in_flight`.
        cache: answers the searches of single positions in place of the evaluator; shared like it.
        endgame: gives exact results at leaves; shared like the evaluator.
        aim: result or score, see `alphazero.players.base.PlayerSettings`; score needs ``endgame``.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        num_simulations: int,
        time_limit_s: float | None = None,
        *,
        settings: SearchSettings | None = None,
        seed: int = 0,
        name: str = "network",
        batches_leaves: bool = False,
        cache: Evaluator | None = None,
        endgame: Endgame | None = None,
        aim: str = "result",
    ):
        self.game = game
        self.name = name
        self.evaluator = evaluator
        self.batch_size = _batch_size(game, num_simulations) if time_limit_s is None else 1
        self.time_limit_s = time_limit_s
        self._num_simulations = num_simulations
        self._settings = settings or SearchSettings()
        self._seed = seed
        self._batches_leaves = batches_leaves
        self._cache = cache
        self._endgame = endgame
        self._exact_leaves = (
            endgame.leaves(num_simulations, time_limit_s)
            if endgame is not None and num_simulations
            else None
        )
        self._aim = aim
        self._scored = (
            endgame.scored_endings(game, num_simulations, time_limit_s, seed)
            if endgame is not None and num_simulations and aim == "score"
            else None
        )
        self._search: TreeSearch | None = None

    @property
    def method(self) -> str:
        """How the player finds its moves: "network alone", "search" or with exact leaves."""
        if self._num_simulations == 0:
            return "network alone"
        return "search" if self._exact_leaves is None else "search with exact leaves"

    @property
    def engine(self) -> str:
        """What runs the network, such as "openvino int8"; "" if the evaluator does not say."""
        report = getattr(self.evaluator, "report", None)
        return report.name if report else ""

    def choose(self, states: np.ndarray) -> Choice:
        """See `alphazero.players.base.Player.choose`; positions are split into batches."""
        starts = range(0, len(states), self.batch_size)
        parts = [self._choose(states[start : start + self.batch_size]) for start in starts]
        return Choice(*(np.concatenate(columns) for columns in zip(*parts)))

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """See `alphazero.players.base.Player.analyse`."""
        if self._num_simulations == 0:
            return self._policy_analysis(state)
        start = time.monotonic()
        if self._scored is not None and (analysis := self._scored.analyse(state)) is not None:
            return analysis
        search = self._searched(state[None], start, progress)
        output, tree = search.output(np.array([0])), search.tree
        visits = tree.children_visits[0, 0].copy()
        return Analysis(
            action=int(output.actions[0]),
            action_weights=output.action_weights[0],
            value=float(output.root_values[0]),
            visits=visits,
            values=np.where(visits > 0, tree.children_values[0, 0], np.float32(math.nan)),
            principal_variation=search.principal_variation(0),
            num_simulations=int(tree.node_visits[0, 0]) - 1,
        )

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> "EvaluatorPlayer":
        """See `alphazero.players.base.Player.limited`; 0 simulations play without a search."""
        if num_simulations is None and time_limit_s is None:
            num_simulations, time_limit_s = self._num_simulations, self.time_limit_s
        return EvaluatorPlayer(
            self.game,
            self.evaluator,
            simulations_per_move(num_simulations, time_limit_s),
            time_limit_s,
            settings=self._settings,
            seed=self._seed,
            name=self.name,
            batches_leaves=self._batches_leaves,
            cache=self._cache,
            endgame=self._endgame,
            aim=self._aim,
        )

    def ponderer(self) -> "EvaluatorPlayer | None":
        """Return a player whose searches fill this one's cache; None if it has none.

        It asks for no exact results, so that it can be stopped at any time.
        """
        if self._cache is None or self._num_simulations == 0:
            return None
        return EvaluatorPlayer(
            self.game,
            self.evaluator,
            TIMED_SIMULATIONS,
            settings=self._settings,
            seed=self._seed,
            name=self.name,
            batches_leaves=self._batches_leaves,
            cache=self._cache,
        )

    def make_search(
        self, num_positions: int, max_simulations: int, leaves_per_step: int
    ) -> TreeSearch:
        """Return a search of many positions that come and go, with what this player has loaded.

        Exact leaves are part of it if their cost is set in nodes, see `PlayerSettings.endgame`;
        those that follow the time of a move belong to a single search.

        Args:
            num_positions: at the same time.
            max_simulations: of a position.
            leaves_per_step: the most leaves of one tree that are evaluated together.
        """
        exact_leaves = None
        if self._endgame is not None and self._endgame.is_fixed:
            exact_leaves = self._endgame.leaves(max_simulations, None)
        return TreeSearch(
            self.game,
            self._cache or self.evaluator,
            num_positions,
            max_simulations,
            dataclasses.replace(self._settings, root="puct"),
            child_generator(self._seed, "network player"),
            leaves_per_step,
            exact_leaves,
        )

    def _choose(self, states: np.ndarray) -> Choice:
        if self._num_simulations == 0:
            return self._policy_choice(states)
        start = time.monotonic()
        if self._scored is None:
            return self._search_choice(states, start)
        parts = [self._scored_choice(state) for state in states]
        dear = [row for row, part in enumerate(parts) if part is None]
        if dear:
            found = self._search_choice(states[dear], start)
            for k, row in enumerate(dear):
                parts[row] = Choice(*(column[k : k + 1] for column in found))
        return Choice(*(np.concatenate(columns) for columns in zip(*parts)))

    def _scored_choice(self, state: np.ndarray) -> Choice | None:
        """Return the choice by exact scores; None if they are too dear."""
        if (analysis := self._scored.analyse(state)) is None:
            return None
        action, value = np.array([analysis.action], np.int32), np.array([analysis.value])
        return Choice(action, analysis.action_weights[None], value.astype(np.float32))

    def _search_choice(self, states: np.ndarray, start: float) -> Choice:
        output = self._searched(states, start).output(np.arange(len(states)))
        return Choice(output.actions, output.action_weights, output.root_values)

    def _policy_choice(self, states: np.ndarray) -> Choice:
        """Choose the action with the largest prior."""
        logits, values = self.evaluator.evaluate(self.game.observe(states))
        logits = np.where(self.game.legal_action_mask(states), logits, -np.inf)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        return Choice(logits.argmax(axis=1).astype(np.int32), weights, values)

    def _policy_analysis(self, state: np.ndarray) -> Analysis:
        choice = self._policy_choice(state[None])
        action = int(choice.actions[0])
        return Analysis(
            action=action,
            action_weights=choice.action_weights[0],
            value=float(choice.values[0]),
            visits=np.zeros(self.game.num_actions, np.int32),
            values=np.full(self.game.num_actions, np.nan, np.float32),
            principal_variation=[action],
            num_simulations=0,
        )

    def _searched(
        self, states: np.ndarray, start: float, progress: SearchProgress | None = None
    ) -> TreeSearch:
        """Search each of at most `batch_size` positions; the time limit counts from ``start``.

        Every search starts with an empty tree, so that no answer depends on earlier questions.
        """
        num_leaves = self._leaves_per_step(len(states))
        evaluator = self._cache if self._cache and len(states) == 1 else self.evaluator
        if (
            self._search is None
            or self._search.leaves_per_step != num_leaves
            or self._search.evaluator is not evaluator
            or len(self._search.root_states) < len(states)
        ):
            self._search = TreeSearch(
                self.game,
                evaluator,
                len(states),
                self._num_simulations,
                self._search_settings(),
                child_generator(self._seed, "network player"),
                num_leaves,
                self._exact_leaves,
            )
        if self._exact_leaves is not None:
            self._exact_leaves.begin(len(states))
        search, rows = self._search, np.arange(len(states))
        search.stop(np.arange(len(search.root_states)))
        search.reset(rows, states, self._num_simulations)
        deadline = None if self.time_limit_s is None else start + self.time_limit_s
        search.run(deadline, None if progress is None else self._by_simulations(progress))
        return search

    def _leaves_per_step(self, num_positions: int) -> int:
        """Return how many leaves of one tree are evaluated together.

        A single position alone has several: so few that hardly any is chosen without knowing what
        the others found, more where many simulations follow.
        """
        if num_positions > 1 or not self._batches_leaves or self._search_settings().root != "puct":
            return 1
        num = self._num_simulations
        if self.time_limit_s is not None:
            num = min(num, int(self.time_limit_s * USUAL_SIMULATIONS_PER_S))
        return leaves_per_step(num)

    def _by_simulations(self, progress: SearchProgress) -> Callable[[float], None]:
        """Return a function that reports the finished fraction of a search as simulations."""
        num = self._num_simulations
        total = num if self.time_limit_s is None else None
        return lambda fraction: progress(int(fraction * num), total)

    def _search_settings(self) -> SearchSettings:
        """Return the settings, with PUCT at the root if the time is limited.

        Sequential halving must know its number of simulations beforehand.
        """
        if self.time_limit_s is None:
            return self._settings
        return dataclasses.replace(self._settings, root="puct")


def leaves_per_step(num_simulations: int) -> int:
    """Return how many leaves of one tree to evaluate together in a search of so many simulations.

    It is a compromise: what the leaves of a step find out is not known when the next of them is
    chosen (`scripts/several_leaves.py` measures what that costs).
    """
    return int(min(max(round(num_simulations ** (2 / 3) / 8), 1), MAX_LEAVES_PER_STEP))


def simulations_per_move(num_simulations: int | None, time_limit_s: float | None) -> int:
    """Return the simulations per move: the given number or a default."""
    if num_simulations is not None:
        return num_simulations
    return DEFAULT_SIMULATIONS if time_limit_s is None else TIMED_SIMULATIONS


def _batch_size(game: Game, num_simulations: int) -> int:
    """Return how many trees of ``num_simulations`` fit into `TREE_MEMORY_BYTES`."""
    tree_bytes = (num_simulations + 1) * bytes_per_node(game.num_actions)
    return int(min(max(TREE_MEMORY_BYTES // tree_bytes, 1), MAX_BATCH_SIZE))
