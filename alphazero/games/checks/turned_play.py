"""Symmetries checked by play: a game, and the same game on a turned board, side by side.

In: rules, a list of actions, and one row each of the two tables of `rules.symmetries`. Out: where
the two games differ first. This needs a start position that looks the same after turning, but no
way to set a position up. It also finds the tables of a symmetry that nobody declared.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.checks.one_position import OnePosition
from alphazero.games.checks.rule_walks import Broken, View, Walk

_LEAST_LIKENESS = 0.5  # cosine of what two actions were seen to do

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
    everything = np.ones(len(table), np.bool_)
    for ply, (state, turned) in enumerate(_side_by_side(rules, actions, table, everything)):
        text = _difference(rules, state, turned, cells, table)
        if text is not None:
            return Fault(ply, text)
    return None


def _side_by_side(
    rules: OnePosition, actions: list[int], table: np.ndarray, known: np.ndarray
) -> Iterator[tuple[Any, Any]]:
    """Yield the positions of a game and of its image, as long as the image's actions are legal.

    Args:
        known: bool[A], whose images are known.
    """
    state, turned, images = rules.initial_state(), rules.initial_state(), np.argsort(table)
    yield state, turned
    for action in actions:
        image = int(images[action])
        if not known[action] or image not in rules.legal_actions(turned):
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
    everything = np.ones(len(table), np.bool_)
    text = _rules_difference(rules, state, turned, cells, table, everything)
    if text is None and not _planes_turn(rules, state, turned, cells):
        text = "does not turn what 'observe' shows."
    return text


def _planes_turn(rules: OnePosition, state: Any, turned: Any, cells: np.ndarray) -> bool:
    shape = rules.sizes.planes_shape[0], -1
    planes = rules.planes(state).reshape(shape), rules.planes(turned).reshape(shape)
    return bool((planes[1] == planes[0][:, cells]).all())


def _rules_difference(
    rules: OnePosition,
    state: Any,
    turned: Any,
    cells: np.ndarray,
    table: np.ndarray,
    known: np.ndarray,
) -> str | None:
    """Return what of a position does not turn; only actions whose images are known count."""
    if not _boards_match(rules, state, turned, cells):
        return "changes the rules: on the turned board, the pieces stand elsewhere."
    if rules.is_over(turned) != rules.is_over(state):
        return "changes the rules: on the turned board, the game is over at another time."
    masks = _masks(rules, state, turned, table) & known[table]
    if len(odd := table[masks[0] != masks[1]]):
        actions = ", ".join(map(str, sorted(odd.tolist())))
        return (
            "changes the rules: after turning the board, other actions are legal (the images of "
            f"{actions})."
        )
    if rules.is_over(state) and rules.result(turned) != rules.result(state):
        return "changes the rules: on the turned board, the result is another."
    return None


def _boards_match(rules: OnePosition, state: Any, turned: Any, cells: np.ndarray) -> bool:
    return bool((rules.board(turned).ravel() == rules.board(state).ravel()[cells]).all())


def _masks(rules: OnePosition, state: Any, turned: Any, table: np.ndarray) -> np.ndarray:
    """Return bool[2, A]: which images should be legal on the turned board, and which are."""
    masks = np.zeros((2, rules.sizes.num_actions), np.bool_)
    for mask, position in zip(masks, (state, turned)):
        mask[rules.legal_actions(position)] = True
    masks[0] = masks[0][table]
    return masks


# --- symmetries that were not declared ------------------------------------------------------------


class Undeclared(NamedTuple):
    """A symmetry of the board that the game does not declare."""

    name: str
    agreement: float  #: of the legal actions of a position and of its image, 0 to 1 on average
    fault: Broken | None  #: the earliest position that does not turn
    is_observed: bool  #: whether the network's input turns, too

    @property
    def holds(self) -> bool:
        """Whether every position of the games turned."""
        return self.fault is None


def undeclared(rules: OnePosition, walks: list[Walk], num_played: int) -> Iterator[Undeclared]:
    """Yield the symmetries of the board that are not declared, and how far they hold.

    Args:
        walks: games, in which the moves of actions are seen.
        num_played: how many of them to play on the turned board.
    """
    height, width = rules.sizes.planes_shape[1:]
    squares = np.arange(height * width).reshape(height, width)
    declared = {row.tobytes() for row in np.asarray(rules.symmetries()[0], np.int64)}
    moves = _moves_of_actions(rules, walks)
    for name, turn in _TURNS.items():
        cells = turn(squares)
        if cells.shape != squares.shape or cells.astype(np.int64).tobytes() in declared:
            continue
        if looks_alike(rules, cells.ravel()):
            table, known = _actions_table(moves, cells.ravel())
            yield _measured(rules, name, walks[:num_played], cells.ravel(), table, known)


def _measured(
    rules: OnePosition,
    name: str,
    walks: list[Walk],
    cells: np.ndarray,
    table: np.ndarray,
    known: np.ndarray,
) -> Undeclared:
    """Play games on the turned board, each as far as it goes."""
    agreements, first, is_observed = [], None, True
    for one in walks:
        pairs = _side_by_side(rules, one.actions, table, known)
        for ply, (state, turned) in enumerate(pairs):
            text = _rules_difference(rules, state, turned, cells, table, known)
            agreements.append(1.0)
            if text is None:
                is_observed = is_observed and _planes_turn(rules, state, turned, cells)
                continue
            if first is None or ply < len(first.actions):
                first = Broken(text, one.actions[:ply])
            if not _boards_match(rules, state, turned, cells):
                agreements[-1] = 0.0
                break
            masks = _masks(rules, state, turned, table)
            agreements[-1] = float((masks[0] & masks[1]).sum() / max(masks.any(axis=0).sum(), 1))
    return Undeclared(name, float(np.mean(agreements or [0.0])), first, is_observed)


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


def _actions_table(moves: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Guess from what actions were seen to do which action does the same on the turned board.

    Play then confirms the guess, or not.

    Args:
        moves: bool[A, 2, H*W].

    Returns:
        table: int[A], a row of the table of actions, see `rules.symmetries`; known: bool[A], which
        actions have an image. Actions that change nothing, such as a pass, are their own.
    """
    num_actions = len(moves)
    flat = moves.reshape(num_actions, -1).astype(np.float32)
    turned = moves[:, :, cells].reshape(num_actions, -1).astype(np.float32)
    norms = np.maximum(np.linalg.norm(flat, axis=1), 1e-6)
    likeness = turned @ flat.T / norms / norms[:, None]  # [action, its image]
    originals, images = np.nonzero(likeness > _LEAST_LIKENESS)
    table, unused = np.full(num_actions, -1), np.ones(num_actions, np.bool_)
    for pair in np.argsort(-likeness[originals, images], kind="stable"):
        original, image = originals[pair], images[pair]
        if table[image] < 0 and unused[original]:
            table[image], unused[original] = original, False
    known = ~unused | ~flat.any(axis=1)
    table[table < 0] = _kept_in_place(np.flatnonzero(table < 0), np.flatnonzero(unused))
    return table, known


def _kept_in_place(places: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """Return the actions in an order in which as many as possible are in their own places."""
    kept = np.isin(places, actions)
    ordered = np.empty_like(places)
    ordered[kept] = places[kept]
    ordered[~kept] = np.setdiff1d(actions, places[kept])
    return ordered
