"""rich's console for the commands: lines break between words.

In: text, tables, anything of rich. Out: on a terminal, text broken between words; in a pipe or a
file, whole lines and whole tables, whatever their width. A terminal by itself breaks a long line
wherever it is full, inside a word or a number; rich breaks long words, which cannot be copied then.
"""

import re
from typing import Any

import rich.console
from rich.table import Table
from rich.text import Text


class TrimmedConsole(rich.console.Console):
    """A console whose lines have no spaces at their ends in a pipe or a file."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as rich does; tables and padding of rich's fill each line with spaces."""
        if self.is_terminal or self.record:
            super().print(*objects, **options)
            return
        with self.capture() as capture:
            super().print(*objects, **options)
        self.file.write(re.sub(r"[ \t]+(?=\n)", "", capture.get()))
        self.file.flush()


class Console(TrimmedConsole):
    """The console of a command; see `rich.console.Console`."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print one text or table, see above; anything else as rich does."""
        (item,) = objects if len(objects) == 1 else (None,)
        if isinstance(item, str):
            item = self.render_str(item, markup=options.get("markup"), highlight=False)
        if isinstance(item, Text):
            options["soft_wrap"] = True
            is_wrapped = self.is_terminal and not item.no_wrap
            objects = (wrapped(item, self.width) if is_wrapped else item,)
        elif isinstance(item, Table) and not self.is_terminal:
            before = self.width
            self.width = 10_000  # the table takes what it needs
            super().print(item, **options)
            self.width = before
            return
        super().print(*objects, **options)


def wrapped(text: Text, width: int) -> Text:
    """Return a text with line ends between words, so that no line is longer than ``width``.

    A word that is longer than the width stays whole on a line of its own.
    """
    lines = [part for line in text.split("\n", allow_blank=True) for part in _parts(line, width)]
    return Text("\n").join(lines)


def _parts(line: Text, width: int) -> list[Text]:
    """Return a line without line ends in parts no longer than the width, if words allow it."""
    starts = []
    start = 0
    for word in re.finditer(r"\S+", line.plain):
        if word.end() - start > width and line.plain[start : word.start()].strip():
            start = word.start()
            starts.append(start)
    parts = list(line.divide(starts))
    for part in parts[:-1]:
        part.rstrip()
    return parts
