"""The console command `alphazero` and its sub-commands. Each is a module of this package with `main(words) -> int`, imported only when it is called."""

import contextlib
import importlib
import os
import signal
import sys
import threading

COMMANDS = {
    "train": "train a network by self-play, or go on with a run",
    "tune": "measure which engine and how many games at once are the fastest here",
    "play": "play in the terminal against a person, UCT or a network, or let two of them play",
    "match": "play paired games between two players and print the result with its interval",
    "rate": "rate the networks of a run, UCT and random on one Elo scale",
    "engine": "answer one JSON line for every JSON line: for other programs",
    "prove": "look at every position of a small game: is the player unbeatable, does it ever misplay?",
    "compare": "compare several runs with perfect play, on the same positions",
    "evaluate": "measure how exactly a player plays, beside an exact solver",
    "make_evaluation_set": "draw new positions with exact scores, for 'alphazero evaluate'",
    "plot": "draw the losses and the strength of a run as a picture",
    "ship": "make a trained network the one that its game is played with, with a card of how it was made",
    "pettingzoo": "let our players meet in PettingZoo's own environments",
}


def main(words: list[str] | None = None) -> int:
    """Run the command that the words name; return the exit status: 0 done, 2 bad input, 130 stopped by Ctrl-C or SIGTERM."""
    words = list(sys.argv[1:] if words is None else words)
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage())
        return 0
    if words[0] == "--version":
        import importlib.metadata

        print(importlib.metadata.version("alphazero-selfplay"))
        return 0
    command, *rest = words
    if command not in COMMANDS:
        print(f"error: there is no command '{command}'.\n\n{usage()}", file=sys.stderr)
        return 2
    return run_command(command, rest)


def run_command(command: str, words: list[str]) -> int:
    """Run one command; bad input becomes one sentence on standard error."""
    try:
        with _terminated_as_interrupted():
            return importlib.import_module(f"alphazero.cli.{command}").main(words)
    except ValueError as error:
        if os.environ.get("ALPHAZERO_TRACEBACK"):
            raise
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


@contextlib.contextmanager
def _terminated_as_interrupted():
    """Let SIGTERM, by which batch systems and shutdowns end a program, stop a command as Ctrl-C does: it says what is kept and how to go on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def usage() -> str:
    """Return the list of the commands."""
    lines = [f"  {name:<20} {text}" for name, text in COMMANDS.items()]
    return "\n".join(
        [
            "usage: alphazero COMMAND [key=value ...]",
            "",
            *lines,
            "",
            "'alphazero COMMAND --help' explains every key of a command.",
        ]
    )
