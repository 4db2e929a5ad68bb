"""What the children of `test_two_processes.py` do besides commands: `zygote` calls it by name."""

import time
from pathlib import Path

from filelock import FileLock
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from alphazero.network.weights import load_network
from alphazero.storage.run_folder import RunFolder, find_network

SCALAR = "loss"  #: a figure of every iteration in TensorBoard


def read_newest(words: list[str]) -> int:
    """Read the newest network of a run until its training has ended; fail if it is ever gone.

    Args:
        words: the run's folder, and the last iteration.
    """
    folder, last = Path(words[0]), f"{int(words[1]):06d}"
    num_read = 0
    while True:
        path = find_network(folder)
        load_network(path)
        num_read += 1
        if path.stem == last:
            print(num_read)
            return 0


def list_runs(words: list[str]) -> int:
    """List the runs of a folder as the page does, and look at each."""
    from alphazero.web import found_runs
    from alphazero.web.backend import Backend

    found_runs._FRESH_S = 1e-6
    backend = Backend(words[0])
    for _ in range(5):
        backend.games()
        for run in backend.runs()["runs"]:
            backend.run(run["id"])
    return 0


def read_tensorboard(words: list[str]) -> int:
    """Read a run's events; fail if a step is missing or there twice."""
    events = EventAccumulator(words[0])
    for _ in range(3):
        events.Reload()
        for tag in events.Tags()["scalars"]:
            steps = [event.step for event in events.Scalars(tag)]
            assert steps == sorted(set(steps)), (tag, steps)
    return 0


def take_lock(words: list[str]) -> int:
    """Take a run's lock again and again; fail if another process has it at the same time.

    Args:
        words: the run's folder, and how many times.
    """
    from alphazero.runtime.errors import ConfigError

    folder, num_taken = Path(words[0]), 0
    alone = FileLock(folder / "alone")
    until = time.monotonic() + 60
    while num_taken < int(words[1]) and time.monotonic() < until:
        try:
            with RunFolder(folder).locked(), alone.acquire(blocking=False):
                num_taken += 1
        except ConfigError:
            pass
    return 0 if num_taken else 3
