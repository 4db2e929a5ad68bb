"""A copy of a player on another machine, made from the same specification, on all its cores.

In: a `Recipe`, then positions. Out: what the player chooses. Knows nothing of how they travel.
"""

import dataclasses
import hashlib
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from alphazero.games.registry import make_game
from alphazero.players.base import Choice, Player, PlayerSettings
from alphazero.players.uct import UctPlayer
from alphazero.runtime.random_generators import child_generator
from alphazero.workers.sent_game import name_here


class Recipe(NamedTuple):
    """All that another machine needs to make a player."""

    game: str  #: the game's name
    game_file: str | None  #: the text of the user's own game file
    network: bytes | None  #: the content of the network's file; None is UCT
    settings: PlayerSettings


class Limit(NamedTuple):
    """A player like another one, with another limit."""

    like: int  #: the other one's number
    num_simulations: int | None


class PlayerCopy:
    """Chooses moves on the cores of this process.

    A player with a network uses several cores by itself. UCT uses one; so there is one for each
    core, with a seed of its own, and always for the same rows of a batch.
    """

    def __init__(self, players: Sequence[Player]):
        self._players = players
        self._threads = ThreadPoolExecutor(len(players))

    @classmethod
    def make(cls, recipe: Recipe, num_threads: int, name: str) -> "PlayerCopy":
        """Return the copy of a recipe.

        Args:
            num_threads: that it may use.
            name: of this machine; together with the recipe's seed it gives the copy's seeds.
        """
        digest = hashlib.sha256((recipe.game_file or "").encode()).hexdigest()[:12]
        game = make_game(name_here(recipe.game, recipe.game_file, digest))
        if recipe.network is None:
            names = [f"{name} {thread}" for thread in range(num_threads)]
            return cls([UctPlayer(game, _seeded(recipe.settings, name)) for name in names])
        from alphazero.players.network import load_network_player
        from alphazero.runtime.device import limit_cores

        limit_cores(num_threads)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "network.safetensors"
            path.write_bytes(recipe.network)
            return cls([load_network_player(game, path, _seeded(recipe.settings, name))])

    def limited(self, num_simulations: int | None) -> "PlayerCopy":
        """Return a copy with another limit, see `alphazero.players.base.Player.limited`."""
        return PlayerCopy([player.limited(num_simulations, None) for player in self._players])

    def choose(self, states: np.ndarray) -> Choice:
        """See `alphazero.players.base.Player.choose`."""
        parts = np.array_split(states, min(len(self._players), len(states)))
        choices = self._threads.map(lambda player, part: player.choose(part), self._players, parts)
        return joined(list(choices))


def joined(choices: Sequence[Choice]) -> Choice:
    """Return the choices for the rows of all parts, in order."""
    return Choice(*map(np.concatenate, zip(*choices)))


def _seeded(settings: PlayerSettings, name: str) -> PlayerSettings:
    """Return the settings with the seed of the copy of this name."""
    seed = int(child_generator(settings.seed, f"copy {name}").integers(2**62))
    return dataclasses.replace(settings, seed=seed)
