"""Train on Ray while workers are killed, nodes leave and the learner itself is killed.

    python scripts/worker_chaos.py minutes=10 kill_every_s=20 disturbed=true out=build/chaos

Starts a Ray cluster of this machine (a head without workers, and `nodes` nodes of one core), and a
run of Connect Four in free mode on it. Every `kill_every_s` seconds either a random worker's
process is killed with SIGKILL, or a random node, in whose place a new one joins. Half-way the
learner is killed and resumed. With `disturbed=false` nothing happens to anybody, for comparison.

At the end: are all iterations there, is any game counted twice, how much memory did the learner
take, and the loss. With two folders, `compare=A,B` prints both loss curves.
"""

import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from script_command import run_script

from alphazero.runtime.settings import option
from alphazero.storage.run_folder import RunFolder

WORDS = [
    "game=connect_four",
    "network=2x32",
    "workers=ray",
    "workers.unit_s=5",
    "selfplay.games_per_iteration=150",
    "selfplay.num_simulations=64",
    "selfplay.num_parallel_games=64",
    "evaluation.every=0",
    "evaluation.num_games=0",
    "evaluation.final_num_games=0",
    "evaluation.exact=false",
    "run.num_iterations=10000",
    "run.num_threads=1",
    "run.name=run",
    "replay.window_start=20000",
    "replay.window_max=100000",
]


@dataclasses.dataclass
class Settings:
    """Settings of this script."""

    minutes: float = option(10.0, "length of the run", low=0.1)
    kill_every_s: float = option(20.0, "seconds between two deaths", low=1.0)
    nodes: int = option(2, "nodes of the cluster", low=1)
    disturbed: bool = option(True, "kill workers, nodes and the learner")
    out: str = option("build/chaos", "folder of the run")
    compare: str = option("", "two such folders, with a comma between them, to compare")
    seed: int = option(0, "of the deaths and of the run")


def main(words: list[str]) -> int:
    """Return the exit status."""
    return run_script(run_or_compare, Settings, words, "scripts/worker_chaos.py", __doc__)


def run_or_compare(settings: Settings) -> None:
    """Run or compare."""
    if not settings.compare:
        run(settings)
        return
    folders = settings.compare.split(",")
    if len(folders) != 2:
        raise ValueError(f"compare={settings.compare} needs two folders, with a comma between.")
    compare(*map(Path, folders))


def run(settings: Settings) -> None:
    """Train, disturb, check."""
    # Ray prints the state of every node that dies; see alphazero/workers/cluster/ray_connection.py.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    nodes = [cluster.add_node(num_cpus=1) for _ in range(settings.nodes)]
    out, chance = Path(settings.out), random.Random(settings.seed)
    out.mkdir(parents=True, exist_ok=True)
    run_folder = out / "connect_four" / "run"
    limit_s = settings.minutes * 60
    words = [
        *WORDS,
        f"workers.address={cluster.address}",
        f"run.root={out}",
        f"seed={settings.seed}",
        f"run.time_limit_s={limit_s}",
    ]
    log = open(out / "log.txt", "w")
    learner = start(words, log)
    began = last = time.monotonic()
    memory, num_deaths, is_resumed = [], 0, False
    while learner.poll() is None:
        time.sleep(1.0)
        now = time.monotonic()
        memory.append((now - began, resident_mb(learner.pid)))
        if not settings.disturbed:
            continue
        if (
            not is_resumed
            and now - began > limit_s / 2
            and (run_folder / "state.safetensors").exists()
        ):
            learner.kill()
            learner.wait()
            learner, is_resumed = start([f"resume={run_folder}"], log), True
            print(f"{now - began:5.0f} s: the learner was killed, and is resumed", flush=True)
        if now - last > settings.kill_every_s:
            last, num_deaths = now, num_deaths + 1
            if num_deaths % 2:
                print(f"{now - began:5.0f} s: {kill_a_worker(chance)}", flush=True)
            else:
                gone = nodes.pop(chance.randrange(len(nodes)))
                cluster.remove_node(gone, allow_graceful=False)
                nodes.append(cluster.add_node(num_cpus=1))
                print(
                    f"{now - began:5.0f} s: a node was killed, another one has joined", flush=True
                )
    print(f"the learner ended with status {learner.returncode}")
    check(run_folder, memory)
    ray.shutdown()
    cluster.shutdown()


def start(words: list[str], log) -> subprocess.Popen:
    """Start a learner."""
    command = [sys.executable, "-m", "alphazero", "train", *words]
    return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)


def kill_a_worker(chance: random.Random) -> str:
    """Kill the process of a random actor; return what was done."""
    found = subprocess.run(
        ["pgrep", "-f", "^ray::WorkerActor"], capture_output=True, text=True, check=False
    )
    pids = [int(word) for word in found.stdout.split()]
    if not pids:
        return "no worker to kill"
    pid = chance.choice(pids)
    os.kill(pid, signal.SIGKILL)
    return f"worker process {pid} was killed"


def resident_mb(pid: int) -> float:
    """Return the memory of a process in megabytes, 0 if it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS")), 0.0)


def check(path: Path, memory: list[tuple[float, float]]) -> None:
    """Print whether all iterations and games are there, once each."""
    rows = RunFolder(path).read_metrics()
    iterations = [row["iteration"] for row in rows]
    num_games = sum(row["selfplay.num_games"] for row in rows)
    stored = RunFolder(path).load_all_games()
    records = [record for record in stored if len(record.actions) > 10]  # shorter ones may repeat
    keys = {(record.actions.tobytes(), record.root_values.tobytes()) for record in records}
    per_file = {row["iteration"]: row["selfplay.num_games"] for row in rows}
    print(f"iterations: {len(rows)}, none missing: {iterations == list(range(1, len(rows) + 1))}")
    print(f"games counted: {num_games:,}; stored: {len(stored):,}")
    print(f"of the stored ones longer than 10 moves: {len(records):,}; distinct: {len(keys):,}")
    print(f"games an iteration: {min(per_file.values())} to {max(per_file.values())}")
    lost = sum(row.get("workers.num_lost", 0) for row in rows)
    dropped = np.mean([row.get("workers.stale_fraction", 0) for row in rows])
    print(f"workers lost: {lost}; games dropped as too old: {dropped:.1%}")
    print(f"games/s: {num_games / rows[-1]['elapsed_s']:.2f}")
    for quarter in range(1, 5):
        upto = [mb for s, mb in memory if s <= memory[-1][0] * quarter / 4][-30:]
        print(f"learner's memory after {quarter}/4: {np.median(upto):,.0f} MB")
    print(
        json.dumps(
            {"loss": [round(row["learner.loss"], 3) for row in rows[:: max(1, len(rows) // 20)]]}
        )
    )


def compare(first: Path, second: Path) -> None:
    """Print two loss curves side by side, and how far apart they are beside their noise."""
    curves = []
    for path in (first, second):
        if not (path / "connect_four" / "run").is_dir():
            raise ValueError(f"compare: '{path}' holds no run of this script.")
        rows = RunFolder(path / "connect_four" / "run").read_metrics()
        curves.append(np.array([row["learner.loss"] for row in rows]))
    length = min(map(len, curves))
    a, b = (curve[:length] for curve in curves)
    noise = np.std(np.diff(a)) / np.sqrt(2), np.std(np.diff(b)) / np.sqrt(2)
    print(f"iterations compared: {length}")
    for place in np.linspace(0, length - 1, 11).astype(int):
        print(f"{place + 1:5d}  {a[place]:.3f}  {b[place]:.3f}")
    late = slice(length // 4, None)
    print(f"mean difference after the first quarter: {np.mean(b[late] - a[late]):+.4f}")
    print(f"noise of one iteration: {noise[0]:.4f} and {noise[1]:.4f}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
