"""The networks in memory: each is loaded when someone first asks for it; the latest few stay."""

import threading
from collections import OrderedDict
from pathlib import Path

from alphazero.games.batched_game import Game
from alphazero.players.base import PlayerSettings
from alphazero.storage.pretrained import shipped_network
from alphazero.web.catalogue import Catalogue, PlayerChoice
from alphazero.web.levels import ENDGAME
from alphazero.web.refusal import Refusal
from alphazero.web.shared_search import SharedSearch

MAX_LOADED = 6


class Networks:
    """Loads networks and keeps their searches.

    Args:
        catalogue: knows where networks lie.
        settings: of the players.
    """

    def __init__(self, catalogue: Catalogue, settings: PlayerSettings | None = None):
        self._catalogue = catalogue
        self._settings = settings or PlayerSettings(endgame=ENDGAME)
        self._loaded: OrderedDict[tuple[str, str], SharedSearch] = OrderedDict()
        self._turn = threading.Lock()

    def search(self, game: Game, player: PlayerChoice) -> SharedSearch:
        """Return the search with a network of the catalogue, after loading it if necessary.

        Raises:
            Refusal: if the network cannot be loaded, for example because it was just deleted.
        """
        key = (game.name, player.id)
        with self._turn:  # one is loaded at a time: it takes the whole machine for some seconds
            if key not in self._loaded:
                self._loaded[key] = self._load(game, player)
                while len(self._loaded) > MAX_LOADED:
                    self._loaded.popitem(last=False)
            self._loaded.move_to_end(key)
            return self._loaded[key]

    def _load(self, game: Game, player: PlayerChoice) -> SharedSearch:
        from alphazero.players.network import load_network_player

        try:
            return SharedSearch(load_network_player(game, self._path(game, player), self._settings))
        except ValueError as error:
            raise Refusal(f"{player.name} cannot play: {error}") from None

    def _path(self, game: Game, player: PlayerChoice) -> Path:
        if player.id == "best":
            path = shipped_network(game.name)
        else:
            path = self._catalogue.network_path(game, player.id)
        if path is None:
            raise Refusal(f"there is no network of {player.name} any more.")
        return path
