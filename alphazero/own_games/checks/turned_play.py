"""Symmetries checked by play: a game, and the same game on a turned board, side by side.

In: a game, a list of actions, and one row each of the two tables of `rules.symmetries`. Out: where
the two games differ first. A symmetry that changes the look of the start position is not checked.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games.batched_game import Game


class Fault(NamedTuple):
    """Where a game and its image differ."""

    ply: int
    text: str


def turned_fault(
    game: Game, actions: list[int], cells: np.ndarray, table: np.ndarray
) -> Fault | None:
    """Play a game and its image, as long as the image's actions are legal.

    Args:
        cells: int[H*W], a row of the table of cells.
        table: int[A], the row of the table of actions.
    """
    pair, images = game.initial_states(2), np.argsort(table)
    board = game.cells(pair[0]).ravel()
    if (board[cells] != board).any():
        return None
    for ply in range(len(actions) + 1):
        if (text := _difference(game, pair, cells, table)) is not None:
            return Fault(ply, text)
        if ply == len(actions):
            return None
        both = np.array([actions[ply], images[actions[ply]]])
        if not game.legal_action_mask(pair)[1, both[1]]:
            return None
        pair = game.step(pair, both).states
    return None


def _difference(game: Game, pair: np.ndarray, cells: np.ndarray, table: np.ndarray) -> str | None:
    """Return what of a position and of the network's input does not turn."""
    found, boards = game.inspect(pair), [game.cells(state).ravel() for state in pair]
    if (boards[1] != boards[0][cells]).any():
        return "changes the rules: on the turned board, the pieces stand elsewhere."
    if found.over[0] != found.over[1]:
        return "changes the rules: on the turned board, the game is over at another time."
    legal = found.legal_action_mask
    if len(odd := table[legal[0][table] != legal[1]]):
        actions = ", ".join(map(str, sorted(odd.tolist())))
        return (
            "changes the rules: after turning the board, other actions are legal (the images of "
            f"{actions})."
        )
    if found.results[0] != found.results[1]:
        return "changes the rules: on the turned board, the result is another."
    planes = game.observe(pair).reshape(2, game.planes_shape[0], -1)
    if (planes[1] != planes[0][:, cells]).any():
        return "does not turn what 'observe' shows."
    return None
