"""The console command `alphazero` and its subcommands.

Each subcommand is a module of this package, imported only when it is called, so that `alphazero
--help` does not load torch. `alphazero.cli.command` describes what such a module contains.
"""

import contextlib
import importlib
import io
import logging
import os
import re
import sys
import warnings

from alphazero.cli.interrupts import handle_interrupts, is_interrupted
from alphazero.config.hints import nearest_key_hint
from alphazero.runtime.process import limit_spinning, silence_stdout

COMMANDS = {
    "train": "train a network by self-play, or resume a run",
    "play": "play in the terminal, or watch two engines play",
    "serve": "play and analyse on a page in the browser",
    "match": "play paired games between two players",
    "rate": "rate networks of a run, UCT and random on one Elo scale",
    "engine": "answer JSON requests of other programs",
    "prove": "check a player's move in every position of a game",
    "evaluate": "compare a player, or two, with an exact solver",
    "plot": "draw a run or a game",
    "check_game": "check the rules of a game, and propose settings",
    "new_game": "write a package for a game of your own",
    "export": "write a network as an ONNX file or a Kaggle submission",
    "push": "share a network on the Hugging Face Hub",
    "mcp": "let language models play and analyse",
    "pettingzoo": "play a match inside a PettingZoo environment",
    "doctor": "say what works on this machine, for a bug report",
}


#: Matches messages of RuntimeErrors that report a lack of memory or threads.
_LACKING = re.compile("out of memory|not enough memory|alloc.* memory|can't start new thread")
#: Matches torch's message about a full GPU memory; the first size in the message is captured.
_GPU_MEMORY = re.compile(r"CUDA out of memory\.( Tried to allocate [\d.]+ \w+\.)?.*", re.DOTALL)


def main(arguments: list[str] | None = None) -> int:
    """Run a subcommand of `alphazero`; if it fails, print one line on standard error.

    Args:
        arguments: the command line, subcommand first; None means the arguments of this process.

    Returns:
        The exit status: 0 for success; 1 if `check_game` finds a broken law or `prove` a misplayed
        position; 2 for bad input or a machine error such as a full disk; 130 if stopped by Ctrl-C
        or SIGTERM.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="surrogateescape")  # for a path that is not UTF-8
        status = _answer(arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader closed the pipe, such as '| head'
        silence_stdout()
        return 0
    except KeyboardInterrupt:
        return _stopped()
    except Exception as error:
        # A library may turn the interrupt into another exception.
        if is_interrupted() and not isinstance(error, OSError):
            return _stopped()
        return print_error(error)


def _answer(arguments: list[str]) -> int:
    """Run a subcommand, or print the help or the version number.

    Args:
        arguments: the command line, subcommand first; if empty, the help is printed.

    Returns:
        The exit status: that of the subcommand; 2 if there is no such subcommand; otherwise 0.
    """
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        _print_text(usage())
        return 0
    if arguments[0] == "--version":
        import importlib.metadata

        print(importlib.metadata.version("alphazero-selfplay"))
        return 0
    command, *rest = arguments
    if command not in COMMANDS:
        hint = nearest_key_hint(command, list(COMMANDS))
        _print_text(f"error: there is no command '{command}'.{hint}\n\n{usage()}", stderr=True)
        return 2
    _set_up_process()
    return _run(command, rest)


def usage() -> str:
    """Return the help text of `alphazero`: the usage line and the list of subcommands."""
    width = max(map(len, COMMANDS)) + 1
    commands = "\n".join(f"  {name:<{width}} {text}" for name, text in COMMANDS.items())
    hint = "'alphazero COMMAND --help' lists the settings of a command."
    return f"usage: alphazero COMMAND [key=value ...]\n\n{commands}\n\n{hint}"


def print_error(error: Exception) -> int:
    """Print an expected error, such as bad input or a full disk, as one line on standard error.

    Any other error is a bug and is raised again. If the environment variable
    ``ALPHAZERO_TRACEBACK`` is set, expected errors are raised again too.

    Returns:
        The exit status, which is always 2.
    """
    text = error_text(error)
    if text is None or os.environ.get("ALPHAZERO_TRACEBACK"):
        raise error
    with contextlib.suppress(OSError):  # standard error itself may be unwritable
        _print_text(f"error: {text}", stderr=True)
    return 2


def error_text(error: Exception) -> str | None:
    """Return the message of an expected error as one line, or None if the error is a bug.

    Expected errors are ValueErrors (bad input), OSErrors, lack of memory or threads, and
    RecursionErrors, which deeply nested input causes.
    """
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{_place_of(error)}{error.strerror}."
    elif isinstance(error, RecursionError):
        text = "the input is nested too deeply."
    elif isinstance(error, MemoryError):
        text = f"there is not enough memory. {text}"
    elif isinstance(error, RuntimeError) and not _LACKING.search(text):
        return None
    elif not isinstance(error, (ValueError, OSError, RuntimeError)):
        return None
    text = _GPU_MEMORY.sub(
        r"the GPU's memory is full.\1 Lower learner.batch_size or selfplay.num_parallel_games, or "
        "choose device=cpu.",
        text,
    )
    text = " ".join([text.strip(), *getattr(error, "__notes__", ())])
    printable = ""
    for character in text:
        printable += character if character.isprintable() else ascii(character)[1:-1]
    return printable


def _place_of(error: OSError) -> str:
    """Return the path of the file that an error is about, followed by ": ", or "" if unknown.

    If standard output cannot be written, "standard output: " is returned, and all further output to
    standard output is discarded.
    """
    if error.filename is not None:
        name = error.filename
        if not isinstance(name, int):
            name = os.fsdecode(name)
        return f"{name}: "
    try:
        print(flush=True)  # fails again if standard output caused the error
    except OSError:
        silence_stdout()
        return "standard output: "
    return ""


def _stopped() -> int:
    with contextlib.suppress(OSError):
        print("stopped.", file=sys.stderr)
    return 130


def _print_text(text: str, stderr: bool = False) -> None:
    """Print text, wrapped between words to the width of the terminal.

    Args:
        text: printed literally: square brackets are not markup.
        stderr: True to print to standard error instead of standard output.
    """
    from alphazero.runtime.console import Console

    Console(stderr=stderr, emoji=False).print(text, markup=False)


def _set_up_process() -> None:
    """Configure OpenMP threads, torch and signal handling before a subcommand imports torch."""
    limit_spinning()
    # Operations that an Apple GPU lacks then run on the CPU. torch reads this on import.
    os.environ.setdefault("PYTORCH_ENABLE_MPS_FALLBACK", "1")
    warnings.filterwarnings("ignore", category=UserWarning, module="torch")
    logging.getLogger("torch").setLevel(logging.ERROR)
    handle_interrupts()


def _run(command: str, arguments: list[str]) -> int:
    """Import the module of a subcommand, run the subcommand and return its exit status."""
    from alphazero.cli.command import run_command
    from alphazero.runtime.jit import announce_first_compilation

    announce_first_compilation()
    return run_command(importlib.import_module(f"alphazero.cli.{command}"), arguments)
