"""Long use: memory, open files, threads and disk of a process stay bounded, and nothing is lost."""

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest
from harness import the_zygote
from soak_cases import Usage, usage_of
from stored_runs import SMALLEST, run_in, tensorboard_steps

from alphazero.runtime.jit import cache_directory
from alphazero.storage.run_folder import RunFolder

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the harness needs Linux"),
]
#: Settings whose iterations are quick, with everything that happens beside them now and then.
SOAK = [
    *SMALLEST,
    "replay.window_start=100",
    "replay.window_max=200",
    "evaluator.precision=bfloat16",
    "pit.every=10",
    "pit.num_games=2",
    "evaluation.every=50",
    "evaluation.num_games=2",
    "evaluation.final_num_games=2",
    "evaluation.num_simulations=2",
    "evaluation.uct_simulations=2",
    "run.sample_game_every=50",
    "run.keep_networks=5",
]
INT8 = ["evaluator.engine=openvino", "evaluator.precision=int8"]
#: oneDNN keeps the code of its last 1,024 convolutions, and those in int8 differ by their scales:
#: memory grows by 160 KB an iteration here, until they are so many. With fewer, it does not.
FEW_PRIMITIVES = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "32"}
NUM_NETWORKS, NUM_GAMES = 6, 60  #: files of a run's folder that it may have
MOST_GROWTH_KB = 16_000  #: of memory, from the first quarter to the end
MORE = 4  #: open files or threads: a pool of threads grows when two of them are busy
NEW_KERNELS = 150  #: files in the cache, of kernels that nobody has used before
EVENTS_KB = 12  #: of TensorBoard's file, an iteration


@pytest.fixture(scope="module")
def zygote():
    """Return the process that starts children."""
    return the_zygote()


def slope(samples: list[Usage]) -> float:
    """Return the kilobytes by which memory grows in a step, by least squares."""
    steps, memory = np.array([(sample.step, sample.memory_kb) for sample in samples], float).T
    return float(np.polyfit(steps, memory, 1)[0])


def assert_bounded(samples: list[Usage]) -> None:
    """Assert that a process holds no more at its end than after a quarter of its steps."""
    later = [sample for sample in samples if sample.step >= samples[-1].step / 4]
    assert len(later) >= 5
    growth_kb = slope(later) * (later[-1].step - later[0].step)
    print(f"{later[0].step} to {later[-1].step}: {slope(later):.2f} KB a step; {later[::10]}")
    assert growth_kb < MOST_GROWTH_KB
    for name in ("num_files", "num_threads"):
        counts = [getattr(sample, name) for sample in later]
        half = len(counts) // 2
        assert max(counts[half:]) <= max(counts[:half]) + MORE, name


def soaked(zygote, root: Path, *words: str, num_iterations: int, **env: str) -> list[Usage]:
    """Train a run; return what the process held after each fortieth of it."""
    folder, temporary = run_in(root), root / "tmp"
    temporary.mkdir(parents=True)
    command = ["train", *SOAK, *words, f"run.root={root}", "run.name=run"]
    command.append(f"run.num_iterations={num_iterations}")
    cached = set(os.listdir(cache_directory()))
    learner = zygote.start(command, env=env | {"TMPDIR": str(temporary)})
    samples: list[Usage] = []
    stat = Path(f"/proc/{learner}/stat")
    while stat.read_text().rpartition(") ")[2][0] != "Z":
        newest = max((folder / "networks").glob("[0-9]*.safetensors"), default=None)
        step = 0 if newest is None else int(newest.stem)
        if step >= (len(samples) + 1) * num_iterations / 40:
            samples.append(usage_of(learner, step))
        time.sleep(0.01)
    ended = zygote.wait(learner, 1).assert_ok()
    assert "Traceback" not in ended.stderr
    assert os.listdir(temporary) == []
    assert len(set(os.listdir(cache_directory())) - cached) < NEW_KERNELS
    return samples


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


@pytest.mark.faults
def test_a_long_run_holds_no_more_than_a_short_one(zygote, tmp_path, amount):
    num_iterations = amount(60, 2000)
    samples = soaked(zygote, tmp_path, num_iterations=num_iterations)
    assert_bounded(samples)
    assert_whole(run_in(tmp_path), num_iterations)


@pytest.mark.faults
def test_a_long_run_with_int8_holds_no_more_than_a_short_one(zygote, tmp_path):
    pytest.importorskip("openvino", reason="the extra [openvino] is not installed")
    samples = soaked(zygote, tmp_path, *INT8, num_iterations=120, **FEW_PRIMITIVES)
    assert_bounded(samples)
    assert_whole(run_in(tmp_path), 120)


@pytest.mark.faults
def test_an_engine_that_plays_many_games_stays_small(zygote, tmp_path, amount):
    zygote.run(["train", *SMALLEST, f"run.root={tmp_path}", "run.name=run"]).assert_ok()
    for player in amount(("uct",), ("uct", str(run_in(tmp_path)))):
        words = [f"player={player}", "num_simulations=4", "game=tic_tac_toe", "endgame=off"]
        words += ["device=cpu", "engine=torch", str(amount(60, 2000))]
        ended = zygote.run(words, call="soak_cases:play_engine", timeout_s=300).assert_ok()
        assert_bounded([Usage(*one) for one in json.loads(ended.stdout.splitlines()[-1])])


@pytest.mark.faults
def test_a_page_that_is_asked_many_times_stays_small(zygote, tmp_path, amount):
    pytest.importorskip("uvicorn", reason="the extra [web] is not installed")
    words = [tmp_path, str(amount(64, 500))]
    ended = zygote.run(words, call="soak_cases:ask_page", timeout_s=300).assert_ok()
    assert_bounded([Usage(*one) for one in json.loads(ended.stdout.splitlines()[-1])])
