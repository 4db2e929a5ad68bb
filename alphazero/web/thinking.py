"""Choose moves and analyse positions with the players that the page offers.

These are networks, UCT, the solver, random moves and user-supplied player classes.
"""

import functools
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
from alphazero.web.catalogue import Catalogue, PlayerChoice
from alphazero.web.exact_scores import Solvers
from alphazero.web.network_search import NetworkSearch, SearchTask
from alphazero.web.search_view import (
    FINAL_NODES,
    RUNNING_NODES,
    SearchView,
    analysis_view,
    uct_view,
)

#: Maximum number of networks in memory; the least recently used one is dropped. A game between two
#: networks and its analysis need three.
MAX_LOADED = 3
#: Default number of simulations, for each kind of player that searches.
SIMULATIONS_BY_KIND = {"network": DEFAULT_SIMULATIONS, "uct": DEFAULT_UCT_SIMULATIONS}
#: Number of UCT's progress reports, which come 20 times per second, between two of its snapshots.
_REPORTS_PER_VIEW = 4
#: Number of simulations between progress reports in a game without compiled rules.
_REPORT_EVERY = 20


class Thinking:
    """Chooses moves and searches positions with the players of a catalogue; it is thread-safe.

    Args:
        catalogue: lists the games and their players.
        network_kind: the user-defined network class ``module:Class`` that is imported if a stored
            network is of this class; if None, no such class is imported.
    """

    def __init__(self, catalogue: Catalogue, network_kind: str | None):
        self._catalogue = catalogue
        self._network_kind = network_kind
        self.solvers = Solvers()
        self._load = functools.lru_cache(MAX_LOADED)(self._load_network)
        self._loading = threading.Lock()
        self._ready: set[tuple[str, Path | None]] = set()  # (game, network) pairs already used
        self._make_own = functools.cache(make_player)
        self._own_lock = threading.Lock()  # users' players need not be thread-safe

    def network(self, game: Game, player: PlayerChoice) -> NetworkSearch:
        """Return the `NetworkSearch` of a player, loading its network if it is not in memory.

        Args:
            player: a player of the kind "network".

        Raises:
            Refusal: if the network cannot be loaded, for example because it was just deleted.
        """
        path = player.network
        assert path is not None
        with self._loading:  # one at a time: loading uses all cores for seconds
            try:
                return self._load(game, path, path.stat().st_mtime_ns)
            except (ValueError, OSError) as error:
                raise Refusal(f"{player.name} cannot play: {error}") from None

    def _load_network(self, game: Game, path: Path, _changed: int) -> NetworkSearch:
        from alphazero.players.network import load_network_player

        settings = PlayerSettings(endgame="auto", network_kind=self._network_kind)
        searcher = load_network_player(game, path, settings)
        assert isinstance(searcher, SearchPlayer)
        return NetworkSearch(searcher)

    def search(self, game: Game, player: PlayerChoice, task: SearchTask) -> SearchView:
        """Search an unfinished position with a network or with UCT, and return the final snapshot.

        Args:
            player: a player of the kind "network" or "uct".
            task: the position to search, and the callbacks that receive progress.

        Raises:
            Refusal: if the network cannot be loaded.
        """
        is_new = (game.name, player.network) not in self._ready
        if is_new and player.kind == "network":
            task.report(0, "loading the network")
            self.network(game, player)
        if is_new and isinstance(game, CompiledGame):
            task.report(0, "compiling the search, once")
        view = self._search(game, player, task)
        self._ready.add((game.name, player.network))
        return view

    def _search(self, game: Game, player: PlayerChoice, task: SearchTask) -> SearchView:
        if player.kind == "network":
            return self.network(game, player).search(task)
        if isinstance(game, CompiledGame):
            return _search_uct(game, task)
        return _search_uncompiled(game, task)

    def move(self, game: Game, player: PlayerChoice, task: SearchTask) -> int:
        """Choose a player's action in an unfinished position.

        If the player is the solver and cannot solve the position, the game's default player for
        analyses moves instead.

        Args:
            player: the player that chooses, of any kind that the page offers.
            task: the position, the number of simulations, and the callbacks that receive progress.

        Raises:
            Refusal: if the player cannot be loaded or made.
        """
        state = task.state
        if player.kind == "random":
            legal = np.flatnonzero(game.legal_action_mask(state[None])[0]).tolist()
            return secrets.choice(legal)
        if player.kind == "own":
            with self._own_lock:
                try:
                    choice = self._make_own(player.id, game).choose(state[None])
                    return int(choice.actions[0])
                except ValueError as error:
                    raise Refusal(f"{player.name} cannot play: {error}") from None
        if player.kind == "solver":
            try:
                return secrets.choice(self.solvers.scores(game, state).best)
            except UnsolvableError:
                analyst = self._catalogue.analyst(game)
                player = self._catalogue.player(game, analyst["id"])
                task.num_simulations = SIMULATIONS_BY_KIND[player.kind]
        return self.search(game, player, task).best


def _search_uct(game: CompiledGame, task: SearchTask) -> SearchView:
    settings = UctSettings(num_simulations=task.num_simulations)
    search = UctSearch(game, settings, secrets.randbits(60))
    num_reports = 0

    def progress(num_done: int, _: Any) -> None:
        nonlocal num_reports
        num_reports += 1
        task.report(num_done)
        if task.watch and num_reports % _REPORTS_PER_VIEW == 0:
            task.watch(uct_view(search, task.state, RUNNING_NODES))

    search.run(task.state, progress)
    return uct_view(search, task.state, FINAL_NODES if task.watch else 0)


def _search_uncompiled(game: Game, task: SearchTask) -> SearchView:
    """Search a position with UCT in a game whose rules are plain Python.

    Returns:
        A snapshot of the finished search, without a tree.
    """
    player = uct_player(game).limited(task.num_simulations)

    def progress(num_done: int, _: Any) -> None:
        if num_done % _REPORT_EVERY == 0:
            task.report(num_done)

    return analysis_view(game, task.state, player.analyse(task.state, progress))
