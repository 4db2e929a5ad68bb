"""What a person types: lines after a prompt, from the terminal or from any other stream."""

import sys
from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from alphazero.runtime.line_wrap import wrapped


def line_reader(console: Console, stream=None) -> Callable[[str], str]:
    """Return a function that reads a typed line after a prompt.

    A terminal has its own line editing; lines from any other stream are echoed. The function raises
    EOFError at the end of the input.
    """
    stream = stream or sys.stdin

    def read(prompt: str) -> str:
        question = Text(prompt, "bold")
        if console.is_terminal:
            question = wrapped(question, console.width)
        if stream is sys.stdin and stream.isatty():
            typed = console.input(question)
            return "".join(filter(str.isprintable, typed))  # without the codes of function keys
        console.print(question, end="", soft_wrap=True)
        line = stream.readline()
        console.print(line.rstrip("\r\n"), markup=False, highlight=False, soft_wrap=True)
        if not line:
            raise EOFError
        return line

    return read
