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

import pytest
from conftest import IS_FULL
from harness import Fault, kill, the_zygote
from stored_runs import Scenario, prepared, resume_words, run_in

from alphazero.storage.run_folder import RunFolder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks a process with torch")

RESUME = Scenario("resume")
NEW = Scenario("new", stored=0, end=2)
DROPS = ("run.keep_networks=2", "replay.window_min=20", "replay.window_max=20")
DROPPING = Scenario("dropping", DROPS, stored=4, end=6)
MEASURED_WORDS = ("pit.every=1", "run.sample_game_every=1", "evaluation.every=1")
MEASURED_WORDS += ("evaluation.num_games=2", "evaluation.opponent=random")
MEASURED = Scenario("measured", MEASURED_WORDS, stored=1, end=2)
OVERLAP = Scenario("overlap", ("workers.overlap=true", "run.num_threads=2"))
SCENARIOS = [RESUME, NEW, DROPPING, MEASURED, OVERLAP]

NUM_PARTS = 8 if IS_FULL else 1  # of each scenario's kills: tests that run beside each other


def kills(scenario, operations):
    """Return (operation, when) of all kills of a scenario.

    After an operation is the same as before the next one.
    """
    chosen = []
    for number, (kind, path, *_) in enumerate(operations):
        is_event_file = "tfevents" in path
        if not is_event_file or scenario in (RESUME, NEW) or number % 4 == 0:
            chosen.append((number, "before"))
            if kind == "write" and (not is_event_file or number % 4 == 1):
                chosen.append((number, "part"))
    return [*chosen, (len(operations) - 1, "after")]


def few(chosen, operations, number):
    """Return some kills, most of them not at TensorBoard's file."""
    others = [kill for kill in chosen if "tfevents" not in operations[kill[0]][1]]
    return others[:: -(-len(others) // (number - 1))] + [chosen[len(chosen) // 2]]


def assert_goes_on(run, root):
    """Resume a killed run, and assert that it ends as if nothing had happened."""
    if not RunFolder(run_in(root)).states:
        assert run.scenario is NEW
        the_zygote().run(resume_words(root, NEW.end)).assert_refused()
        return "nothing stored"
    ended = the_zygote().run(resume_words(root, run.scenario.end)).assert_ok()
    run.assert_same(root)
    return "same" if "Resuming" in ended.stdout else "finished before"


@pytest.mark.parametrize("part", range(NUM_PARTS))
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_run_killed_at_any_operation_goes_on_as_if_nothing_had_happened(
    scenario, part, tmp_path, amount, record_property
):
    run = prepared(scenario)
    chosen = kills(scenario, run.operations)
    chosen = amount(few(chosen, run.operations, 3), chosen[part::NUM_PARTS])
    found = collections.Counter()
    for number, when in chosen:
        root = run.copy(tmp_path / f"{number}{when}")
        words = scenario.words_to_go_on(root)
        ended = the_zygote().run(words, Fault(str(root), at=number, when=when))
        if ended.status == 0:  # TensorBoard's thread wrote a little less this time
            found["not killed"] += 1
            continue
        assert ended.signal == signal.SIGKILL, ended
        found[assert_goes_on(run, root)] += 1
    record_property("kills", dict(found))
    assert found["not killed"] <= 1


@pytest.mark.parametrize("part", range(NUM_PARTS))
@pytest.mark.parametrize("scenario", [RESUME, MEASURED, OVERLAP], ids=lambda run: run.name)
def test_a_run_killed_at_any_time_goes_on_as_if_nothing_had_happened(
    scenario, part, tmp_path, amount, record_property
):
    run, zygote = prepared(scenario), the_zygote()
    usual_s = zygote.run(scenario.words_to_go_on(run.copy(tmp_path / "usual"))).seconds
    numbers = random.Random(f"{scenario.name} {part}")
    found = collections.Counter()
    for number in range(amount(2, 6)):
        root = run.copy(tmp_path / str(number))
        pid = zygote.start(scenario.words_to_go_on(root))
        time.sleep(numbers.uniform(0, usual_s))
        kill(pid)
        zygote.wait(pid)
        found[assert_goes_on(run, root)] += 1
    record_property("random kills", dict(found))


def test_a_run_killed_twice_goes_on_as_if_nothing_had_happened(tmp_path, amount, record_property):
    # What the first kill leaves, the second one must not make worse.
    run, zygote = prepared(RESUME), the_zygote()
    numbers = random.Random(2)
    for number in range(amount(1, 20)):
        root = run.copy(tmp_path / str(number))
        for _ in range(2):
            at = numbers.randrange(len(run.operations))
            zygote.run(resume_words(root, RESUME.end), Fault(str(root), at=at))
        assert_goes_on(run, root)
    record_property("kills", {"same": 2 * amount(1, 20)})
