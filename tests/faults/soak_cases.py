"""Long use inside one child of `test_soak.py`: it prints what the process held now and then.

Each function takes words, the last of which is how many times, and prints a list of `Usage`.
"""

import itertools
import json
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

NUM_SAMPLES = 40  #: of a process, evenly spaced


class Usage(NamedTuple):
    """What a process holds at a moment."""

    step: int  #: iterations, games or requests so far
    memory_kb: int  #: of its own: no files, no pages of libraries
    num_files: int  #: open ones, sockets included
    num_threads: int


def usage_of(process: int | str, step: int) -> Usage:
    """Return what a process holds; "self" is this one."""
    folder = Path(f"/proc/{process}")
    fields = dict(line.split(":") for line in (folder / "status").read_text().splitlines())
    memory_kb = int(fields["RssAnon"].split()[0])
    return Usage(step, memory_kb, len(os.listdir(folder / "fd")), int(fields["Threads"]))


def repeat(do, num_times: int) -> int:
    """Call ``do`` with 0, 1, ..., and print the usage at evenly spaced times."""
    found = []
    for number in range(num_times):
        do(number)
        if (number + 1) % max(num_times // NUM_SAMPLES, 1) == 0:
            found.append(usage_of("self", number + 1))
    print("\n" + json.dumps(found))
    return 0


def play_engine(words: list[str]) -> int:
    """Play games with the JSON engine, which knows the player: all moves of a game, one by one."""
    from alphazero.cli import engine as command
    from alphazero.cli.command import read_settings

    *settings, num_times = words
    engine = command._make_engine(read_settings(command, settings))
    generator = np.random.default_rng(1)

    def play(number: int) -> None:
        moves: list[int] = []
        while True:
            answer = engine.answer(json.dumps({"game": "tic_tac_toe", "moves": moves}))
            assert "error" not in answer, answer
            if "result" in answer:
                return
            # Half of the moves are random, so that games differ.
            moves.append(int(generator.choice([answer["move"], *answer["legal_actions"]])))

    return repeat(play, int(num_times))


def ask_page(words: list[str]) -> int:
    """Ask the page all kinds of questions."""
    from web_samples import make_backend, running, stream

    runs, num_times = words
    with running(make_backend(runs)) as client:
        player = {"id": "uct", "num_simulations": 5}
        kinds = itertools.cycle(
            [
                lambda asked: client.get("api/games"),
                lambda asked: client.get("api/run?id=x"),
                lambda asked: client.get("page.js"),
                lambda asked: client.post("api/position", json=asked),
                lambda asked: client.post("api/exact", json=asked),
                lambda asked: stream(client, "move", asked | {"player": player}),
                lambda asked: stream(client, "analyse", asked | {"player": player}),
                lambda asked: client.post("api/position", content=b"{"),
            ]
        )

        def ask(number: int) -> None:
            next(kinds)({"game": "tic_tac_toe", "moves": [number % 9]})

        return repeat(ask, int(num_times))
