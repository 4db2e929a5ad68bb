"""Measure the memory of `alphazero serve` while all shipped games are played and analysed (Linux).

    python scripts/serve_memory.py            one round of all games, as fast as the server answers
    python scripts/serve_memory.py 30         half an hour, with pauses as long as a person's

In each game the page's strongest network plays four plies against itself; then the position is
analysed, its exact scores are asked for, and the game so far is reviewed. The table shows the
memory that the process has in RAM: all of it, and its proportional share of pages in use by other
processes, too. Run it twice: the first server compiles the search kernels, and keeps the
compiler's memory.
"""

import json
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from script_command import exit_status

_PAUSE_S = 3.0  # of a person, before each request
_KINDS = ("Rss", "Pss")


def main(arguments: list[str]) -> None:
    """Start a server, use it for the given number of minutes, and print its memory per game."""
    minutes = float(arguments[0]) if arguments else 0.0
    command = [sys.executable, "-m", "alphazero", "serve", "open=false"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = (re.search(r"http://\S+:\d+", line) for line in server.stdout)
            address = next(filter(None, found), None)
            if address is None:
                raise ValueError("the server did not start: its message is above.")
            visit_all(address[0], server.pid, minutes)
        finally:
            server.kill()


def visit_all(address: str, pid: int, minutes: float) -> None:
    """Visit all games in turn until ``minutes`` have passed, at least once, and print the memory.

    Args:
        address: of the server, such as "http://127.0.0.1:8000".
        pid: its process.
    """
    pause = _PAUSE_S if minutes else 0.0
    end = time.monotonic() + minutes * 60
    print(f"{'':>10}{'game':<24}" + "".join(f"{kind + ', MB':>10}" for kind in _KINDS))
    while True:
        games = json.loads(ask(address, "games"))["games"]
        for game in games:
            visit(address, game, pause)
            left = max(0.0, end - time.monotonic()) / 60
            values = "".join(f"{value:10.0f}" for value in memory_mb(pid))
            print(f"{left:6.1f} min {game['name']:<23}{values}", flush=True)
        if time.monotonic() >= end:
            return


def visit(address: str, game: dict[str, Any], pause: float) -> None:
    """Play four plies of a game, analyse the position and review the game."""
    player = game["players"][0]["id"]
    request: dict[str, Any] = {"game": game["name"], "moves": [], "player": {"id": player}}
    for _ in range(4):
        time.sleep(pause)
        last = ask(address, "move", request).splitlines()[-1]
        request["moves"].append(json.loads(last)["action"])
        ask(address, "position", {"game": game["name"], "moves": request["moves"]})
    del request["player"]
    time.sleep(pause)
    ask(address, "analyse", request)
    ask(address, "exact", request)
    time.sleep(pause)
    ask(address, "review", request)


def ask(address: str, what: str, body: dict[str, Any] | None = None) -> str:
    """Send a request to the server's API and return the whole answer."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/api/{what}", data, headers)
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


def memory_mb(pid: int) -> list[float]:
    """Return the memory of a process of each of `_KINDS`, in MB."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return [int(re.findall(rf"^{kind}:\s+(\d+)", text, re.M)[0]) / 1024 for kind in _KINDS]


if __name__ == "__main__":
    raise SystemExit(exit_status(lambda: main(sys.argv[1:])))
