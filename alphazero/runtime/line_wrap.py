"""Lines that break between words on a terminal, and not at all in a pipe or a file.

In: text and a console. Out: the text on the console. A terminal by itself breaks a long line
wherever it is full, inside a word or a number; rich breaks long words, which cannot be copied then.
"""

import re

from rich.console import Console
from rich.style import StyleType
from rich.text import Text


def print_line(console: Console, text: str | Text, style: StyleType = "") -> None:
    """Print a text without markup; each line of it is wrapped if the console is a terminal."""
    line = Text(text) if isinstance(text, str) else text
    if console.is_terminal:
        line = wrapped(line, console.width)
    console.print(line, style=style, soft_wrap=True, highlight=False)


def wrapped(text: Text, width: int) -> Text:
    """Return a text with line ends between words, so that no line is longer than ``width``.

    A word that is longer than the width stays whole on a line of its own.
    """
    lines = [part for line in text.split("\n", allow_blank=True) for part in _parts(line, width)]
    return Text("\n").join(lines)


def _parts(line: Text, width: int) -> list[Text]:
    """Return a line without line ends in parts no longer than the width, if words allow it."""
    starts, start = [], 0
    for word in re.finditer(r"\S+", line.plain):
        if word.end() - start > width and line.plain[start : word.start()].strip():
            start = word.start()
            starts.append(start)
    parts = list(line.divide(starts))
    for part in parts[:-1]:
        part.rstrip()
    return parts
