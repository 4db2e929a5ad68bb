"""How many workers one learner can serve: the real dispatcher, with simulated workers.

    python scripts/simulate_workers.py                        # as many answers as it takes
    python scripts/simulate_workers.py paced=true             # at the speed of real workers
    python scripts/simulate_workers.py against=../before      # beside another checkout, in turn
    python scripts/simulate_workers.py ray=true               # what Ray costs besides

Simulated workers answer with games of Connect Four that real self-play made in advance. The
learner's side is the program's own: `Dispatcher`, the check of every game, the replay buffer, and
with `store=true` the files of games. There are no processes, no network and no learning; so the
figures say what the dispatcher's one thread can take, and nothing about what carries the answers.
`ray=true` measures that part, with a few actors on this machine.
"""

import dataclasses
import heapq
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from rich.console import Console
from rich.table import Table
from script_command import run_script

from alphazero.games.registry import make_game
from alphazero.inference.evaluator import UniformEvaluator
from alphazero.replay.buffer import ReplayBuffer
from alphazero.replay.settings import ReplaySettings
from alphazero.runtime.settings import option
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.flat_games import flatten
from alphazero.selfplay.lockstep import SelfPlay
from alphazero.selfplay.settings import SelfPlaySettings
from alphazero.storage.run_folder import RunFolder
from alphazero.workers import answer_check
from alphazero.workers import dispatcher as dispatching
from alphazero.workers.settings import WorkerSettings
from alphazero.workers.transport import Answered, Joined
from alphazero.workers.unit import Answer, WorkerFacts
from alphazero.workers.work import NO_WORK

_NUM_GAMES = 1000  # made in advance
_NUM_ANSWERS = 32  # different ones of each size
_WINDOW = 50_000


@dataclasses.dataclass
class Settings:
    """Settings of this script."""

    workers: list[int] = option([1, 10, 100, 1000, 10_000], "numbers of workers", low=1)
    unit_games: int = option(8, "games of a unit", low=1)
    seconds: float = option(4.0, "of a measurement, after a warm-up", low=0.1)
    rounds: int = option(3, "measurements of each number; the best is reported", low=1)
    paced: bool = option(False, "workers take as long as real ones, instead of no time")
    games_per_s: float = option(20.0, "of a worker", low=0.01)
    batch: int = option(1, "most answers that arrive at once, when workers take no time", low=1)
    store: bool = option(False, "store the games of every iteration as well")
    ray: bool = option(False, "measure Ray instead, with `actors` actors")
    actors: int = option(3, "actors of ray=true", low=1)
    against: str = option("", "another checkout, to be measured in turn with this one")
    json: str = option("", "write the figures to this file")


def main(words: list[str]) -> int:
    """Return the exit status."""
    return run_script(simulate, Settings, words, "scripts/simulate_workers.py", __doc__)


def simulate(settings: Settings) -> None:
    """Measure and print."""
    if settings.ray:
        measure_ray(settings)
    elif settings.against:
        compare(settings, sys.argv[1:])
    else:
        rows = [best(settings, number) for number in settings.workers]
        show(rows)
        if settings.json:
            Path(settings.json).write_text(json.dumps(rows))


# --- simulated workers ----------------------------------------------------------------------------


class SimulatedWorkers:
    """A `Transport` to workers that are not there.

    Attributes:
        seconds: that passed in here: they are not the dispatcher's.
        num_bytes: of all answers.
        num_units: that were given out.
    """

    how_to_join = ""

    def __init__(self, settings: Settings, number: int, records: list):
        self._settings = settings
        self._records = records
        self._generator = np.random.default_rng(0)
        self._answers: dict[int, list] = {}  # by number of games
        self._version = 0
        self._due: list[tuple] = []  # (when, place, worker, unit), a heap
        self._busy_until: dict[str, float] = {}
        self.num_units = 0
        facts = WorkerFacts("simulated", 0, "simulated", "", 0.0, 2)
        self._events: list = [Joined(f"w{place}", facts) for place in range(number)]
        self.seconds = 0.0
        self.num_bytes = 0

    def publish(self, weights) -> None:
        """See `Transport.publish`."""
        self._version = weights.version

    def submit(self, worker: str, unit) -> None:
        """See `Transport.submit`."""
        started = time.perf_counter()
        self.num_units += 1
        when = 0.0
        if self._settings.paced:
            when = max(started, self._busy_until.get(worker, 0.0))
            if worker not in self._busy_until:  # real workers are not in step
                when += self._generator.random() * unit.num_games / self._settings.games_per_s
            when += unit.num_games / self._settings.games_per_s
            self._busy_until[worker] = when
        heapq.heappush(self._due, (when, self.num_units, worker, unit))
        self.seconds += time.perf_counter() - started

    def poll(self, timeout_s: float) -> list:
        """See `Transport.poll`."""
        started = time.perf_counter()
        events, self._events = self._events, []
        most = len(self._due) if self._settings.paced else self._settings.batch
        if self._settings.paced and self._due and not events:
            time.sleep(min(max(self._due[0][0] - started, 0.0), timeout_s))
        now = time.perf_counter()
        while self._due and len(events) < most and self._due[0][0] <= now:
            _, _, worker, unit = heapq.heappop(self._due)
            events.append(Answered(worker, self._answer(unit)))
        self.seconds += time.perf_counter() - started
        return events

    def dismiss(self, worker: str, for_good: bool = False) -> None:
        """See `Transport.dismiss`."""
        raise AssertionError(f"{worker} was dismissed")

    def close(self) -> None:
        """See `Transport.close`."""

    def _answer(self, unit) -> Answer:
        """Return an answer in memory of its own, as if it had been received."""
        if unit.num_games not in self._answers:
            picks = self._generator.integers(_NUM_GAMES, size=(_NUM_ANSWERS, unit.num_games))
            self._answers[unit.num_games] = [
                flatten([self._records[place] for place in pick]) for pick in picks
            ]
        games = self._answers[unit.num_games][unit.id % _NUM_ANSWERS]
        games = {name: array.copy() for name, array in games.items()}
        self.num_bytes += sum(array.nbytes for array in games.values())
        seconds = unit.num_games / self._settings.games_per_s
        return Answer(unit.id, self._version, games, tuple(NO_WORK), seconds)


def make_records() -> list:
    """Return finished games of Connect Four."""
    game = make_game("connect_four")
    options = SelfPlaySettings(num_parallel_games=64, num_simulations=16)
    evaluator, generator = UniformEvaluator(game.num_actions), np.random.default_rng(0)
    return list(SelfPlay(game, evaluator, options, SearchSettings(), generator).play(_NUM_GAMES))


# --- the learner's side ---------------------------------------------------------------------------


class Stopwatch:
    """Adds up the time inside functions."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def wrap(self, name: str, module) -> None:
        """Replace a function of a module by one that is timed."""
        inner = getattr(module, name)
        self.seconds.setdefault(name, 0.0)

        def timed(*args, **kwargs):
            started = time.perf_counter()
            try:
                return inner(*args, **kwargs)
            finally:
                self.seconds[name] += time.perf_counter() - started

        setattr(module, name, timed)


def best(settings: Settings, number: int) -> dict[str, float]:
    """Return the figures of the round in which the dispatcher was fastest."""
    records = make_records()
    rounds = [measure(settings, number, records) for _ in range(settings.rounds)]
    return max(rounds, key=lambda row: row["games_per_s"])


def measure(settings: Settings, number: int, records: list) -> dict[str, float]:
    """Return the figures of one measurement."""
    game = make_game("connect_four")
    watch = Stopwatch()
    undo = [(dispatching, "unflatten", dispatching.unflatten)]
    for module in (answer_check, dispatching):
        if hasattr(module, "check_games"):
            undo.append((module, "check_games", module.check_games))
    for module, name, _ in undo:
        watch.wrap(name, module)
    transport = SimulatedWorkers(settings, number, records)
    dispatcher = dispatching.Dispatcher(
        WorkerSettings(
            kind="ray",
            unit_s=(settings.unit_games + 0.01) / settings.games_per_s,
            timeout_s=1e9,  # answers wait here for as long as the dispatcher takes
        ),
        game,
        transport,
        4 * number * (settings.unit_games + 1),  # so that unit_s decides the size of units
        False,
        None,
        "simulated",
    )
    replay_settings = ReplaySettings(window_max=_WINDOW, surprise_fraction=0.5)
    replay = ReplayBuffer(game, replay_settings, np.random.default_rng(0))
    watch.wrap("add", replay)
    with tempfile.TemporaryDirectory() as folder:
        row = drive(settings, number, dispatcher, transport, replay, watch, RunFolder(folder))
    for module, name, function in undo:
        setattr(module, name, function)
    return row


def drive(settings, number, dispatcher, transport, replay, watch, folder) -> dict[str, float]:
    """Take games for a while; return what it took."""
    dispatcher.update(0, SimpleNamespace(state_dict=dict), None)
    least = 2 * number + min(2 * number, 2500)  # units of the warm-up: sizes have settled
    began, before, memory = 0.0, {}, []
    num_games = 0
    kept: list = []
    for played in dispatcher.play(10**12, 0.0):
        for record in played.records:
            replay.add(record)
        if settings.store:
            kept += played.records
            if len(kept) >= 1000:
                folder.save_games(1, kept)
                kept = []
        now = time.perf_counter()
        if began == 0.0:
            if transport.num_units >= least:
                began = now
                before = snapshot(dispatcher, transport, watch)
            continue
        num_games += len(played.records)
        if now - began > settings.seconds * (len(memory) + 1) / 4:
            memory.append(resident_mb())
            if len(memory) == 4:
                break
    after = snapshot(dispatcher, transport, watch)
    spent = {name: after[name] - before[name] for name in after}
    seconds = now - began
    busy = seconds - spent["transport"]
    num_units = spent["units"]
    parts = {name: 1e6 * spent[name] / num_games for name in ("check_games", "unflatten", "add")}
    rest = busy - spent["check_games"] - spent["unflatten"] - spent["add"]
    return {
        "workers": number,
        "unit_games": num_games / num_units,
        "offered_games_per_s": number * settings.games_per_s if settings.paced else float("inf"),
        "taken_games_per_s": num_games / seconds,
        "units_per_s": num_units / busy,
        "games_per_s": num_games / (seconds if settings.paced else busy),
        "mb_per_s": spent["bytes"] / 1e6 / busy,
        "bytes_per_game": spent["bytes"] / num_games,
        "check_us_per_game": parts["check_games"],
        "unflatten_us_per_game": parts["unflatten"],
        "replay_us_per_game": parts["add"],
        "rest_us_per_unit": 1e6 * rest / num_units,
        "memory_mb": memory,
    }


def snapshot(dispatcher, transport, watch) -> dict[str, float]:
    """Return what has been counted so far."""
    return {
        **watch.seconds,
        "transport": transport.seconds,
        "bytes": transport.num_bytes,
        "units": transport.num_units,
    }


def resident_mb() -> float:
    """Return the memory of this process in megabytes, on Linux."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS"))


def show(rows: list[dict]) -> None:
    """Print the figures."""
    table = Table(
        *("workers", "games a unit", "units/s", "games/s", "MB/s", "check", "unflatten"),
        *("replay (us a game)", "rest (us a unit)", "memory after each quarter, MB"),
    )
    for row in rows:
        keys = ("units_per_s", "games_per_s")
        table.add_row(
            f"{row['workers']:,}",
            f"{row['unit_games']:.1f}",
            *(f"{row[key]:,.0f}" for key in keys),
            f"{row['mb_per_s']:.1f}",
            *(f"{row[f'{key}_us_per_game']:.0f}" for key in ("check", "unflatten", "replay")),
            f"{row['rest_us_per_unit']:.0f}",
            " ".join(f"{mb:,.0f}" for mb in row["memory_mb"]),
        )
    Console(width=130).print(table)


def compare(settings: Settings, words: list[str]) -> None:
    """Measure this checkout and another one in turn; print the ratio for each number of workers."""
    if not (Path(settings.against) / "alphazero").is_dir():
        raise ValueError(f"against={settings.against} is not a checkout of this program.")
    words = [word for word in words if word.split("=")[0] not in ("against", "rounds", "json")]
    words = [word for word in words if not word.startswith("workers=")]
    here = Path(__file__).resolve().parents[1]
    for number in settings.workers:
        speeds: dict[str, list[float]] = {"here": [], "there": []}
        for _ in range(settings.rounds):
            for place, checkout in (("there", Path(settings.against)), ("here", here)):
                with tempfile.NamedTemporaryFile(suffix=".json") as file:
                    subprocess.run(
                        [
                            *(sys.executable, __file__, *words, f"workers=[{number}]"),
                            *("rounds=1", f"json={file.name}"),
                        ],
                        env={**os.environ, "PYTHONPATH": str(checkout.resolve())},
                        check=True,
                        stdout=subprocess.DEVNULL,
                    )
                    speeds[place].append(json.loads(Path(file.name).read_text())[0]["units_per_s"])
        ratio = statistics.median(a / b for a, b in zip(speeds["here"], speeds["there"]))
        print(
            f"{number:,} workers: {max(speeds['there']):,.0f} units/s there, "
            f"{max(speeds['here']):,.0f} here, ratio {ratio:.2f}",
            flush=True,
        )


# --- Ray ------------------------------------------------------------------------------------------


def measure_ray(settings: Settings) -> None:
    """Print what a unit costs the driver: submit, wait and get, with answers of several sizes."""
    import ray

    ray.init(
        address="local",
        num_cpus=settings.actors + 1,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=40,
    )

    @ray.remote(num_cpus=1)
    class Actor:
        def play(self, num_bytes):
            return {"games": np.zeros(num_bytes, np.uint8)}

        def sleep(self):
            time.sleep(3600)

    actors = [Actor.remote() for _ in range(settings.actors)]
    sleeper = Actor.remote()
    ray.get([actor.play.remote(1) for actor in actors])
    table = Table("bytes", "calls that wait besides", "units/s", "MB/s", "driver's CPU, us a unit")
    waiting: list = []
    for number in (0, 200, 2000, 20_000):
        waiting += [sleeper.sleep.remote() for _ in range(number - len(waiting))]
        for num_bytes in (20_000, 2_000_000) if number == 0 else (20_000,):
            rounds = [ray_round(ray, actors, waiting, num_bytes) for _ in range(settings.rounds)]
            units_per_s, cpu_s = max(rounds)[0], min(cpu for _, cpu in rounds)
            table.add_row(
                f"{num_bytes:,}",
                f"{number:,}",
                f"{units_per_s:,.0f}",
                f"{units_per_s * num_bytes / 1e6:,.0f}",
                f"{1e6 * cpu_s:,.0f}",
            )
    Console().print(table)
    ray.shutdown()


def ray_round(ray, actors: list, waiting: list, num_bytes: int) -> tuple[float, float]:
    """Return units/s, and processor seconds of the driver per unit; as `RayTransport` polls."""
    calls = {actor.play.remote(num_bytes): actor for actor in actors for _ in range(2)}
    started, cpu, num_units = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - started < 3.0:
        asked = [*calls, *waiting]
        ray.wait(asked, timeout=1.0)
        ready, _ = ray.wait(asked, num_returns=len(asked), timeout=0.0)
        for call in ready:
            actor = calls.pop(call)
            ray.get(call)
            calls[actor.play.remote(num_bytes)] = actor
            num_units += 1
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    ray.get(list(calls))
    return num_units / seconds, cpu / max(num_units, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
