"""Training with workers in other processes and on the nodes of a Ray cluster."""

import multiprocessing
import os
import signal
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from python_games import SMALL, write_small
from run_samples import assert_same, make_trainer, reports, run_until

from alphazero.inference.network_evaluator import EvaluatorSettings
from alphazero.network.weights import network_arrays
from alphazero.runtime.errors import ConfigError, InputError
from alphazero.selfplay.game_record import unflatten
from alphazero.training.events import IterationReport, StageProgress
from alphazero.workers import processes
from alphazero.workers.unit import Job, Joined, Weights, ordered_units
from alphazero.workers.unit_player import UnitPlayer

ORDERED = ("workers.mode=ordered", "workers.unit_games=3", "run.num_threads=1")


def weights_after(tmp_path, *words, num_workers=0, game="tic_tac_toe"):
    """Train, once so many workers are there; return the weights, and the reports.

    The file of a game is removed before: workers get its text.
    """
    trainer = make_trainer(tmp_path, *words, game=game)
    if game.endswith(".py"):
        Path(game).unlink()
    trainer.board.source.update(0, trainer.learner.played_network, trainer.board.sample)
    while num_workers and len(trainer.board.source._pool.workers) < num_workers:
        trainer.board.source.poll()
    found = reports(trainer)
    return network_arrays(trainer.learner.network), found


@pytest.fixture(scope="module")
def in_order(tmp_path_factory):
    """Return the weights of an ordered run on threads of one process."""
    return weights_after(tmp_path_factory.mktemp("threads"), *ORDERED)[0]


# --- processes ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_processes_play_the_games_of_one_process_in_order(tmp_path, in_order):
    words = ("workers=processes", "workers.num_processes=2")
    found, made = weights_after(tmp_path, *ORDERED, *words, num_workers=2)
    assert_same(found, in_order)
    assert made[0].workers.num_workers == made[-1].workers.num_workers == 2
    report = made[0]
    speed = report.selfplay.num_games / report.selfplay.seconds
    assert report.workers.games_per_s == pytest.approx(speed)


@pytest.fixture(scope="module")
def in_python(tmp_path_factory):
    """Return the weights of an ordered run of a class in plain Python, on threads."""
    words = (*ORDERED, "run.num_iterations=2", "workers=threads")
    return weights_after(tmp_path_factory.mktemp("class"), *words, game=SMALL)[0]


@pytest.mark.slow
@pytest.mark.parametrize(("form", "num_processes"), [("file", 2), ("class", 1)])
def test_processes_play_a_game_in_plain_python(tmp_path, in_python, form, num_processes):
    """A class by its name, and a file by its text; the number of processes changes no weight."""
    game = SMALL if form == "class" else write_small(tmp_path / "small.py")
    words = (*ORDERED, "run.num_iterations=2", "workers=processes")
    words += (f"workers.num_processes={num_processes}",)
    found, made = weights_after(tmp_path / "run", *words, num_workers=num_processes, game=game)
    assert_same(found, in_python)
    assert made[0].workers.num_workers == num_processes


def test_a_worker_reads_while_it_sends(monkeypatch):
    class Player:
        """Answers with more than a pipe holds."""

        def __init__(self, *_):
            pass

        def receive(self, weights):
            pass

        def begin(self, job):
            return Joined("worker", "host", 1)

        def play(self, unit):
            return bytes(5_000_000)

    monkeypatch.setattr(processes, "UnitPlayer", Player)
    ended = threading.Event()
    monkeypatch.setattr(processes.signal, "signal", lambda *_: None)
    monkeypatch.setattr(processes.os, "_exit", lambda status: ended.set())
    here, there = multiprocessing.Pipe()
    threading.Thread(target=processes.work_at, args=(there, None, 1, "worker"), daemon=True).start()
    weights = Weights(0, {"all": np.zeros(5_000_000, np.uint8)}, None)
    here.send(weights)
    assert isinstance(here.recv(), Joined)
    here.send("a unit")
    sends = threading.Thread(target=here.send, args=(weights,), daemon=True)
    sends.start()  # while the answer is under way and nobody reads it
    sends.join(20)
    assert not sends.is_alive()
    assert len(here.recv()) == 5_000_000
    here.close()
    assert ended.wait(20)  # a worker ends when the learner closes the connection


def test_a_learner_does_not_wait_for_a_worker_that_does_not_read(monkeypatch):
    """Such as one that was stopped: it is given up later."""
    here, unread = multiprocessing.Pipe()
    there = SimpleNamespace(close=lambda: None)
    nothing = dict.fromkeys(("start", "kill", "join"), lambda *_: None)
    process = SimpleNamespace(exitcode=-9, **nothing)
    context = SimpleNamespace(Pipe=lambda: (here, there), Process=lambda **_: process)
    transport = processes.ProcessTransport(None, 1, 1)
    monkeypatch.setattr(transport, "_context", context)

    def learner():
        for version in range(3):
            arrays = {"all": np.zeros(5_000_000, np.uint8)}  # more than a pipe holds
            transport.publish(Weights(version, arrays, None))
            assert transport.poll(0.0) == []

    runs = threading.Thread(target=learner, daemon=True)
    runs.start()
    runs.join(20)
    assert not runs.is_alive()
    assert unread.recv().version == 0
    unread.close()
    transport.dismiss("process-1")


@pytest.mark.slow
def test_processes_that_stop_and_resume_play_the_games_of_those_that_never_stopped(
    tmp_path, in_python
):
    words = (*ORDERED, "run.num_iterations=2", "workers=processes", "workers.num_processes=2")
    stopped = make_trainer(tmp_path, *words, game=SMALL)
    run_until(stopped, lambda event: event.iteration == 2 and event.done > 0)
    resumed = make_trainer(tmp_path, *words, game=SMALL)
    resumed.restore()
    assert resumed.iteration == 1 and len(reports(resumed)) == 1
    assert_same(network_arrays(resumed.learner.network), in_python)


@pytest.mark.slow
def test_a_killed_process_is_replaced_and_nothing_is_lost_or_counted_twice(tmp_path, in_order):
    trainer = make_trainer(tmp_path, *ORDERED, "workers=processes", "workers.num_processes=2")
    made, notices, killed = [], [], None
    for event in trainer.run():
        if isinstance(event, IterationReport):
            made.append(event)
            continue
        notices += event.notices
        busy = [
            worker for worker in trainer.board.source._pool.workers.values() if worker.in_flight
        ]
        if busy and killed is None:
            killed = busy[0].name
            os.kill(
                trainer.board.source._transport._workers[busy[0].name].process.pid, signal.SIGKILL
            )
    assert sum(killed in notice and "SIGKILL" in notice for notice in notices) == 1
    assert sum(report.workers.num_lost for report in made) == 1
    assert_same(network_arrays(trainer.learner.network), in_order)


@pytest.mark.slow
def test_a_process_that_hangs_is_given_up_and_replaced(tmp_path, in_order):
    words = ("workers=processes", "workers.num_processes=1", "workers.timeout_s=3")
    trainer = make_trainer(tmp_path, *ORDERED, *words)
    notices, stopped = [], None
    for event in trainer.run():
        notices += event.notices if isinstance(event, StageProgress) else ()
        busy = [
            worker for worker in trainer.board.source._pool.workers.values() if worker.in_flight
        ]
        if busy and stopped is None:
            stopped = busy[0].name
            os.kill(
                trainer.board.source._transport._workers[busy[0].name].process.pid, signal.SIGSTOP
            )
    assert any(stopped in notice and "given up" in notice for notice in notices)
    assert_same(network_arrays(trainer.learner.network), in_order)


@pytest.mark.slow
def test_workers_play_on_while_the_network_learns(tmp_path):
    words = ("workers=processes", "workers.num_processes=1", "workers.unit_s=0.2")
    _, made = weights_after(tmp_path, *words)
    assert [report.iteration for report in made] == list(range(1, len(made) + 1))
    assert all(0 <= report.workers.staleness <= 1 for report in made)
    assert all(report.selfplay.num_games >= 1 for report in made)


@pytest.mark.slow
def test_a_run_goes_on_with_another_kind_of_workers(tmp_path):
    trainer = make_trainer(tmp_path, "run.num_iterations=1")
    assert len(reports(trainer)) == 1
    words = ("run.num_iterations=2", "workers=processes", "workers.num_processes=1")
    resumed = make_trainer(tmp_path, *words)
    resumed.restore()
    assert [report.iteration for report in reports(resumed)] == [2]
    again = make_trainer(tmp_path, "run.num_iterations=3")
    again.restore()
    assert [report.iteration for report in reports(again)] == [3]


# --- Ray ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    """Return a Ray cluster of two nodes on this machine, to which this process is connected."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    from ray.cluster_utils import Cluster

    found, tests = os.environ.get("PYTHONPATH"), str(Path(__file__).parents[1])  # python_games
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [found, tests]))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()
    os.environ["PYTHONPATH"] = found or ""


@pytest.mark.slow
def test_the_nodes_of_a_cluster_play_the_games_of_one_process_in_order(tmp_path, cluster, in_order):
    found, made = weights_after(tmp_path, *ORDERED, "workers=ray", num_workers=2)
    assert_same(found, in_order)
    assert made[-1].workers.num_workers == 2


@pytest.mark.slow
@pytest.mark.parametrize("form", ("class", "file"))
def test_nodes_play_a_game_in_plain_python(tmp_path, cluster, in_python, form):
    game = SMALL if form == "class" else write_small(tmp_path / "small.py")
    words = (*ORDERED, "run.num_iterations=2", "workers=ray")
    found, made = weights_after(tmp_path / "run", *words, num_workers=2, game=game)
    assert_same(found, in_python)
    assert made[0].workers.num_workers == 2


@pytest.mark.slow
def test_nodes_that_cannot_import_the_game_end_the_run_with_its_name(tmp_path, cluster):
    (tmp_path / "only_here.py").write_text("from python_games import SmallConnectFour\n")
    name = "only_here:SmallConnectFour"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        with pytest.raises(InputError) as error:
            weights_after(tmp_path, "workers=ray", game=name)
    assert name in str(error.value) and "only_here" in str(error.value)


@pytest.mark.slow
def test_a_node_that_leaves_and_one_that_joins_are_noticed(tmp_path, cluster):
    extra = cluster.add_node(num_cpus=1)
    trainer = make_trainer(tmp_path, "workers=ray", "workers.unit_s=0.2", "run.num_iterations=5000")
    notices: list[str] = []
    for event in trainer.run():
        if isinstance(event, StageProgress):
            notices += event.notices
        num_joined = sum("has joined" in notice for notice in notices)
        if num_joined == 3 and extra is not None:
            cluster.remove_node(extra, allow_graceful=False)
            extra = None
        if any("is gone" in notice for notice in notices):
            break
    trainer.board.source.close()
    assert extra is None and any("is gone" in notice for notice in notices)


@pytest.mark.slow
def test_a_worker_of_another_version_is_refused_and_the_run_goes_on(tmp_path, cluster, monkeypatch):
    from alphazero.workers.cluster import ray_transport

    monkeypatch.setattr(ray_transport, "code_version", lambda: "0.0 (another)")
    trainer = make_trainer(tmp_path, "workers=ray")
    notices: list[str] = []
    for event in trainer.run():
        assert isinstance(event, StageProgress)  # no game comes from workers of another version
        notices += event.notices
        if sum("runs version" in notice for notice in notices) == 2:
            break
    trainer.board.source.close()
    assert all("0.0 (another)" in notice for notice in notices if "runs version" in notice)


def test_without_ray_the_sentence_says_what_to_install(tmp_path, monkeypatch):
    import sys

    for name in [name for name in sys.modules if name.startswith("alphazero.workers.cluster.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError) as refused:
        make_trainer(tmp_path, "workers=ray")
    assert refused.value.value == "ray" and "[cluster]" in str(refused.value)


# --- the networks of a worker ---------------------------------------------------------------------


@pytest.mark.parametrize(("unit_threads", "version"), ((0, 2), (1, 3)))
def test_a_worker_plays_with_the_newest_network_in_order_with_that_of_the_unit(
    tmp_path, unit_threads, version
):
    trainer = make_trainer(tmp_path)
    arrays, sample = network_arrays(trainer.learner.network), trainer.board.sample
    job = Job(game="tic_tac_toe", device="cpu", unit_threads=unit_threads)
    job.network, job.selfplay = trainer.settings.network, trainer.settings.selfplay
    job.evaluator = EvaluatorSettings(engine="torch", precision="float32")
    player = UnitPlayer("worker", 1)
    for arrived in (2, 1):
        player.receive(Weights(arrived, arrays, sample))
    assert player.begin(job).worker == "worker"
    later = threading.Timer(0.2, player.receive, [Weights(3, arrays, sample)])
    if unit_threads:
        later.start()
    answer = player.play(ordered_units(3, 2, 2, 0.0)[0])
    assert answer.version == version and len(unflatten(answer.games)) >= 2
