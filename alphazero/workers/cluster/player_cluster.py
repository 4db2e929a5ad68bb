"""Actors on the nodes of a Ray cluster that choose moves together.

In: the recipes of players, then batches of positions. Out: choices, row by row. The rows of a batch
are divided in proportion to the threads of the nodes. An actor that is lost is not replaced: the
others do its part, and this process does where none is left.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from alphazero.players.base import Choice, Player
from alphazero.runtime.wording import counted
from alphazero.workers.cluster.player_actor import PlayerActor
from alphazero.workers.cluster.player_copy import Limit, Recipe, joined
from alphazero.workers.cluster.ray_connection import (
    Node,
    connect,
    live_nodes,
    place_on,
    ray,
    reason_of,
)
from alphazero.workers.code_version import code_version

_START_S = 60.0  # in which an actor must have started; else its node has no free cores
#: Rows of a part below which a batch is not divided further, if a player evaluates them together.
SMALLEST_BATCH = 8


class _Worker(NamedTuple):
    """An actor."""

    name: str
    num_threads: int
    actor: Any


class _Part(NamedTuple):
    """Rows of a batch that an actor was asked about."""

    worker: _Worker
    call: Any
    start: int
    stop: int


class PlayerCluster:
    """Has an actor on each node, from the first question on.

    The connection to Ray is made then, too, so that a player that cannot be made is refused at
    once, and all players are made on all nodes at the same time.

    Args:
        address: of the cluster, see `alphazero.workers.cluster.ray_connection.connect`. If there
            is none, the first question raises ConfigError.
    """

    def __init__(self, address: str):
        self._address = address
        self._owns_ray = False
        self._workers: list[_Worker] | None = None  # None before the start
        self._orders: list[tuple[int, Recipe | Limit]] = []  # players to be made
        self._num_players = 0

    @property
    def num_threads(self) -> int:
        """The threads of all nodes."""
        return sum(worker.num_threads for worker in self._started())

    def add(self, order: Recipe | Limit) -> int:
        """Let a player be made on all nodes before the next question; return its number."""
        self._num_players += 1
        self._orders.append((self._num_players, order))
        return self._num_players

    def choose(self, player: int, states: np.ndarray, local: Player) -> Choice:
        """Choose a move in each position.

        Args:
            player: its number.
            local: the same player in this process, for what no node can do.
        """
        self._make_players()
        smallest = SMALLEST_BATCH if local.batch_size > 1 else 1
        found: dict[int, Choice] = {}  # by the first row
        missing = [(0, len(states))]
        while missing and self._started():
            asked = [
                part for rows in missing for part in self._ask(player, states, *rows, smallest)
            ]
            missing = []
            for part in asked:
                choice = self._result(part.worker, part.call)
                if choice is None:
                    missing.append((part.start, part.stop))
                else:
                    found[part.start] = choice
        found |= {start: local.choose(states[start:stop]) for start, stop in missing}
        return joined([found[start] for start in sorted(found)])

    def close(self) -> None:
        """End all actors; the cluster stays, unless it was started here."""
        for worker in self._workers or []:
            ray.kill(worker.actor)
        self._workers = []
        if self._owns_ray:
            ray.shutdown()

    def _ask(
        self, player: int, states: np.ndarray, start: int, stop: int, smallest: int
    ) -> Iterator[_Part]:
        """Divide rows among all actors."""
        workers = self._started()
        counts = shares(stop - start, [worker.num_threads for worker in workers], smallest)
        for worker, count in zip(workers, counts):
            if count:
                rows = states[start : start + count]
                call = worker.actor.choose.remote(player, rows)
                yield _Part(worker, call, start, start + count)
                start += count

    def _make_players(self) -> None:
        """Make on all nodes, at the same time, the players that are not there yet."""
        workers = self._started()  # first of all: without a connection Ray would make one itself
        calls = []
        for player, order in self._orders:
            sent = ray.put(order)
            for worker in workers:
                calls.append((worker, worker.actor.make.remote(player, sent)))
        self._orders.clear()
        for worker, call in calls:
            self._result(worker, call)

    def _started(self) -> list[_Worker]:
        """Return the actors; the first call starts them."""
        if self._workers is None:
            self._owns_ray = connect(self._address, "address")
            self._workers = self._start()
            threads = counted(sum(worker.num_threads for worker in self._workers), "thread")
            machines = counted(len(self._workers), "node")
            notify(f"Workers of the Ray cluster: {machines} with {threads}.")
        return list(self._workers)

    def _start(self) -> list[_Worker]:
        """Start an actor on each node; leave out those that cannot play."""
        nodes = sorted((node for node in live_nodes() if node.num_cpus), key=_order)
        started = []
        for index, node in enumerate(nodes):
            options = place_on(node, node.num_cpus)
            actor = PlayerActor.options(**options).remote(  # type: ignore[attr-defined]
                str(index), node.num_cpus
            )
            worker = _Worker(f"{node.host}-{node.id[:4]}", node.num_cpus, actor)
            started.append((worker, actor.code_version.remote()))
        self._workers = [worker for worker, _ in started]
        calls = [call for _, call in started]
        ready, _ = ray.wait(calls, num_returns=len(calls), timeout=_START_S)
        for worker, call in started:
            if call not in ready:
                cores = counted(worker.num_threads, "core")
                self._lose(
                    worker,
                    f"has no room for a worker that needs {cores}: other programs "
                    "of the Ray cluster use it",
                )
                continue
            version = self._result(worker, call)
            if version is not None and version != code_version():
                self._lose(worker, f"is refused: it runs version {version}, not {code_version()}")
        return self._workers

    def _result(self, worker: _Worker, call: Any) -> Any:
        """Return the result of a call; None if its actor is lost."""
        try:
            return ray.get(call)
        except ray.exceptions.RayError as error:
            self._lose(worker, f"is gone: {reason_of(error)}")
            return None

    def _lose(self, worker: _Worker, clause: str) -> None:
        """Go on without an actor."""
        assert self._workers is not None
        if worker in self._workers:
            self._workers.remove(worker)
            ray.kill(worker.actor)
            rest = "The others do its part." if self._workers else "This process plays alone."
            notify(f"Worker {worker.name} {clause}. {rest}")


def shares(num_rows: int, num_threads: Sequence[int], smallest: int) -> list[int]:
    """Return the rows of each node, in proportion to its threads.

    Args:
        smallest: a node with fewer rows gets none; the node with the most threads gets all rows of
            a batch that is too small to be divided.
    """
    nodes = sorted(range(len(num_threads)), key=lambda node: (-num_threads[node], node))
    while True:
        sums = np.cumsum([num_threads[node] for node in nodes])
        counts = np.diff(np.round(num_rows * sums / sums[-1]).astype(int), prepend=0)
        if len(nodes) == 1 or counts.min() >= smallest:
            break
        nodes.pop()
    found = [0] * len(num_threads)
    for node, count in zip(nodes, counts):
        found[node] = int(count)
    return found


def notify(text: str) -> None:
    """Tell the user a sentence."""
    print(text, file=sys.stderr)


def _order(node: Node) -> tuple[str, str]:
    return node.host, node.id
