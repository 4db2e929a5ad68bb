"""A player that searches with UCT and evaluates positions by rollouts, without a network."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.players.base import Analysis, Choice, PlayerSettings, SearchProgress
from alphazero.search.uct.search import UctSearch
from alphazero.search.uct.settings import PositionStatistics, UctSettings

#: Simulations per move if neither their number nor the time is limited.
DEFAULT_UCT_SIMULATIONS = 1000

#: The fields of `PlayerSettings` that are passed to the UCT search unchanged.
_UCT_KEYS = ["uct_c", "statistics", "keep_table", "final_move", "rollout", "rollout_weights"]


class UctBase:
    """What all UCT players have in common: they search positions one by one; see `Player`.

    Args:
        settings: search limits and UCT settings.
    """

    batch_size = 1
    #: searches a position; the result has its action, action weights and value as attributes
    _search_one: Callable[[np.ndarray], Any]

    def __init__(self, game: Game, settings: PlayerSettings):
        self.game = game
        self.settings = settings
        self.name = specification(settings)

    def choose(self, states: np.ndarray) -> Choice:
        """Search each position in turn and choose its best move; see `Player.choose`."""
        outputs = [self._search_one(state) for state in states]
        weights = np.array([output.action_weights for output in outputs], np.float32)
        return Choice(
            actions=np.array([output.action for output in outputs], np.int32),
            action_weights=weights.reshape(len(states), self.game.num_actions),
            values=np.array([output.value for output in outputs], np.float32),
        )

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> Self:
        """Return a new player with the given limits and an empty table; see `Player.limited`."""
        return type(self)(self.game, self.settings.limited(num_simulations, time_limit_s))


class UctPlayer(UctBase):
    """Plays the moves chosen by a UCT search with rollouts; see `Player`.

    Args:
        settings: search limits and UCT settings.
    """

    def __init__(self, game: CompiledGame, settings: PlayerSettings):
        super().__init__(game, settings)
        uct_settings = UctSettings(
            **{key: getattr(settings, key) for key in _UCT_KEYS},
            num_simulations=uct_simulations(settings),
            time_limit_s=settings.time_limit_s,
        )
        self._search = UctSearch(game, uct_settings, settings.seed)
        self._search_one = self._search.run

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """Search one position and report its move, values and visits; see `Player.analyse`."""
        output = self._search.run(state, progress)
        return Analysis(
            action=output.action,
            action_weights=output.action_weights,
            value=output.value,
            visits=output.visits,
            values=output.values,
            principal_variation=self._search.principal_variation(),
            num_simulations=output.num_simulations,
        )

    def lookup(self, state: np.ndarray) -> PositionStatistics | None:
        """Return the statistics that searches have stored for a position; see `UctSearch.lookup`.

        Args:
            state: the position, an array of K state words.

        Returns:
            The position's visits, wins and value; None if it is not in the search's table, or
            there is no table.
        """
        return self._search.lookup(state)


def _text(value: bool | float | str | list[float]) -> str:
    """Format the value of a setting for a player specification, such as "true" or "[1,0.5]"."""
    if isinstance(value, list):
        return f"[{','.join(f'{number:g}' for number in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return value


def uct_simulations(settings: PlayerSettings) -> int | None:
    """Return a UCT player's maximum simulations per move; None if only the time is limited.

    It is `DEFAULT_UCT_SIMULATIONS` (1000) if the settings limit neither simulations nor time.
    """
    if settings.num_simulations is None and settings.time_limit_s is None:
        return DEFAULT_UCT_SIMULATIONS
    return settings.num_simulations


def specification(settings: PlayerSettings) -> str:
    """Format UCT settings as a player specification, such as "uct:500,uct_c=0.7".

    Settings with their default values are left out.
    """
    num_simulations = uct_simulations(settings)
    parts = ["uct" if num_simulations is None else f"uct:{num_simulations}"]
    if settings.time_limit_s is not None:
        parts.append(f"time_limit_s={settings.time_limit_s:g}")
    default = PlayerSettings()
    for key in _UCT_KEYS:
        value = getattr(settings, key)
        if value != getattr(default, key):
            parts.append(f"{key}={_text(value)}")
    return ",".join(parts)
