"""Draw the terminal pictures of the documentation: `python scripts/make_pictures.py` writes docs/images/*.svg.

A terminal's screen becomes an SVG of its own making: squares of colour, letters one by one, and box-drawing characters as lines, so that
boards have no gaps whatever font the reader has. Nothing is loaded from anywhere.
"""

import io
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style

CELL_W, CELL_H, MARGIN = 9.6, 20.0, 16.0
BACKGROUND, FOREGROUND = "#16181d", "#d7dae0"
FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
HARD_SPACE = "&#160;"  # an ordinary space loses its width next to another
_ANSI = [
    "000000",
    "cd3131",
    "2fb170",
    "d7ba3d",
    "3b78d8",
    "bc5fd3",
    "2bb3c0",
    "d7dae0",
    "6b7280",
    "f14c4c",
    "4ade80",
    "f5d76e",
    "6ca6ff",
    "e58af5",
    "5fe1ee",
    "ffffff",
]
#: Where the lines of a box-drawing character go: left, right, up, down.
_BOX = {
    "─": "lr",
    "━": "LR",
    "│": "ud",
    "╭": "rd",
    "╮": "ld",
    "╰": "ru",
    "╯": "lu",
    "├": "rud",
    "┤": "lud",
    "┬": "lrd",
    "┴": "lru",
    "┼": "lrud",
}


def recording_console(width: int = 92) -> Console:
    """Return a console that keeps what is printed for `save_svg`."""
    return Console(
        record=True,
        width=width,
        force_terminal=True,
        color_system="truecolor",
        file=io.StringIO(),
        highlight=False,
    )


def save_svg(
    console: Console, path: Path, title: str, first: str = "", last: str | None = None
) -> None:
    """Write what was printed on a recording console as an SVG picture.

    Args:
        first, last: how the first line to show begins, and the first one after it to leave out.
    """
    lines = [
        list(line) for line in Segment.split_lines(Segment.filter_control(console._record_buffer))
    ]
    texts = ["".join(segment.text for segment in line) for line in lines]
    start = next(index for index, text in enumerate(texts) if text.startswith(first))
    end = next(
        (index for index in range(start, len(texts)) if last and texts[index].startswith(last)),
        len(texts),
    )
    while end > start and not texts[end - 1].strip():
        end -= 1
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(svg_of_lines(lines[start:end], console.width, title), encoding="utf-8")


def svg_of_lines(lines: list[list[Segment]], columns: int, title: str) -> str:
    """Return an SVG of a screen."""
    width, height = 2 * MARGIN + columns * CELL_W, 2 * MARGIN + (len(lines) + 1.5) * CELL_H
    shapes = []
    for row, line in enumerate(lines):
        column = 0
        for segment in line:
            shapes += _segment(
                segment.text,
                segment.style or Style(),
                MARGIN + column * CELL_W,
                MARGIN + (row + 1.5) * CELL_H,
            )
            column += len(segment.text)
    dots = "".join(
        f'<circle cx="{MARGIN + 6 + 20 * i}" cy="{MARGIN}" r="6" fill="#{c}"/>'
        for i, c in enumerate(("ff5f57", "febc2e", "28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
        f'font-family="{FONT}" font-size="16">\n<title>{escape(title)}</title>\n'
        f'<rect width="{width:g}" height="{height:g}" rx="10" fill="{BACKGROUND}"/>{dots}\n'
        f'<text x="{width / 2:g}" y="{MARGIN + 5:g}" text-anchor="middle" fill="#9aa0aa">{escape(title)}</text>\n'
        + "\n".join(sorted(shapes, key=lambda shape: not shape.startswith("<rect")))
        + "\n</svg>\n"
    )


def _segment(text: str, style: Style, x: float, y: float) -> list[str]:
    """Return the shapes of some characters of one style; (x, y) is the top left corner of the first one's cell."""
    ink, paper = _hex(style.color, FOREGROUND), _hex(style.bgcolor, None)
    if style.dim:
        ink = "#858b96"
    shapes = []
    if paper:
        # A third of a unit too large, so that no hairline shows between two squares.
        shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{len(text) * CELL_W + 0.3:g}" height="{CELL_H + 0.3:g}" fill="{paper}"/>'
        )
    lines = "".join(
        _box_path(character, x + (index + 0.5) * CELL_W, y + CELL_H / 2)
        for index, character in enumerate(text)
    )
    if lines:
        shapes.append(
            f'<path d="{lines}" stroke="{ink}" stroke-width="{3 if "━" in text else 1.2}"/>'
        )
    for index, character in enumerate(text):
        if character == "●":
            shapes.append(
                f'<circle cx="{x + (index + 0.5) * CELL_W:g}" cy="{y + CELL_H / 2:g}" r="7.5" fill="{ink}"/>'
            )
    letters = "".join(
        " " if character in _BOX or character == "●" else character for character in text
    )
    if letters.strip():
        start = len(letters) - len(letters.lstrip())
        letters, weight = letters.strip(), ' font-weight="bold"' if style.bold else ""
        place = f'x="{x + start * CELL_W:g}" y="{y + 15:g}" textLength="{len(letters) * CELL_W:g}"'
        shapes.append(
            f'<text {place} fill="{ink}"{weight}>{escape(letters).replace(" ", HARD_SPACE)}</text>'
        )
    return shapes


def _box_path(character: str, x: float, y: float) -> str:
    """Return the lines of a box-drawing character whose middle is (x, y), '' for any other character."""
    half_w, half_h = CELL_W / 2 + 0.2, CELL_H / 2 + 0.2
    ends = {"l": (x - half_w, y), "r": (x + half_w, y), "u": (x, y - half_h), "d": (x, y + half_h)}
    return "".join(
        f"M{x:g} {y:g}L{ends[end][0]:g} {ends[end][1]:g}" for end in _BOX.get(character, "").lower()
    )


def _hex(color: Color | None, default: str | None) -> str | None:
    if color is None or color.is_default:
        return default
    if color.triplet is not None:
        return color.triplet.hex
    return f"#{_ANSI[color.number]}" if color.number is not None and color.number < 16 else default


def draw_play(path: Path) -> None:
    """Draw a game of Connect Four between a person and UCT."""
    from alphazero.cli.play import main

    console = recording_console()
    typed = iter(["7", "hint", "4", "view"])

    def read_line(prompt: str) -> str:
        line = next(typed, None)
        console.print(f"[bold]{prompt}[/bold]{line or '▏'}")
        if line is None:
            raise EOFError
        return line

    main(["game=connect_four", "second=uct:20000", "seed=1", "moves=[3,3,2,4]"], console, read_line)
    save_svg(
        console,
        path,
        "alphazero play game=connect_four second=uct:20000",
        "Connect Four",
        "The game ends",
    )


if __name__ == "__main__":
    draw_play(Path("docs/images/play_connect_four.svg"))
    sys.exit(0)
