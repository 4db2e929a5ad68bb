"""Make a matplotlib figure in the project's chart style, and write it to a file."""

import io
from pathlib import Path
from typing import Any

from alphazero.boards.painter import check_picture
from alphazero.runtime.errors import require
from alphazero.runtime.files import write_output

BLUE = "#2b6cb0"
GREY = "#4a5568"
COLORS = (BLUE, "#c05621", "#2f855a", "#6b46c1", "#b7791f", "#b83280", "#2c7a7b", GREY)
#: Stands for matplotlib.axes.Axes; matplotlib is optional, and imported only to draw.
Axes = Any
_DPI = 110


def check_chart(output: str | Path, key: str) -> None:
    """Check that a chart's file can be written, before the work of drawing the chart begins.

    Args:
        output: the file; the ending of its name determines the format.
        key: name of the setting that gives the file, for error messages.

    Raises:
        ConfigError: if matplotlib is not installed, the format is unknown, or the file cannot be
            written.
    """
    require("plot", "matplotlib")
    check_picture(output, key)


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
    require("plot", "matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(size, layout="constrained")
    figure.suptitle(title)
    return figure, figure.subplots(num_rows, num_columns)


def save_figure(figure: Any, output: Path) -> None:
    """Add grid lines to a figure, remove its top and right edges, and write it to a file.

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
    write_output(output, data.getvalue())
