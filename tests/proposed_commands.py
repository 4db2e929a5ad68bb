"""Commands that the program or its pages propose: found in texts, and run with tiny settings."""

import io
import re
import shlex
from unittest import mock

from alphazero.cli import COMMANDS, main, serve

_PRINTED = re.compile(rf"(?m)\balphazero (?=(?:{'|'.join(COMMANDS)}) )(.*)$")
#: Settings in place of those that take long: patterns of words, and what replaces them.
_SHORTER = {
    r"(uct:|num_simulations=|num_games=)\d+": r"\g<1>2",
    r"time_limit_s=[\d.]+": "time_limit_s=0.001",
    r"uct$": "uct:2",
}
#: Settings to add to a command.
_TINY = {
    "check_game": "num_positions=100 seconds=1",
    "engine": "num_simulations=2",
    "evaluate": "num_simulations=2",
    "match": "num_games=2 num_simulations=2",
    "play": "num_simulations=2",
    "plot": "num_simulations=2",
    "prove": "num_simulations=2",
    "rate": "num_games=4 num_networks=2 num_simulations=2 players=[random] anchor=random",
    "serve": "open=false",
    "train": "network.blocks=1 network.channels=4 selfplay.num_simulations=2 device=cpu "
    "selfplay.games_per_iteration=4 selfplay.num_parallel_games=4 run.num_iterations=1 "
    "evaluation.every=0 evaluation.num_games=0 evaluation.final_num_games=0 pit.every=0 "
    "evaluation.prove=false run.num_threads=1",
}


def proposals(text):
    """Return the `alphazero` commands in printed text, one at the end of a line, as words."""
    return [shlex.split(command) for command in _PRINTED.findall(text)]


def tiny(command, *words):
    """Return the words of a command that does the same in a few seconds."""
    for pattern, shorter in _SHORTER.items():
        words = [re.sub(pattern, shorter, word) for word in words]
    is_resumed = any(word.startswith("resume=") for word in words)
    added = "" if is_resumed else _TINY.get(command, "")
    names = {word.partition("=")[0] for word in words}
    if "time_limit_s" in names:
        added = re.sub("num_simulations=2", "", added)
    return [command, *words, *added.split()]


def run(command, *words):
    """Run a command with tiny settings, and without input; return the exit status."""
    with (
        mock.patch("sys.stdin", io.StringIO("")),
        mock.patch("alphazero.web.server.Server.run"),
        mock.patch.object(serve, "end_process"),
        mock.patch.object(serve, "_warm_up"),
    ):
        return main(tiny(command, *words))
