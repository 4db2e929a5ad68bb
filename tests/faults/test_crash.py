"""A run is killed at any moment and resumed: it ends as if nothing had happened.

A child is killed before every operation on the disk, and within every write; another one resumes.
Networks and metrics are then the same, bit for bit and figure for figure, TensorBoard shows each
step once, and no file is left that an undisturbed run does not have.
"""

import collections
import random
import signal
import sys
import time
import zlib

import pytest
from harness import IS_FULL, Fault, kill, tell, the_zygote
from stored_runs import Scenario, prepared, resume_words, run_in

from alphazero.storage.run_folder import RunFolder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks a process with torch")

RESUME = Scenario("resume")
NEW = Scenario("new", stored=0, end=2)
DROPS = ("run.keep_networks=2", "replay.window_start=20", "replay.window_max=20")
DROPPING = Scenario("dropping", DROPS, stored=4, end=6)
MEASURED_WORDS = ("pit.every=1", "run.sample_game_every=1", "evaluation.every=1")
MEASURED_WORDS += (
    "evaluation.num_games=2",
    "evaluation.num_simulations=2",
    "evaluation.uct_simulations=2",
)
MEASURED = Scenario("measured", MEASURED_WORDS, stored=1, end=3)
OVERLAP = Scenario("overlap", ("workers.overlap=true", "run.num_threads=2"))
SCENARIOS = [RESUME, NEW, DROPPING, MEASURED, OVERLAP] if IS_FULL else [RESUME, NEW]
KILLED_ANY_TIME = [RESUME, MEASURED, OVERLAP] if IS_FULL else [RESUME]

NUM_PARTS = 8 if IS_FULL else 1  # of each scenario's kills: tests that run beside each other


def kills(operations):
    """Return all kills of a scenario, each a dictionary of fields of `Fault`.

    After an operation is the same as before the next one.
    """
    chosen = []
    for number, (kind, *_) in enumerate(operations):
        chosen.append(dict(at=number))
        if kind == "write":
            chosen += [dict(at=number, when="part", fraction=part) for part in (0.01, 0.5, 0.99)]
    return [*chosen, dict(at=len(operations) - 1, when="after")]


def assert_goes_on(run, root):
    """Resume a killed run, and assert that it ends as if nothing had happened."""
    if not RunFolder(run_in(root)).states:
        assert run.scenario is NEW
        the_zygote().run(resume_words(root, NEW.end)).assert_refused()
        the_zygote().run(NEW.words_to_go_on(root)).assert_ok()
        run.assert_same(root)
        return "from the start"
    ended = the_zygote().run(resume_words(root, run.scenario.end)).assert_ok()
    run.assert_same(root)
    return "same" if "Resuming" in ended.stdout else "finished before"


@pytest.mark.parametrize("part", range(NUM_PARTS))
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_run_killed_at_any_operation_goes_on_as_if_nothing_had_happened(
    scenario, part, tmp_path, amount
):
    run = prepared(scenario)
    chosen = kills(run.operations)
    start = zlib.crc32(scenario.name.encode()) % 20  # different ones of each scenario
    chosen = amount(chosen[start :: len(chosen) // 3], chosen[part::NUM_PARTS])
    found = collections.Counter()
    for fields in chosen:
        root = run.copy(tmp_path / "-".join(map(str, fields.values())))
        words = scenario.words_to_go_on(root)
        ended = the_zygote().run(words, Fault(str(root), **fields))
        try:
            assert ended.signal == signal.SIGKILL
            found[assert_goes_on(run, root)] += 1
        except AssertionError as error:
            operation = run.operations[fields["at"]]
            raise AssertionError(f"{fields}, {operation}: {ended}") from error
    tell("kills at an operation", found)


@pytest.mark.parametrize("part", range(NUM_PARTS))
@pytest.mark.parametrize("scenario", KILLED_ANY_TIME, ids=lambda run: run.name)
def test_a_run_killed_at_any_time_goes_on_as_if_nothing_had_happened(
    scenario, part, tmp_path, amount
):
    run, zygote = prepared(scenario), the_zygote()
    usual_s = zygote.run(scenario.words_to_go_on(run.copy(tmp_path / "usual"))).seconds
    numbers = random.Random(f"{scenario.name} {part}")
    found = collections.Counter()
    for number in range(amount(1, 10)):
        root = run.copy(tmp_path / str(number))
        pid = zygote.start(scenario.words_to_go_on(root))
        time.sleep(numbers.uniform(0, usual_s))
        kill(pid)
        zygote.wait(pid)
        found[assert_goes_on(run, root)] += 1
    tell("kills at any time", found)


@pytest.mark.faults
@pytest.mark.parametrize("part", range(NUM_PARTS))
def test_a_run_killed_twice_goes_on_as_if_nothing_had_happened(part, tmp_path, amount):
    # What the first kill leaves, the second one must not make worse.
    run, zygote = prepared(RESUME), the_zygote()
    numbers = random.Random(part)
    num_kills = 0
    for number in range(amount(1, 12)):
        root = run.copy(tmp_path / str(number))
        for _ in range(2):
            at = numbers.randrange(len(run.operations))
            ended = zygote.run(resume_words(root, RESUME.end), Fault(str(root), at=at))
            num_kills += ended.signal == signal.SIGKILL
        assert_goes_on(run, root)
    tell("kills, two one after the other", {"same": num_kills})
