"""rich's console for the commands: nothing breaks inside a word or a number.

In: text, tables, anything of rich. Out: on a terminal, text broken between words, and tables that
are too wide as one "column: value" for each line; in a pipe or a file, whole lines and whole
tables, whatever their width.
"""

import re
from typing import Any

import rich.console
from rich.console import Group, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from alphazero.runtime.line_wrap import wrapped


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
        elif isinstance(item, Table) and (width := self._whole_width(item)) > self.width:
            if not self.is_terminal:
                self._print_wider(item, width)
                return
            objects, options["soft_wrap"] = (stacked(item, self.width),), True
        super().print(*objects, **options)

    def _whole_width(self, table: Table) -> int:
        """Return the width of a table without any line of its cells broken."""
        return Measurement.get(self, self.options.update(max_width=10_000), table).maximum

    def _print_wider(self, table: Table, width: int) -> None:
        before, self.width = self.width, width
        super().print(table)
        self.width = before


def stacked(table: Table, width: int) -> Group:
    """Return a table as lines: for each row, the headings and cells one below the other."""
    parts: list[RenderableType] = [_text(table.title)] if table.title else []
    for cells in zip(*(column.cells for column in table.columns)):
        if table.show_header:
            headings = [" ".join(_text(one.header).plain.split()) for one in table.columns]
            lines = [_line(*pair) for pair in zip(headings, cells)]
            parts += [wrapped(Text("\n").join(filter(None, lines)), width), Text()]
        else:
            texts = list(filter(None, map(_text, cells)))
            parts.append(wrapped(Text(": ").join(texts), width))
    if table.caption:
        parts.append(wrapped(_text(table.caption), width))
    return Group(*parts)


def _line(heading: str, cell: RenderableType) -> Text:
    """Return "heading: cell", empty without a cell."""
    text = _text(cell)
    return Text.assemble((f"{heading}: " if heading else "", "bold"), text) if text else Text()


def _text(cell: RenderableType) -> Text:
    if isinstance(cell, Text):
        return cell
    return Text.from_markup(cell, emoji=False) if isinstance(cell, str) else Text("")
