"""Compute the responses to the page's requests, independently of HTTP.

A request is a parsed JSON object. The response is plain data for JSON, or a job that emits several
messages. A request is validated before its job starts, so that a refusal gets an HTTP status.
"""

from collections.abc import Callable, Sequence
from typing import Any

from alphazero.games.batched_game import Game
from alphazero.play.requests import (
    DrawingRequest,
    PlayerRequest,
    PositionRequest,
    Refusal,
    SearchRequest,
    check_number,
    read_request,
)
from alphazero.solvers.base import UnsolvableError
from alphazero.web import misplayed, position, review
from alphazero.web.catalogue import Catalogue, PlayerChoice
from alphazero.web.exact_scores import exact_answer
from alphazero.web.network_search import Emit, SearchTask
from alphazero.web.position import Position, read_position, unfinished
from alphazero.web.run_charts import RunCharts
from alphazero.web.search_view import SearchView
from alphazero.web.thinking import SIMULATIONS_BY_KIND, Thinking

#: Work for a request, which sends messages to the client.
Job = Callable[[Emit], None]
#: Default number of simulations for each kind of player that can move; 0 if it does not search.
_MOVERS = SIMULATIONS_BY_KIND | {"solver": 0, "random": 0, "own": 0}


class Backend:
    """Computes the responses to the page's requests; it is thread-safe.

    Args:
        runs: the folder of all training runs.
        games: names of further games, which the user listed on the command line.
        network_kind: the class of the user's own networks, see `PlayerSettings`.
        own_players: specifications of the user's own players that use no network.
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
        """Load the default game's network and compile its kernels, by searching the start."""
        game = self.catalogue.game(self.catalogue.default_game)
        player = self.catalogue.players(game)[0]
        if player.kind in SIMULATIONS_BY_KIND:
            self.thinking.search(game, player, SearchTask(game.initial_states()[0], 32))

    # --- immediate responses ----------------------------------------------------------------------

    def games(self) -> dict[str, Any]:
        """Return the `api/games` response: the games, each with its players and levels."""
        return self.catalogue.describe()

    def position(self, plain: Any) -> dict[str, Any]:
        """Return the `api/position` response: the data from which the page draws positions."""
        request = read_request(DrawingRequest, plain)
        found = self._position(request)
        from_ply = request.from_ply or 0
        check_number("from_ply", from_ply, 0, len(found.session.actions))
        return position.describe(found, from_ply)

    def exact(self, plain: Any) -> dict[str, Any]:
        """Return the `api/exact` response: the exact scores of all moves, if they are known."""
        found = unfinished(self._position(read_request(PositionRequest, plain)))
        try:
            exact = self.thinking.solvers.scores(found.game, found.state)
        except UnsolvableError as error:
            return {"known": False, "reason": str(error)}
        return exact_answer(exact)

    def live(self) -> dict[str, Any]:
        """Return an `api/live` message: the training runs, with a summary of each."""
        return self._charts.list_runs()

    def run(self, run_id: str) -> dict[str, Any]:
        """Return the `api/run` response: the metrics of a training run, as charts."""
        return self._charts.show_run(run_id)

    # --- streams ----------------------------------------------------------------------------------

    def move(self, plain: Any) -> Job:
        """Make the `api/move` job, which chooses a player's move."""
        request = read_request(SearchRequest, plain)
        found = unfinished(self._position(request))
        player, num_simulations = self._player(found.game, request.player, _MOVERS)

        def job(emit: Emit) -> None:
            task = SearchTask(found.state, num_simulations, emit)
            action = self.thinking.move(found.game, player, task)
            emit({"type": "move", "action": action})

        return job

    def analyse(self, plain: Any) -> Job:
        """Make the `api/analyse` job, which searches a position and emits views of the search."""
        request = read_request(SearchRequest, plain)
        found = unfinished(self._position(request))
        player, num_simulations = self._player(found.game, request.player, SIMULATIONS_BY_KIND)

        def job(emit: Emit) -> None:
            def show(view: SearchView, final: bool = False) -> None:
                head = {"type": "analysis", "final": final, "total": num_simulations}
                emit(head | view._asdict())

            task = SearchTask(found.state, num_simulations, emit, show)
            show(self.thinking.search(found.game, player, task), final=True)

        return job

    def review(self, plain: Any) -> Job:
        """Make the `api/review` job, which evaluates every position of a game."""
        request = read_request(SearchRequest, plain)
        found = self._position(request)
        player, num = self._player(found.game, request.player, review.NUM_SIMULATIONS)
        num = min(num, review.MAX_SIMULATIONS[player.kind])
        return lambda emit: review.review_game(self.thinking, found, player, num, emit)

    def misplayed(self, plain: Any) -> Job:
        """Make the `api/misplayed` job, which finds positions that a network misplays."""
        request = read_request(SearchRequest, plain)
        game = self.catalogue.game(request.game)
        player, num = self._player(game, request.player, {"network": misplayed.NUM_SIMULATIONS})
        positions = misplayed.find_positions(game)
        num = min(num, misplayed.MAX_SIMULATIONS)

        def job(emit: Emit) -> None:
            loading = {"type": "progress", "done": 0, "total": len(positions.moves)}
            emit(loading | {"note": "loading the network"})
            network = self.thinking.network(game, player)
            misplayed.find_misplayed(network, positions, num, emit)

        return job

    # --- looking up positions and players ---------------------------------------------------------

    def _position(self, request: PositionRequest) -> Position:
        game = self.catalogue.game(request.game)
        return read_position(game, self.catalogue.skin(game, request.setup), request)

    def _player(
        self, game: Game, request: PlayerRequest | None, defaults: dict[str, int]
    ) -> tuple[PlayerChoice, int]:
        """Look up the requested player and its number of simulations, which is 0 without search.

        Args:
            request: the requested player; None means the game's default analyst.
            defaults: default number of simulations for each kind of player that is allowed.

        Raises:
            Refusal: if there is no such player, its kind is not allowed, or it asks for more
                simulations than are allowed.
        """
        request = request or PlayerRequest(**self.catalogue.analyst(game))
        player = self.catalogue.player(game, request.id)
        if player.kind not in defaults:
            raise Refusal(f"{player.name} cannot do this; choose {' or '.join(defaults)}.")
        num = request.num_simulations
        if num is None or player.max_simulations == 0:
            return player, defaults[player.kind]
        min_simulations = 0 if player.kind == "network" else 1
        check_number("num_simulations", num, min_simulations, player.max_simulations)
        return player, num
