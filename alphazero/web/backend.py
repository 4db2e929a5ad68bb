"""Compute the responses to requests from the page of `alphazero serve`, independently of HTTP.

A request is a parsed JSON object. A response is data that can be written as JSON, or a job that
sends several messages. A request is validated before its job starts, so that a refused request gets
an HTTP error status.
"""

from collections.abc import Callable, Sequence
from typing import Any

from alphazero.play.requests import (
    DrawingRequest,
    PlayerRequest,
    PositionRequest,
    PositionsRequest,
    Refusal,
    SearchRequest,
    check_number,
    read_request,
)
from alphazero.solvers.base import UnsolvableError
from alphazero.web import position, review
from alphazero.web.catalogue import Catalogue, PlayerChoice
from alphazero.web.exact_scores import exact_answer
from alphazero.web.network_search import Emit, SearchTask
from alphazero.web.position import Position, read_position, unfinished
from alphazero.web.run_charts import RunCharts
from alphazero.web.search_view import SearchView
from alphazero.web.thinking import SIMULATIONS_BY_KIND, Thinking

#: A function that does the work of a request and sends its messages through the given callback.
Job = Callable[[Emit], None]
#: Default number of simulations for each kind of player that can move; 0 if the kind does not
#: search.
_MOVERS = SIMULATIONS_BY_KIND | {"solver": 0, "random": 0, "own": 0}


class Backend:
    """Computes the responses to requests from the page of `alphazero serve`; it is thread-safe.

    Args:
        runs: the folder of all training runs; it need not exist.
        games: names of the games that the user listed on the command line; the page offers them in
            addition to the standard ones.
        network_kind: the user-defined network class ``module:Class`` that is imported if a stored
            network is of this class; if None, no such class is imported.
        own_players: user-supplied players that use no network, each given as ``module:Class`` or as
            the name of an entry point.
    """

    def __init__(
        self,
        runs: str = "checkpoints",
        games: Sequence[str] = (),
        network_kind: str | None = None,
        own_players: Sequence[str] = (),
    ):
        self.catalogue = Catalogue(runs, games, own_players)
        self._charts = RunCharts(self.catalogue)
        self.thinking = Thinking(self.catalogue, network_kind)

    def warm_up(self) -> None:
        """Run a short search in the default game, to load its network and compile its kernels.

        The first request then need not wait for this work.
        """
        game = self.catalogue.game(self.catalogue.default_game)
        player = self.catalogue.players(game)[0]
        if player.kind in SIMULATIONS_BY_KIND:
            self.thinking.search(game, player, SearchTask(game.initial_states()[0], 32))

    # --- immediate responses ----------------------------------------------------------------------

    def games(self) -> dict[str, Any]:
        """Return the `api/games` response: every game with its players, and the default game.

        ``start`` of a game answers `api/position` for it, so that the first board needs no request.
        """
        described = self.catalogue.describe()
        for game in described["games"]:
            game["start"] = self.position({"game": game["name"], "moves": []})
        return described

    def position(self, plain: Any) -> dict[str, Any]:
        """Return the `api/position` response: the board, legal moves and status of each position.

        The positions are those of one game, from the request's ``from_ply`` to its last move.

        Args:
            plain: the parsed JSON body of the request (see `DrawingRequest`).

        Raises:
            Refusal: if the request is not valid, its board is not reachable, one of its moves is
                illegal, or ``from_ply`` is greater than the number of moves.
        """
        request = read_request(DrawingRequest, plain)
        found = self._position(request)
        from_ply = request.from_ply or 0
        check_number("from_ply", from_ply, 0, len(found.session.actions))
        return position.describe(found, from_ply)

    def positions(self, plain: Any) -> list[dict[str, Any]]:
        """Return the `api/positions` response: that of `api/position` to each of many requests.

        Args:
            plain: the parsed JSON body of the request (see `PositionsRequest`).

        Raises:
            Refusal: if one of the requests is refused, see `position`.
        """
        return [self.position(one) for one in read_request(PositionsRequest, plain).requests or ()]

    def exact(self, plain: Any) -> dict[str, Any]:
        """Return the `api/exact` response: the exact score of every move, if it can be computed.

        Args:
            plain: the parsed JSON body of the request (see `PositionRequest`).

        Returns:
            The scores and results of all actions, as `exact_answer` returns them. If the game has
            no solver or the solver gives up on the position, {"known": False, "reason": message}.

        Raises:
            Refusal: if the request is not valid, or the game is over.
        """
        found = unfinished(self._position(read_request(PositionRequest, plain)))
        try:
            exact = self.thinking.solvers.scores(found.game, found.session.state)
        except UnsolvableError as error:
            return {"known": False, "reason": str(error)}
        return exact_answer(exact)

    def live(self) -> dict[str, Any]:
        """Return an `api/live` message, which summarizes every training run."""
        return self._charts.list_runs()

    def run(self, run_id: str) -> dict[str, Any]:
        """Return the `api/run` response: the metrics of one training run, as charts.

        Args:
            run_id: path of the run's folder relative to the folder of all runs.

        Raises:
            Refusal: if there is no run with this id.
        """
        return self._charts.show_run(run_id)

    # --- streams ----------------------------------------------------------------------------------

    def move(self, plain: Any) -> Job:
        """Make the `api/move` job, which lets a player choose a move and sends it to the client.

        Args:
            plain: the parsed JSON body of the request (see `SearchRequest`).

        Raises:
            Refusal: if the request is not valid, the game is over, or there is no such player.
        """
        found, player, num_simulations = self._search(plain, _MOVERS)
        unfinished(found)

        def job(emit: Emit) -> None:
            task = SearchTask(found.session.state, num_simulations, emit)
            action = self.thinking.move(found.game, player, task)
            emit({"type": "move", "action": action})

        return job

    def analyse(self, plain: Any) -> Job:
        """Make the `api/analyse` job, which searches a position and sends snapshots of the search.

        Args:
            plain: the parsed JSON body of the request (see `SearchRequest`).

        Raises:
            Refusal: if the request is not valid, the game is over, or the player does not search.
        """
        found, player, num_simulations = self._search(plain, SIMULATIONS_BY_KIND)
        unfinished(found)

        def job(emit: Emit) -> None:
            def show(view: SearchView, final: bool = False) -> None:
                head = {"type": "analysis", "final": final, "total": num_simulations}
                emit(head | view._asdict())

            task = SearchTask(found.session.state, num_simulations, emit, show)
            show(self.thinking.search(found.game, player, task), final=True)

        return job

    def review(self, plain: Any) -> Job:
        """Make the `api/review` job, which evaluates a game's positions and moves.

        For each move, it computes how much value the move gave up.

        Args:
            plain: the parsed JSON body of the request (see `SearchRequest`).

        Raises:
            Refusal: if the request is not valid, or the player does not search.
        """
        found, player, num = self._search(plain, review.NUM_SIMULATIONS)
        num = min(num, review.MAX_SIMULATIONS[player.kind])
        return lambda emit: review.review_game(self.thinking, found, player, num, emit)

    # --- looking up positions and players ---------------------------------------------------------

    def _position(self, request: PositionRequest) -> Position:
        game = self.catalogue.game(request.game)
        return read_position(game, self.catalogue.skin(game, request.setup), request)

    def _search(self, plain: Any, defaults: dict[str, int]) -> tuple[Position, PlayerChoice, int]:
        """Look up the requested position and player, and with how many simulations it plays.

        Args:
            plain: the parsed JSON body of the request (see `SearchRequest`). If it names no player,
                the game's default player for analyses is meant.
            defaults: the kinds of player that are allowed, each with its default number of
                simulations.

        Returns:
            The position, the player and its number of simulations per move, which is 0 for players
            that do not search.

        Raises:
            Refusal: if the request is not valid, there is no such player, its kind is not allowed,
                or its number of simulations is outside the allowed range.
        """
        asked = read_request(SearchRequest, plain)
        found = self._position(asked)
        named = self.catalogue.analyst(found.game) if asked.player is None else asked.player
        request = read_request(PlayerRequest, named)
        player = self.catalogue.player(found.game, request.id)
        if player.kind not in defaults:
            raise Refusal(f"{player.name} cannot do this; choose {' or '.join(defaults)}.")
        num = request.num_simulations
        if num is None or player.max_simulations == 0:
            return found, player, defaults[player.kind]
        min_simulations = 0 if player.kind == "network" else 1
        check_number("num_simulations", num, min_simulations, player.max_simulations)
        return found, player, num
