"""The picture of `alphazero plot what=openings`: which first moves a run prefers, as it learns.

In: the choices of the run's networks in a few positions. Out: a picture with a panel for each
position, in which the height of an area is the share of a move.
"""

from pathlib import Path

import numpy as np

from alphazero.boards.skin import Skin
from alphazero.evaluation.opening_choices import OpeningChoices
from alphazero.plots.figure import COLORS, GREY, new_figure, save_figure

_MAX_AREAS = len(COLORS) - 1  # the last colour, grey, is that of all other moves
_MAX_NAMED = 4  # moves of a group that are named


def draw_openings(
    choices: list[OpeningChoices], iterations: list[int], skin: Skin, title: str, output: Path
) -> None:
    """Draw the picture.

    Args:
        choices: one for each position.
        iterations: those of the P networks, ascending.

    Raises:
        ConfigError: if matplotlib is missing or cannot write the file.
    """
    num_columns = min(len(choices), 2)
    num_rows = -(-len(choices) // num_columns)
    size = (5.6 * num_columns, 0.4 + 3.1 * num_rows)
    figure, axes = new_figure(num_rows, num_columns, title, size)
    panels = np.atleast_1d(axes).ravel()
    colors = _colors(choices)
    for axis, choice in zip(panels, choices):
        _draw_position(axis, choice, iterations, skin, colors)
    for axis in panels[len(choices) :]:
        axis.remove()
    save_figure(figure, output)


def _colors(choices: list[OpeningChoices]) -> dict[int, str]:
    """Return a colour for each move, the same in all panels if there are few enough moves."""
    moves = [choice.groups[group][0] for choice in choices for group in _order(choice)]
    distinct = list(dict.fromkeys(moves))
    return dict(zip(distinct, COLORS)) if len(distinct) <= _MAX_AREAS else {}


def _order(choice: OpeningChoices) -> list[int]:
    """Return the groups of moves, those that the last player prefers first."""
    weights = choice.weights[-1] + 1e-6 * choice.weights.max(axis=0)
    return np.argsort(-weights, kind="stable").tolist()


def _draw_position(
    axis, choice: OpeningChoices, iterations: list[int], skin: Skin, colors: dict[int, str]
) -> None:
    """Draw the areas, the move that the last network prefers at the bottom.

    Args:
        colors: by the first move of a group; for the others, the next free one.
    """
    order = _order(choice)
    shown = order[:_MAX_AREAS]
    shares = [100 * choice.weights[:, group] for group in shown]
    labels = [_group_text(choice.groups[group], skin) for group in shown]
    fills = [colors.get(choice.groups[group][0], COLORS[k]) for k, group in enumerate(shown)]
    if len(order) > len(shown):
        shares.append(100 * choice.weights[:, order[_MAX_AREAS:]].sum(axis=1))
        labels.append("others")
        fills.append(GREY)
    if len(iterations) == 1:  # an area needs two points
        iterations, shares = (
            [iterations[0], iterations[0] + 1],
            [share.repeat(2) for share in shares],
        )
    axis.stackplot(iterations, *shares, labels=labels, colors=fills, alpha=0.85, linewidth=0)
    moves = skin.notation.list_text(choice.moves)
    title = f"after {moves}" if moves else "first move"
    axis.set(title=title, xlabel="iteration", ylabel="% of the search")
    axis.set(xlim=(iterations[0], iterations[-1]), ylim=(0, 100))
    axis.xaxis.get_major_locator().set_params(integer=True)
    handles, names = axis.get_legend_handles_labels()
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    axis.legend(handles[::-1], names[::-1], frameon=False, **place)


def _group_text(group: list[int], skin: Skin) -> str:
    """Return the names of equivalent moves."""
    names = [skin.notation.text(action) for action in group]
    more = ", ..." if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more
