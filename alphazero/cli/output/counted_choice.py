"""A player's answers to many positions, counted by a bar."""

import contextlib
from collections.abc import Callable, Iterator

import numpy as np

from alphazero.cli.output.counting_bar import CountingBar
from alphazero.players.base import Choice, Player

_SMALLEST_PART = 16  # positions; players that search one at a time have a batch size of one


@contextlib.contextmanager
def counted_choice(
    player: Player, text: str, num_positions: int
) -> Iterator[Callable[[np.ndarray], Choice]]:
    """Give a function that does what `Player.choose` does, and shows how far it is.

    Args:
        text: what is shown beside the bar.
        num_positions: that the player will be asked about, in one call or several.
    """
    size = max(player.batch_size, _SMALLEST_PART)
    with CountingBar() as bar:
        task = bar.add_task(text, total=num_positions)

        def choose(states: np.ndarray) -> Choice:
            parts = []
            for start in range(0, max(len(states), 1), size):
                parts.append(player.choose(states[start : start + size]))
                bar.update(task, advance=len(parts[-1].actions))
            return Choice(*map(np.concatenate, zip(*parts)))

        yield choose
