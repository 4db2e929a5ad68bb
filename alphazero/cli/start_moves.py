"""The setting `moves=` of commands that show a game: the moves to start after."""

from alphazero.boards.notation import read_moves
from alphazero.boards.skin import SETUPS, Skin, skin_of
from alphazero.games.batched_game import Game
from alphazero.runtime.errors import ConfigError

MOVES_HELP = (
    "such as 4,4,3 or 443 in Connect Four, f5d6c3 in Othello; in brackets, [3,3,2], they count "
    "from 0, as in 'alphazero engine'"
)
SETUP_HELP = (
    "of Othello: white_first, as in our rules, or standard, as everywhere else: black moves first"
)


def read_start(moves: str, game: Game, skin: Skin) -> list[int]:
    """Return the actions of the setting ``moves``.

    Raises:
        ConfigError: if they are none; a game of Othello in the other set-up is recognised.
    """
    try:
        return read_moves(game, skin.notation, moves)
    except ValueError as error:
        other = SETUPS[skin.setup == SETUPS[0]]
        hint = f" With setup={other} this is a game." if _is_game(moves, game, other) else ""
        raise ConfigError(f"{error}{hint}", key="moves", value=moves) from None


def _is_game(moves: str, game: Game, setup: str) -> bool:
    """Return whether the moves are legal in a set-up."""
    try:
        return bool(read_moves(game, skin_of(game, setup).notation, moves))
    except ValueError:
        return False
