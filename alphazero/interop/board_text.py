"""A board as text for a person, with the number of each legal action where it would be played."""

import numpy as np


def board_text(board: np.ndarray, letters: str, legal_actions, labels) -> str:
    """Return one line for each row of the board.

    A legal action that stands for a square (action a is square a, row by row) is written into it; actions that stand for columns are
    written below them; one more action than squares is a pass, on a line of its own.

    Args:
        board: int8[H, W], 0 empty, 1 the first player's piece, 2 the second player's.
        letters: how these three are written.
        legal_actions: a list of the legal ones.
        labels: int[A], the number that a person types for each action.
    """
    height, width = board.shape
    for_squares, for_columns = len(labels) >= board.size, len(labels) == width
    texts = [letters[cell] for cell in board.ravel()]
    if for_squares:
        for action in legal_actions:
            if action < board.size:
                texts[action] = str(labels[action])
    cell_width = len(str(max(labels[: board.size]))) if for_squares or for_columns else 1
    rows = [texts[start : start + width] for start in range(0, board.size, width)]
    if for_columns and legal_actions:
        rows.append(
            [str(labels[column]) if column in legal_actions else "" for column in range(width)]
        )
    lines = [" ".join(text.rjust(cell_width) for text in row).rstrip() for row in rows]
    if for_squares and board.size in legal_actions:
        lines.append(f"pass: {labels[board.size]}")
    return "\n".join(lines)
