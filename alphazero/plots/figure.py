"""Make a matplotlib figure in the project's chart style, and write it to a file."""

import io
from pathlib import Path
from typing import Any

from alphazero.boards import painter
from alphazero.runtime.errors import require
from alphazero.runtime.files import write_output

BLUE = "#2b6cb0"
ORANGE = "#c05621"
GREEN = "#2f855a"
GREY = "#4a5568"
COLORS = (BLUE, ORANGE, GREEN, "#6b46c1", "#b7791f", "#b83280", "#2c7a7b", GREY)
#: Stands for matplotlib.axes.Axes; matplotlib is optional, and imported only to draw.
Axes = Any
_DPI = 110
_ANIMATIONS = {"gif"}  # formats that some versions of matplotlib list, but write as a single frame


def new_figure(num_rows: int, num_columns: int, title: str, size: tuple[float, float]) -> Any:
    """Make a figure with a grid of axes, like `matplotlib.pyplot.subplots`.

    Args:
        num_rows, num_columns: the size of the grid.
        title: the title above the whole figure.
        size: width and height in inches.

    Returns:
        The figure, and its axes: an array, or a single one for a grid of 1 x 1.

    Raises:
        ConfigError: if matplotlib is not installed.
    """
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(num_rows, num_columns, figsize=size, constrained_layout=True)
    figure.suptitle(title)
    return figure, axes


def check_picture(output: str | Path, key: str) -> None:
    """Check that a chart's file can be written, before the work of drawing the chart begins.

    Args:
        output: the file; the ending of its name determines the format.
        key: name of the setting that gives the file, for error messages.

    Raises:
        ConfigError: if matplotlib is missing or cannot write this format, or if the file cannot be
            written.
    """
    known = {*_pyplot().Figure().canvas.get_supported_filetypes()} - _ANIMATIONS
    painter.check_picture_file(output, key, known)


def save_figure(figure: Any, output: Path) -> None:
    """Add grid lines to a figure, remove its top and right edges, write it to a file and close it.

    Args:
        figure: the matplotlib figure.
        output: the file; the ending of its name determines the format.

    Raises:
        OSError: if the file cannot be written.
    """
    for axis in figure.axes:
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    data = io.BytesIO()
    figure.savefig(data, dpi=_DPI, format=output.suffix[1:].lower())
    _pyplot().close(figure)
    write_output(output, data.getvalue())


def _pyplot() -> Any:
    """Import matplotlib's pyplot, configured to draw to files instead of windows.

    Raises:
        ConfigError: if matplotlib is not installed.
    """
    require("plot", "matplotlib")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot
