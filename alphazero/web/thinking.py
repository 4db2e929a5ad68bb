"""What the players of a page think: one interface for networks, UCT, solvers and random moves.

In: an unfinished position and a player of the catalogue. Out: a `SearchView`, or exact scores.
Networks share their searches (`alphazero.web.shared_search`); UCT and solvers take turns, so that
many people cannot take more than the cores there are.

Shapes: K state words, A actions.
"""

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.games.connect_x import ConnectX
from alphazero.games.othello import Othello
from alphazero.players.evaluator_player import DEFAULT_SIMULATIONS
from alphazero.players.uct import DEFAULT_UCT_SIMULATIONS
from alphazero.search.uct.search import UctSearch
from alphazero.search.uct.settings import UctSettings
from alphazero.solvers import bitbully
from alphazero.solvers.base import ILLEGAL_SCORE, Solver, UnsolvableError, values_of
from alphazero.solvers.connect_x import ConnectXSolver
from alphazero.solvers.othello import OthelloSolver
from alphazero.solvers.registry import make_solver
from alphazero.web.catalogue import Catalogue, PlayerChoice
from alphazero.web.networks import Networks
from alphazero.web.refusal import BUSY, Refusal, Stopped
from alphazero.web.search_view import FINAL_NODES, RUNNING_NODES, SearchView, uct_view

#: UCT searches at the same time, and how many more may wait.
_NUM_UCT, _MAX_UCT_WAITING = 2, 60
_MAX_SOLVER_WAITING = 40
#: Nodes for the exact scores of a position: about a second.
_SOLVER_NODES = 10_000_000
_MAX_REMEMBERED = 4_096
#: UCT shows its tree every so many reports; it reports 20 times a second.
_REPORTS_PER_VIEW = 4

Watch = Callable[[SearchView], None]
IsStopped = Callable[[], bool]


def usual_simulations(player: PlayerChoice) -> int | None:
    """Return the simulations of a player if a request does not say; None if it does not search."""
    return {"network": DEFAULT_SIMULATIONS, "uct": DEFAULT_UCT_SIMULATIONS}.get(player.kind)


class Turns:
    """Lets a few threads work at a time, and refuses more than a few that wait."""

    def __init__(self, num_working: int, max_waiting: int):
        self._working = threading.Semaphore(num_working)
        self._places = threading.Semaphore(num_working + max_waiting)

    @contextlib.contextmanager
    def turn(self, is_stopped: IsStopped) -> Iterator[None]:
        """Wait for a turn.

        Raises:
            Refusal: if too many wait already.
            Stopped: if nobody waits for the answer any more.
        """
        if not self._places.acquire(blocking=False):
            raise Refusal("too many people ask at the same time: try again soon.", BUSY)
        try:
            while not self._working.acquire(timeout=0.1):
                if is_stopped():
                    raise Stopped
            try:
                yield
            finally:
                self._working.release()
        finally:
            self._places.release()


class ExactScores(NamedTuple):
    """The exact scores of a position."""

    scores: np.ndarray  #: int16[A], see `alphazero.solvers.base.Solver`

    @property
    def values(self) -> np.ndarray:
        """Results after each action for the player who moves, int8[A]."""
        return values_of(self.scores)

    @property
    def value(self) -> int:
        """The result under perfect play."""
        return int(self.values.max())

    @property
    def best(self) -> list[int]:
        """The actions with the highest score."""
        return np.flatnonzero(self.scores == self.scores.max()).tolist()


class Solvers:
    """Exact scores of positions, remembered; one position is solved at a time."""

    def __init__(self, max_nodes: int = _SOLVER_NODES):
        self._max_nodes = max_nodes
        self._solvers: dict[str, Solver] = {}
        self._known: dict[tuple[str, bytes], ExactScores | UnsolvableError] = {}
        self._turns = Turns(1, _MAX_SOLVER_WAITING)

    def scores(self, game: Game, state: np.ndarray, is_stopped: IsStopped) -> ExactScores:
        """Return the exact scores of an unfinished position, [K].

        Raises:
            UnsolvableError: if they take too long, or the game has no solver.
        """
        key = (game.name, state.tobytes())
        found = self._known.get(key)
        if found is None:
            with self._turns.turn(is_stopped):
                found = self._known.get(key) or self._solve(game, state)
                self._remember(key, found)
        if isinstance(found, UnsolvableError):
            raise found
        return found

    def _solve(self, game: Game, state: np.ndarray) -> ExactScores | UnsolvableError:
        try:
            if game.name not in self._solvers:
                self._solvers[game.name] = self._make(game)
            return ExactScores(self._solvers[game.name].scores(state[None])[0])
        except UnsolvableError as error:
            return error

    def _make(self, game: Game) -> Solver:
        rules = getattr(game, "rules", None)
        if isinstance(rules, Othello):
            return OthelloSolver(game, max_nodes=self._max_nodes)
        if isinstance(rules, ConnectX) and not (bitbully.solves(game) and bitbully.available()):
            return ConnectXSolver(game, max_nodes=self._max_nodes)
        return make_solver(game)

    def _remember(self, key: tuple[str, bytes], found) -> None:
        while len(self._known) >= _MAX_REMEMBERED:
            self._known.pop(next(iter(self._known)))
        self._known[key] = found


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


def exact_answer(exact: ExactScores, game: Game) -> dict[str, Any]:
    """Return the answer of `api/exact` for a position that was solved."""
    is_legal = exact.scores != ILLEGAL_SCORE
    return {
        "known": True,
        "value": exact.value,
        "scores": _listed(exact.scores, is_legal),
        "values": _listed(exact.values, is_legal),
        "meaning": "discs" if game.name.startswith("othello") else "distance",
    }


def _listed(numbers: np.ndarray, is_legal: np.ndarray) -> list[int | None]:
    return [int(value) if legal else None for value, legal in zip(numbers, is_legal)]
