"""A server of `alphazero serve` for tests: small, and without measurements of this machine."""

import contextlib
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

pytest.importorskip("uvicorn", reason="the extra [web] is not installed")
pytest.importorskip("starlette", reason="the extra [web] is not installed")

from alphazero.web.backend import Backend  # noqa: E402
from alphazero.web.server import Server  # noqa: E402

STORED_RUN = Path(__file__).parent / "stored_run"


def make_backend(runs="nowhere", game=None) -> Backend:
    return Backend(str(runs), [game] if game else [])


def copy_run(root: Path, name: str = "tic_tac_toe/earlier") -> Path:
    """Put a stored run under a root of runs; return its folder."""
    folder = root / name
    shutil.copytree(STORED_RUN, folder)
    return folder


def add_rows(folder: Path, num: int, **figures) -> None:
    """Let a run grow by rows like its last one, but for some figures."""
    path = folder / "metrics.jsonl"
    row = json.loads(path.read_text().splitlines()[-1])
    with path.open("a") as file:
        for _ in range(num):
            row |= {"iteration": row["iteration"] + 1, "elapsed_s": row["elapsed_s"] + 10} | figures
            file.write(json.dumps(row) + "\n")


@contextlib.contextmanager
def running(backend: Backend, **settings) -> Iterator[httpx.Client]:
    """Run a server; yield a client of it."""
    server = Server(backend, **settings)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.address.port}/"
        with httpx.Client(base_url=url, timeout=30) as client:
            client.address, client.backend = server.address, backend
            yield client
    finally:
        server._server.should_exit = server._server.force_exit = True
        thread.join()


def stream(client: httpx.Client, name: str, request: dict) -> list[dict]:
    """Return all messages of a stream."""
    response = client.post(f"api/{name}", json=request)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in response.text.splitlines() if line]


def collect(job) -> list[dict]:
    """Return what a job emits."""
    messages: list[dict] = []
    job(messages.append)
    return messages
