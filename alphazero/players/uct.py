"""The player that searches with UCT and random rollouts."""

import dataclasses

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.base import Analysis, Choice, PlayerSettings, Progress

#: Simulations of a UCT player that is given neither a number nor a time.
DEFAULT_UCT_SIMULATIONS = 1000


class UctPlayer:
    """Plays what the UCT search with random rollouts says; see `alphazero.search.uct.search`."""

    batch_size = 1

    def __init__(self, game: Game, settings: PlayerSettings | None = None):
        self.game = game
        self.settings = settings or PlayerSettings()
        self.name = _uct_name(self.settings)
        self._search = _uct_search(game, self.settings)

    def choose(self, states: np.ndarray) -> Choice:
        outputs = [self._search.run(state) for state in states]
        weights = (
            np.stack([output.action_weights for output in outputs])
            if outputs
            else np.zeros((0, self.game.num_actions), np.float32)
        )
        return Choice(
            np.array([output.action for output in outputs], np.int32),
            weights,
            np.array([output.value for output in outputs], np.float32),
        )

    def analyse(self, state: np.ndarray, progress: Progress | None = None) -> Analysis:
        output = self._search.run(state, progress)
        return Analysis(
            int(output.action),
            output.action_weights,
            float(output.value),
            output.visits,
            output.values,
            self._search.principal_variation(),
            int(output.num_simulations),
        )

    def limited(self, num_simulations: int | None, time_limit_s: float | None) -> "UctPlayer":
        if num_simulations is None and time_limit_s is None:
            return UctPlayer(self.game, self.settings)
        return UctPlayer(
            self.game,
            dataclasses.replace(
                self.settings, num_simulations=num_simulations, time_limit_s=time_limit_s
            ),
        )


def _uct_search(game: Game, settings: PlayerSettings):
    from alphazero.search.uct.search import UctSearch, UctSettings

    uct_settings = UctSettings(
        uct_c=settings.uct_c,
        num_simulations=uct_simulations(settings),
        time_limit_s=settings.time_limit_s,
        statistics=settings.statistics,
        final_move=settings.final_move,
        rollout=settings.rollout,
        rollout_weights=settings.rollout_weights,
    )
    return UctSearch(game, uct_settings, settings.seed)


def uct_simulations(settings: PlayerSettings) -> int | None:
    """Return the largest number of simulations that the settings allow a UCT player for one move; None where only the clock ends it."""
    if settings.num_simulations is None and settings.time_limit_s is None:
        return DEFAULT_UCT_SIMULATIONS
    return settings.num_simulations


def _uct_name(settings: PlayerSettings) -> str:
    parts = []
    if settings.num_simulations is not None or settings.time_limit_s is None:
        parts.append(f"uct:{uct_simulations(settings)}")
    if settings.time_limit_s is not None:
        parts.append(f"{'' if parts else 'uct,'}time_limit_s={settings.time_limit_s:g}")
    standard = PlayerSettings()
    for key in ("uct_c", "statistics", "final_move", "rollout"):
        value = getattr(settings, key)
        if value != getattr(standard, key):
            parts.append(f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}")
    if settings.rollout_weights is not None:
        parts.append(
            f"rollout_weights=[{','.join(f'{weight:g}' for weight in settings.rollout_weights)}]"
        )
    return ",".join(parts)
