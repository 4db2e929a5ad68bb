"""An empty matplotlib figure in the style of all pictures, and the file it is written to."""

from pathlib import Path

from alphazero.runtime.errors import ConfigError

BLUE, ORANGE, GREEN, GREY = "#2b6cb0", "#c05621", "#2f855a", "#4a5568"
COLORS = (BLUE, ORANGE, GREEN, "#6b46c1", "#b7791f", "#b83280", "#2c7a7b", GREY)


def new_figure(num_rows: int, num_columns: int, title: str, size: tuple[float, float]):
    """Return a figure and its grid of axes, as `matplotlib.pyplot.subplots` does.

    Args:
        size: width and height in inches.

    Raises:
        ConfigError: if matplotlib is not installed.
    """
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise ConfigError(
            'matplotlib is not installed here: pip install "alphazero-selfplay[plot]" installs it.'
        ) from None
    figure, axes = pyplot.subplots(num_rows, num_columns, figsize=size, constrained_layout=True)
    figure.suptitle(title)
    return figure, axes


def save_figure(figure, output: Path, key: str = "output") -> None:
    """Write a figure and release its memory.

    Args:
        output: the file; its ending names the format.
        key: the setting that named the file.

    Raises:
        ConfigError: if matplotlib cannot write this format, or the file cannot be written.
    """
    from matplotlib import pyplot

    for axis in figure.axes:
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    try:
        figure.savefig(output, dpi=110)
    except (ValueError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f"{key}={output} cannot be written ({reason}).", key=key, value=str(output)
        ) from None
    finally:
        pyplot.close(figure)
