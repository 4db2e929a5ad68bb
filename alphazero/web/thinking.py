"""What the players of a page think: one interface for networks, UCT, solvers and random moves.

In: an unfinished position and a player of the catalogue. Out: a `SearchView`, or exact scores.
Networks share their searches (`alphazero.web.shared_search`); UCT and solvers take turns, so that
many people cannot take more than the cores there are.

Shapes: K state words, A actions.
"""

import secrets
from collections.abc import Callable
from typing import Any

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.search_player import DEFAULT_SIMULATIONS
from alphazero.players.uct import DEFAULT_UCT_SIMULATIONS
from alphazero.search.uct.search import UctSearch
from alphazero.search.uct.settings import UctSettings
from alphazero.solvers.base import UnsolvableError
from alphazero.web.catalogue import Catalogue, PlayerChoice
from alphazero.web.exact_scores import Solvers
from alphazero.web.networks import Networks
from alphazero.web.refusal import Refusal, Stopped
from alphazero.web.search_view import FINAL_NODES, RUNNING_NODES, SearchView
from alphazero.web.turns import IsStopped, Turns
from alphazero.web.uct_view import uct_view

#: UCT searches at the same time, and how many more may wait.
_NUM_UCT, _MAX_UCT_WAITING = 2, 60
#: UCT shows its tree every so many reports; it reports 20 times a second.
_REPORTS_PER_VIEW = 4

Watch = Callable[[SearchView], None]


def usual_simulations(player: PlayerChoice) -> int | None:
    """Return the simulations of a player if a request does not say; None if it does not search."""
    return {"network": DEFAULT_SIMULATIONS, "uct": DEFAULT_UCT_SIMULATIONS}.get(player.kind)


class Thinking:
    """Asks the players of the catalogue.

    Args:
        catalogue: the players.
        networks: loads those with a network.
    """

    def __init__(self, catalogue: Catalogue, networks: Networks, solvers: Solvers):
        self._catalogue = catalogue
        self.networks = networks
        self.solvers = solvers
        self._uct_turns = Turns(_NUM_UCT, _MAX_UCT_WAITING)

    def search(
        self,
        game: Game,
        state: np.ndarray,
        player: PlayerChoice,
        num_simulations: int | None,
        is_stopped: IsStopped,
        watch: Watch | None = None,
        for_analysis: bool = False,
    ) -> SearchView:
        """Return what a network or UCT finds in an unfinished position, [K].

        Args:
            num_simulations: None is the usual number; 0 asks a network alone.
            watch: called now and then with what is known so far.
            for_analysis: with the tree.

        Raises:
            Refusal: if the player does not search, or too many people ask.
            Stopped: if nobody waits for the answer any more.
        """
        num = usual_simulations(player) if num_simulations is None else num_simulations
        if player.kind == "network":
            shared = self.networks.search(game, player)
            return shared.search(state, num, is_stopped, watch, for_analysis)
        if player.kind == "uct":
            max_nodes = (RUNNING_NODES, FINAL_NODES) if for_analysis else (0, 0)
            with self._uct_turns.turn(is_stopped):
                return _search_uct(game, state, num, is_stopped, watch, max_nodes)
        raise Refusal(f"{player.name} does not search: take a network or uct.")

    def move(
        self,
        game: Game,
        state: np.ndarray,
        player: PlayerChoice,
        num_simulations: int | None,
        is_stopped: IsStopped,
        watch: Watch | None = None,
    ) -> dict[str, Any]:
        """Return the move that a player makes: action, value, num_simulations."""
        if player.kind == "random":
            legal = np.flatnonzero(game.legal_action_mask(state[None])[0]).tolist()
            return {"action": secrets.choice(legal), "value": None, "num_simulations": 0}
        if player.kind == "solver":
            try:
                exact = self.solvers.scores(game, state, is_stopped)
                action = secrets.choice(exact.best)
                return {"action": action, "value": exact.value, "num_simulations": 0}
            except UnsolvableError:
                player, num_simulations = self._stand_in(game), None
        view = self.search(game, state, player, num_simulations, is_stopped, watch)
        return {
            "action": view.best,
            "value": view.value,
            "num_simulations": view.num_simulations,
        }

    def _stand_in(self, game: Game) -> PlayerChoice:
        """Return who plays where the solver cannot: the network that ships, otherwise UCT."""
        players = {player.id: player for player in self._catalogue.players(game)}
        return players.get("best") or players["uct"]


def _search_uct(
    game: Game,
    state: np.ndarray,
    num_simulations: int,
    is_stopped: IsStopped,
    watch: Watch | None,
    max_nodes: tuple[int, int],
) -> SearchView:
    search = UctSearch(game, UctSettings(num_simulations=num_simulations), secrets.randbits(60))
    num_reports = 0

    def progress(*_) -> None:
        nonlocal num_reports
        num_reports += 1
        if is_stopped():
            raise Stopped
        if watch is not None and num_reports % _REPORTS_PER_VIEW == 0:
            watch(uct_view(search, state, max_nodes[0]))

    search.run(state, progress)
    return uct_view(search, state, max_nodes[1])
