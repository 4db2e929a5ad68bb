"""Workers in other processes on this machine, connected by pipes: a `Transport`.

They suit games in plain Python, whose threads would wait for each other, and machines with more
cores than a single process keeps busy. A process that dies is replaced.
"""

import contextlib
import multiprocessing
import multiprocessing.connection
import multiprocessing.reduction
import os
import pickle
import queue
import signal
import sys
import threading
import types
from collections import deque
from collections.abc import Iterator
from typing import Any

from alphazero.workers.transport import Answered, Event, Joined, Left
from alphazero.workers.unit import Job, Unit, Weights
from alphazero.workers.unit_player import UnitPlayer

_END_S = 5.0  # seconds for a process to end by itself


class ProcessTransport:
    """Keeps a fixed number of worker processes running on this machine; see `Transport`.

    Args:
        job: the run's game, settings and seed, which every worker receives when it starts.
        num_processes: number of worker processes to keep running.
        num_threads: number of self-play threads in each process.
    """

    how_to_join = "The first games follow when their processes have started."

    def __init__(self, job: Job, num_processes: int, num_threads: int):
        self._context = multiprocessing.get_context("spawn")
        self._job = job
        self._num_processes = num_processes
        self._num_threads = num_threads
        self._weights: Weights | None = None
        self._connections: dict[str, Any] = {}
        self._outboxes: dict[str, queue.SimpleQueue[bytes | None]] = {}
        self._processes: dict[str, Any] = {}
        self._num_started = 0

    def publish(self, weights: Weights) -> None:
        """Send a network to all workers, and later to every new one; see `Transport.publish`."""
        self._weights = weights
        for worker in self._outboxes:
            self._send(worker, weights)

    def submit(self, worker: str, unit: Unit) -> None:
        """Send a unit of work to a worker; see `Transport.submit`."""
        self._send(worker, unit)

    def poll(self, timeout_s: float) -> list[Event]:
        """Wait up to ``timeout_s`` seconds for events and return them; see `Transport.poll`.

        Missing processes, such as those that have died, are started first.
        """
        while self._weights is not None and len(self._processes) < self._num_processes:
            self._start()
        ready = multiprocessing.connection.wait(list(self._connections.values()), timeout_s)
        events: list[Event] = []
        for worker, connection in list(self._connections.items()):
            if connection not in ready:
                continue
            try:
                events.append(connection.recv())
            except (EOFError, OSError, pickle.UnpicklingError):
                events.append(Left(worker, self._end(worker)))
        return events

    def dismiss(self, worker: str) -> None:
        """Kill a worker's process, which the next `poll` replaces; see `Transport.dismiss`."""
        if worker in self._processes:
            self._processes[worker].kill()
            self._end(worker)

    def close(self) -> None:
        """Stop all workers, killing those that do not stop within five seconds."""
        self._num_processes = 0
        for worker in self._outboxes:
            self._send(worker, None)
        for worker in list(self._processes):
            self._processes[worker].join(_END_S)
            self._processes[worker].kill()
            self._end(worker)

    def _start(self) -> None:
        """Start another worker process, and send it the newest network."""
        self._num_started += 1
        name = f"process-{self._num_started}"
        here, there = self._context.Pipe()
        process = self._context.Process(
            target=work_at,
            args=(there, self._job, self._num_threads, name),
            name=f"alphazero {name}",
            daemon=True,
        )
        with _without_main_script(), _without_interrupts():
            process.start()
        there.close()
        self._processes[name] = process
        self._connections[name] = here
        self._outboxes[name] = _start_sender(here)
        self._send(name, self._weights)

    def _send(self, worker: str, message: Weights | Unit | None) -> None:
        """Queue a message to a worker without waiting; the message None tells the worker to stop.

        If the worker's process has ended, the next `poll` reports that.
        """
        pickled = multiprocessing.reduction.ForkingPickler.dumps(message)
        self._outboxes[worker].put(bytes(pickled))

    def _end(self, worker: str) -> str:
        """Remove a worker whose process has ended or is ending, and return the reason as a clause.

        The clause is like "its process was ended by SIGKILL".

        A process that does not end within five seconds is killed.
        """
        process = self._processes.pop(worker)
        del self._connections[worker]
        self._outboxes.pop(worker).put(None)
        process.join(_END_S)
        code = process.exitcode
        if code is None:
            process.kill()
            return "its process does not answer"
        if code < 0:
            return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with status {code}; its error is shown above"


@contextlib.contextmanager
def _without_main_script() -> Iterator[None]:
    """Keep `multiprocessing` from importing the main script in processes started in this context.

    Otherwise the script might start another run there.
    """
    program = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach, even before they can ignore it themselves."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def work_at(connection: Any, job: Job, num_threads: int, name: str) -> None:
    """Run a worker process: play units of work as they arrive, with the newest network received.

    The function returns when None arrives or the learner's process has ended.

    Args:
        connection: a pipe to the learner. It delivers `Weights`, then `Unit`s and newer `Weights`,
            and finally None; `Joined` and `Answered` are sent back.
        job: the run's game, settings and seed.
        num_threads: number of self-play threads in this process.
        name: unique name of the worker.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the learner handles Ctrl-C
    player = UnitPlayer(job, num_threads, name)
    units: deque[Unit] = deque()
    with contextlib.suppress(EOFError, ConnectionError):  # the learner is gone
        player.load(connection.recv())
        connection.send(Joined(name, player.facts))
        messages = _start_receiver(connection)
        while True:
            newest = None
            while not units or not messages.empty():
                message = messages.get()
                if message is None:
                    return
                if isinstance(message, Weights):
                    newest = message
                else:
                    units.append(message)
            if newest is not None:
                player.load(newest)
            connection.send(Answered(name, player.play(units.popleft())))


def _start_sender(connection: Any) -> "queue.SimpleQueue[bytes | None]":
    """Start a thread that sends pickled messages from a new queue to a worker.

    The message None closes the connection and ends the thread. Because the thread does the sending,
    the learner never has to wait for a worker that has stopped reading.

    Args:
        connection: a pipe to the worker.

    Returns:
        The queue, to which the learner adds messages.
    """
    messages: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def send() -> None:
        for message in iter(messages.get, None):
            with contextlib.suppress(OSError):  # the worker is gone; `poll` will notice
                connection.send_bytes(message)
        connection.close()

    threading.Thread(target=send, daemon=True).start()
    return messages


def _start_receiver(connection: Any) -> "queue.SimpleQueue[Weights | Unit | None]":
    """Start a thread that moves the learner's messages from a pipe to a new queue.

    The last message is None. If the learner's process ends, the thread ends this process too.
    Without the thread, learner and worker might wait forever for each other to read.

    Args:
        connection: a pipe to the learner.

    Returns:
        The queue, from which the worker takes messages.
    """
    messages: queue.SimpleQueue[Weights | Unit | None] = queue.SimpleQueue()

    def receive() -> None:
        message: Any = ...
        while message is not None:
            try:
                message = connection.recv()
            except (EOFError, OSError):
                os._exit(0)  # the learner is gone, so nobody needs these games
            messages.put(message)

    threading.Thread(target=receive, daemon=True).start()
    return messages
