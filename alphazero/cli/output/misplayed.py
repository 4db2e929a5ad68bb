"""A misplayed position on the console: the move, the better moves and the board.

`alphazero prove` and `alphazero evaluate` print these.
"""

import numpy as np
from rich.console import Console
from rich.text import Text

from alphazero.games.batched_game import Game
from alphazero.play.board import Medium, draw_board, side
from alphazero.play.skin import skin_of

_RESULT_NAMES = {1: "win", 0: "draw", -1: "loss"}


def print_misplayed(
    console: Console,
    game: Game,
    state: np.ndarray,
    played: tuple[int, int],
    best: tuple[list[int], int],
) -> None:
    """Print one position.

    Args:
        state: [K].
        played: the action and its exact result: 1, 0 or -1 for the player to move.
        best: the actions with the best exact result, and that result.
    """
    skin, medium = skin_of(game), Medium.of(console)
    better = ", ".join(skin.notation.text(action) for action in best[0])
    mover = side(skin, int(game.players(state[None])[0]), medium)
    text = (
        f" played {skin.notation.text(played[0])}, a {_RESULT_NAMES[played[1]]}, where "
        f"{better} would have kept a {_RESULT_NAMES[best[1]]}"
    )
    console.print(Text.assemble("\nmisplayed: ", mover, text), soft_wrap=True)
    console.print(draw_board(game, skin, state, medium))
