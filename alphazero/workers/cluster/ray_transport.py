"""Workers on the machines of a Ray cluster: a `Transport` on top of Ray's actors.

Each live node has one actor, which uses all its cores or its GPU. Nodes may come and go during the
run: a new node gets an actor, and an actor that dies is replaced while its node is alive. Ray's own
restarts and retries are off, because a restarted actor would lack the network.

Each version of the weights is put into Ray's object store once; each node fetches it once.
"""

import pickle
import time
from typing import Any, NamedTuple

from alphazero.runtime.own_code import code_version
from alphazero.workers.cluster.ray_connection import (
    NODE_LEFT,
    Node,
    connect,
    live_nodes,
    ray,
    reason_of,
)
from alphazero.workers.settings import WorkerSettings
from alphazero.workers.transport import Transport
from alphazero.workers.unit import Answer, Event, Job, Joined, Left, Unit, Weights
from alphazero.workers.unit_player import UnitPlayer

_NODES_EVERY_S = 1.0
_MAX_FAILURES = 3  # a node that loses this many actors without a reply in between gets no more


class _Worker(NamedTuple):
    """A worker: a Ray actor, and the cluster node on which it runs."""

    node: str  #: the node's id
    actor: Any  #: Ray's handle of the `WorkerActor`


class RayTransport(Transport):
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
        self._plays_on = settings.mode == "free"
        self._owns_ray = connect(settings.address)
        self._own_node = ray.get_runtime_context().get_node_id()
        self._job = pickle.dumps(job)
        self._weights: Any = None  # a reference to the newest stored weights
        self._workers: dict[str, _Worker] = {}
        self._calls: dict[Any, str] = {}  # unfinished calls: reference -> worker
        self._failures: dict[str, int] = {}  # lost actors, by node, since its last reply
        self._num_made = 0
        self._asked_nodes_at = -_NODES_EVERY_S

    # --- the dispatcher's requests ----------------------------------------------------------------

    def publish(self, weights: Weights) -> None:
        """Send a network to all workers, and later to every new one; see `Transport.publish`."""
        self._weights = ray.put(weights)
        for worker in self._workers.values():
            self._send_weights(worker.actor)

    def submit(self, name: str, unit: Unit) -> None:
        """Send a unit of work to a worker; see `Transport.submit`."""
        self._calls[self._workers[name].actor.play.remote(unit)] = name

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
        return events + [self._finish(call) for call in ready if call in self._calls]

    def dismiss(self, name: str) -> None:
        """Stop a worker, which a new one may replace; see `Transport.dismiss`.

        A node that loses three workers without a reply in between gets no more workers.
        """
        worker = self._workers.pop(name)
        self._failures[worker.node] = self._failures.get(worker.node, 0) + 1
        self._calls = {call: caller for call, caller in self._calls.items() if caller != name}
        ray.kill(worker.actor)

    def close(self) -> None:
        """Stop all workers, and the cluster if this process started it."""
        for name in list(self._workers):
            self.dismiss(name)
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
        taken = {worker.node for worker in self._workers.values()}
        for node in nodes.values():
            is_usable = node.num_cpus and self._failures.get(node.id, 0) < _MAX_FAILURES
            if is_usable and node.id not in taken:
                self._make(node)
        lost = [name for name, worker in self._workers.items() if worker.node not in nodes]
        for name in lost:
            self.dismiss(name)
        return [Left(name, NODE_LEFT) for name in lost]

    def _make(self, node: Node) -> None:
        """Start a worker on a node, and send it the newest network."""
        num_threads = node.num_cpus
        if node.id == self._own_node and self._plays_on:
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
        self._workers[name] = _Worker(node.id, actor)
        self._calls[actor.begin_as.remote(code_version(), self._job)] = name
        self._send_weights(actor)

    def _send_weights(self, actor: Any) -> None:
        """Send the newest network to an actor, which receives it even while it plays."""
        actor.receive.options(concurrency_group="weights").remote(self._weights)

    def _finish(self, call: Any) -> Event:
        """Return the event that a finished remote call stands for.

        Args:
            call: Ray's reference to the result.
        """
        name = self._calls.pop(call)
        node = self._workers[name].node
        event: Event
        try:
            event = ray.get(call)
        except ray.exceptions.RayError as error:
            event = Left(name, reason_of(error))
        else:
            if isinstance(event, Left):  # another worker on this node would be refused, too
                self._failures[node] = _MAX_FAILURES
        if isinstance(event, Left):
            self.dismiss(name)
        elif isinstance(event, Answer):
            self._failures[node] = 0
        return event


# --- on the node ----------------------------------------------------------------------------------


@ray.remote(concurrency_groups={"weights": 1})  # type: ignore[call-overload]
class WorkerActor(UnitPlayer):
    """A worker on a cluster node, which plays one unit of work at a time."""

    def begin_as(self, version: str, job: bytes) -> Joined | Left:
        """Prepare to play as `begin` does, unless this node has another version of this program.

        Args:
            version: the learner's `code_version`.
            job: the run's pickled `Job`.
        """
        here = code_version()
        if here != version:
            reason = f"it runs version {here}, and the learner {version}"
            return Left(self._name, f"{reason}; install the same version there")
        return self.begin(pickle.loads(job))
