"""Move and analyse with the page's players: networks, UCT, solvers, random moves, users' own.

In: an unfinished position and a player of the catalogue. Out: a `SearchView`, or a move.
"""

import functools
import math
import secrets
import threading
from pathlib import Path
from typing import Any

import numpy as np

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.play.requests import Refusal
from alphazero.players.base import PlayerSettings
from alphazero.players.python_uct import uct_player
from alphazero.players.registry import make_player
from alphazero.players.search_player import DEFAULT_SIMULATIONS, SearchPlayer
from alphazero.players.uct import DEFAULT_UCT_SIMULATIONS
from alphazero.search.uct.search import UctSearch
from alphazero.search.uct.settings import UctSettings
from alphazero.solvers.base import UnsolvableError
from alphazero.web.catalogue import ENDGAME, Catalogue, PlayerChoice
from alphazero.web.exact_scores import Solvers
from alphazero.web.jobs import Stopped
from alphazero.web.network_search import NetworkSearch, Question
from alphazero.web.search_view import (
    FINAL_NODES,
    RUNNING_NODES,
    SearchView,
    analysis_view,
    uct_view,
)

#: Maximum number of networks in memory; the least recently used one is dropped.
MAX_LOADED = 6
#: Default number of simulations, for each kind of player that searches.
SIMULATIONS_BY_KIND = {"network": DEFAULT_SIMULATIONS, "uct": DEFAULT_UCT_SIMULATIONS}
#: UCT reports progress 20 times per second; it takes a view of its tree after this many reports.
_REPORTS_PER_VIEW = 4


class Thinking:
    """Runs the players of the catalogue.

    Args:
        network_kind: the class of the user's own networks, see `PlayerSettings`.
    """

    def __init__(self, catalogue: Catalogue, network_kind: str | None = None):
        self._catalogue = catalogue
        self._network_kind = network_kind
        self.solvers = Solvers()
        self._load = functools.lru_cache(MAX_LOADED)(self._load_network)
        self._loading = threading.Lock()
        self._ready: set[tuple[str, Path | None]] = set()  # (game, network) pairs already used
        self._make_own = functools.cache(make_player)
        self._own_lock = threading.Lock()  # users' players need not be thread-safe

    def network(self, game: Game, player: PlayerChoice) -> NetworkSearch:
        """Get the searcher that uses a network of the catalogue, loading the network if necessary.

        Raises:
            Refusal: if the network cannot be loaded, for example because it was just deleted.
        """
        assert player.network is not None
        with self._loading:  # one at a time: loading uses all cores for seconds
            try:
                return self._load(game, player, player.network.stat().st_mtime_ns)
            except (ValueError, OSError) as error:
                raise Refusal(f"{player.name} cannot play: {error}") from None

    def _load_network(self, game: Game, player: PlayerChoice, _changed: int) -> NetworkSearch:
        from alphazero.players.network import load_network_player

        assert player.network is not None
        settings = PlayerSettings(endgame=ENDGAME, network_kind=self._network_kind)
        searcher = load_network_player(game, player.network, settings)
        assert isinstance(searcher, SearchPlayer)
        return NetworkSearch(searcher)

    def search(self, game: Game, player: PlayerChoice, question: Question) -> SearchView:
        """Search an unfinished position with a network or UCT, and return the final view.

        Raises:
            Refusal: if the network cannot be loaded.
            Stopped: if the client has stopped waiting for the response.
        """
        is_new = (game.name, player.network) not in self._ready
        if is_new and player.kind == "network":
            question.note("loading the network")
            self.network(game, player)
        if is_new and isinstance(game, CompiledGame):
            question.note("compiling the search, once")
        view = self._search(game, player, question)
        self._ready.add((game.name, player.network))
        return view

    def _search(self, game: Game, player: PlayerChoice, question: Question) -> SearchView:
        if player.kind == "network":
            return self.network(game, player).search(question)
        if isinstance(game, CompiledGame):
            return _search_uct(game, question)
        return _search_uncompiled(game, question)

    def move(self, game: Game, player: PlayerChoice, question: Question) -> dict[str, Any]:
        """Choose a player's move; return a dict with the keys action, value, num_simulations."""
        state = question.state
        if player.kind == "random":
            legal = np.flatnonzero(game.legal_action_mask(state[None])[0]).tolist()
            return {"action": secrets.choice(legal), "value": None, "num_simulations": 0}
        if player.kind == "own":
            return self._own_move(game, player, state)
        if player.kind == "solver":
            try:
                exact = self.solvers.scores(game, state)
                action = secrets.choice(exact.best)
                return {"action": action, "value": exact.value, "num_simulations": 0}
            except UnsolvableError:
                analyst = self._catalogue.analyst(game)
                player = self._catalogue.player(game, analyst["id"])
                question.num_simulations = SIMULATIONS_BY_KIND[player.kind]
        view = self.search(game, player, question)
        return {"action": view.best, "value": view.value, "num_simulations": view.num_simulations}

    def _own_move(self, game: Game, player: PlayerChoice, state: np.ndarray) -> dict[str, Any]:
        with self._own_lock:
            try:
                analysis = self._make_own(player.id, game).analyse(state)
            except ValueError as error:
                raise Refusal(f"{player.name} cannot play: {error}") from None
        value = None if math.isnan(analysis.value) else float(analysis.value)
        num_simulations = int(analysis.num_simulations)
        return {"action": int(analysis.action), "value": value, "num_simulations": num_simulations}


def _search_uct(game: CompiledGame, question: Question) -> SearchView:
    settings = UctSettings(num_simulations=question.num_simulations)
    search = UctSearch(game, settings, secrets.randbits(60))
    running, final = (RUNNING_NODES, FINAL_NODES) if question.with_tree else (0, 0)
    num_reports = 0

    def progress(*_: Any) -> None:
        nonlocal num_reports
        num_reports += 1
        if question.is_stopped():
            raise Stopped
        if question.watch is not None and num_reports % _REPORTS_PER_VIEW == 0:
            question.watch(uct_view(search, question.state, running))

    search.run(question.state, progress)
    return uct_view(search, question.state, final)


def _search_uncompiled(game: Game, question: Question) -> SearchView:
    """Search a position with UCT in a game without compiled rules; the view has no tree."""
    player = uct_player(game).limited(question.num_simulations)

    def progress(*_: Any) -> None:
        if question.is_stopped():
            raise Stopped

    return analysis_view(game, question.state, player.analyse(question.state, progress))
