"""A board on a canvas, with what is written along its edges.

In: a position and a place on a canvas. Out: the same board in every picture of `alphazero plot`.
"""

from typing import NamedTuple

import numpy as np

from alphazero.boards.shapes import FAINT, Letters, Shape, board_shapes, center
from alphazero.boards.skin import Skin
from alphazero.boards.text import marked_cells
from alphazero.games.batched_game import Game
from alphazero.plots.canvas import Canvas

_EDGE_SIZE = 0.34  #: of the names of columns and rows, in cells
EDGE = 0.55  #: room for them, in cells


class BoardSheet(NamedTuple):
    """Where a board of H x W cells stands on a canvas."""

    canvas: Canvas
    game: Game
    skin: Skin
    x: float  #: of its top left corner, in units of the canvas
    y: float
    cell: float  #: the side of a cell, in units of the canvas

    def draw(
        self, state: np.ndarray, previous_state: np.ndarray | None = None, edges: bool = True
    ) -> None:
        """Draw a position.

        Args:
            state: [K].
            previous_state: the position before the last move, which is marked; None marks nothing.
            edges: whether the names of columns and rows are written along the edges.
        """
        marked = marked_cells(self.game, self.skin, state, previous_state)
        self.add(board_shapes(self.game.cells(state), self.skin, marked))
        if edges:
            self.add(edge_shapes(self.game, self.skin))

    def add(self, shapes: list[Shape]) -> None:
        """Add shapes in units of a cell."""
        self.canvas.add(shapes, self.x, self.y, self.cell)


def board_size(game: Game) -> tuple[int, int]:
    """Return the height and the width of a game's board, in cells."""
    height, width = game.cells(game.initial_states()[0]).shape
    return height, width


def edge_shapes(game: Game, skin: Skin) -> list[Shape]:
    """Return the names of columns, or of the actions that are columns, and of rows."""
    height, width = board_size(game)
    names = list(skin.notation.column_names)
    if not names and game.num_actions == width != height * width:
        names = [skin.notation.text(action) for action in range(width)]
    shapes: list[Shape] = []
    for column, name in enumerate(names):
        x = column + 0.5
        shapes.append(Letters(x, -EDGE / 2, name, FAINT, _EDGE_SIZE))
    for row, name in enumerate(skin.notation.row_names):
        _, y = center(skin, (row, 0), width)
        shapes.append(Letters(-EDGE / 2, y, name, FAINT, _EDGE_SIZE))
    return shapes
