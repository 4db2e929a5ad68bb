"""Workers on a shared folder: who joins and leaves, what is refused, and each game counts once."""

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from run_samples import make_trainer, reports

from alphazero.cli import main
from alphazero.cli.work import progress_text
from alphazero.games.registry import make_game
from alphazero.inference.network_evaluator import EvaluatorSettings
from alphazero.network.interface import NetworkSettings
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import write_atomically
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.flat_games import flatten
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.settings import SelfPlaySettings
from alphazero.training.events import IterationReport
from alphazero.training.run_config import compose
from alphazero.workers.folder import game_files
from alphazero.workers.folder.folder_source import FolderSource
from alphazero.workers.folder.folder_worker import FolderWorker, Progress, Settings
from alphazero.workers.folder.game_files import to_bytes
from alphazero.workers.folder.shared_folder import GamesName, Posting, SharedFolder, SignOfLife
from alphazero.workers.sent_code import code_version
from alphazero.workers.settings import WorkerSettings
from alphazero.workers.unit import NO_WORK, Answer, Job, WorkerFacts

GAME = make_game("tic_tac_toe")
JOB = Job(
    "thisrun",
    code_version(),
    "tic_tac_toe",
    None,
    NetworkSettings(blocks=1),
    EvaluatorSettings(cache_mb=3),
    SearchSettings(),
    SelfPlaySettings(games_per_iteration=50, adjudicated_fraction=0.0),
    "cpu",
    7,
    0,
    4,
)
FACTS = WorkerFacts("host", "torch float32", 100.0, 2)


def a_game(seed: int) -> GameRecord:
    """Return a random game of tic-tac-toe."""
    generator = np.random.default_rng(seed)
    states, found, actions, over, results, players = GAME.initial_states(), [], [], False, None, []
    while not over:
        action = int(generator.choice(np.flatnonzero(GAME.legal_action_mask(states)[0])))
        found.append(states[0])
        players.append(GAME.players(states)[0])
        actions.append(action)
        after = GAME.step(states, np.array([action]))
        states, over, results = after.states, after.over[0], after.results[0]
    length = len(actions)
    signs = np.where(np.array(players) == after.players[0], 1, -1)
    return GameRecord(
        np.array(found),
        np.array(actions, np.int32),
        np.eye(GAME.num_actions, dtype=np.float32)[actions],
        np.zeros(length, np.float32),
        (signs * results).astype(np.float32),
        np.ones(length, np.bool_),
        np.zeros(length, np.float32),
    )


class Shared:
    """A folder with a learner's source on it, under a clock of its own."""

    def __init__(self, path, state=None, job=JOB, **settings):
        self.folder = SharedFolder(path)
        self.now, self.sleeps = 1000.0, 0
        workers = WorkerSettings(kind="folder", folder=str(path), **settings)
        self.source = FolderSource(workers, GAME, job, lambda: self.now, self.sleep)
        if state is not None:
            self.source.load_state_dict(json.loads(json.dumps(state)))

    def sleep(self, seconds):
        self.now += seconds
        self.sleeps += 1
        if self.sleeps > 50:
            raise TimeoutError

    def update(self, version):
        self.source.update(version, torch.nn.Linear(2, 2), None)

    def leave_games(self, number=0, worker="worker", seeds=(0, 1), version=0, job=JOB, **changes):
        """Write a file of games as a worker would, with changed arrays or facts."""
        name = GamesName(worker, number, len(seeds))
        columns = flatten([a_game(seed) for seed in seeds])
        columns |= {key: change(columns) for key, change in changes.items()}
        answer = Answer(0, version, columns, tuple(NO_WORK), 2.0)
        path = self.folder.games / str(name)
        write_atomically(path, to_bytes(answer, name, job))
        return path

    def sign(self, worker="worker", run="thisrun", patience_s=30.0):
        self.folder.sign(worker, SignOfLife(run, FACTS, self.now, patience_s))

    def play(self, num_games):
        """Return the games of an iteration, and what was said."""
        self.sleeps, records, notices = 0, [], []
        for played in self.source.play(num_games, 0.5):
            records += played.records
            notices += played.notices
        return records, notices

    def look(self):
        """Return what is said while the network learns."""
        self.now += 1.0
        self.source.tend()
        return self.source._roster.take_notices()


def first_actions(records):
    """Return games as texts that tell them apart."""
    return sorted(str(list(map(int, record.actions))) for record in records)


# --- what is posted -------------------------------------------------------------------------------


def test_a_job_is_the_same_after_it_was_read_from_the_folder(tmp_path):
    folder = SharedFolder(tmp_path)
    job = dataclasses.replace(JOB, game="mine.py", game_files="GAME = 'ä${x}'\n", seed=3)
    for posting in (Posting(job, 0.25, 12.5, False), Posting(JOB, 1.0, 30.0, True)):
        folder.post(posting)
        assert folder.read_posting() == posting


def test_the_newest_three_networks_are_there(tmp_path):
    shared = Shared(tmp_path)
    for version in range(6):
        shared.update(version)
    assert shared.folder.versions() == [3, 4, 5]


@pytest.mark.parametrize("words", (["workers.folder="], ["workers.mode=ordered"]))
def test_settings_that_do_not_go_with_a_folder_are_refused(tmp_path, words):
    with pytest.raises(ConfigError) as refused:
        make_trainer(tmp_path, "workers=folder", f"workers.folder={tmp_path / 'x'}", *words)
    assert refused.value.key == words[0].partition("=")[0]


@pytest.mark.parametrize("word", ("workers.folder=x", "workers.address=host:1"))
def test_where_workers_are_is_refused_for_a_new_run_that_has_none_there(tmp_path, word):
    for kind in ("threads", "processes"):
        with pytest.raises(ConfigError) as refused:
            compose(["game=tic_tac_toe", f"workers={kind}", word])
        assert refused.value.key == word.partition("=")[0]


# --- games ----------------------------------------------------------------------------------------


def test_games_of_files_are_those_that_were_played(tmp_path):
    shared = Shared(tmp_path)
    shared.update(0)
    shared.leave_games(0, seeds=(1, 2, 3))
    shared.leave_games(1, seeds=(4, 5))
    records, _ = shared.play(5)
    assert first_actions(records) == first_actions(map(a_game, range(1, 6)))
    assert len(list(shared.folder.waiting_games())) == 2  # until they are stored
    shared.source.stored()
    assert list(shared.folder.waiting_games()) == []
    assert shared.source.state_dict()["folder"]["counted"] == []


def test_games_that_are_too_old_are_dropped_and_counted(tmp_path):
    shared = Shared(tmp_path, max_staleness=1)
    shared.update(0)
    shared.sign()
    shared.update(2)
    old = shared.leave_games(0, version=0)
    shared.leave_games(1, version=1, seeds=(2, 3, 4))
    shared.sign()
    records, _ = shared.play(3)
    (report,) = shared.source.worker_reports()
    assert (len(records), report.num_games, report.num_stale_games) == (3, 3, 2)
    assert (report.total_staleness, report.games_per_s) == (3, 1.25)
    assert not old.exists()


def _facts(**changes):
    """Return what rewrites the facts of a file."""

    def forge(path):
        data = path.read_bytes()
        end = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:end])
        facts = json.loads(header["__metadata__"]["games"]) | changes
        header["__metadata__"]["games"] = json.dumps(facts)
        text = json.dumps(header).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + data[end:])

    return forge


def _cut(path):
    path.write_bytes(path.read_bytes()[:-7])


def _link(path):
    path.rename(path.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent / "elsewhere")


def _huge(path):
    os.truncate(path, game_files.MOST_BYTES + 1)


def _rename(name):
    return lambda path: path.rename(path.with_name(name))


FORGED = {
    "truncated": _cut,
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("hello"),
    "a pickle": lambda path: path.write_bytes(b"\x80\x04cos\nsystem\n(S'true'\ntR."),
    "huge": _huge,
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a link": _link,
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "another run": _facts(run="other"),
    "another version": _facts(code_version="0.0 (other)"),
    "another worker": _facts(worker="../worker"),
    "another number": _facts(number=5),
    "a network of the future": _facts(version=1),
    "a network below the first": _facts(version=-1),
    "no seconds": _facts(seconds=None),
    "endless work": _facts(work=[1e400] * len(NO_WORK)),
    "little work": _facts(work=[1.0]),
    "another format": _facts(format="x"),
    "too few games": _rename("worker.000000.3.safetensors"),
    "a name that leads away": _rename("x\\..\\y.000000.2.safetensors"),
    "a name with a line break": _rename("a\nb.000000.2.safetensors"),
    "a name with capitals": _rename("Worker.000000.2.safetensors"),
    "another file": _rename("notes.txt"),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_file_that_is_not_right_is_refused_and_the_run_goes_on(tmp_path, forge):
    shared = Shared(tmp_path)
    shared.update(0)
    path = shared.leave_games(0)
    try:
        forge(path)
    except (OSError, AttributeError) as error:
        pytest.skip(f"impossible here: {error}")
    (name,) = os.listdir(shared.folder.games)
    good = shared.leave_games(1, seeds=(8, 9))
    records, notices = shared.play(2)
    assert first_actions(records) == first_actions([a_game(8), a_game(9)])
    assert os.listdir(shared.folder.refused) == [name]
    assert os.listdir(shared.folder.games) == [good.name]
    (notice,) = [notice for notice in notices if "refused" in notice]
    assert ascii(name) in notice and "\n" not in notice


#: Leaves out the last ply of the first game. The laws of games are tested in `test_dispatcher`.
UNFINISHED = {
    name: lambda columns, name=name: np.delete(columns[name], columns["lengths"][0] - 1, axis=0)
    for name in GameRecord._fields
} | {"lengths": lambda columns: columns["lengths"] - np.array([1, 0])}


@pytest.mark.parametrize("adjudicated_fraction", (0.0, 0.5))
def test_a_game_that_is_not_finished_is_refused_unless_games_are_adjudicated(
    tmp_path, adjudicated_fraction
):
    selfplay = dataclasses.replace(JOB.selfplay, adjudicated_fraction=adjudicated_fraction)
    shared = Shared(tmp_path, job=dataclasses.replace(JOB, selfplay=selfplay))
    shared.update(0)
    path = shared.leave_games(0, **UNFINISHED)
    shared.leave_games(1, seeds=(8, 9))
    records, _ = shared.play(2)
    refused = os.listdir(shared.folder.refused)
    assert refused == ([] if adjudicated_fraction else [path.name])
    assert (first_actions(records) == first_actions([a_game(8), a_game(9)])) == bool(refused)


# --- workers --------------------------------------------------------------------------------------


def test_a_worker_is_there_while_its_signs_change(tmp_path):
    shared = Shared(tmp_path)
    SharedFolder(tmp_path).make()
    shared.sign("old")
    shared.sign("other", run="another")
    shared.update(0)
    assert "joined" not in str(shared.look())  # they may be dead
    shared.now += 20.0
    shared.sign("old")
    shared.sign("new")
    notices = shared.look()
    assert sum("joined" in notice for notice in notices) == 2
    names = {report.name for report in shared.source.worker_reports()}
    assert names == {"old", "new"}
    (shared.folder.workers / "old.json").unlink()
    assert "old" in str(shared.look())
    shared.now += 30.0 + 115.0
    assert shared.look() == []
    shared.now += 10.0
    assert "new" in str(shared.look())
    assert {report.is_alive for report in shared.source.worker_reports()} == {False}
    assert not (shared.folder.workers / "new.json").exists()
    shared.sign("new")
    assert "joined" in str(shared.look())


@pytest.mark.parametrize(
    "text",
    (
        "",
        "[]",
        "{}",
        "\udcff",
        "9" * 20_000,
        "[" * 2000,
        '{"run": "thisrun", "facts": []}',
        '{"run": "thisrun", "facts": {"host": "\\u001b[2J"}}',
        '{"run": "thisrun", "patience_s": NaN}',
        '{"run": "thisrun", "patience_s": 1%s}' % ("0" * 400),
    ),
    ids=range(10),
)
def test_a_sign_of_life_that_is_none_is_ignored(tmp_path, text):
    shared = Shared(tmp_path)
    shared.update(0)
    (shared.folder.workers / "x.json").write_bytes(text.encode(errors="surrogateescape"))
    shared.leave_games()
    assert len(shared.play(2)[0]) == 2
    assert shared.source.worker_reports() == []


def test_that_no_worker_is_there_is_said_once_each_time(tmp_path):
    shared = Shared(tmp_path)
    shared.update(0)
    for _ in range(2):
        said = [notice for _ in range(200) for notice in shared.look()]
        assert sum("alphazero work" in notice for notice in said) == 1
        shared.sign()
        assert "joined" in str(shared.look())
        (shared.folder.workers / "worker.json").unlink()
        assert "alphazero work" not in str(shared.look())


def test_a_folder_that_is_away_for_a_while_does_not_end_the_run(tmp_path):
    path, away = tmp_path / "shared", tmp_path / "away"
    shared = Shared(path)
    shared.update(0)
    shared.leave_games(0)
    records, _ = shared.play(2)
    os.rename(path, away)
    shared.source.stored()
    shared.update(1)
    said = [shared.look(), shared.look()]
    assert [len(notices) for notices in said] == [1, 0]
    os.rename(away, path)
    shared.leave_games(1, seeds=(5,))
    records, notices = shared.play(1)
    assert first_actions(records) == first_actions([a_game(5)])  # the first file counts once
    assert "again" in str(notices) and shared.folder.versions() == [0, 1]


# --- killed learners ------------------------------------------------------------------------------


@pytest.mark.parametrize("killed_at", range(12))
def test_a_killed_and_resumed_learner_neither_loses_nor_doubles_games(tmp_path, killed_at):
    """Each iteration has four moments at which the learner may die; it dies at one of them."""
    moment, stored, state = 0, [], None

    def dies():
        nonlocal moment
        moment += 1
        return moment - 1 == killed_at

    def run():
        """Make iterations until death or the end; return whether it is the end."""
        nonlocal stored, state
        shared = Shared(tmp_path, state, max_staleness=100)
        shared.update(0 if state is None else state["iteration"])
        for _ in range(len(stored) // 4, 3):
            records, _ = shared.play(4)
            assert len(records) == 4
            shared.look()
            if dies():
                return False
            iteration = len(stored) // 4 + 1
            shared.update(iteration)
            if dies():
                return False
            stored += first_actions(records)
            state = {"iteration": iteration} | json.loads(json.dumps(shared.source.state_dict()))
            if dies():
                return False
            shared.source.stored()
            if dies():
                return False
        return True

    shared = Shared(tmp_path)
    for number in range(6):
        shared.leave_games(number, seeds=(2 * number, 2 * number + 1))
    shared.folder.post(Posting(JOB, 0.0, 30.0, False))
    assert not run()
    if killed_at < 11:
        assert run()
    assert sorted(stored) == first_actions(map(a_game, range(12)))


def test_the_folder_of_another_run_is_refused_unless_that_run_has_ended(tmp_path):
    first = Shared(tmp_path)
    first.update(0)
    first.leave_games(0)
    first.look()
    first.source.play(1, 0.0).__next__()
    second = Shared(tmp_path, job=dataclasses.replace(JOB, run="second"))
    with pytest.raises(ConfigError) as refused:
        second.update(0)
    assert refused.value.key == "workers.folder"
    first.source.close()
    assert SharedFolder(tmp_path).read_posting().has_ended
    second = Shared(tmp_path, job=dataclasses.replace(JOB, run="second"))
    second.update(0)
    assert list(second.folder.waiting_games()) == []
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError):
        Shared(tmp_path / "file" / "y")


def trained(trainer, workers, until=None):
    """Let workers play for a trainer; return the reports and what was said."""
    turn, found, notices = 0, [], []

    def sleep(seconds):
        nonlocal turn
        turn += 1
        assert turn < 200
        workers[turn % len(workers)].step()

    trainer.source._sleep = sleep
    for event in trainer.run():
        if isinstance(event, IterationReport):
            found.append(event)
        else:
            notices += event.notices
            if until is not None and until(event):
                break
    return found, notices


@pytest.mark.slow
def test_workers_join_and_leave_and_a_killed_run_goes_on(tmp_path):
    shared = tmp_path / "shared"
    words = ("workers=folder", f"workers.folder={shared}", "run.num_iterations=3")
    own = Settings(num_threads=1, device="cpu", name="Anna's PC")
    workers = [FolderWorker(SharedFolder(shared), own) for _ in range(2)]
    assert workers[0].name != workers[1].name
    trainer = make_trainer(tmp_path / "run", *words)
    found, notices = trained(
        trainer, workers, lambda event: event.iteration == 2 and event.stage == "learning"
    )
    assert sum("joined" in notice for notice in notices) == 2
    workers.pop().leave()
    again = make_trainer(tmp_path / "run", *words)
    again.restore()
    more, notices = trained(again, workers)
    assert [report.iteration for report in found + more] == [1, 2, 3]
    assert "left" not in str(notices)  # it left while no learner was there
    assert more[-1].workers.num_workers == 1
    stored = [again.folder.load_games(number, 1, again.game) for number in (1, 2, 3)]
    assert all(len(games) >= 6 for games in stored)
    workers[0].step()
    assert "ended" in workers[0].progress.text
    threads = make_trainer(tmp_path / "run", "run.num_iterations=4")
    threads.restore()
    assert [report.iteration for report in reports(threads)] == [4]


KILLED = """
import os, signal, sys
from alphazero.runtime import files
from alphazero.workers.folder.folder_worker import FolderWorker, Settings
from alphazero.workers.folder.shared_folder import SharedFolder

worker = FolderWorker(SharedFolder(sys.argv[1]), Settings(num_threads=1, device="cpu"))
fsync = os.fsync
def die_over_games(number):
    name = os.readlink(f"/proc/self/fd/{number}") if os.path.exists("/proc/self/fd") else "games"
    os.kill(os.getpid(), signal.SIGKILL) if "games" in name and ".tmp" in name else fsync(number)
files.os.fsync = die_over_games
for _ in range(50):
    worker.step()
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="it looks at its own open files")
def test_a_worker_that_is_killed_while_it_writes_does_no_harm(tmp_path):
    shared, events = posted(tmp_path)
    command = [sys.executable, "-c", KILLED, str(shared.path)]
    assert subprocess.run(command, timeout=60).returncode == -signal.SIGKILL
    (name,) = os.listdir(shared.games)
    assert name.startswith(".") and ".tmp" in name
    next(events)
    assert os.listdir(shared.refused) == []
    events.close()


# --- the worker -----------------------------------------------------------------------------------


def posted(tmp_path, **changes):
    """Return a trainer that waits for games in a folder, and the folder."""
    shared = SharedFolder(tmp_path / "shared")
    trainer = make_trainer(tmp_path / "run", "workers=folder", f"workers.folder={shared.path}")
    events = trainer.run()
    next(events)
    if changes:
        posting = shared.read_posting()
        job = dataclasses.replace(posting.job, **changes)
        shared.post(dataclasses.replace(posting, job=job))
    return shared, events


def test_a_worker_does_not_play_for_a_learner_of_another_version(tmp_path):
    shared, events = posted(tmp_path, code_version="0.0 (other)")
    with pytest.raises(ConfigError) as refused:
        FolderWorker(shared, Settings(device="cpu")).step()
    assert refused.value.allowed == "0.0 (other)"
    assert main(["work", str(shared.path)]) == 2
    events.close()


@pytest.mark.slow
def test_a_worker_runs_no_game_file_that_the_user_did_not_name(tmp_path):
    marker, path = tmp_path / "marker", tmp_path / "mine.py"
    text = f"open({str(marker)!r}, 'w').close()\n"
    path.write_text(text + "# mine\n")
    shared, events = posted(tmp_path, game=str(path), game_files=json.dumps({path.name: text}))
    for game in (None, str(path), "tic_tac_toe"):
        with pytest.raises(ConfigError):
            FolderWorker(shared, Settings(device="cpu", game=game)).step()
        if game is None:
            assert not marker.exists()
    events.close()


@pytest.mark.slow
def test_a_worker_waits_out_what_goes_wrong_with_the_folder(tmp_path, monkeypatch):
    shared, events = posted(tmp_path)
    worker = FolderWorker(shared, Settings(num_threads=1, device="cpu"))
    whole = shared.network(0).read_bytes()
    shared.network(0).write_bytes(whole[:100])  # half copied
    assert worker.step() > 0 and worker.progress.num_games == 0
    shared.network(0).write_bytes(whole)

    def full(self, path, data):
        if path.parent == self.games:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(SharedFolder, "write", full)
        assert worker.step() > 0 and worker.step() > 0
    assert "No space left" in worker.progress.text
    assert list(shared.waiting_games()) == []
    os.rename(shared.path, tmp_path / "away")
    assert worker.step() > 0
    os.rename(tmp_path / "away", shared.path)
    worker.step()
    (first, *_) = sorted(shared.waiting_games())
    assert first.number == 0 and worker.progress.num_games >= first.num_games
    assert any(worker.step() for _ in range(50))  # it pauses when enough games wait
    assert 12 <= sum(name.num_games for name in shared.waiting_games()) <= 24
    events.close()


def test_a_worker_until_the_end_does_not_take_the_end_of_an_earlier_run_for_it(tmp_path):
    shared, events = posted(tmp_path)
    own = Settings(num_threads=1, device="cpu", until_finished=True)
    early, late = FolderWorker(shared, own), FolderWorker(shared, own)
    early.step()
    events.close()
    for worker in (early, late):
        worker.step()
    assert (early.has_finished, late.has_finished) == (True, False)


@pytest.mark.slow
def test_the_command_ends_with_the_run_and_removes_its_sign_of_life(tmp_path, capsys, monkeypatch):
    shared, events = posted(tmp_path)
    step, steps = FolderWorker.step, []

    def run_ends_after_two_steps(worker):
        steps.append(step(worker))
        if len(steps) == 2:
            events.close()
        return steps[-1]

    monkeypatch.setattr(FolderWorker, "step", run_ends_after_two_steps)
    words = [str(shared.path), "until_finished=true", "num_threads=1", "device=cpu"]
    assert main(["work", *words]) == 0
    assert steps == [0.0, 0.0, 2.0]
    (num_games,) = re.findall(r"(\d+) games played for the run", capsys.readouterr().out)
    assert int(num_games) == sum(name.num_games for name in shared.waiting_games())
    assert os.listdir(shared.workers) == []
    (tmp_path / "file").touch()
    nowhere = str(tmp_path / "no" / "where")
    no_game = [str(shared.path), f"game={tmp_path / 'none.py'}"]
    monkeypatch.setattr(FolderWorker, "step", lambda worker: pytest.fail("refused too late"))
    for wrong in ([], [str(tmp_path / "file")], [nowhere], ["a", "b"], no_game):
        assert main(["work", *wrong]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_worker_names_a_network_only_when_it_has_one():
    assert progress_text(Progress("waiting", -1, 0, 0.0, 0)) == "waiting"
    between_runs = progress_text(Progress("getting ready", -1, 2340, 198.3, 1))
    assert "-1" not in between_runs and "2,340" in between_runs
    assert "network 0," in progress_text(Progress("playing", 0, 0, 0.0, 0))
