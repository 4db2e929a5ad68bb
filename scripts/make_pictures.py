"""Draw the pictures of the documentation.

    python scripts/make_pictures.py

They go into docs/images/. `alphazero plot` draws those of runs and games. A terminal
screen becomes an SVG: backgrounds are rectangles, box-drawing characters and discs are shapes, and
all other characters are text. Boards therefore have no gaps in any font. The SVG loads no other
files.
"""

import io
import re
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

CELL_W, CELL_H, MARGIN = 9.6, 20.0, 16.0
BACKGROUND, FOREGROUND, DIM = "#16181d", "#d7dae0", "#858b96"
FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
HARD_SPACE = "&#160;"  # adjacent ordinary spaces would collapse into one
WINDOW_BUTTONS = ("#ff5f57", "#febc2e", "#28c840")
IMAGES = Path("docs/images")
SEEDS = ",".join(f"docs/runs/connect_four_10min/seed{seed}" for seed in (1, 2))
#: The arguments of `alphazero plot` for each picture.
PLOTS = {
    "connect_four_exact.png": ["what=exact", f"run={SEEDS}"],
    "run_connect_four.png": ["run=docs/runs/connect_four_10min/seed1"],
    "game_connect_four.gif": [
        *("what=game", "game=connect_four", "first=best", "second=uct:1000", "seed=1")
    ],
    "game_breakthrough.gif": [
        *("what=game", "game=examples/breakthrough.py", "first=uct:2000", "second=uct:2000"),
        "seed=1",
    ],
    "game_gomoku.png": [
        *("what=game", "game=gomoku:9x9", "first=best", "second=best,num_simulations=800"),
        *("moves=e5,c3", "seed=1"),
    ],
    "game_othello.png": [
        *("what=game", "game=othello", "setup=standard", "moves=f5d6c3d3c4f4f6f3e6e7d7")
    ],
}
#: The 16 standard colors of a terminal.
ANSI_COLORS = (
    "#000000 #cd3131 #2fb170 #d7ba3d #3b78d8 #bc5fd3 #2bb3c0 #d7dae0 "
    "#6b7280 #f14c4c #4ade80 #f5d76e #6ca6ff #e58af5 #5fe1ee #ffffff"
).split()
#: Where the lines of a box-drawing character end: left, right, up, down.
BOX_LINES = {
    **{"─": "lr", "━": "lr", "│": "ud"},
    **{"╭": "rd", "╮": "ld", "╰": "ru", "╯": "lu"},
    **{"├": "rud", "┤": "lud", "┬": "lrd", "┴": "lru", "┼": "lrud"},
}


def recording_console(width: int = 92) -> Console:
    """Return a console that keeps what is printed, for `save_svg`."""
    return Console(
        record=True,
        width=width,
        height=40,
        force_terminal=True,
        color_system="truecolor",
        file=io.StringIO(),
        highlight=False,
    )


def save_svg(
    console: Console, path: Path, title: str, first: str = "", last: str | None = None
) -> None:
    """Write what was printed on a recording console as an SVG file.

    Args:
        first: beginning of the first line to draw.
        last: beginning of the first line after it that is not drawn; None draws to the end.
    """
    lines = _printed_lines(console)
    texts = ["".join(segment.text for segment in line) for line in lines]
    start = next(index for index, text in enumerate(texts) if text.startswith(first))
    ends = [index for index in range(start, len(texts)) if last and texts[index].startswith(last)]
    end = ends[0] if ends else len(texts)
    while end > start and not texts[end - 1].strip():
        end -= 1
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(svg_of_lines(lines[start:end], console.width, title), encoding="utf-8")


def _printed_lines(console: Console) -> list[list[Segment]]:
    """Return the lines printed so far, each as segments of one style."""
    printed = Text.from_ansi(console.export_text(clear=False, styles=True))
    unwrapped = console.options.update_width(10_000)
    return console.render_lines(printed, unwrapped, pad=False)


def svg_of_lines(lines: list[list[Segment]], columns: int, title: str) -> str:
    """Return an SVG of a terminal window."""
    width, height = 2 * MARGIN + columns * CELL_W, 2 * MARGIN + (len(lines) + 1.5) * CELL_H
    shapes = []
    for row, line in enumerate(lines):
        x, y = MARGIN, MARGIN + (row + 1.5) * CELL_H
        for segment in line:
            shapes += _segment_shapes(segment.text, segment.style or Style(), x, y)
            x += len(segment.text) * CELL_W
    backgrounds_first = sorted(shapes, key=lambda shape: not shape.startswith("<rect"))
    buttons = "".join(
        f'<circle cx="{MARGIN + 6 + 20 * index}" cy="{MARGIN}" r="6" fill="{color}"/>'
        for index, color in enumerate(WINDOW_BUTTONS)
    )
    size = f'width="{width:g}" height="{height:g}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" {size} '
            f'font-family="{FONT}" font-size="16">',
            f"<title>{escape(title)}</title>",
            f'<rect {size} rx="10" fill="{BACKGROUND}"/>{buttons}',
            f'<text x="{width / 2:g}" y="{MARGIN + 5:g}" text-anchor="middle" fill="#9aa0aa">'
            f"{escape(title)}</text>",
            *backgrounds_first,
            "</svg>\n",
        ]
    )


def _segment_shapes(text: str, style: Style, x: float, y: float) -> list[str]:
    """Return the SVG shapes of adjacent characters with one style.

    Args:
        x, y: top left corner of the first character's cell.
    """
    color = DIM if style.dim else _hex(style.color) or FOREGROUND
    background, shapes = _hex(style.bgcolor), []
    if background:
        # 0.3 units too large, so that there is no gap between two cells.
        width, height = len(text) * CELL_W + 0.3, CELL_H + 0.3
        size = f'width="{width:g}" height="{height:g}"'
        shapes.append(f'<rect x="{x:g}" y="{y:g}" {size} fill="{background}"/>')
    centers = [(x + (index + 0.5) * CELL_W, y + CELL_H / 2) for index in range(len(text))]
    lines = "".join(_box_path(character, *center) for character, center in zip(text, centers))
    if lines:
        stroke_width = 3 if "━" in text else 1.2
        shapes.append(f'<path d="{lines}" stroke="{color}" stroke-width="{stroke_width}"/>')
    shapes += [
        f'<circle cx="{center_x:g}" cy="{center_y:g}" r="7.5" fill="{color}"/>'
        for character, (center_x, center_y) in zip(text, centers)
        if character == "●"
    ]
    return shapes + _letters(text, color, bool(style.bold), x, y + 15)


def _letters(text: str, color: str, bold: bool, x: float, baseline: float) -> list[str]:
    """Return text elements for the characters that are not shapes.

    Words more than one space apart become separate elements of exact width, which keeps columns
    aligned in any font.
    """
    text = "".join(" " if char in BOX_LINES or char == "●" else char for char in text)
    weight, elements = ' font-weight="bold"' if bold else "", []
    for match in re.finditer(r"\S+( \S+)*", text):
        letters, start = match.group(), x + match.start() * CELL_W
        place = f'x="{start:g}" y="{baseline:g}" textLength="{len(letters) * CELL_W:g}"'
        content = escape(letters).replace(" ", HARD_SPACE)
        elements.append(f'<text {place} fill="{color}"{weight}>{content}</text>')
    return elements


def _box_path(character: str, x: float, y: float) -> str:
    """Return the SVG path of a box-drawing character centered at (x, y), else ""."""
    half_w, half_h = CELL_W / 2 + 0.2, CELL_H / 2 + 0.2
    ends = {"l": (x - half_w, y), "r": (x + half_w, y), "u": (x, y - half_h), "d": (x, y + half_h)}
    targets = (ends[end] for end in BOX_LINES.get(character, ""))
    return "".join(f"M{x:g} {y:g}L{end_x:g} {end_y:g}" for end_x, end_y in targets)


def _hex(color: Color | None) -> str | None:
    """Return a color as "#rrggbb", None for the terminal's default color."""
    if color is None or color.is_default:
        return None
    if color.triplet is not None:
        return color.triplet.hex
    return ANSI_COLORS[color.number] if color.number is not None and color.number < 16 else None


def draw_play(path: Path, name: str, spec: str, moves: list[str]) -> None:
    """Draw a game of a person who begins against the player ``spec``, from the last move on."""
    from alphazero.own_games.registry import make_game
    from alphazero.play.terminal import HumanPlayer, TerminalGame
    from alphazero.players.base import PlayerSettings
    from alphazero.players.registry import make_player

    console, game = recording_console(), make_game(name)
    typed = iter([*moves, "hint"])

    def read_line(prompt: str) -> str:
        line = next(typed, None)
        if line == moves[-1]:
            console.export_text()  # discards what was printed earlier
        console.print(f"[bold]{prompt}[/bold]{line or '▏'}")
        if line is None:
            raise EOFError
        return line

    opponent = make_player(spec, game, PlayerSettings(seed=2))
    players = (HumanPlayer(), opponent)
    TerminalGame(game, players, console, read_line, adviser=lambda: opponent).run()
    title = f"alphazero play game={name} second={spec}"
    save_svg(console, path, title, last="The game ends")


def main() -> int:
    """Draw all pictures; return the exit status."""
    from alphazero.cli import main as alphazero

    draw_play(IMAGES / "play_connect_four.svg", "connect_four", "uct:20000", ["4", "4", "3"])
    moves = ["c2d3", "d2-e3", "b2b3"]
    draw_play(IMAGES / "play_breakthrough.svg", "examples/breakthrough.py", "uct:20000", moves)
    return max(
        alphazero(["plot", *plot, f"output={IMAGES / name}"]) for name, plot in PLOTS.items()
    )


if __name__ == "__main__":
    sys.exit(main())
