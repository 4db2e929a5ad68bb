"""A proof about a player of a small game: it is met with every possible answer, and each of its moves is compared with perfect play.

In: a game and a function that chooses moves. Out: a report. The player is asked once about every position that is not final, in large
batches; the proof then holds for that table of answers, so a player that answers by chance proves nothing about its next game.
Letters for shapes: B positions, K state words, A actions.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.solvers.enumeration import ILLEGAL, ExactValues, Positions

_RESULTS = (1, 0, -1)


@dataclasses.dataclass(frozen=True)
class SideReport:
    """What can happen with the player on one side and any play on the other.

    A *position* counts once however it is reached; a *game* is a sequence of moves, so that several can end in the same final position.
    Results are the player's: won, drawn, lost.
    """

    color: int  #: 0 where the player moves first in the game, 1 where it moves second
    num_positions: int  #: different positions that can arise, start and final ones included
    num_choices: int  #: those in which the player chooses
    games: tuple[int, int, int]  #: games won, drawn, lost
    final_positions: tuple[int, int, int]  #: different final positions won, drawn, lost


@dataclasses.dataclass(frozen=True)
class Failure:
    """A position in which the chosen move gives up the best possible result. Values are from the viewpoint of the player to move."""

    state: np.ndarray  #: [K]
    action: int  #: the move chosen
    value: int  #: what is left after it, under perfect play
    best_value: int  #: what was possible
    best_actions: list[int]


@dataclasses.dataclass(frozen=True)
class ProofReport:
    """What `prove` found."""

    game_name: str
    sides: tuple[SideReport, SideReport]  #: the player moves first, the player moves second
    num_not_final: int  #: all reachable positions that are not final, under any play of both sides
    num_accurate: int  #: those of them in which the chosen move keeps the best possible result
    failures: list[Failure]  #: the others

    @property
    def unbeatable(self) -> bool:
        """Whether no play of the other side wins, on either side."""
        return all(side.games[2] == 0 for side in self.sides)

    @property
    def perfect(self) -> bool:
        """Whether every chosen move keeps the best possible result."""
        return self.num_accurate == self.num_not_final

    def lines(self) -> list[str]:
        """Return the report as lines of plain text."""
        lines = [f"Against every possible play of the other side ({self.game_name}):"]
        for side, name in zip(self.sides, ("first ", "second")):
            lines.append(
                f"  player moves {name}: {side.num_positions:,} positions can arise, {side.num_choices:,} of them with its choice"
            )
            lines.append(f"    {sum(side.games):,} different games: {_in_words(side.games)}")
            lines.append(
                f"    {sum(side.final_positions):,} different final positions: {_in_words(side.final_positions)}"
            )
        lost = sum(side.games[2] for side in self.sides)
        if self.unbeatable:
            lines.append("  unbeatable: no line of play wins against it")
        elif self.perfect:
            lines.append(
                f"  perfect, though {lost:,} games are lost: the rules let the other side win from the start, and no move makes it worse"
            )
        else:
            lines.append(f"  beatable: {lost:,} games are lost")
        lines.append(
            f"  best possible result kept in {self.num_accurate:,} of {self.num_not_final:,} positions that are not final"
        )
        return lines


def prove(
    game: Game,
    choose: Callable[[np.ndarray], np.ndarray],
    exact: ExactValues | None = None,
    batch_size: int = 4096,
) -> ProofReport:
    """Ask a player about every position of a game, and say what follows for all its games.

    Args:
        choose: from positions ([B, K], none final) to the actions of the player (int[B]); the same answer each time it is asked.
        exact: the values of the game, if they are already known.
        batch_size: the largest B.

    Raises:
        ValueError: if the game is too large, or if the player chooses an illegal action.
    """
    exact = exact or ExactValues(game)
    positions = exact.positions
    rows = np.flatnonzero(~positions.over)
    chosen = np.full(len(positions), ILLEGAL, np.int64)
    for batch in np.split(rows, range(batch_size, len(rows), batch_size)):
        chosen[batch] = choose(positions.states[batch])
        _check_choices(game, positions, batch, chosen[batch])
    values = positions.action_values[rows, chosen[rows]]
    kept = values == positions.values[rows]
    failures = [
        _failure(exact, row, chosen[row], value) for row, value in zip(rows[~kept], values[~kept])
    ]
    sides = tuple(_play_out(positions, chosen, color) for color in (0, 1))
    return ProofReport(game.name, sides, len(rows), int(kept.sum()), failures)


def _check_choices(game, positions: Positions, rows: np.ndarray, actions: np.ndarray) -> None:
    for row, action in zip(rows, actions):
        if not 0 <= action < game.num_actions or positions.children[row, action] == ILLEGAL:
            board = game.state_to_text(positions.states[row])
            raise ValueError(
                f"the player chose action {action}, which is not legal, in the position\n{board}"
            )


def _failure(exact: ExactValues, row: int, action: int, value: int) -> Failure:
    state = exact.positions.states[row]
    return Failure(
        state, int(action), int(value), int(exact.positions.values[row]), exact.best_actions(state)
    )


def _play_out(positions: Positions, chosen: np.ndarray, color: int) -> SideReport:
    """Follow the chosen moves where the player is to move and all moves elsewhere, from the first of ``positions``."""
    ways = np.zeros(len(positions), object)  # games so far that lead to each position
    ways[0] = 1
    # The longest way to the end falls along every move: in this order, all ways to a position are counted before it is left.
    for row in np.argsort(-positions.plies_left, kind="stable"):
        if ways[row] and not positions.over[row]:
            following = positions.children[row]
            following = (
                following[[chosen[row]]]
                if positions.players[row] == color
                else following[following != ILLEGAL]
            )
            for child in following:
                ways[child] += ways[row]
    arises = ways.astype(bool)
    results = np.where(positions.players == color, positions.values, -positions.values)
    final = [arises & positions.over & (results == result) for result in _RESULTS]
    return SideReport(
        color=color,
        num_positions=int(arises.sum()),
        num_choices=int((arises & ~positions.over & (positions.players == color)).sum()),
        games=tuple(int(ways[rows].sum()) for rows in final),
        final_positions=tuple(int(rows.sum()) for rows in final),
    )


def _in_words(counts: tuple[int, int, int]) -> str:
    won, drawn, lost = counts
    return f"{won:,} won, {drawn:,} drawn, {lost:,} lost"
