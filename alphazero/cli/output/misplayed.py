"""A misplayed position on the console: the move, the better moves and the board.

`alphazero prove` and `alphazero evaluate` print these.
"""

from rich.console import Console
from rich.text import Text

from alphazero.boards.skin import skin_of
from alphazero.boards.text import Medium, draw_board, side
from alphazero.games.batched_game import Game
from alphazero.solvers.proof import Failure

_RESULT_NAMES = {1: "win", 0: "draw", -1: "loss"}


def print_misplayed(
    console: Console,
    game: Game,
    failure: Failure,
) -> None:
    """Print one position."""
    skin, medium = skin_of(game), Medium.of(console)
    better = ", ".join(skin.notation.text(action) for action in failure.best_actions)
    mover = side(skin, int(game.players(failure.state[None])[0]), medium)
    text = (
        f" played {skin.notation.text(failure.action)}, a {_RESULT_NAMES[failure.value]}, where "
        f"{better} would have kept a {_RESULT_NAMES[failure.best_value]}"
    )
    console.print(Text.assemble("\nmisplayed: ", mover, text), soft_wrap=True)
    console.print(draw_board(game, skin, failure.state, medium))
