"""The connection to Ray without a cluster: what is refused, and what is said about lost workers."""

import signal

import pytest

from alphazero.cli import main

ray = pytest.importorskip("ray", reason="Ray is not installed")

from alphazero.workers.cluster import ray_connection  # noqa: E402


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
