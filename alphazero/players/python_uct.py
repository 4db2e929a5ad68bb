"""UCT with random rollouts for games without compiled rules, by the search of `alphazero.textbook`.

In: positions. Out: moves. A `PythonGame` is searched on its own objects, because a search on arrays
would spend most of its time converting objects to rows and back. Other games, such as those from
pgx, step in batches: the trees of many positions grow in lockstep.
"""

import abc
import random
import time
from typing import Any, NamedTuple, cast

import numpy as np

from alphazero.games.batched_game import CompiledGame, Game, Transition
from alphazero.own_games.python_game import PythonGame
from alphazero.players.base import Analysis, Choice, Player, PlayerSettings, SearchProgress
from alphazero.players.uct import UctPlayer, specification, uct_simulations
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator, kernel_rng
from alphazero.textbook.uct import Node, Uct

#: Settings of UCT that need compiled rules or a table: only their defaults are allowed here.
_DEFAULTS_ONLY = ("statistics", "rollout", "rollout_weights", "record_rollouts", "keep_table")
_MAX_POSITIONS = 64  # maximum number of positions searched in lockstep
_MAX_BYTES = 2**18  # maximum bytes of their states in one simulation


def uct_player(game: Game, settings: PlayerSettings | None = None) -> Player:
    """Make the UCT player that suits a game: compiled, on Python objects, or in batches."""
    if isinstance(game, PythonGame):
        return PythonUctPlayer(game, settings)
    if isinstance(game, CompiledGame):
        return UctPlayer(game, settings)
    return BatchedUctPlayer(game, settings)


class PositionRules:
    """Adapts a game whose positions are objects to `alphazero.textbook.game.Rules`.

    Results are in [-1, 1].

    Args:
        game: a game that steps, copies and scores the objects.
    """

    def __init__(self, game: Any):
        self._game = game

    def initial_state(self) -> Any:
        """Return the start of the game; see `Rules`."""
        return self._game.position(self._game.initial_states()[0])

    def player_to_move(self, state: Any) -> int:
        """Return the player to move; see `Rules`."""
        return state.player_to_move()

    def legal_actions(self, state: Any) -> list[int]:
        """Return the legal actions; see `Rules`."""
        return list(state.legal_actions())

    def step(self, state: Any, action: int) -> Any:
        """Return the state after an action; see `Rules`."""
        return self._game.after(state, action)

    def is_over(self, state: Any) -> bool:
        """Return whether the game is over; see `Rules`."""
        return state.is_over()

    def result(self, state: Any) -> float:
        """Return the result of a finished game, in [-1, 1]; see `Rules`."""
        return self._game.scaled_result(state)

    def rollout(self, game: Any, state: Any, rng: random.Random) -> float:
        """Play a random game on a copy of ``state``; return its result for player 0."""
        if not state.is_over():
            state = self._game.copied(state)
        while not state.is_over():
            state.step(rng.choice(state.legal_actions()))
        result = self._game.scaled_result(state)
        return result if state.player_to_move() == 0 else -result


class _TextbookPlayer(abc.ABC):
    """Base of the UCT players that use the textbook's search; see `Player`.

    Raises:
        ConfigError: for a setting that needs compiled rules.
    """

    batch_size = 1

    def __init__(self, game: Any, settings: PlayerSettings | None = None):
        self.game = game
        self.settings = settings or PlayerSettings()
        for key in _DEFAULTS_ONLY:
            value, default = getattr(self.settings, key), getattr(PlayerSettings(), key)
            if value != default:
                raise ConfigError.of(key, value, default, f"{game.name} has no compiled rules")
        self.name = specification(self.settings)
        seed = int(child_generator(self.settings.seed, "uct player").integers(1 << 63))
        self._uct = Uct(
            PositionRules(game),
            uct_c=self.settings.uct_c,
            final_move=self.settings.final_move,
            rng=random.Random(seed),
        )

    @abc.abstractmethod
    def _search(self, states: np.ndarray, progress: SearchProgress | None = None) -> list[Node]:
        """Search B positions; return the roots of their trees."""

    def choose(self, states: np.ndarray) -> Choice:
        """Search each position and choose its best move; see `Player.choose`."""
        found = [self._analysis(root) for root in self._search(states)]
        return Choice(
            actions=np.array([one.action for one in found], np.int32),
            action_weights=np.stack([one.action_weights for one in found]),
            values=np.array([one.value for one in found], np.float32),
        )

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """Search one position and summarize its tree; see `Player.analyse`."""
        return self._analysis(self._search(state[None], progress)[0])

    def _analysis(self, root: Node) -> Analysis:
        """Summarize a finished search as an `Analysis`."""
        visits = np.zeros(self.game.num_actions, np.int32)
        values = np.full(self.game.num_actions, np.nan, np.float32)
        for action, child in root.children.items():
            if child.visits:
                visits[action] = child.visits
                values[action] = 2 * self._uct.wins_at(root, child) / child.visits - 1
        action = self._uct.best_action(root)
        return Analysis(
            action=action,
            action_weights=(visits / visits.sum()).astype(np.float32),
            value=float(values[action]),
            visits=visits,
            values=values,
            principal_variation=self._line(root, action),
            num_simulations=int(visits.sum()),
        )

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> "_TextbookPlayer":
        """Return a player like this one with other search limits; see `Player.limited`."""
        return type(self)(self.game, self.settings.limited(num_simulations, time_limit_s))

    def _line(self, node: Node, action: int) -> list[int]:
        """Return the expected line of play: ``action``, then the most visited move at each node."""
        line = [action]
        while (node := node.children[line[-1]]).children:
            line.append(max(node.children, key=lambda action: node.children[action].visits))
        return line


class PythonUctPlayer(_TextbookPlayer):
    """Searches the objects of a `PythonGame`, one position after the other."""

    def _search(self, states: np.ndarray, progress: SearchProgress | None = None) -> list[Node]:
        limits = uct_simulations(self.settings), self.settings.time_limit_s
        positions = map(self.game.position, states)
        return [self._uct.search(position, *limits, progress) for position in positions]


class _Row(NamedTuple):
    """A position of a game that steps in batches, with the properties that its search needs."""

    state: np.ndarray  #: [K], the position
    player: int
    over: bool
    legal: list[int]

    def player_to_move(self) -> int:
        return self.player

    def is_over(self) -> bool:
        return self.over

    def legal_actions(self) -> list[int]:
        return self.legal


class BatchedUctPlayer(_TextbookPlayer):
    """Searches many positions in lockstep: one `Game.step` and one `Game.playout` for all of them.

    A time limit applies to all positions together.
    """

    def __init__(self, game: Game, settings: PlayerSettings | None = None):
        super().__init__(game, settings)
        self._rng = kernel_rng(child_generator(self.settings.seed, "uct playouts"))
        #: Positions searched at once, bounded by the memory of their states.
        self.batch_size = max(1, min(_MAX_POSITIONS, _MAX_BYTES // game.state_size))

    def _search(self, states: np.ndarray, progress: SearchProgress | None = None) -> list[Node]:
        num_simulations, time_limit_s = uct_simulations(self.settings), self.settings.time_limit_s
        roots = [self._uct.begin(row) for row in _rows(self.game.inspect(states))]
        started = time.perf_counter()
        num_done = 0
        while num_simulations is None or num_done < num_simulations:
            self._simulate(roots)
            num_done += 1
            if progress is not None:
                progress(num_done, num_simulations)
            if time_limit_s is not None and time.perf_counter() - started >= time_limit_s:
                break
        return roots

    def _simulate(self, roots: list[Node]) -> None:
        """Run one simulation from each root."""
        uct = self._uct
        paths = [uct.select([root]) for root in roots]
        growing = [path for path in paths if not _row(path[-1]).over]
        if growing:
            nodes = [path[-1] for path in growing]
            actions = [uct.choose_missing(node, uct.missing_actions(node)) for node in nodes]
            states = np.stack([_row(node).state for node in nodes])
            following = self.game.step(states, np.array(actions, np.int32))
            for path, action, row in zip(growing, actions, _rows(following)):
                path[-1].children[action] = uct.make_node(row, action)
                path.append(path[-1].children[action])
        leaves = [path[-1] for path in paths]
        results = self.game.playout(np.stack([_row(leaf).state for leaf in leaves]), self._rng)
        for path, leaf, result in zip(paths, leaves, results.tolist()):
            uct.backpropagate(path, -result if leaf.player == 1 else result)


def _row(node: Node) -> _Row:
    return cast(_Row, node.state)


def _rows(found: Transition) -> list[_Row]:
    """Convert a batch of positions to a list of rows."""
    legal = [np.flatnonzero(mask).tolist() for mask in found.legal_action_mask]
    return list(map(_Row, found.states, found.players.tolist(), found.over.tolist(), legal))
