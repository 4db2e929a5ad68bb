"""Long use: memory, open files, threads and disk of a process stay bounded, and nothing is lost."""

import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from harness import Child
from stored_runs import SMALLEST, run_in, tensorboard_steps

from alphazero.runtime.jit import cache_directory
from alphazero.storage.run_folder import RunFolder

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
#: Settings whose iterations are quick, with everything that happens beside them now and then.
SOAK = """
replay.window_start=100 replay.window_max=200 evaluator.precision=bfloat16 pit.every=10
pit.num_games=2 evaluation.every=50 evaluation.num_games=2 evaluation.final_num_games=2
evaluation.num_simulations=2 evaluation.uct_simulations=2
run.keep_networks=5
""".split()
INT8 = ["evaluator.engine=openvino", "evaluator.precision=int8"]
#: oneDNN keeps the code of its last 1,024 convolutions, and those in int8 differ by their scales:
#: memory grows by 160 KB an iteration here, until they are so many. With fewer, it does not.
FEW_PRIMITIVES = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "32"}
NUM_SAMPLES = 40  #: of a process, evenly spaced
NUM_NETWORKS, NUM_GAMES = 6, 60  #: files of a run's folder that it may have
MOST_GROWTH_KB = 16_000  #: of memory, from the first quarter to the end
MORE = 4  #: open files or threads: a pool of threads grows when two of them are busy
NEW_KERNELS = 150  #: files in the cache, of kernels that nobody has used before
EVENTS_KB = 12  #: of TensorBoard's file, an iteration


class Usage(NamedTuple):
    """What a process holds at a moment."""

    step: int  #: iterations so far
    memory_kb: int  #: of its own: no files, no pages of libraries
    num_files: int  #: open ones, sockets included
    num_threads: int


def usage_of(process: int | str, step: int) -> Usage:
    folder = Path(f"/proc/{process}")
    fields = dict(line.split(":") for line in (folder / "status").read_text().splitlines())
    memory_kb = int(fields["RssAnon"].split()[0])
    return Usage(step, memory_kb, len(os.listdir(folder / "fd")), int(fields["Threads"]))


def assert_bounded(samples: list[Usage]) -> None:
    """Assert that a process holds no more at its end than after a quarter of its steps."""
    later = [sample for sample in samples if sample.step >= samples[-1].step / 4]
    assert len(later) >= 5
    steps, memory = np.array([(sample.step, sample.memory_kb) for sample in later], float).T
    slope = np.polyfit(steps, memory, 1)[0]
    assert slope * (steps[-1] - steps[0]) < MOST_GROWTH_KB, later[::10]
    for name in ("num_files", "num_threads"):
        counts = [getattr(sample, name) for sample in later]
        half = len(counts) // 2
        assert max(counts[half:]) <= max(counts[:half]) + MORE, name


@pytest.mark.parametrize(
    "num_iterations, words, env", [(2000, [], {}), (120, INT8, FEW_PRIMITIVES)]
)
def test_a_long_run_holds_no_more_than_a_short_one(num_iterations, words, env, tmp_path):
    if words:
        pytest.importorskip("openvino", reason="the extra [openvino] is not installed")
    folder, temporary = run_in(tmp_path), tmp_path / "tmp"
    temporary.mkdir()
    command = ["train", *SMALLEST, *SOAK, *words, f"run.root={tmp_path}", "run.name=run"]
    cached = set(os.listdir(cache_directory()))
    command.append(f"run.num_iterations={num_iterations}")
    learner = Child(command, env=env | {"TMPDIR": str(temporary)})
    samples: list[Usage] = []
    while learner.is_running:
        newest = max((folder / "networks").glob("[0-9]*.safetensors"), default=None)
        step = 0 if newest is None else int(newest.stem)
        if step >= (len(samples) + 1) * num_iterations / NUM_SAMPLES:
            samples.append(usage_of(learner.pid, step))
        time.sleep(0.01)
    learner.wait().assert_ok()
    assert os.listdir(temporary) == []
    assert len(set(os.listdir(cache_directory())) - cached) < NEW_KERNELS
    assert_bounded(samples)
    assert_whole(folder, num_iterations)


def assert_whole(folder: Path, num_iterations: int) -> None:
    """Assert that the folder of a long run has all its figures, and no more files than it needs."""
    rows = RunFolder(folder).read_metrics()
    assert [row["iteration"] for row in rows] == list(range(1, num_iterations + 1))
    steps = tensorboard_steps(folder)
    assert any(found == list(range(1, num_iterations + 1)) for found in steps.values())
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(list((folder / "networks").iterdir())) <= NUM_NETWORKS
    assert len(list((folder / "games").iterdir())) <= NUM_GAMES
    assert len(files) <= NUM_NETWORKS + NUM_GAMES + 8
    size = sum(path.stat().st_size for path in files if path.name.startswith("events"))
    assert size / num_iterations < EVENTS_KB * 1000
