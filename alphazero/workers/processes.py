"""Workers in other processes on this machine, connected by pipes: a `Transport`.

They suit games in plain Python, whose threads would wait for each other, and machines with more
cores than a single process keeps busy. A process that dies is replaced.
"""

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import pickle
import queue
import signal
import sys
import threading
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from alphazero.workers.transport import Transport
from alphazero.workers.unit import Event, Job, Left, Unit, Weights
from alphazero.workers.unit_player import UnitPlayer

_END_S = 5.0  # seconds for a process to end by itself


class _Worker(NamedTuple):
    """A worker process."""

    process: Any
    connection: Any  #: the learner's end of a pipe
    #: the thread that writes to the pipe, so that the learner never waits for a worker that has
    #: stopped reading; an error means that the worker is gone, which `poll` notices
    sender: ThreadPoolExecutor


class ProcessTransport(Transport):
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
        self._workers: dict[str, _Worker] = {}
        self._num_started = 0

    def publish(self, weights: Weights) -> None:
        """Send a network to all workers, and later to every new one; see `Transport.publish`."""
        self._weights = weights
        for worker in self._workers.values():
            worker.sender.submit(worker.connection.send, weights)

    def submit(self, name: str, unit: Unit) -> None:
        """Send a unit of work to a worker; see `Transport.submit`."""
        worker = self._workers[name]
        worker.sender.submit(worker.connection.send, unit)

    def poll(self, timeout_s: float) -> list[Event]:
        """Wait up to ``timeout_s`` seconds for events and return them; see `Transport.poll`.

        Missing processes, such as those that have died, are started first.
        """
        while self._weights is not None and len(self._workers) < self._num_processes:
            self._start()
        connections = [worker.connection for worker in self._workers.values()]
        ready = multiprocessing.connection.wait(connections, timeout_s)
        events: list[Event] = []
        for name, worker in list(self._workers.items()):
            if worker.connection in ready:
                try:
                    events.append(worker.connection.recv())
                except (EOFError, OSError, pickle.UnpicklingError):
                    events.append(Left(name, self._end(name)))
        return events

    def dismiss(self, name: str) -> None:
        """Kill a worker's process, which the next `poll` replaces; see `Transport.dismiss`."""
        self._workers[name].process.kill()
        self._end(name)

    def close(self) -> None:
        """Stop all workers, killing those that do not stop within five seconds."""
        for worker in self._workers.values():
            worker.sender.submit(worker.connection.close)
        for name in list(self._workers):
            self._end(name)

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
        with _detached():
            process.start()
        there.close()
        sender = ThreadPoolExecutor(1)
        sender.submit(here.send, self._weights)
        self._workers[name] = _Worker(process, here, sender)

    def _end(self, name: str) -> str:
        """Remove a worker whose process has ended or is ending, and return the reason as a clause.

        The clause is like "its process was ended by SIGKILL". A process that does not end within
        five seconds is killed.
        """
        worker = self._workers.pop(name)
        worker.sender.submit(worker.connection.close)
        worker.process.join(_END_S)
        code = worker.process.exitcode
        if code is None:
            worker.process.kill()
            return "its process does not answer"
        if code < 0:
            return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with status {code}; its error is shown above"


@contextlib.contextmanager
def _detached() -> Iterator[None]:
    """Start processes that do not import the main script, and that Ctrl-C does not reach.

    The script might start another run there. A process can ignore Ctrl-C itself only later.
    """
    program = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    can_block = hasattr(signal, "pthread_sigmask")  # not on Windows
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if can_block else set()
    try:
        yield
    finally:
        sys.modules["__main__"] = program
        if can_block:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def work_at(connection: Any, job: Job, num_threads: int, name: str) -> None:
    """Run a worker process: play units of work as they arrive, with the newest network received.

    The process ends when the learner closes the connection or ends. One thread receives, because
    learner and worker might otherwise wait forever for each other to read.

    Args:
        connection: a pipe to the learner. It delivers `Weights` and `Unit`s; `Joined` and `Answer`s
            are sent back.
        job: the run's game, settings and seed.
        num_threads: number of self-play threads in this process.
        name: unique name of the worker.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the learner handles Ctrl-C
    player = UnitPlayer(name, num_threads)
    units: queue.SimpleQueue[Unit] = queue.SimpleQueue()

    def receive() -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                message = connection.recv()
                accept: Any = player.receive if isinstance(message, Weights) else units.put
                accept(message)
        os._exit(0)  # nobody needs these games

    threading.Thread(target=receive, daemon=True).start()
    with contextlib.suppress(ConnectionError):  # the learner is gone
        connection.send(player.begin(job))
        while True:
            connection.send(player.play(units.get()))
