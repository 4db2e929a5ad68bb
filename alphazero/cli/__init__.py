"""The console command `alphazero` and its subcommands.

Each subcommand is a module of this package, see `alphazero.cli.command`. It is imported only when
the command is called, so that `alphazero --help` loads no torch.
"""

import importlib
import logging
import os
import signal
import sys
import threading
import warnings
from typing import Any

from alphazero.config.completion import OPTIONS, complete
from alphazero.runtime.process import limit_spinning

COMMANDS = {
    "train": "train a network by self-play, or resume a run",
    "work": "play training games for a run on another machine",
    "tune": "measure which engine and batch size are fastest here",
    "play": "play in the terminal, or watch two engines play",
    "serve": "play and analyse on a page in the browser",
    "match": "play paired games between two players",
    "rate": "rate networks of a run, UCT and random on one Elo scale",
    "engine": "answer JSON requests of other programs",
    "prove": "check a player's move in every position of a game",
    "compare": "compare several runs against perfect play",
    "evaluate": "measure a player's accuracy against an exact solver",
    "make_evaluation_set": "sample positions and score them exactly",
    "plot": "draw a run, a position or a game",
    "check_game": "check the rules of a game, and propose settings",
    "new_game": "write a package for a game of your own",
    "ship": "make a network the default player of its game",
    "export": "write a network as an ONNX file or a Kaggle submission",
    "pettingzoo": "play a match inside a PettingZoo environment",
}


def main(arguments: list[str] | None = None) -> int:
    """Run a subcommand.

    Args:
        arguments: of the command line, the subcommand first; None takes those of the process.

    Returns:
        The exit status: 0 for success, 2 for bad input, 130 if stopped by Ctrl-C or SIGTERM.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        _print_text(usage())
        return 0
    if arguments[0] == "--version":
        import importlib.metadata

        print(importlib.metadata.version("alphazero-selfplay"))
        return 0
    if arguments[0] in OPTIONS:
        return complete(arguments, COMMANDS, _run_with_hydra)
    command, *rest = arguments
    if command not in COMMANDS:
        _print_text(f"error: there is no command '{command}'.\n\n{usage()}", stderr=True)
        return 2
    try:
        _set_up_process()
        return _run(command, rest)
    except KeyboardInterrupt:
        print("stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError) as error:  # refused input; a full disk
        return print_error(error)


def usage() -> str:
    """Return the list of subcommands."""
    width = max(map(len, COMMANDS)) + 1
    commands = "\n".join(f"  {name:<{width}} {text}" for name, text in COMMANDS.items())
    hint = "'alphazero COMMAND --help' lists the settings of a command."
    return f"usage: alphazero COMMAND [key=value ...]\n\n{commands}\n\n{hint}"


def print_error(error: Exception) -> int:
    """Print the message of an expected error, such as bad input.

    With ``ALPHAZERO_TRACEBACK=1`` in the environment, raise it again.

    Returns:
        The exit status for bad input, 2.
    """
    if os.environ.get("ALPHAZERO_TRACEBACK"):
        raise error
    _print_text(f"error: {error}", stderr=True)
    return 2


def _print_text(text: str, stderr: bool = False) -> None:
    """Print lines, broken between words if they are too long for the terminal."""
    # Imported here, so that shell completion, which prints nothing of this, stays quick.
    from alphazero.runtime.console import Console

    Console(stderr=stderr, emoji=False).print(text, markup=False)


def _set_up_process() -> None:
    """Choose how torch and signals behave, before a command imports anything."""
    limit_spinning()
    # torch then computes on the CPU what an Apple GPU lacks; it reads this when it is imported.
    os.environ.setdefault("PYTORCH_ENABLE_MPS_FALLBACK", "1")
    warnings.filterwarnings("ignore", category=UserWarning, module="torch")
    logging.getLogger("torch").setLevel(logging.ERROR)
    # Batch systems and shutdowns send SIGTERM: handle it like Ctrl-C, so that a command reports
    # what it stored.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def _run(command: str, arguments: list[str]) -> int:
    """Import a command and run it."""
    from alphazero.cli.command import run_command
    from alphazero.runtime.jit import announce_first_compilation

    announce_first_compilation()
    return run_command(importlib.import_module(f"alphazero.cli.{command}"), arguments)


def _run_with_hydra(*arguments: Any) -> int:
    from alphazero.training.run_config import run_with_hydra  # importing Hydra takes a second

    return run_with_hydra(*arguments)
