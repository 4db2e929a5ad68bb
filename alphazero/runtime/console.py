"""The console on which commands print: a rich console that breaks lines only between words.

On a terminal, text is wrapped between words; in a pipe or a file, lines and tables stay unbroken.
Without this module, a terminal would break a long line anywhere, even inside a number, and rich
would break long words such as paths, which the user could then not copy.
"""

import re
from typing import Any

import rich.console
from rich.table import Table
from rich.text import Text


class TrimmedConsole(rich.console.Console):
    """A rich console that omits trailing spaces when it writes to a pipe or a file."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as `rich.console.Console` does, but to a pipe or a file without trailing spaces."""
        if self.is_terminal or self.record:
            super().print(*objects, **options)
            return
        with self.capture() as capture:
            super().print(*objects, **options)
        self.file.write(re.sub(r"[ \t]+(?=\n)", "", capture.get()))
        self.file.flush()


class Console(TrimmedConsole):
    """The console on which commands print, breaking lines only between words."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print a single text or table without breaking words across lines.

        Several objects, or an object of another kind, are printed as rich does.
        """
        item = objects[0] if len(objects) == 1 else None
        if isinstance(item, str):
            item = self.render_str(item, markup=options.get("markup"), highlight=False)
        if isinstance(item, Text):
            options["soft_wrap"] = True
            if self.is_terminal and not item.no_wrap:
                item = wrapped(item, self.width)
            objects = (item,)
        elif isinstance(item, Table) and not self.is_terminal:
            before = self.width
            self.width = 10_000  # the table takes the width it needs
            super().print(item, **options)
            self.width = before
            return
        super().print(*objects, **options)


def wrapped(text: Text, width: int) -> Text:
    """Wrap a text between words into lines of at most ``width`` characters.

    A word longer than ``width`` is not broken and gets a line of its own.
    """
    lines = text.split("\n", allow_blank=True)
    return Text("\n").join(part for line in lines for part in _parts(line, width))


def _parts(line: Text, width: int) -> list[Text]:
    """Split a line between words into parts of at most ``width`` characters.

    Only a part that consists of a single long word may be longer.
    """
    starts = []
    start = 0
    for word in re.finditer(r"\S+", line.plain):
        before = line.plain[start : word.start()].strip()
        if before and word.end() - start > width:
            start = word.start()
            starts.append(start)
    parts = list(line.divide(starts))
    for part in parts[:-1]:
        part.rstrip()
    return parts


def counted(number: int, noun: str) -> str:
    """Format a number with a noun given in the singular, such as "1 move" or "1,200 moves"."""
    plural = "" if number == 1 else "s"
    return f"{number:,} {noun}{plural}"
