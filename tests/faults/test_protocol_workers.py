"""Workers and learners that are broken or hostile: what they leave in a shared folder, and answer.

The learner goes on, counts each game once and says what it refuses; a worker waits or says why it
cannot play. No file and no message ends either with anything but a sentence.
"""

import copy
import dataclasses
import json
import math
import os
import time

import numpy as np
import pytest
from hostile import NUMBERS, PLAIN, TEXTS, Tally, corpus, deep, mostly, texts_of, try_all
from hypothesis import strategies as st
from workers.test_dispatcher import Room
from workers.test_folder_workers import GAME, JOB, Shared, a_game, first_actions

from alphazero.runtime.errors import InputError
from alphazero.runtime.files import write_atomically
from alphazero.selfplay.flat_games import flatten
from alphazero.workers.answer_check import AnswerError, check_answer
from alphazero.workers.folder.folder_worker import FolderWorker, Progress, Settings
from alphazero.workers.folder.shared_folder import Posting, SharedFolder
from alphazero.workers.transport import Answered
from alphazero.workers.unit import NO_WORK, Answer

GOOD = (8, 9)  # seeds of games that count


def goes_on(shared: Shared, number: int = 1_000) -> list[str]:
    """Check that a good file still counts; return what was said."""
    shared.leave_games(number, seeds=GOOD)
    records, notices = shared.play(2)
    assert first_actions(records) == first_actions(map(a_game, GOOD))
    assert all(isinstance(notice, str) for notice in notices)
    shared.source.stored()
    json.dumps([dataclasses.asdict(one) for one in shared.source.worker_reports()], allow_nan=False)
    json.dumps(list(shared.source.work), allow_nan=False)
    return notices


# --- signs of life --------------------------------------------------------------------------------

_FACTS = st.fixed_dictionaries(
    {}, optional={name: NUMBERS | TEXTS | PLAIN for name in ("host", "engine", "num_threads")}
)
SIGNS = st.fixed_dictionaries(
    {"run": mostly(st.just("thisrun"))},
    optional={
        "facts": mostly(_FACTS),
        "time": NUMBERS | PLAIN,
        "patience_s": mostly(st.sampled_from([0, 30.0, 1e6]), NUMBERS | PLAIN),
        "x": PLAIN,
    },
)


def _hear(shared: Shared, text: bytes) -> str:
    (shared.folder.workers / "stranger.json").write_bytes(text)
    notices = shared.look()
    assert all(notice.isprintable() for notice in notices)
    return "joined" if any("joined" in notice for notice in notices) else "ignored"


@pytest.mark.parametrize("sign", [pytest.param(data, id=name) for name, data in corpus("signs")])
def test_kept_signs_of_life_are_ignored(sign, tmp_path):
    shared = Shared(tmp_path)
    shared.update(0)
    assert _hear(shared, sign) == "ignored"
    goes_on(shared)


def test_any_sign_of_life_is_one_or_is_ignored(amount, tmp_path):
    shared, tally = Shared(tmp_path), Tally()
    shared.update(0)

    def check(text):
        tally[_hear(shared, text.encode(errors="surrogatepass"))] += 1
        (shared.folder.workers / "stranger.json").unlink()
        shared.look()

    try_all(texts_of(SIGNS | PLAIN), check, amount(60, 4_000))
    goes_on(shared)
    tally.show("folder, signs of life")


# --- files of games -------------------------------------------------------------------------------


def _changed(columns: dict[str, np.ndarray], name: str, kind: str, draw) -> dict:
    """Return the arrays of games with one that is wrong in some way."""
    array = columns[name]
    place = draw(st.integers(0, max(array.size - 1, 0)))
    if kind == "missing":
        return {key: value for key, value in columns.items() if key != name}
    if kind == "unknown":
        return columns | {draw(st.sampled_from(["x", "\x1b[2J", "x" * 500])): array}
    if kind == "short":
        array = array[: draw(st.integers(0, len(array)))]
    elif kind == "shape":
        array = array.reshape(draw(st.sampled_from([(-1,), (1, -1), (-1, 1), (-1, 1, 1)])))
    elif kind == "type":
        array = array.astype(draw(st.sampled_from(["i1", "i4", "u8", "f2", "f8", "?"])))
    elif kind == "scalar":
        array = array.ravel()[:1].reshape(())
    elif kind == "shuffled":
        array = array[::-1].copy()
    else:
        array = array.copy()
        wrong = draw(st.sampled_from([0, 1, -1, 2, 7, 100, 2**30, -(2**31), 0.5, math.nan, 1e30]))
        with np.errstate(all="ignore"):
            array.ravel()[place] = np.array(wrong, np.float64).astype(array.dtype)
    return columns | {name: array}


@st.composite
def answers(draw) -> Answer:
    """Return an answer to a unit that is wrong in none, one or several things."""
    columns = flatten([a_game(seed) for seed in draw(st.lists(st.integers(0, 30), min_size=1))])
    names = sorted(columns)
    kinds = ["value"] * 6 + ["missing", "unknown", "short", "shape", "type", "scalar", "shuffled"]
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from(names))
        if name in columns and columns[name].ndim and columns[name].size:
            columns = _changed(columns, name, draw(st.sampled_from(kinds)), draw)
    work = draw(mostly(st.just(tuple(NO_WORK)), st.lists(NUMBERS, max_size=12) | PLAIN, 8))
    version, seconds = draw(mostly(st.just(0), PLAIN, 8)), draw(mostly(st.just(1.0), PLAIN, 8))
    return Answer(0, version, columns, work, seconds)


def _is_right(answer: Answer) -> bool:
    """Return whether games are those of the rules, by playing them move by move."""
    columns, at = answer.games, 0
    for length in columns["lengths"]:
        actions = columns["actions"][at : at + length].tolist()
        states = [GAME.play_moves(actions[:ply]) for ply in range(length)]
        end = GAME.inspect(GAME.play_moves(actions)[None])
        players = GAME.players(np.array(states))
        results = np.where(players == end.players[0], end.results[0], -end.results[0])
        is_same = np.array_equal(columns["states"][at : at + length], states)
        if not (end.over[0] and is_same):
            return False
        if not np.array_equal(columns["outcomes"][at : at + length], results):
            return False
        at += length
    weights, legal = columns["action_weights"], GAME.legal_action_mask(columns["states"])
    sums = weights[columns["is_target"]].sum(axis=1)
    return at == len(columns["actions"]) and not (weights * ~legal).any() and np.allclose(sums, 1)


def test_any_answer_is_right_or_refused(amount):
    tally = Tally()

    def check(answer):
        try:
            work = check_answer(answer, GAME, False, 0)
        except AnswerError as error:
            assert str(error).isprintable()
            tally["refused"] += 1
            return
        assert _is_right(answer) and np.isfinite(work).all() and math.isfinite(answer.seconds)
        tally["right"] += 1

    try_all(answers(), check, amount(50, 4_000))
    assert tally["right"] and tally["refused"]
    tally.show("answers of workers")


def test_counts_of_work_whose_sum_is_no_number_are_refused():
    columns = flatten([a_game(1)])
    for figure in (1e308, 10**400, -1, math.nan, True, "1", None, [1.0]):
        for answer in (
            Answer(0, 0, columns, (figure, *NO_WORK[1:]), 1.0),
            Answer(0, 0, columns, tuple(NO_WORK), figure),
        ):
            if figure is True:
                assert sum(check_answer(answer, GAME, False, 0)) <= 1
                continue
            with pytest.raises(AnswerError):
                check_answer(answer, GAME, False, 0)


def test_the_dispatcher_counts_right_answers_once_and_dismisses_who_sends_others(amount):
    """Answers come twice, late, for units of others or of nobody, and with anything in them."""
    tally, games = Tally(), [a_game(seed) for seed in range(40)]
    units = mostly(st.sampled_from([0, 1]), st.sampled_from([7, -1, 10**30, 0.5, "x", None, (1,)]))

    def check(sent):
        room = Room(games)
        room.join("a")
        asked, num_games = list(room.hands["a"]), 0
        for which, answer, num_copies in sent:
            is_asked = which in (0, 1)
            answer = answer._replace(unit_id=asked[which].id if is_asked else which)
            room.happens(*[Answered("a", copy.copy(answer))] * num_copies)
        num_games = len(room.take(10**6))
        assert len(room.transport.dismissed) <= 1
        assert num_games <= sum(np.size(answer.games.get("lengths", [])) for _, answer, _ in sent)
        assert room.report()["a"].num_games == num_games
        tally[
            "dismissed" if room.transport.dismissed else "counted" if num_games else "passed"
        ] += 1

    sent = st.lists(st.tuples(units, answers(), st.integers(1, 3)), min_size=1, max_size=3)
    try_all(sent, check, amount(10, 800))
    tally.show("dispatcher, answers")


# --- files in the folder --------------------------------------------------------------------------


def _leave(shared: Shared, name: str, kind: str) -> None:
    """Put something into the folder of games."""
    path = shared.folder.games / name
    if kind == "folder":
        (path / "more").mkdir(parents=True)
    elif kind == "link":
        path.symlink_to("/dev/zero")
    elif kind == "link to itself":
        path.symlink_to(path)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "sparse":
        path.touch()
        os.truncate(path, 10**12)
    else:
        path.write_bytes(b"x")


NAMES = [
    "worker.000000.2.safetensors",
    "w" * 80 + ".999999999.999999999.safetensors",
    "w" * 81 + ".000000.2.safetensors",
    "worker.00000.2.safetensors",
    "worker.000000.0.safetensors",
    "worker.000000.2.SAFETENSORS",
    "worker.٠٠٠٠٠٠.2.safetensors",
    "worker.000000.2.safetensors\n",
    "\x1b[2J.000000.2.safetensors",
    "a b.000000.2.safetensors",
    os.fsdecode(b"\xff\xfe.000000.2.safetensors"),
    "-rf",
    "~",
    "%s%n",
    "x" * 255,
]


@pytest.mark.parametrize("kind", ["text", "folder", "link", "link to itself", "pipe", "sparse"])
def test_files_of_any_name_and_kind_are_moved_away_and_told_of(kind, tmp_path):
    shared = Shared(tmp_path)
    shared.update(0)
    for name in NAMES:
        _leave(shared, name, kind)
    notices = goes_on(shared)
    refused = [notice for notice in notices if "refused" in notice]
    assert len(refused) == len(NAMES) and all(notice.isprintable() for notice in refused)
    assert sorted(os.listdir(shared.folder.refused)) == sorted(NAMES)
    assert os.listdir(shared.folder.games) == []


@pytest.mark.parametrize("mtime", [0, 1, 2**31, 2**33, -1])
def test_clocks_that_are_wrong_change_at_most_the_order(mtime, tmp_path):
    shared = Shared(tmp_path)
    shared.update(0)
    paths = [shared.leave_games(number, seeds=(number,)) for number in range(4)]
    os.utime(paths[2], (mtime, mtime))
    shared.folder.sign("worker", _sign_at(float(mtime)))
    records, notices = shared.play(4)
    assert first_actions(records) == first_actions(map(a_game, range(4)))
    assert not any("refused" in notice for notice in notices)
    goes_on(shared)


def _sign_at(seconds: float):
    from alphazero.workers.folder.shared_folder import SignOfLife
    from alphazero.workers.unit import WorkerFacts

    return SignOfLife("thisrun", WorkerFacts("host", "torch", 1.0, 2), seconds, 30.0)


def test_a_file_that_comes_back_does_not_count_again_and_a_late_one_counts(tmp_path):
    shared = Shared(tmp_path)
    shared.update(0)
    files = {number: shared.leave_games(number, seeds=(number,)) for number in (0, 3)}
    kept = {number: path.read_bytes() for number, path in files.items()}
    assert len(shared.play(2)[0]) == 2
    shared.source.stored()
    for number, path in files.items():  # as a backup or a program that synchronizes would
        write_atomically(path, kept[number])
    shared.leave_games(1, seeds=(1,))
    records, notices = shared.play(1)
    assert first_actions(records) == first_actions([a_game(1)])
    again = Shared(tmp_path, shared.source.state_dict())
    again.update(0)
    write_atomically(files[3], kept[3])
    goes_on(again, 4)
    assert len(os.listdir(shared.folder.refused)) == 2


def test_numbers_of_files_may_be_anything(amount, tmp_path):
    """Each number counts once, in any order, and what is remembered stays small."""
    shared = Shared(tmp_path)
    shared.update(0)
    counted, inbox = set(), shared.source._inbox

    def check(number):
        path = shared.leave_games(number, seeds=(1,))
        records = next(shared.source.play(1, 0.5)).records
        assert len(records) == (number not in counted)
        counted.add(number)
        shared.source.stored()
        assert not path.exists()
        (end, missing) = inbox.numbers["worker"]
        assert end == max(counted) + 1 and len(missing) <= 1_000

    try_all(st.integers(0, 30), check, amount(20, 300))
    check(999_999_999)
    goes_on(shared, 999_999_998)


@pytest.mark.parametrize("num_files", [50, pytest.param(20_000, marks=pytest.mark.faults)])
def test_a_flood_of_files_does_not_end_the_learner(num_files, tmp_path):
    shared = Shared(tmp_path)
    shared.update(0)
    for number in range(num_files):
        (shared.folder.games / f"flood.{number:06d}.1.safetensors").touch()
    begun, notices = time.monotonic(), goes_on(shared)
    print(f"{num_files:,} files: {time.monotonic() - begun:.1f} s")
    assert len(os.listdir(shared.folder.refused)) == num_files
    assert sum("refused" in notice for notice in notices) == num_files


# --- the worker's side ----------------------------------------------------------------------------


class Worker:
    """A worker at the folder of a hostile learner; it plays no games, so that each try is quick."""

    def __init__(self, path, monkeypatch):
        self.folder = SharedFolder(path)
        self.folder.make()
        self.shown: list[Progress] = []
        self.worker = FolderWorker(self.folder, Settings(num_threads=1), self.shown.append)
        monkeypatch.setattr(FolderWorker, "_play", lambda *_: None)

    def step(self) -> str:
        """Return what became of a step: it waits, it goes on, or it ends with a sentence."""
        self.shown.clear()
        try:
            return "waits" if self.worker.step() else "plays"
        except InputError as error:
            assert str(error)
            return "ends"


def _job_with(path: str, value) -> dict:
    """Return a posting as plain data with another value at a place."""
    plain = {"format": "alphazero-job-1"} | dataclasses.asdict(Posting(JOB, 0.5, 30.0, False))
    *sections, name = path.split(".")
    place = plain
    for section in sections:
        place = place[section]
    place[name] = value
    return plain


def _paths(plain: dict, prefix: str = "") -> list[str]:
    found = []
    for name, value in plain.items():
        found.append(prefix + name)
        if isinstance(value, dict):
            found += _paths(value, f"{prefix}{name}.")
    return found


PATHS = _paths(dataclasses.asdict(Posting(JOB, 0.5, 30.0, False)))
#: Large but allowed, so that a worker would believe it and take minutes to get ready.
_SLOW = {"job.network.blocks", "job.network.channels", "job.game"}


@pytest.mark.parametrize("job", [pytest.param(data, id=name) for name, data in corpus("jobs")])
def test_kept_jobs_are_refused_in_a_sentence(job, tmp_path, monkeypatch):
    worker = Worker(tmp_path, monkeypatch)
    worker.folder.job.write_bytes(job)
    assert worker.step() in ("waits", "ends")
    worker.folder.post(Posting(JOB, 0.5, 30.0, False))
    assert worker.step() == "waits" and "network" in worker.worker.progress.text


def test_any_job_is_waited_for_or_refused_in_a_sentence(amount, tmp_path, monkeypatch):
    worker, tally = Worker(tmp_path, monkeypatch), Tally()
    values = NUMBERS | TEXTS | PLAIN
    postings = st.builds(_job_with, st.sampled_from([p for p in PATHS if p not in _SLOW]), values)

    def check(text):
        worker.folder.job.write_bytes(text.encode(errors="surrogatepass"))
        tally[worker.step()] += 1

    try_all(texts_of(postings), check, amount(30, 1_000))
    worker.folder.post(Posting(JOB, 0.5, 30.0, False))
    assert worker.step() == "waits"
    tally.show("worker, jobs")


@pytest.mark.parametrize("kind", ["text", "folder", "link", "link to itself", "pipe", "sparse"])
@pytest.mark.parametrize("place", ["job.json", "networks/000003.safetensors", "networks", "games"])
def test_a_worker_waits_while_something_else_lies_in_the_folder(place, kind, tmp_path, monkeypatch):
    worker = Worker(tmp_path, monkeypatch)
    worker.folder.post(Posting(JOB, 0.5, 30.0, False))
    path = tmp_path / place
    if path.is_dir():
        path.rmdir()
    elif path.exists():
        path.unlink()
    shared = Shared.__new__(Shared)
    shared.folder = SharedFolder(tmp_path)
    shared.folder.games = path.parent
    _leave(shared, path.name, kind)
    assert worker.step() == "waits"
    assert worker.worker.progress.text


def test_a_flood_of_signs_of_life_does_not_end_the_learner(amount, tmp_path):
    shared = Shared(tmp_path)
    shared.update(0)
    num_workers = amount(50, 1_000)
    for number in range(num_workers):
        shared.sign(f"w{number}")
    begun = time.monotonic()
    assert sum("joined" in notice for notice in goes_on(shared)) == num_workers
    print(f"{num_workers:,} signs of life: {time.monotonic() - begun:.1f} s")


def test_deep_brackets_are_refused_wherever_json_is_read(amount, tmp_path, monkeypatch):
    """Of every depth up to Python's own limit: somewhere below it, messages used to fail."""
    shared = Shared(tmp_path / "learner")
    shared.update(0)
    worker = Worker(tmp_path / "worker", monkeypatch)
    for levels in range(40, 1_100, amount(197, 17)):
        for key in ("patience_s", "facts", "run", "x"):
            _hear(shared, f'{{"run": "thisrun", "{key}": {deep(levels)}}}'.encode())
        text = f'{{"format": "alphazero-job-1", "job": {{"seed": {deep(levels)}}}}}'
        worker.folder.job.write_text(text)
        assert worker.step() == "waits"
    goes_on(shared)
