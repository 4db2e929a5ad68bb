"""A board as an RGB image, with a disc for each piece, drawn with numpy alone."""

import numpy as np

SQUARE_PIXELS = 48
GROUND, LINE = (38, 92, 66), (20, 50, 36)
FIRST, SECOND = (240, 238, 230), (28, 28, 30)


def board_image(board: np.ndarray) -> np.ndarray:
    """Return the image, uint8[H * SQUARE_PIXELS, W * SQUARE_PIXELS, 3].

    Args:
        board: int8[H, W]: 0 empty, 1 the first player's piece (light), 2 the second player's
            (dark).
    """
    steps = np.arange(SQUARE_PIXELS) - (SQUARE_PIXELS - 1) / 2
    in_disc = steps[:, None] ** 2 + steps[None] ** 2 < (0.4 * SQUARE_PIXELS) ** 2
    on_edge = np.zeros((SQUARE_PIXELS, SQUARE_PIXELS), np.bool_)
    on_edge[[0, -1]] = on_edge[:, [0, -1]] = True
    ground, line = np.array(GROUND, np.uint8), np.array(LINE, np.uint8)
    colours = np.array([GROUND, FIRST, SECOND], np.uint8)[board]  # [H, W, 3]
    # [H, W, SQUARE_PIXELS, SQUARE_PIXELS, 3]
    squares = np.where(in_disc[..., None], colours[:, :, None, None], ground)
    squares = np.where(on_edge[..., None], line, squares)
    height, width = board.shape
    return squares.swapaxes(1, 2).reshape(height * SQUARE_PIXELS, width * SQUARE_PIXELS, 3)
