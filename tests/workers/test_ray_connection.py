"""The connection to Ray without a cluster: what is refused, and what is said about lost workers."""

import signal

import pytest

from alphazero.cli import main

ray = pytest.importorskip("ray", reason="Ray is not installed")

from alphazero.workers.cluster import ray_connection  # noqa: E402

#: What Ray says of every actor whose process has ended, whatever the cause.
DIED = (
    "The actor died unexpectedly before finishing this task.\n"
    "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker "
    "exit detail: Worker unexpectedly exits with a connection error code 2. End of file. Some "
    "common causes include: (1) the process was killed by the OOM killer due to high memory usage, "
    "(2) ray stop --force was called, or (3) the worker is crashed unexpectedly due to SIGSEGV.\n"
)


@pytest.mark.parametrize(
    "text, word",
    [
        (DIED, "killed"),
        (DIED + "The actor died because its node has died.", "left"),
        ("Task was killed due to the node running low on memory.", "memory"),
        ("ModuleNotFoundError: No module named 'alphazero'", "installed"),
    ],
)
def test_why_an_actor_is_gone(text, word):
    words = ("killed", "left", "memory", "installed")
    reason = ray_connection.reason_of(ray.exceptions.RayActorError(error_msg=text))
    assert [found for found in words if found in reason] == [word]


@pytest.mark.parametrize("address", ("local", "auto"))
def test_ray_does_not_take_sigterm_over(address, monkeypatch):
    def takes_over(**options):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", takes_over)
    try:
        assert ray_connection.connect(address) == (address == "local")
        assert signal.getsignal(signal.SIGTERM) == before
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.slow
def test_a_run_without_a_cluster_is_refused_and_leaves_no_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    words = ["game=tic_tac_toe", "workers=ray", "workers.address=127.0.0.1:1", "network=2x32"]
    assert main(["train", *words, f"run.root={tmp_path / 'runs'}"]) == 2
    assert "workers.address=127.0.0.1:1" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.yaml"))
    assert not (tmp_path / "runs" / "tic_tac_toe").exists()
