"""What players choose in the first positions of a game, with equivalent moves counted together.

In: players, such as the networks of a run from the oldest to the newest. Out: for each of a few
positions, how every player divides its choice among the moves. The positions are those on the line
that the last player would play, so that all players are asked the same.

Two moves are equivalent if a symmetry of the position turns one into the other: the corners of the
empty board of tic-tac-toe. Which of them a search prefers is chance.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.base import Player


class OpeningChoices(NamedTuple):
    """The choices of P players in one position, among M groups of equivalent moves."""

    moves: list[int]  #: that lead to the position
    groups: list[list[int]]  #: M, the legal actions
    weights: np.ndarray  #: float64[P, M], each row sums to 1


def line_of(game: Game, player: Player, num_positions: int) -> list[list[int]]:
    """Return the lists of moves that lead to the first positions of the line a player chooses.

    Positions with a single group of moves are passed through and not counted.
    """
    state, moves, found = game.initial_states()[0], [], []
    while len(found) < num_positions and not game.over(state[None])[0]:
        if len(equivalent_moves(game, state)) > 1:
            found.append([*moves])
        moves.append(int(player.choose(state[None]).action_weights[0].argmax()))
        state = game.step(state[None], np.array(moves[-1:])).states[0]
    return found


def opening_choices(
    game: Game, lines: list[list[int]], players: Iterable[Player]
) -> list[OpeningChoices]:
    """Return the choices of players in each position.

    Args:
        lines: the moves that lead to it, as `line_of` returns them; at least one.
        players: asked one after the other, and not kept.
    """
    states = np.stack([game.play_moves(moves) for moves in lines])
    weights = np.stack([player.choose(states).action_weights for player in players])
    choices = []
    for index, (moves, state) in enumerate(zip(lines, states)):
        groups = equivalent_moves(game, state)
        columns = [weights[:, index, group].sum(axis=1) for group in groups]
        choices.append(OpeningChoices(moves, groups, np.stack(columns, axis=1).astype(float)))
    return choices


def equivalent_moves(game: Game, state: np.ndarray) -> list[list[int]]:
    """Return the legal actions of a position in groups of equivalent ones, in their order."""
    planes = game.observe(state[None])[0].reshape(game.planes_shape[0], -1)
    same = [np.array_equal(planes[:, cells], planes) for cells in game.cell_symmetries]
    images = game.action_symmetries[same]  # [stabilizing symmetries, A]
    legal = np.flatnonzero(game.legal_action_mask(state[None])[0]).tolist()
    groups: dict[int, list[int]] = {}
    for action in legal:
        groups.setdefault(int(images[:, action].min()), []).append(action)
    return list(groups.values())
