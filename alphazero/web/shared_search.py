"""One search for all people who ask the same network: their positions share its batches.

In: positions from many threads, each with its number of simulations. Out: a `SearchView` for each.
One thread steps two `TreeSearch`es in turn, a large one for moves and a small one with bigger trees
for analyses. A position takes a row when one is free and leaves it when its search is finished or
when nobody waits for it any more; the others go on.

The thread ends when nobody asks, and starts again with the next question.
"""

import functools
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent import futures
from dataclasses import dataclass, field

import numpy as np

from alphazero.play.requests import BUSY, Refusal
from alphazero.players.search_player import SearchPlayer, leaves_per_step
from alphazero.search.batched_search import TreeSearch
from alphazero.web.catalogue import MAX_NETWORK_SIMULATIONS
from alphazero.web.search_view import (
    FINAL_NODES,
    RUNNING_NODES,
    RootAnswer,
    SearchView,
    puct_view,
    root_answer,
)
from alphazero.web.turns import IsStopped, Stopped

#: Positions at once and simulations of each, for moves and for analyses.
MOVES, ANALYSES = (32, 1_600), (8, MAX_NETWORK_SIMULATIONS)
MAX_WAITING = 400
_VIEW_EVERY_S = 0.2
#: How often a waiting thread looks whether its person is still there.
_POLL_S = 0.05

Watch = Callable[[SearchView], None]


@dataclass(eq=False)
class Question:
    """A position to search, and what has been found so far."""

    state: np.ndarray  #: [K], not finished
    num_simulations: int  #: 0 asks a network alone, and is for players that do not search
    is_stopped: IsStopped = lambda: False  #: whether nobody waits for the answer any more
    watch: Watch | None = None  #: called now and then with what is known so far
    for_analysis: bool = False  #: with the tree, in one of the few places of analyses
    note: Callable[[str], None] = lambda text: None  #: called with what has to be done first
    found: futures.Future[SearchView] = field(default_factory=futures.Future)
    answer: RootAnswer | None = None
    viewed_at: float = 0.0


class SharedSearch:
    """Searches positions for many threads at once, with one player's network.

    Args:
        player: has loaded the network.
        moves, analyses: positions at once, and the most simulations of each, in the two searches.
    """

    def __init__(
        self,
        player: SearchPlayer,
        moves: tuple[int, int] = MOVES,
        analyses: tuple[int, int] = ANALYSES,
    ):
        self.player = player
        self._moves, self._analyses = _Rows(player, *moves), _Rows(player, *analyses)
        self._lock = threading.Lock()  # of what waits, and of whether the thread runs
        self._is_running = False

    @property
    def num_questions(self) -> int:
        """Positions that are searched or wait for it."""
        return len(self._moves) + len(self._analyses)

    def search(self, question: Question) -> SearchView:
        """Search a position and return what was found; wait for a place if there is none.

        Raises:
            Refusal: if too many positions wait already.
            Stopped: if the question was stopped.
        """
        self.begin(question)
        return self.wait(question)

    def begin(self, question: Question) -> None:
        """Ask about a position without waiting; see `search` and `wait`."""
        is_large = question.num_simulations > self._moves.max_simulations
        rows = self._analyses if question.for_analysis or is_large else self._moves
        with self._lock:
            if len(rows.waiting) >= MAX_WAITING:
                raise Refusal("too many positions are being searched here: try again soon.", BUSY)
            rows.waiting.append(question)
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, name="shared search", daemon=True).start()

    def wait(self, question: Question) -> SearchView:
        """Return what was found about a position of `begin`; raises as `search` does."""
        while not question.is_stopped():
            if futures.wait([question.found], _POLL_S).done:
                return question.found.result()
        raise Stopped

    def _run(self) -> None:
        while self._answer():
            pass

    def _answer(self) -> bool:
        """Step both searches in turn until all questions are answered, or the engine changes.

        Returns:
            Whether questions wait for the next engine.
        """
        with self.player.one_engine() as engine:
            while True:
                with self._lock:
                    self._is_running = self.num_questions > 0
                    if not self._is_running:
                        return False
                both, is_changing = (self._moves, self._analyses), self.player.is_changing
                if is_changing and not any(rows.num_searched for rows in both):
                    return True
                for rows in both:
                    rows.step(engine, admits=not is_changing)


class _Rows:
    """The rows of one `TreeSearch`, and the questions that wait for one.

    Only the thread of the search touches the rows; ``waiting`` is filled by others.
    """

    def __init__(self, player: SearchPlayer, num_rows: int, max_simulations: int):
        self.max_simulations = max_simulations
        self.waiting: deque[Question] = deque()
        self._player = player
        self._questions: list[Question | None] = [None] * num_rows
        self._engine = 0

    def __len__(self) -> int:
        return len(self.waiting) + self.num_searched

    @property
    def num_searched(self) -> int:
        """Positions that have a row."""
        return sum(question is not None for question in self._questions)

    @functools.cached_property
    def _search(self) -> TreeSearch:
        """The search is large, so it is made when it is first needed."""
        leaves = leaves_per_step(self.max_simulations)
        return self._player.make_search(len(self._questions), self.max_simulations, leaves)

    def step(self, engine: int, admits: bool) -> None:
        """Let the waiting ones in, run one step, and answer those who are finished.

        Args:
            engine: its number, see `SearchPlayer.one_engine`; a new one begins without positions.
            admits: whether to let the waiting ones in.
        """
        if engine != self._engine:
            self._engine = engine
            vars(self).pop("_search", None)
        try:
            self._admit(admits)
            active = [question for question in self._questions if question is not None]
            if active:
                smallest = min(question.num_simulations for question in active)
                self._search.leaves_per_step = leaves_per_step(smallest)
                self._search.step()
                self._serve()
        except Exception as error:  # noqa: BLE001
            for row, question in enumerate(self._questions):
                if question is not None:
                    self._questions[row] = None
                    question.found.set_exception(error)
            vars(self).pop("_search", None)  # the next question gets a new one

    def _admit(self, admits: bool) -> None:
        for row, question in enumerate(self._questions):
            if question is not None and question.is_stopped():
                self._leave(row)
            if admits and self._questions[row] is None and self.waiting:
                self._enter(row, self.waiting.popleft())

    def _enter(self, row: int, question: Question) -> None:
        self._questions[row] = question
        num_simulations = max(question.num_simulations, 1)
        self._search.reset(np.array([row], np.int32), question.state[None], num_simulations)
        question.viewed_at = time.monotonic()

    def _leave(self, row: int) -> None:
        self._questions[row] = None
        self._search.stop(np.array([row]))

    def _serve(self) -> None:
        """Show what was found to those who watch, and answer those whose search is finished."""
        finished = set(self._search.finished_rows().tolist())
        now = time.monotonic()
        for row, question in enumerate(self._questions):
            if question is None or not self._search.tree.num_nodes[row]:
                continue
            if question.answer is None:  # the root was evaluated in this step, and nothing else
                question.answer = root_answer(self._search, row)
                if question.num_simulations == 0:
                    finished.add(row)
            view = functools.partial(puct_view, self._search, row, question.answer)
            if row in finished:
                found = view(FINAL_NODES if question.for_analysis else 0)
                self._leave(row)
                question.found.set_result(found)
            elif question.watch is not None and now - question.viewed_at >= _VIEW_EVERY_S:
                question.viewed_at = now
                question.watch(view(RUNNING_NODES if question.for_analysis else 0))
