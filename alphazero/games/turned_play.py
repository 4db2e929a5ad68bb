"""Symmetries checked by play: a game, and the same game on a turned board, side by side.

In: rules, a list of actions, and one row each of the two tables of `rules.symmetries`. Out: where
the two games differ first. This needs a start position that looks the same after turning, but no
way to set a position up. It also finds the tables of a symmetry that nobody declared.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.one_position import OnePosition
from alphazero.games.rule_walks import View, Walk

#: The 8 symmetries of a square; boards that are none have those that keep their shape.
_TURNS = {
    "mirrored left to right": lambda board: board[:, ::-1],
    "mirrored top to bottom": lambda board: board[::-1],
    "turned by 180 degrees": lambda board: board[::-1, ::-1],
    "turned by 90 degrees": lambda board: np.rot90(board),
    "turned by 270 degrees": lambda board: np.rot90(board, 3),
    "mirrored at the main diagonal": lambda board: board.T,
    "mirrored at the other diagonal": lambda board: np.rot90(board, 2).T,
}


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
    state, turned = rules.initial_state(), rules.initial_state()
    images = np.argsort(table)
    for ply in range(len(actions) + 1):
        text = _difference(rules, state, turned, cells, table)
        if text is not None:
            return Fault(ply, text)
        if ply < len(actions):
            state = rules.step(state, actions[ply])
            turned = rules.step(turned, int(images[actions[ply]]))
    return None


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
    """Return what of a position does not turn."""
    if (rules.board(turned).ravel() != rules.board(state).ravel()[cells]).any():
        return "changes the rules: on a turned board, the pieces stand elsewhere."
    if rules.is_over(turned) != rules.is_over(state):
        return "changes the rules: on a turned board, the game is over at another time."
    mask = np.zeros((2, rules.sizes.num_actions), np.bool_)
    for row, position in zip(mask, (state, turned)):
        row[rules.legal_actions(position)] = True
    if (mask[1] != mask[0][table]).any():
        return "changes the rules: after turning the board, other actions are legal."
    if rules.is_over(state) and rules.result(turned) != rules.result(state):
        return "changes the rules: on a turned board, the result is another."
    shape = rules.sizes.planes_shape[0], -1
    planes = rules.planes(state).reshape(shape), rules.planes(turned).reshape(shape)
    if (planes[1] != planes[0][:, cells]).any():
        return "does not turn what 'observe' shows."
    return None


# --- symmetries that were not declared ------------------------------------------------------------


class Undeclared(NamedTuple):
    """A symmetry of the board that the game does not declare."""

    name: str
    fraction: float  #: of the positions of the games whose legal moves and board turn with it
    actions: list[int]  #: that lead to the first position where they do not, if any
    text: str  #: what is different there


def undeclared(rules: OnePosition, walks: list[Walk]) -> Iterator[Undeclared]:
    """Yield the symmetries of the board that are not declared, and how far they hold."""
    height, width = rules.sizes.planes_shape[1:]
    squares = np.arange(height * width).reshape(height, width)
    declared = {row.tobytes() for row in np.asarray(rules.symmetries()[0], np.int64)}
    moves = _moves_of_actions(rules, walks)
    for name, turn in _TURNS.items():
        cells = turn(squares)
        if cells.shape != squares.shape or cells.astype(np.int64).tobytes() in declared:
            continue
        table = _actions_table(moves, cells.ravel())
        if table is not None and looks_alike(rules, cells.ravel()):
            yield _measured(rules, name, walks, cells.ravel(), table)


def _measured(
    rules: OnePosition, name: str, walks: list[Walk], cells: np.ndarray, table: np.ndarray
) -> Undeclared:
    first, num_turned, num_seen = None, 0, 0
    for one in walks:
        fault = turned_fault(rules, one.actions, cells, table)
        num_seen += len(one.actions) + 1
        num_turned += len(one.actions) + 1 if fault is None else fault.ply
        if fault is not None and (first is None or fault.ply < len(first[0])):
            first = one.actions[: fault.ply], fault.text
    return Undeclared(name, num_turned / max(num_seen, 1), *(first or ([], "")))


def _moves_of_actions(rules: OnePosition, walks: list[Walk]) -> np.ndarray:
    """Return which squares each action was seen to leave and to occupy, bool[A, 2, H*W]."""
    seen = np.zeros((rules.sizes.num_actions, 2, *rules.sizes.planes_shape[1:]), np.bool_)
    for one in walks:
        for before, action, after in zip(one.views, one.actions, one.views[1:]):
            left, occupied = _changed(before, after)
            seen[action, 0] |= left
            seen[action, 1] |= occupied
    return seen.reshape(rules.sizes.num_actions, 2, -1)


def _changed(before: View, after: View) -> tuple[np.ndarray, np.ndarray]:
    """Return bool[H, W] twice: what the player who moved has left, and has occupied."""
    own = 1 + before.player
    left = (before.board == own) & (after.board != own)
    placed = (before.board == 0) & (after.board == own)
    taken = (before.board != own) & (after.board == own)
    return left, placed if placed.any() else taken


def _actions_table(moves: np.ndarray, cells: np.ndarray) -> np.ndarray | None:
    """Return which action does on the board what another does on the turned board, int[A].

    It is a guess, which play confirms or not. Actions that were never seen stay where they are.
    """
    num_actions = len(moves)
    flat = moves.reshape(num_actions, -1).astype(np.float32)
    turned = moves[:, :, cells].reshape(num_actions, -1).astype(np.float32)
    norms = np.maximum(np.linalg.norm(flat, axis=1), 1e-6)
    likeness = turned @ flat.T / norms / norms[:, None]  # [original action, its image]
    table, known = np.arange(num_actions), flat.any(axis=1)
    images = likeness[known].argmax(axis=1)
    if len(set(images.tolist())) < len(images) or not known[images].all():
        return None
    table[images] = np.flatnonzero(known)
    return table
