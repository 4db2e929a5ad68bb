"""Symmetries checked by play: a game, and the same game on a turned board, side by side.

In: rules, a list of actions, and one row each of the two tables of `rules.symmetries`. Out: where
the two games differ first. This needs a start position that looks the same after turning, but no
way to set a position up.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from alphazero.own_games.checks.one_position import OnePosition


class Fault(NamedTuple):
    """Where a game and its image differ."""

    ply: int
    text: str


def turned_fault(
    rules: OnePosition, actions: list[int], cells: np.ndarray, table: np.ndarray
) -> Fault | None:
    """Play a game and its image; return where they differ first.

    Args:
        cells: int[H*W], a row of the table of cells.
        table: int[A], the row of the table of actions.
    """
    for ply, (state, turned) in enumerate(_side_by_side(rules, actions, table)):
        text = _difference(rules, state, turned, cells, table)
        if text is not None:
            return Fault(ply, text)
    return None


def _side_by_side(
    rules: OnePosition, actions: list[int], table: np.ndarray
) -> Iterator[tuple[Any, Any]]:
    """Yield the positions of a game and of its image, as long as the image's actions are legal."""
    state, turned, images = rules.initial_state(), rules.initial_state(), np.argsort(table)
    yield state, turned
    for action in actions:
        image = int(images[action])
        if image not in rules.legal_actions(turned):
            return
        state, turned = rules.step(state, action), rules.step(turned, image)
        yield state, turned


def turned_board_fault(
    rules: OnePosition, states: list, cells: np.ndarray, table: np.ndarray
) -> Fault | None:
    """Set the turned board of each position up; return where the rules differ first.

    This needs states that are their board and the player to move; others are not checked.
    """
    for ply, state in enumerate(states):
        board, player = rules.board(state), int(rules.player_to_move(state))
        try:
            again, turned = (
                rules.set_up(shown.reshape(board.shape), player)
                for shown in (board.ravel(), board.ravel()[cells])
            )
        except ValueError:
            return None
        if rules.key(again) != rules.key(state):
            return None
        text = _difference(rules, state, turned, cells, table)
        if text is not None:
            return Fault(ply, text)
    return None


def looks_alike(rules: OnePosition, cells: np.ndarray) -> bool:
    """Return whether the start position's board is the same after turning it."""
    board = rules.board(rules.initial_state())
    return bool((board.ravel()[cells] == board.ravel()).all())


def _difference(
    rules: OnePosition, state: Any, turned: Any, cells: np.ndarray, table: np.ndarray
) -> str | None:
    """Return what of a position and of the network's input does not turn."""
    if (rules.board(turned).ravel() != rules.board(state).ravel()[cells]).any():
        return "changes the rules: on the turned board, the pieces stand elsewhere."
    if rules.is_over(turned) != rules.is_over(state):
        return "changes the rules: on the turned board, the game is over at another time."
    masks = np.zeros((2, len(table)), np.bool_)
    for mask, position in zip(masks, (state, turned)):
        mask[rules.legal_actions(position)] = True
    if len(odd := table[masks[0][table] != masks[1]]):
        actions = ", ".join(map(str, sorted(odd.tolist())))
        return (
            "changes the rules: after turning the board, other actions are legal (the images of "
            f"{actions})."
        )
    if rules.is_over(state) and rules.result(turned) != rules.result(state):
        return "changes the rules: on the turned board, the result is another."
    shape = rules.sizes.planes_shape[0], -1
    planes = rules.planes(state).reshape(shape), rules.planes(turned).reshape(shape)
    if (planes[1] != planes[0][:, cells]).any():
        return "does not turn what 'observe' shows."
    return None
