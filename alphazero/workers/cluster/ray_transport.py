"""Workers on the machines of a Ray cluster: a `Transport` on top of Ray's actors.

Each live node has one actor, which uses all its cores or its GPU. Nodes may come and go during the
run: a new node gets an actor, and an actor that dies is replaced while its node is alive. Ray's own
restarts and retries are off, because a restarted actor would lack the network.

Each version of the weights is put into Ray's object store once; each node fetches it once.
"""

import threading
import time
from typing import Any, NamedTuple

from alphazero.workers.cluster.ray_connection import (
    NODE_LEFT,
    Node,
    connect,
    live_nodes,
    ray,
    reason_of,
)
from alphazero.workers.sent_code import code_version
from alphazero.workers.settings import WorkerSettings
from alphazero.workers.transport import Answered, Event, Joined, Left
from alphazero.workers.unit import Answer, Job, Unit, Weights, WorkerFacts
from alphazero.workers.unit_player import UnitPlayer

_NODES_EVERY_S = 1.0
_MAX_FAILURES = 3  # a node that loses this many actors without a reply in between gets no more


class _Worker(NamedTuple):
    """A worker: a Ray actor, and the cluster node on which it runs."""

    name: str
    node: str  #: the node's id
    actor: Any  #: Ray's handle of the `WorkerActor`


class RayTransport:
    """Keeps one worker, a Ray actor, on each node of a Ray cluster; see `Transport`.

    Args:
        settings: the workers' settings, including the address of the cluster.
        job: the run's game, settings and seed, which every worker receives when it starts.

    Raises:
        ConfigError: if no cluster can be reached at the address in the settings.
    """

    how_to_join = (
        "A machine joins with:  ray start --address=HOST:6379  where HOST is the machine on which "
        "'ray start --head' was run."
    )

    def __init__(self, settings: WorkerSettings, job: Job):
        self._settings = settings
        self._owns_ray = connect(settings.address)
        self._own_node = ray.get_runtime_context().get_node_id()
        self._job = job
        self._version = 0  # version of the newest weights
        self._weights: Any = None  # a reference to the newest stored weights
        self._workers: dict[str, _Worker] = {}
        self._calls: dict[Any, tuple[str, str]] = {}  # unfinished calls: reference -> worker, name
        self._failures: dict[str, int] = {}  # lost actors, by node, since its last reply
        self._left_alone: set[str] = set()  # nodes that get no more actors
        self._num_made = 0
        self._asked_nodes_at = -_NODES_EVERY_S

    # --- the dispatcher's requests ----------------------------------------------------------------

    def publish(self, weights: Weights) -> None:
        """Send a network to all workers, and later to every new one; see `Transport.publish`."""
        self._version = weights.version
        self._weights = ray.put(weights)
        for worker in self._workers.values():
            worker.actor.load.remote(self._weights)

    def submit(self, worker: str, unit: Unit) -> None:
        """Send a unit of work to a worker; see `Transport.submit`.

        In ordered mode, the worker waits for the newest network before it plays.
        """
        version = self._version if self._settings.mode == "ordered" else 0
        call = self._workers[worker].actor.play.remote(unit, version)
        self._calls[call] = worker, "play"

    def poll(self, timeout_s: float) -> list[Event]:
        """Wait up to ``timeout_s`` seconds for events and return them; see `Transport.poll`.

        Workers are started on new nodes first, and those on lost nodes are removed.
        """
        events = self._look_after_nodes() if self._weights is not None else []
        if not self._calls:
            time.sleep(0.0 if events else timeout_s)
            return events
        calls = list(self._calls)
        ray.wait(calls, timeout=0.0 if events else timeout_s)
        ready, _ = ray.wait(calls, num_returns=len(calls), timeout=0.0)
        for call in ready:
            if call in self._calls:  # otherwise its worker has been removed
                events += self._finish(call)
        return events

    def dismiss(self, worker: str) -> None:
        """Stop a worker, which a new one may replace; see `Transport.dismiss`."""
        if worker in self._workers:
            self._remove(worker)

    def close(self) -> None:
        """Stop all workers, and the cluster if this process started it."""
        for worker in list(self._workers):
            self._remove(worker)
        if self._owns_ray:
            ray.shutdown()

    # --- actors -----------------------------------------------------------------------------------

    def _look_after_nodes(self) -> list[Event]:
        """Start a worker on each node without one, and remove the workers of lost nodes.

        Ray is asked for the nodes at most once a second; calls in between do nothing.

        Returns:
            A `Left` event for each removed worker.
        """
        now = time.monotonic()
        if now - self._asked_nodes_at < _NODES_EVERY_S:
            return []
        self._asked_nodes_at = now
        nodes = {node.id: node for node in live_nodes()}
        taken = {worker.node for worker in self._workers.values()} | self._left_alone
        for node in nodes.values():
            if node.id not in taken and node.num_cpus:
                self._make(node)
        lost = [worker.name for worker in self._workers.values() if worker.node not in nodes]
        for name in lost:
            self._remove(name)
        return [Left(name, NODE_LEFT) for name in lost]

    def _make(self, node: Node) -> None:
        """Start a worker on a node, and request the version of this program installed there."""
        num_threads = node.num_cpus
        if node.id == self._own_node and self._settings.mode == "free":
            num_threads = max(1, num_threads - 1)  # one core is for the learner
        self._num_made += 1
        name = f"{node.host}-{node.id[:4]}-{self._num_made}"
        pinned = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node.id, soft=False)
        actor = WorkerActor.options(  # type: ignore[attr-defined]
            num_cpus=num_threads,
            num_gpus=node.num_gpus,
            max_restarts=0,  # a restarted actor would lack the job and the network
            max_task_retries=0,
            scheduling_strategy=pinned,
            runtime_env={"env_vars": {"OMP_NUM_THREADS": str(num_threads)}},
        ).remote(name, num_threads)
        self._workers[name] = _Worker(name, node.id, actor)
        self._calls[actor.code_version.remote()] = name, "version"

    def _remove(self, name: str) -> None:
        """Stop a worker, and forget its unfinished remote calls.

        A node that loses three workers without a reply in between gets no more workers.
        """
        worker = self._workers.pop(name)
        num_failures = self._failures.get(worker.node, 0) + 1
        self._failures[worker.node] = num_failures
        if num_failures >= _MAX_FAILURES:
            self._left_alone.add(worker.node)
        for call, (caller, _) in list(self._calls.items()):
            if caller == name:
                del self._calls[call]
        ray.kill(worker.actor)

    def _finish(self, call: Any) -> list[Event]:
        """Handle the result of a finished remote call, and return the events that follow from it.

        Args:
            call: Ray's reference to the result.
        """
        name, kind = self._calls[call]
        worker = self._workers[name]
        try:
            result = ray.get(call)
        except ray.exceptions.RayError as error:
            self._remove(name)
            return [Left(name, reason_of(error))]
        del self._calls[call]
        if kind == "version":
            if result != code_version():
                self._left_alone.add(worker.node)
                self._remove(name)
                reason = f"it runs version {result}, and the learner {code_version()}; install "
                return [Left(name, f"{reason}the same version there")]
            begin_call = worker.actor.begin.remote(self._job, self._weights)
            self._calls[begin_call] = name, "begin"
            return []
        if kind == "begin":
            return [Joined(name, result)]
        self._failures[worker.node] = 0
        return [Answered(name, result)]


# --- on the node ----------------------------------------------------------------------------------


@ray.remote(concurrency_groups={"weights": 1})  # type: ignore[call-overload]
class WorkerActor:
    """A worker on a cluster node, which plays one unit of work at a time.

    A network that arrives during a unit is used from the next unit on.

    Args:
        name: unique name of the worker.
        num_threads: number of threads for self-play.
    """

    def __init__(self, name: str, num_threads: int):
        self._name = name
        self._num_threads = num_threads
        self._player: UnitPlayer | None = None
        self._newest: Weights | None = None  # network received since the last unit
        self._arrival = threading.Condition()

    def code_version(self) -> str:
        """Return the version of the program on this node; the learner refuses other versions."""
        return code_version()

    def begin(self, job: Job, weights: Weights) -> WorkerFacts:
        """Prepare to play with a first network, and return this worker's host name and threads.

        Args:
            job: the run's game, settings and seed.
            weights: the first network.

        Raises:
            ConfigError: if the game cannot be made, or its rules differ on this node.
        """
        self._player = UnitPlayer(job, self._num_threads, self._name)
        self._player.load(weights)
        return self._player.facts

    @ray.method(concurrency_group="weights")
    def load(self, weights: Weights) -> None:
        """Receive a network, which is used from the next unit of work on.

        A network older than the newest one received is ignored.
        """
        with self._arrival:
            if self._newest is None or weights.version > self._newest.version:
                self._newest = weights
            self._arrival.notify()

    def play(self, unit: Unit, version: int) -> Answer:
        """Play a unit of work with the newest network received, and return the games.

        Args:
            unit: the unit of work.
            version: the oldest network version to play with; the call blocks until this version has
                arrived. With 0 it does not block.
        """
        player = self._player
        assert player is not None
        with self._arrival:
            self._arrival.wait_for(lambda: self._newest_version(player) >= version)
            newest = self._newest
            self._newest = None
        if newest is not None and newest.version > player.version:
            player.load(newest)
        return player.play(unit)

    def _newest_version(self, player: UnitPlayer) -> int:
        return player.version if self._newest is None else self._newest.version
