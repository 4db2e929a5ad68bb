"""UCT with random rollouts for games without compiled rules, using `alphazero.textbook`'s search.

A `PythonGame` is searched on its own position objects, because a search on arrays would spend most
of its time converting objects to rows and back. In other games, such as those from pgx, a position
is an array row together with the properties that the search needs.
"""

import random
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.batched_game import CompiledGame, Game, Transition
from alphazero.own_games.python_game import PythonGame
from alphazero.players.base import Analysis, Player, PlayerSettings, SearchProgress
from alphazero.players.uct import UctBase, UctPlayer, uct_simulations
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator, kernel_rng
from alphazero.textbook.uct import Node, Uct

#: UCT settings that need compiled rules or a table of positions: only their defaults are allowed.
_DEFAULTS_ONLY = ("statistics", "rollout", "rollout_weights", "keep_table")


def uct_player(game: Game, settings: PlayerSettings | None = None) -> Player:
    """Make a UCT player that uses compiled kernels if the game's rules are compiled.

    For other games, the player uses the pure-Python search of `alphazero.textbook`.

    Args:
        settings: search limits and UCT settings; None means the defaults.

    Raises:
        ConfigError: if a setting that needs compiled rules is changed and the game has none.
    """
    settings = settings or PlayerSettings()
    if isinstance(game, CompiledGame):
        return UctPlayer(game, settings)
    return TextbookUctPlayer(game, settings)


class _ObjectRules:
    """Adapts a `PythonGame` to `alphazero.textbook.game.Rules`: a state is a position object.

    Args:
        game: the `PythonGame`.
    """

    def __init__(self, game: Any):
        self._game = game

    def state_of(self, row: np.ndarray) -> Any:
        """Convert a position, given as K state words, to the state that the search uses."""
        return self._game.position(row)

    def initial_state(self) -> Any:
        return self.state_of(self._game.initial_states()[0])

    def player_to_move(self, state: Any) -> int:
        return state.player_to_move()

    def legal_actions(self, state: Any) -> list[int]:
        return list(state.legal_actions())

    def step(self, state: Any, action: int) -> Any:
        return self._game.after(state, action)

    def is_over(self, state: Any) -> bool:
        return state.is_over()

    def result(self, state: Any) -> float:
        return self._game.scaled_result(state)

    def rollout(self, game: Any, state: Any, rng: random.Random) -> float:
        """Play random moves from a position to the end, and return the result for player 0.

        Args:
            game: not used; `alphazero.textbook` passes it.
            state: the position object to start from; it stays unchanged.
            rng: the source of the random moves.

        Returns:
            The result in [-1, 1]; 1 if the player who moves first in the game wins.
        """
        state = self._game.copied(state)
        while not state.is_over():
            state.step(rng.choice(self.legal_actions(state)))
        result = self._game.scaled_result(state)
        return result if state.player_to_move() == 0 else -result


class _Row(NamedTuple):
    """A position of a batched game, with the properties that the search needs."""

    states: np.ndarray  #: [1, K], the position
    player: int  #: the player to move, 0 or 1
    over: bool
    result: float  #: the result in [-1, 1] for the player to move, if the game is over
    legal: list[int]  #: the legal actions

    def player_to_move(self) -> int:
        return self.player

    def is_over(self) -> bool:
        return self.over

    def legal_actions(self) -> list[int]:
        return self.legal


class _RowRules(_ObjectRules):
    """Adapts any batched game to `alphazero.textbook.game.Rules`: a state is a `_Row`.

    Args:
        game: the batched game.
        seed: seed of the random games in rollouts.
    """

    def __init__(self, game: Game, seed: int):
        super().__init__(game)
        self._rng = kernel_rng(child_generator(seed, "uct playouts"))

    def state_of(self, row: np.ndarray) -> _Row:
        return _read(self._game.inspect(row[None]))

    def step(self, state: _Row, action: int) -> _Row:
        after = self._game.step(state.states, np.array([action], np.int32))
        return _read(after)

    def result(self, state: _Row) -> float:
        return state.result

    def rollout(self, game: Any, state: _Row, rng: random.Random) -> float:
        result = float(self._game.playout(state.states, self._rng)[0])
        return -result if state.player else result


def _read(inspected: Transition) -> _Row:
    """Convert a `Transition` that describes a single position (B = 1) to a `_Row`."""
    player = int(inspected.players[0])
    over = bool(inspected.over[0])
    result = float(inspected.results[0])
    legal = np.flatnonzero(inspected.legal_action_mask[0]).tolist()
    return _Row(inspected.states, player, over, result, legal)


class TextbookUctPlayer(UctBase):
    """Searches positions one by one with the UCT search of `alphazero.textbook`; see `Player`.

    Args:
        settings: search limits and UCT settings.

    Raises:
        ConfigError: if a setting that needs compiled rules differs from its default.
    """

    def __init__(self, game: Game, settings: PlayerSettings):
        super().__init__(game, settings)
        self._search_one = self.analyse
        for key in _DEFAULTS_ONLY:
            value = getattr(settings, key)
            default = getattr(PlayerSettings(), key)
            if value != default:
                raise ConfigError.of(key, value, default, f"{game.name} has no compiled rules")
        seed = int(child_generator(settings.seed, "uct player").integers(1 << 63))
        if isinstance(game, PythonGame):
            self._rules: Any = _ObjectRules(game)
        else:
            self._rules = _RowRules(game, settings.seed)
        self._uct = Uct(
            self._rules,
            uct_c=settings.uct_c,
            final_move=settings.final_move,
            rng=random.Random(seed),
        )

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """Search one position and report its move, values and visits; see `Player.analyse`."""
        self.game.check_states(state[None])
        limits = uct_simulations(self.settings), self.settings.time_limit_s
        root = self._uct.search(self._rules.state_of(state), *limits, progress)
        return self._analysis(root)

    def _analysis(self, root: Node) -> Analysis:
        """Summarize the tree of a finished search as an `Analysis`.

        Values are in [-1, 1], for the player to move at the root.

        Args:
            root: the root of the tree.
        """
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

    def _line(self, node: Node, action: int) -> list[int]:
        """Return the principal variation: ``action``, then the most visited move at each node.

        Args:
            node: the root of the tree.
            action: the move chosen at the root.
        """
        line = [action]
        children = node.children[action].children
        while children:
            best = max(children, key=lambda action: children[action].visits)
            line.append(best)
            children = children[best].children
        return line
