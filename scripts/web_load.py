"""Many people at once on the page of `alphazero serve`: how long a move takes, and the memory.

    python scripts/web_load.py                        # 20 people, 500 games of Connect Four
    python scripts/web_load.py --people 50 --games 100 --game othello

Starts a server of its own, on this machine. Each person plays random moves against the network, as
fast as the answers come; a person at a page would think in between. Memory is that of the server,
on Linux.
"""

import argparse
import asyncio
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx


def main() -> None:
    """Start a server, let people play, and print how long answers took."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--games", type=int, default=500)
    parser.add_argument("--game", default="connect_four")
    parser.add_argument("--simulations", type=int, default=200)
    settings = parser.parse_args()
    command = [sys.executable, "-m", "alphazero", "serve", "open=false"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://\S+", server.stdout.readline()).group()
        asyncio.run(measure(url, server.pid, settings))
    finally:
        server.terminate()
        server.wait()


async def measure(url: str, pid: int, settings) -> None:
    """Play all games and print the figures."""
    limits = httpx.Limits(max_connections=settings.people)
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
        load = Load(client, settings)
        await load.play_game(random.Random(0))  # loads the network
        load.seconds.clear()
        print(f"{settings.people} people, {settings.simulations} simulations a move, {url}")
        print("  games   moves   median      99%      most   errors   memory of the server")
        started = time.monotonic()
        num_done = 0
        for _ in range(5):
            part = settings.games // 5
            await load.play(part)
            num_done += part
            load.report(num_done, pid)
        seconds = time.monotonic() - started
        print(f"{len(load.seconds) / seconds:.0f} moves a second")


class Load:
    """People who play random moves against the network."""

    def __init__(self, client: httpx.AsyncClient, settings):
        self.client = client
        self.game = settings.game
        self.num_people = settings.people
        self.player = {"id": "best", "num_simulations": settings.simulations}
        self.seconds: list[float] = []
        self.num_errors = 0

    async def play(self, num_games: int) -> None:
        """Let all people play until so many games have been played."""
        seeds = iter([random.random() for _ in range(num_games)])

        async def person() -> None:
            for seed in seeds:
                await self.play_game(random.Random(seed))

        await asyncio.gather(*(person() for _ in range(self.num_people)))

    async def play_game(self, generator: random.Random) -> None:
        """Play a game: the person begins."""
        moves: list[int] = []
        while True:
            position = await self._position(moves)
            if position["over"]:
                return
            if position["to_move"] == 0:
                moves.append(generator.choice(position["legal"]))
            elif (move := await self._ask(moves)) is not None:
                moves.append(move)
            else:
                return

    async def _position(self, moves: list[int]) -> dict:
        request = {"game": self.game, "moves": moves, "from_ply": len(moves)}
        response = await self.client.post("api/position", json=request)
        return response.raise_for_status().json()["positions"][0]

    async def _ask(self, moves: list[int]) -> int | None:
        """Return the network's move, None if there was an error; keep the time."""
        started = time.monotonic()
        request = {"game": self.game, "moves": moves, "player": self.player}
        response = await self.client.post("api/move", json=request)
        self.seconds.append(time.monotonic() - started)
        found = re.search(r'"type": "move".*"action": (\d+)', response.text)
        self.num_errors += found is None
        return int(found.group(1)) if found else None

    def report(self, num_games: int, pid: int) -> None:
        """Print what was measured so far."""
        times = sorted(self.seconds)
        median, most = times[len(times) // 2], times[-1]
        high = times[int(len(times) * 0.99)]
        print(
            f"  {num_games:5}  {len(times):6}  {median:5.2f} s  {high:5.2f} s  {most:6.2f} s"
            f"  {self.num_errors:7}   {memory_mb(pid)}",
            flush=True,
        )


def memory_mb(pid: int) -> str:
    """Return the resident memory of a process in MB, where the system tells it."""
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return f"{int(found.group(1)) / 1000:.0f} MB" if found else "unknown"


if __name__ == "__main__":
    main()
