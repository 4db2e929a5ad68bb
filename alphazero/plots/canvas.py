"""A sheet of paper on which matplotlib paints shapes, for PNG, SVG, PDF and the frames of a GIF.

In: shapes of `alphazero.boards.shapes`. Out: a figure, or pixels. A sheet is measured in units
of its own; groups of shapes are placed on it at any scale.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from alphazero.boards.shapes import FAINT, INK, Box, Disc, Letters, Shape
from alphazero.plots.figure import close, empty_figure, save_figure

_POINTS_PER_INCH = 72.0
_DPI = 150  # pixels per inch of a file
_FRAME_DPI = 100  # and of a frame of an animation


class Canvas:
    """An empty sheet.

    Args:
        width, height: in units.
        unit: inches.

    Raises:
        ConfigError: if matplotlib is not installed.
    """

    def __init__(self, width: float, height: float, unit: float):
        self.width = width
        self.figure = empty_figure(width * unit, height * unit)
        self._axis = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self._axis.set(xlim=(0, width), ylim=(height, 0))
        self._axis.axis("off")
        self._points = unit * _POINTS_PER_INCH  # in a unit
        self._num_painted = 0  # the order of painting; matplotlib would paint by kinds

    def add(self, shapes: Iterable[Shape], x: float = 0, y: float = 0, scale: float = 1) -> None:
        """Paint shapes, with their (0, 0) at (x, y) and their unit ``scale`` units long."""
        for shape in shapes:
            self._num_painted += 1
            if isinstance(shape, Letters):
                self._write(shape, x, y, scale)
            else:
                self._paint(shape, x, y, scale)

    def write(
        self, x: float, y: float, text: str, size: float, color: str = INK, align: str = "left"
    ) -> None:
        """Write a line of text; (x, y) is its middle in height and its end named by ``align``."""
        self.add([Letters(x, y, text, color, size, align)])

    def remark(self, x: float, y: float, text: str, size: float, align: str = "left") -> None:
        """Write a line of text in grey."""
        self.write(x, y, text, size, FAINT, align)

    def pixels(self) -> np.ndarray:
        """Return the sheet, uint8[H, W, 3], with 100 pixels to the inch; it is then used up."""
        self.figure.set_dpi(_FRAME_DPI)
        self.figure.canvas.draw()
        pixels = np.asarray(self.figure.canvas.buffer_rgba())[..., :3].copy()
        close(self.figure)
        return pixels

    def save(self, output: Path) -> None:
        """Write the sheet to a file, as `save_figure` does."""
        save_figure(self.figure, output, dpi=_DPI)

    def _paint(self, shape: Box | Disc, x: float, y: float, scale: float) -> None:
        from matplotlib.patches import Circle, Rectangle

        style = {
            "facecolor": shape.fill or "none",
            "edgecolor": shape.line or "none",
            "linewidth": shape.line_width * scale * self._points if shape.line else 0.0,
            "alpha": shape.alpha,
            "zorder": self._num_painted,
        }
        if isinstance(shape, Disc):
            center = (x + shape.x * scale, y + shape.y * scale)
            self._axis.add_patch(Circle(center, shape.radius * scale, **style))
        else:
            corner = (x + shape.left * scale, y + shape.top * scale)
            size = (shape.width * scale, shape.height * scale)
            self._axis.add_patch(Rectangle(corner, *size, joinstyle="miter", **style))

    def _write(self, shape: Letters, x: float, y: float, scale: float) -> None:
        self._axis.text(
            x + shape.x * scale,
            y + shape.y * scale,
            shape.text.replace("$", r"\$"),  # no formula
            color=shape.color,
            fontsize=shape.size * scale * self._points,
            fontweight="bold" if shape.bold else "normal",
            horizontalalignment=shape.align,
            verticalalignment="center_baseline",
            alpha=shape.alpha,
            zorder=self._num_painted,
        )
