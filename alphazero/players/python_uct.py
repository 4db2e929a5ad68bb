"""UCT with random rollouts for games in plain Python: the textbook's search on the game's objects.

In: positions of a `PythonGame`. Out: moves. Through arrays, the compiled search would spend most of
its time on turning objects into rows and back.
"""

import dataclasses
import random
from typing import Any

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.games.python_game import PythonGame
from alphazero.players.base import Analysis, Choice, Player, PlayerSettings, SearchProgress
from alphazero.players.uct import UctPlayer, specification, uct_simulations
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator
from alphazero.textbook.uct import Node, Uct

#: Settings of UCT that need compiled rules or a table, and their defaults.
_DEFAULTS_ONLY = ("statistics", "rollout", "rollout_weights", "record_rollouts", "keep_table")


def uct_player(game: Game, settings: PlayerSettings | None = None) -> Player:
    """Return the UCT player that suits a game."""
    if isinstance(game, PythonGame):
        return PythonUctPlayer(game, settings)
    return UctPlayer(game, settings)


class ObjectRules:
    """The objects of a `PythonGame` as `alphazero.textbook.game.Rules`; results in [-1, 1]."""

    def __init__(self, game: PythonGame):
        self._game = game

    def initial_state(self) -> Any:
        """See `Rules`."""
        return self._game.position(self._game.initial_states()[0])

    def player_to_move(self, state: Any) -> int:
        """See `Rules`."""
        return state.player_to_move()

    def legal_actions(self, state: Any) -> list[int]:
        """See `Rules`."""
        return list(state.legal_actions())

    def step(self, state: Any, action: int) -> Any:
        """See `Rules`."""
        return self._game.after(state, action)

    def is_over(self, state: Any) -> bool:
        """See `Rules`."""
        return state.is_over()

    def result(self, state: Any) -> float:
        """See `Rules`."""
        return self._game.scaled_result(state)

    def rollout(self, game: Any, state: Any, rng: random.Random) -> float:
        """Return the result of a random game for player 0; one copy serves all its moves."""
        if not state.is_over():
            state = self._game.copied(state)
        while not state.is_over():
            state.step(rng.choice(state.legal_actions()))
        result = self._game.scaled_result(state)
        return result if state.player_to_move() == 0 else -result


class PythonUctPlayer:
    """See `alphazero.players.uct.UctPlayer`.

    Raises:
        ConfigError: for a setting that these games do not have.
    """

    batch_size = 1

    def __init__(self, game: PythonGame, settings: PlayerSettings | None = None):
        self.game = game
        self.settings = settings or PlayerSettings()
        for key in _DEFAULTS_ONLY:
            value, default = getattr(self.settings, key), getattr(PlayerSettings(), key)
            if value != default:
                raise ConfigError.of(key, value, default, f"{game.name} has no compiled rules")
        self.name = specification(self.settings)
        seed = int(child_generator(self.settings.seed, "uct player").integers(1 << 63))
        self._uct = Uct(
            ObjectRules(game),
            uct_c=self.settings.uct_c,
            final_move=self.settings.final_move,
            rng=random.Random(seed),
        )

    def choose(self, states: np.ndarray) -> Choice:
        """See `alphazero.players.base.Player.choose`."""
        found = [self.analyse(state) for state in states]
        return Choice(
            actions=np.array([one.action for one in found], np.int32),
            action_weights=np.stack([one.action_weights for one in found]),
            values=np.array([one.value for one in found], np.float32),
        )

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """See `alphazero.players.base.Player.analyse`."""
        limits = uct_simulations(self.settings), self.settings.time_limit_s
        root = self._uct.search(self.game.position(state), *limits, progress)
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
    ) -> "PythonUctPlayer":
        """See `alphazero.players.base.Player.limited`."""
        if num_simulations is None and time_limit_s is None:
            return PythonUctPlayer(self.game, self.settings)
        settings = dataclasses.replace(
            self.settings, num_simulations=num_simulations, time_limit_s=time_limit_s
        )
        return PythonUctPlayer(self.game, settings)

    def _line(self, node: Node, action: int) -> list[int]:
        """Return the expected line: an action, then the most visited ones."""
        line = [action]
        while (node := node.children[line[-1]]).children:
            line.append(max(node.children, key=lambda action: node.children[action].visits))
        return line
