"""The settings of the replay buffer, and the formula for the size of its window."""

import dataclasses
import os

from alphazero.config.settings import option
from alphazero.games.batched_game import Game
from alphazero.runtime.errors import ConfigError

_ALPHA = 0.75  # exponent of the window's growth, as in KataGo
_BETA = 0.4  # slope of the window's growth at the start, as in KataGo


@dataclasses.dataclass
class ReplaySettings:
    """The settings of the replay buffer: the window's size, symmetries and weighting of samples.

    The window is KataGo's (arXiv 1902.10565, appendix C); see `window_size`.
    """

    window_start: int = option(20_000, "samples in the window until more have been made", low=1)
    window_max: int = option(500_000, "maximum samples in the window; bounds the memory", low=1)
    window_iterations: int = option(
        0,
        "the window is this number of newest iterations, up to window_max samples; 0 sizes it by "
        "samples, as above",
        low=0,
        high=1_000_000,
    )
    symmetries: str = option(
        "random",
        "random: transform each sample by a random symmetry of the game whenever it is drawn; all: "
        "store each distinct symmetric image as a separate sample; none",
        choices=("random", "all", "none"),
    )
    surprise_fraction: float = option(
        0.0,
        "fraction of a game's samples assigned by how far search moved the policy (KataGo: 0.5)",
        low=0.0,
        high=1.0,
    )


def window_size(num_added: int, settings: ReplaySettings) -> int:
    """Return the size of the replay window, in samples, after ``num_added`` samples in total.

        start * (1 + beta * ((num_added / start)^alpha - 1) / alpha)

    Here start is ``window_start``, alpha is 0.75 and beta is 0.4. ``num_added`` is raised to at
    least start, and the result is limited to ``window_max``.
    """
    start = settings.window_start
    if num_added <= start:
        return min(start, settings.window_max)
    size = start * (1 + _BETA * ((num_added / start) ** _ALPHA - 1) / _ALPHA)
    return int(min(size, settings.window_max))


def check_memory(settings: ReplaySettings, game: Game) -> None:
    """Check that the positions of the largest window fit into half of this machine's memory.

    Raises:
        ConfigError: if they do not.
    """
    if hasattr(os, "sysconf"):  # not on Windows
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        position = game.identity_size * game.state_dtype.itemsize
        most = memory // (2 * position)
        if settings.window_max > most:
            reason = f"a position of {game.name} takes {position:,} bytes"
            allowed = f"half of this machine's memory, at most {most}"
            raise ConfigError.of("replay.window_max", settings.window_max, allowed, reason)
