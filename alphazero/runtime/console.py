"""The commands' console, based on rich: lines break only between words.

In: text, tables and other objects that rich prints. Out: on a terminal, text wrapped between words;
in a pipe or a file, unbroken lines and tables. A terminal alone breaks a long line anywhere, even
inside a number, and rich breaks long words, which then cannot be copied.
"""

import re
from typing import Any

import rich.console
from rich.table import Table
from rich.text import Text


class TrimmedConsole(rich.console.Console):
    """A console whose lines have no spaces at their ends in a pipe or a file."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as rich does, without the spaces with which rich pads the lines of tables."""
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
        """Print one text or table with our line breaks; print anything else as rich does."""
        (item,) = objects if len(objects) == 1 else (None,)
        if isinstance(item, str):
            item = self.render_str(item, markup=options.get("markup"), highlight=False)
        if isinstance(item, Text):
            options["soft_wrap"] = True
            is_wrapped = self.is_terminal and not item.no_wrap
            objects = (wrapped(item, self.width) if is_wrapped else item,)
        elif isinstance(item, Table) and not self.is_terminal:
            before = self.width
            self.width = 10_000  # the table takes the width it needs
            super().print(item, **options)
            self.width = before
            return
        super().print(*objects, **options)


def wrapped(text: Text, width: int) -> Text:
    """Return a text wrapped between words to lines of at most ``width``.

    A longer word stays whole on a separate line.
    """
    lines = [part for line in text.split("\n", allow_blank=True) for part in _parts(line, width)]
    return Text("\n").join(lines)


def _parts(line: Text, width: int) -> list[Text]:
    """Split a single line into parts no longer than the width, if its words allow it."""
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
