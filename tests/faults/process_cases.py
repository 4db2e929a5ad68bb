"""What the children of `test_two_processes.py` do besides commands: `zygote` calls it by name."""

import contextlib
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
        for run in backend.live()["runs"]:
            backend.run({"id": run["id"]})
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
        words: the run's folder, and for how many seconds.
    """
    from alphazero.runtime.errors import ConfigError

    folder, num_taken = Path(words[0]), 0
    alone = FileLock(folder / "alone")
    until = time.monotonic() + float(words[1])
    while time.monotonic() < until:
        with contextlib.suppress(ConfigError), RunFolder(folder).locked():
            with alone.acquire(blocking=False):
                num_taken += 1
    print(num_taken)
    return 0


def train_with_full_store(words: list[str]) -> int:
    """Train on a Ray cluster of this machine whose object store is full for half a minute.

    Args:
        words: of `alphazero train`.
    """
    import threading

    import numpy as np
    import ray

    from alphazero.cli import main
    from alphazero.workers.cluster.ray_connection import STORE_FULL

    ray.init(
        num_cpus=1,
        object_store_memory=80_000_000,
        include_dashboard=False,
        log_to_driver=False,
        # What the store has no room for would go to the disk, until that is full, too.
        _system_config={
            "automatic_object_spilling_enabled": False,
            "local_fs_capacity_threshold": 0.001,
        },
    )
    kept = []
    for num_bytes in (10_000_000, 100_000):
        try:
            while True:
                kept.append(ray.put(np.zeros(num_bytes, np.uint8)))
        except STORE_FULL:
            pass
    print(f"{len(kept)} objects fill the store", flush=True)
    timer = threading.Timer(30.0, kept.clear)
    timer.daemon = True
    timer.start()
    try:
        return main(words)
    finally:
        ray.shutdown()
