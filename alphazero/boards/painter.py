"""Turn geometric shapes into image files: SVG, or pixels painted by Pillow.

Shapes are drawn in their order on a white background; y points down. An SVG stays sharp at any
size; all other formats, even PDF, contain pixels. This module knows nothing of games.
"""

import functools
import io
from collections.abc import Iterable, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from PIL import Image, ImageDraw, ImageFont

from alphazero.runtime.files import check_output, unwritable, write_output

FORMATS = frozenset({"pdf", "png", "svg"})
PAPER = "#ffffff"
INK = "#1a202c"
FAINT = "#5b6472"
_DPI = (150, 150)  # dots per inch across and down, which determine the size on paper
_SMOOTHING = 3  # pictures are painted this many times larger, then reduced to smooth edges
_BASELINE = 0.36  # distance from the middle of a line of text down to its baseline, in font sizes
_BOLD = 0.02  # extra width of bold letters on each side, in font sizes
_NUM_COLORS = 128  # colours of an animation, chosen from its last picture
_LENGTHS = {"width", "height", "line_width", "size"}


class Box(NamedTuple):
    """A rectangle, or the ellipse that fits into it, that is filled, outlined or both."""

    x: float  #: (x, y) is the top left corner
    y: float
    width: float
    height: float
    fill: str | None = None  #: colour of the inside, as "#rrggbb"; None leaves it empty
    line: str | None = None  #: colour of the outline; None draws none
    line_width: float = 0.0  #: half of the line lies inside the box, half outside
    is_round: bool = False


class Letters(NamedTuple):
    """A line of text at a point."""

    x: float  #: position of the end, or of the middle, that ``align`` names
    y: float  #: middle of the line's height
    text: str
    size: float  #: font size
    align: str = "start"  #: "start", "middle" or "end"
    color: str = INK
    bold: bool = False


Shape = Box | Letters


def disc(x: float, y: float, radius: float, fill: str, line: str | None = None) -> Box:
    """Make a disc around (x, y), with a thin outline if ``line`` is a colour."""
    size = 2 * radius
    return Box(x - radius, y - radius, size, size, fill, line, 0.07 * radius, is_round=True)


def moved(shapes: Iterable[Shape], x: float, y: float, scale: float) -> list[Shape]:
    """Scale shapes by a factor, then shift them so that their point (0, 0) lies at (x, y)."""
    results: list[Shape] = []
    for shape in shapes:
        scaled = {name: scale * getattr(shape, name) for name in _LENGTHS & {*shape._fields}}
        results.append(shape._replace(x=x + scale * shape.x, y=y + scale * shape.y, **scaled))
    return results


class Picture(NamedTuple):
    """A picture made of shapes on a white background."""

    width: float  #: in the shapes' unit of length
    height: float  #: in the shapes' unit of length
    unit: float  #: pixels per unit of length
    shapes: list[Shape]  #: in painting order; (0, 0) is the picture's top left corner

    @property
    def size(self) -> tuple[int, int]:
        """The width and the height of the picture in pixels."""
        return round(self.width * self.unit), round(self.height * self.unit)


def check_picture(output: Path, formats: Set[str] = FORMATS) -> None:
    """Check that a picture file can be written, before the work of drawing the picture begins.

    Args:
        output: the file; the ending of its name determines the format.
        formats: the allowed formats, as endings without a dot.

    Raises:
        ConfigError: if the format is not allowed, or the file cannot be written.
    """
    if output.suffix[1:].lower() not in formats:
        allowed = ", ".join(f".{name}" for name in sorted(formats))
        raise unwritable(output, "output", f"its name may end in {allowed}")
    check_output(output, "output")


def save_picture(picture: Picture, output: Path) -> None:
    """Write a picture to a file, in the format given by the ending of the file's name.

    Raises:
        OSError: if the file cannot be written.
    """
    if output.suffix.lower() == ".svg":
        write_output(output, svg_text(picture).encode())
    else:
        _save(paint(picture), output, dpi=_DPI)


def save_animation(pictures: Sequence[Picture], durations_ms: Sequence[int], output: Path) -> None:
    """Write pictures to a file as one GIF animation, which repeats forever.

    The pictures share a palette, so that the file stores only the changes between them.

    Args:
        durations_ms: how long each picture is shown, in milliseconds.
        output: the file, which ends in ".gif".

    Raises:
        OSError: if the file cannot be written.
    """
    images = [paint(picture) for picture in pictures]
    no_dither = Image.Dither.NONE
    palette = images[-1].quantize(_NUM_COLORS, Image.Quantize.FASTOCTREE, dither=no_dither)
    frames = [image.quantize(palette=palette, dither=no_dither) for image in images]
    changes = {"append_images": frames[1:], "duration": durations_ms}
    _save(frames[0], output, save_all=True, loop=0, disposal=1, **changes)


def _save(image: Image.Image, output: Path, **options: Any) -> None:
    """Write an image in the format given by the file's ending, with Pillow's options for it."""
    data = io.BytesIO()
    image.save(data, output.suffix[1:], **options)
    write_output(output, data.getvalue())


# --- pixels ---------------------------------------------------------------------------------------


def paint(picture: Picture) -> Image.Image:
    """Paint a picture as an RGB image of `Picture.size` pixels, with smooth edges."""
    width, height = picture.size
    image = Image.new("RGB", (width * _SMOOTHING, height * _SMOOTHING), PAPER)
    draw = ImageDraw.Draw(image)
    for shape in moved(picture.shapes, 0, 0, picture.unit * _SMOOTHING):
        _paint(draw, shape)
    return image.reduce(_SMOOTHING)


def _paint(draw: ImageDraw.ImageDraw, shape: Shape) -> None:
    """Paint a shape, whose coordinates and lengths are in pixels of the image."""
    x, y, *_ = shape
    if isinstance(shape, Letters):
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[shape.align]
        bold = max(round(_BOLD * shape.size), 1) if shape.bold else 0
        font = _font(shape.size)
        place = (x, y + _BASELINE * shape.size)
        draw.text(place, shape.text, shape.color, font, anchor, stroke_width=bold)
    else:
        half = shape.line_width / 2
        right = x + shape.width + half - 1  # the last pixel painted
        bottom = y + shape.height + half - 1
        if x - half <= right:
            paint_box = draw.ellipse if shape.is_round else draw.rectangle
            line_width = max(round(shape.line_width), 1)
            paint_box((x - half, y - half, right, bottom), shape.fill, shape.line, line_width)


_font = functools.lru_cache(64)(ImageFont.load_default)  # Pillow's own font, by size in pixels


# --- SVG ------------------------------------------------------------------------------------------


def svg_text(picture: Picture) -> str:
    """Return a picture as the text of a self-contained SVG file."""
    width, height = picture.size
    paper = Box(0, 0, picture.width, picture.height, PAPER)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {picture.width:g} {picture.height:g}" font-family="sans-serif">',
        *map(_svg_element, [paper, *picture.shapes]),
        "</svg>\n",
    ]
    return "\n".join(lines)


def _svg_element(shape: Shape) -> str:
    x, y, *_ = shape
    if isinstance(shape, Letters):
        weight = "bold" if shape.bold else "normal"
        font = f'font-size="{shape.size:g}" font-weight="{weight}" text-anchor="{shape.align}"'
        place = f'x="{x:g}" y="{y + _BASELINE * shape.size:g}"'
        return f'<text {place} {font} fill="{shape.color}">{escape(shape.text)}</text>'
    size = f'width="{shape.width:g}" height="{shape.height:g}"'
    style = f'fill="{shape.fill or "none"}"'
    if shape.is_round:
        style += f' rx="{shape.width / 2:g}"'
    if shape.line:
        style += f' stroke="{shape.line}" stroke-width="{shape.line_width:g}"'
    return f'<rect x="{x:g}" y="{y:g}" {size} {style}/>'
