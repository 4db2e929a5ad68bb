"""Check symmetries by playing each game side by side with its image on the transformed board.

In: a game's `Laws`, and the actions of some games. Out: the first difference between a game and its
image. A symmetry that changes the start position is not checked.
"""

from collections.abc import Callable

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.own_games.checks.laws import Laws
from alphazero.own_games.checks.rule_walks import Broken, BrokenLaw, Walk


def broken_symmetry(laws: Laws, walks: list[Walk], go_on: Callable[[], bool]) -> Broken | None:
    """Find the first position in which a declared symmetry does not hold; None if all hold."""
    game = laws.game
    with laws.naming_errors():
        for number in range(1, len(game.cell_symmetries)):
            tables = game.cell_symmetries[number], game.action_symmetries[number]
            for one in walks:
                if not go_on():
                    return None
                fault = _turned_fault(game, one.actions, *tables)
                if fault is not None:
                    ply, text = fault
                    error = BrokenLaw(f"symmetry {number} of 'symmetries' {text}")
                    return Broken(error, one.actions[:ply])
    return None


def _turned_fault(
    game: Game, actions: list[int], cells: np.ndarray, table: np.ndarray
) -> tuple[int, str] | None:
    """Play a game and its image side by side while the image's actions are legal.

    Args:
        cells: int[H*W], a row of `Game.cell_symmetries`.
        table: int[A], the same row of `Game.action_symmetries`.

    Returns:
        The number of actions before the first difference, and a description of the difference; None
        if there is none.
    """
    pair = game.initial_states(2)
    board = game.cells(pair[0]).ravel()
    if (board[cells] != board).any():
        return None
    images = np.argsort(table)
    for ply, action in enumerate([*actions, None]):
        text = _difference(game, pair, cells, table)
        if text is not None:
            return ply, text
        if action is None or not game.legal_action_mask(pair)[1, images[action]]:
            return None
        pair = game.step(pair, np.array([action, images[action]])).states
    return None


def _difference(game: Game, pair: np.ndarray, cells: np.ndarray, table: np.ndarray) -> str | None:
    """Describe how an image differs from the transformed position; None if it does not."""
    found = game.inspect(pair)
    boards = [game.cells(state).ravel() for state in pair]
    if (boards[1] != boards[0][cells]).any():
        return "does not hold: on the transformed board, the pieces stand elsewhere."
    if found.over[0] != found.over[1]:
        return "does not hold: on the transformed board, the game ends at another time."
    legal = found.legal_action_mask
    odd = table[legal[0][table] != legal[1]]
    if len(odd):
        actions = ", ".join(map(str, sorted(odd.tolist())))
        return (
            f"does not hold: on the transformed board, images of {actions} are not equally legal."
        )
    if found.results[0] != found.results[1]:
        return "does not hold: on the transformed board, the result is another."
    planes = game.observe(pair).reshape(2, game.planes_shape[0], -1)
    if (planes[1] != planes[0][:, cells]).any():
        return "does not transform what 'observe' shows."
    return None
