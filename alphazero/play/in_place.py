"""A screen that is drawn over the last one, at the top of the terminal.

In: what to show. Out: escape sequences on the console. What was on the terminal before is scrolled
up first, so that it can still be scrolled back to; the alternate screen, whose contents vanish with
the program, is not used.
"""

import sys
from typing import IO

from rich.console import Console, RenderableType
from rich.text import Text

_HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"


def can_draw_in_place(console: Console, stream: IO[str] | None = None) -> bool:
    """Return whether a person sits at a terminal whose cursor can be moved.

    Args:
        stream: what the person types into; None is standard input.
    """
    is_plain = console.is_dumb_terminal or console.legacy_windows
    return (stream or sys.stdin).isatty() and console.file.isatty() and not is_plain


class InPlace:
    """The top of a terminal."""

    def __init__(self, console: Console):
        self._console = console
        self._has_room = False

    def draw(self, parts: list[RenderableType], num_spare_lines: int) -> bool:
        """Draw over whatever was drawn before, if the terminal is high enough.

        Args:
            parts: one below the other.
            num_spare_lines: that must stay free below.

        Returns:
            Whether it was drawn.
        """
        console = self._console
        with console.capture() as captured:
            for part in parts:
                console.print(part, soft_wrap=isinstance(part, Text))
        text = captured.get()
        if text.count("\n") + num_spare_lines > console.height:
            return False
        room = "" if self._has_room else "\n" * console.height
        self._has_room = True
        lines = text.replace("\n", _CLEAR_LINE + "\n")
        console.file.write(f"{room}{_HOME}{lines}{_CLEAR_BELOW}")
        console.file.flush()
        return True
