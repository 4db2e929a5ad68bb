"""Search positions with a network, and report progress and snapshots while a search runs.

A network searches one position at a time; other requests that need it, such as those from another
tab, wait until the search ends.
"""

import dataclasses
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from alphazero.players.search_player import SearchPlayer
from alphazero.search.batched_search import TreeSearch
from alphazero.web.search_view import (
    FINAL_NODES,
    RUNNING_NODES,
    SearchView,
    analysis_view,
    puct_view,
    root_answer,
)

#: A function that sends a message to the client of a request. If the client has closed the
#: connection, it raises an exception, which ends the work.
Emit = Callable[[dict[str, Any]], None]
_VIEW_EVERY_S = 0.2
_ROW = np.zeros(1, np.int32)


@dataclasses.dataclass(eq=False)
class SearchTask:
    """A position to search, and callbacks to which the search reports its progress."""

    state: np.ndarray  #: [K], an unfinished position
    num_simulations: int  #: 0 for a network without search and for players that do not search
    emit: Emit = lambda message: None  #: called with messages that report the search's progress
    #: Called with snapshots while the search runs. If it is None, none are taken, and the final
    #: snapshot contains no tree.
    watch: Callable[[SearchView], None] | None = None

    def report(self, num_done: int, note: str = "") -> None:
        """Send the client a progress message: the number of finished simulations, and a note.

        Args:
            num_done: number of simulations finished so far.
            note: the reason for a delay, such as "loading the network"; "" if there is none.
        """
        total = self.num_simulations
        self.emit({"type": "progress", "done": num_done, "total": total, "note": note})


class NetworkSearch:
    """Searches positions with one player's network, one search at a time.

    Args:
        player: the player, with its network loaded.
    """

    def __init__(self, player: SearchPlayer):
        self.player = player
        self._lock = threading.Lock()

    def search(self, task: SearchTask) -> SearchView:
        """Search the position of a task, and return a snapshot of the finished search.

        While the search runs, it reports its progress to the task's callbacks. If nothing watches
        it, a position near the end of the game is solved instead.
        """
        with self._lock:
            num_simulations = max(task.num_simulations, 1)
            if task.watch is None and task.num_simulations > 0:
                player = dataclasses.replace(self.player, num_simulations=num_simulations)
                solved = player.solved(task.state)
                if solved is not None:
                    return analysis_view(player.game, task.state, solved)
            search = self.player.make_search(num_simulations)
            search.reset(_ROW, task.state[None], num_simulations)
            return _run(search, task)


def _run(search: TreeSearch, task: SearchTask) -> SearchView:
    """Run a search to its end, and report its progress every `_VIEW_EVERY_S` seconds.

    Args:
        search: a search of the task's position that has not made a step yet.
        task: the position to search, and the callbacks that receive progress.

    Returns:
        The final snapshot, which contains the tree only if ``task.watch`` is not None.
    """
    search.step()  # only evaluates the root
    answer = root_answer(search)
    viewed_at = time.monotonic()
    while task.num_simulations > 0 and not len(search.finished_rows()):
        search.step()
        if time.monotonic() - viewed_at >= _VIEW_EVERY_S:
            viewed_at = time.monotonic()
            view = puct_view(search, answer, RUNNING_NODES if task.watch else 0)
            task.report(view.num_simulations)
            if task.watch:
                task.watch(view)
    return puct_view(search, answer, FINAL_NODES if task.watch else 0)
