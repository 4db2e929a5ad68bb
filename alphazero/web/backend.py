"""The answers to the page's requests, without HTTP: plain data in, plain data out.

In: the JSON object of a request. Out: the object of the answer, or for a stream a job that emits
several of them. A request is checked before its job begins, so that a refusal has a status of HTTP.
"""

import functools
from collections.abc import Callable
from typing import Any, Protocol

from alphazero.players.base import PlayerSettings
from alphazero.solvers.base import UnsolvableError
from alphazero.web import misplayed, position, review, run_charts
from alphazero.web.catalogue import Catalogue, PlayerChoice
from alphazero.web.exact_scores import Solvers, exact_answer, too_hard
from alphazero.web.fields import check_keys, number_field, object_field, text_field
from alphazero.web.found_runs import FoundRuns
from alphazero.web.networks import Networks
from alphazero.web.position import FIELDS, Position, read_position, unfinished
from alphazero.web.refusal import MALFORMED, Refusal
from alphazero.web.search_view import SearchView
from alphazero.web.thinking import Thinking, usual_simulations

_MAX_ID = 500


class Stream(Protocol):
    """Where a job sends its messages."""

    def emit(self, message: dict[str, Any]) -> None:
        """Send a message; one about progress may replace another that was not sent yet."""
        ...

    def is_stopped(self) -> bool:
        """Return whether nobody reads the messages any more."""
        ...


#: The work of a stream; it ends early when its stream is stopped.
Job = Callable[[Stream], None]


class Backend:
    """Answers requests; threads may use it at the same time.

    Args:
        runs: the folder of all training runs.
        game: a game that the user names besides the usual ones, None if they name none.
        settings: of the players with a network; None takes those of the levels.
    """

    def __init__(
        self,
        runs: str = "checkpoints",
        game: str | None = None,
        settings: PlayerSettings | None = None,
    ):
        self.catalogue = Catalogue(FoundRuns(runs), game)
        networks = Networks(self.catalogue, settings)
        self.thinking = Thinking(self.catalogue, networks, Solvers())

    def warm_up(self) -> None:
        """Load what the first move of the default game needs."""
        game = self.catalogue.game(self.catalogue.default_game)
        player = self.catalogue.players(game)[0]
        if player.kind in ("network", "uct"):
            self.thinking.search(game, game.initial_states()[0], player, 32, lambda: False)

    # --- answers at once --------------------------------------------------------------------------

    def games(self) -> dict[str, Any]:
        """Answer `api/games`."""
        return self.catalogue.describe()

    def position(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer `api/position`."""
        check_keys(request, *FIELDS, "from_ply")
        found = self._position(request)
        last = len(found.session.actions)
        return position.describe(found, number_field(request, "from_ply", 0, last) or 0)

    def exact(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer `api/exact`."""
        check_keys(request, *FIELDS)
        found = unfinished(self._position(request))
        try:
            exact = self.thinking.solvers.scores(found.game, found.state, lambda: False)
        except UnsolvableError as error:
            return {"known": False, "reason": too_hard(error, found.game)}
        return exact_answer(exact, found.game)

    def runs(self) -> dict[str, Any]:
        """Answer `api/runs`."""
        return run_charts.list_runs(self.catalogue)

    def run(self, run_id: str | None) -> dict[str, Any]:
        """Answer `api/run`."""
        return run_charts.show_run(self.catalogue, run_id)

    # --- streams ----------------------------------------------------------------------------------

    def move(self, request: dict[str, Any]) -> Job:
        """Return the job of `api/move`."""
        check_keys(request, *FIELDS, "player")
        found = unfinished(self._position(request))
        player, num = self._chosen(found.game, request.get("player"))
        num = usual_simulations(player) if num is None else num
        return functools.partial(self._move, found, player, num)

    def analyse(self, request: dict[str, Any]) -> Job:
        """Return the job of `api/analyse`."""
        check_keys(request, *FIELDS, "player")
        found = unfinished(self._position(request))
        player, num = self._searcher(found, request)
        num = usual_simulations(player) if num is None else num
        return functools.partial(self._analyse, found, player, num)

    def review(self, request: dict[str, Any]) -> Job:
        """Return the job of `api/review`."""
        check_keys(request, *FIELDS, "player")
        found = self._position(request)
        player, num_simulations = self._searcher(found, request)
        if num_simulations is not None:
            num_simulations = min(num_simulations, review.MAX_SIMULATIONS[player.kind])
        return functools.partial(self._review, found, player, num_simulations)

    def misplayed(self, request: dict[str, Any]) -> Job:
        """Return the job of `api/misplayed`."""
        check_keys(request, "game", "player")
        game = self.catalogue.game(request.get("game"))
        player, num_simulations = self._chosen(game, request.get("player"))
        if player.kind != "network":
            raise Refusal(f"{player.name} is no network: the others' positions are not tried.")
        positions = misplayed.find_positions(game)
        num = misplayed.NUM_SIMULATIONS if num_simulations is None else num_simulations
        num = min(num, misplayed.MAX_SIMULATIONS)

        def job(stream: Stream) -> None:
            shared = self.thinking.networks.search(game, player)
            misplayed.find_misplayed(shared, positions, num, stream.is_stopped, stream.emit)

        return job

    # --- jobs -------------------------------------------------------------------------------------

    def _move(
        self, found: Position, player: PlayerChoice, num_simulations: int | None, stream: Stream
    ) -> None:
        def watch(view: SearchView) -> None:
            stream.emit(
                {"type": "progress", "done": view.num_simulations, "total": num_simulations}
            )

        move = self.thinking.move(
            found.game, found.state, player, num_simulations, stream.is_stopped, watch
        )
        text = found.skin.notation.text(move["action"])
        stream.emit({"type": "move", "text": text} | move)

    def _analyse(
        self, found: Position, player: PlayerChoice, num_simulations: int | None, stream: Stream
    ) -> None:
        def emit(view: SearchView, final: bool = False) -> None:
            head = {"type": "analysis", "final": final, "total": num_simulations}
            stream.emit(head | view._asdict())

        view = self.thinking.search(
            found.game, found.state, player, num_simulations, stream.is_stopped, emit, True
        )
        emit(view, final=True)

    def _review(
        self, found: Position, player: PlayerChoice, num_simulations: int | None, stream: Stream
    ) -> None:
        review.review_game(
            self.thinking, found, player, num_simulations, stream.is_stopped, stream.emit
        )
        stream.emit({"type": "done"})

    # --- what a request names ---------------------------------------------------------------------

    def _position(self, request: dict[str, Any]) -> Position:
        game = self.catalogue.game(request.get("game"))
        return read_position(game, self.catalogue.skin(game, request), request)

    def _searcher(
        self, found: Position, request: dict[str, Any]
    ) -> tuple[PlayerChoice, int | None]:
        """Return the player of a request, who must search; the usual one if none is named."""
        chosen = request.get("player")
        if chosen is None:
            chosen = self.catalogue.analyst(found.game)
        player, num_simulations = self._chosen(found.game, chosen)
        if player.kind not in ("network", "uct"):
            raise Refusal(f"{player.name} does not search: take a network or uct.")
        return player, num_simulations

    def _chosen(self, game, chosen: Any) -> tuple[PlayerChoice, int | None]:
        chosen = object_field({"player": chosen}, "player")
        if chosen is None:
            raise Refusal('the request names no player, such as {"id": "uct"}.', MALFORMED)
        check_keys(chosen, "id", "num_simulations")
        player = self.catalogue.player(game, text_field(chosen, "id", _MAX_ID))
        least = 0 if player.kind == "network" else 1
        if player.max_simulations == 0:
            return player, None
        return player, number_field(chosen, "num_simulations", least, player.max_simulations)
