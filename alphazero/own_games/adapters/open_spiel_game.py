"""Play games from OpenSpiel: `make_game("open_spiel:hex(board_size=7)")`.

The positions of such a game wrap OpenSpiel's states, which are copied in C++. A game qualifies if
one or two players take turns, without chance or hidden information, and the range of its results is
known. Other games are refused with the reason. This module contains no rules: its tables hold facts
that OpenSpiel does not state, and random games reveal which planes hold each player's pieces.

Differences from OpenSpiel: the player who begins is number 0 (in its chess, number 1 begins); if
the planes are the same for both players, an extra plane shows who is to move; and ``max_plies=``
ends a game early, with the result that OpenSpiel then states: a draw or, in a puzzle, the reward so
far. Actions keep OpenSpiel's numbers.
"""

import collections
import functools
import math
import os
import random
import re
import threading
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.square_names import named_squares
from alphazero.games.text import parse_index
from alphazero.own_games.adapters.library_position import LibraryPosition, limit_plies
from alphazero.own_games.python_game import PythonGame
from alphazero.runtime.errors import ConfigError, require

#: Games in which the planes and the player to move determine everything that follows. In all other
#: games, positions are distinguished by the moves so far: repetitions, moves since the last capture
#: or half a move may matter, and OpenSpiel does not state whether the planes show them.
DETERMINED_BY_PLANES = frozenset(
    "breakthrough clobber connect_four dots_and_boxes gomoku havannah hex mnk nim othello pentago "
    "tic_tac_toe y".split()
)
#: Games in which an action's text depends on the position; their actions are shown as numbers.
#: OpenSpiel's chess ends the process if asked for the text of an illegal action.
WRITTEN_BY_POSITION = frozenset(
    "amazons antichess chess chinese_checkers crazyhouse quoridor shogi ultimate_tic_tac_toe "
    "xiangqi".split()
)
#: The letters of the two players in OpenSpiel's text of a position.
LETTERS = {
    **dict.fromkeys(("havannah", "pentago", "y"), "O@"),
    **dict.fromkeys(("hex", "twixt", "ultimate_tic_tac_toe"), "xo"),
    **dict.fromkeys(("antichess", "chess", "crazyhouse", "hive"), "wb"),
    **dict.fromkeys(("chinese_checkers", "dots_and_boxes"), "12"),
    **dict.fromkeys(("mancala", "oware"), "01"),
    "checkers": "o+",
    "nine_mens_morris": "WB",
    "quoridor": "0@",
    "shogi": "bw",
}
#: Games whose planes list the bottom row first. Their actions are not squares.
FROM_BELOW = frozenset("antichess chess connect_four crazyhouse".split())
_MOST_PLIES = 65_535  # most plies that a `PythonGame` allows
_NUM_PROBES = 2_000  # random moves from which the meaning of the planes is inferred
_MAX_PROBED_PLIES = 300  # most plies of one of these random games


def load_game(text: str) -> PythonGame:
    """Make the OpenSpiel game with the name ``"open_spiel:" + text``.

    Args:
        text: an OpenSpiel game with its parameters, such as ``hex(board_size=7)``. The additional
            parameter ``max_plies``, which is not passed to OpenSpiel, limits the plies of a game.

    Raises:
        MissingPackage: if OpenSpiel is not installed.
        ConfigError: if OpenSpiel has no such game, or the game does not qualify.
    """
    return PythonGame(_start_of(text), f"open_spiel:{text}")


class SpielPosition(LibraryPosition):
    """An OpenSpiel state wrapped as a position."""

    def clone(self) -> "SpielPosition":
        state = self._state.clone()
        return SpielPosition(self._start, state, self._player, self._plies, self._over)

    @property
    def moves(self) -> list[int]:
        return self._state.history()

    def play(self, action: int) -> None:
        self._state.apply_action(action)

    def turn(self) -> int | None:
        agent = self._state.current_player()
        return None if agent < 0 else agent ^ self._start.first

    def result(self) -> float:
        return self._state.returns()[self._player ^ self._start.first]

    def legal_actions(self) -> list[int]:
        return self._state.legal_actions()

    def planes(self) -> np.ndarray:
        planes = self._start.planes_of(self._state, self._player ^ self._start.first)
        if self._start.binary_planes and (planes != (planes > 0)).any():
            reason = f"after {self.moves} its planes hold more than 0 and 1"
            raise ConfigError.of("game", f"open_spiel:{self._start.text}", reason=reason)
        return planes

    def cells(self) -> np.ndarray:
        return self._start.board_of(self._state)

    def to_text(self) -> str | None:
        """Return OpenSpiel's text of the position, or None if the board of `cells` shows it all.

        A FEN is drawn as a board with one line per row.
        """
        if self._start.has_board:
            return None
        text = re.sub(r"\x1b\[\d*m", "", str(self._state)).strip("\n")
        return _drawn_fen(text, self._start.observed_shape[1])

    def legal_texts(self) -> list[str] | None:
        if self._start.name not in WRITTEN_BY_POSITION:
            return None
        return [self._state.action_to_string(action) for action in self.legal_actions()]


class _Start(SpielPosition):
    """The start position of an OpenSpiel game, with facts partly inferred from random games.

    Args:
        text: the game's name with its parameters, such as ``hex(board_size=7)``.

    Attributes:
        text: the game's name with its parameters.
        name: the game's name without its parameters.
        first: OpenSpiel's index, 0 or 1, of the player who moves first.
        observed_shape: (C, H, W) of OpenSpiel's planes.
        has_board: whether the board that `cells` returns shows all that a person needs to choose a
            move.
    """

    def __init__(self, text: str):
        self.text = text
        self.name, game, max_plies = _load(text)
        self._game = game
        self.num_players = game.num_players()
        self.num_actions = game.num_distinct_actions()
        self.result_range = game.min_utility(), game.max_utility()
        self.piece_letters = "." + LETTERS.get(self.name, "XO")
        longest = min(game.max_game_length(), _MOST_PLIES)
        self.max_plies = limit_plies(max_plies, longest)
        self.has_key = self.name not in DETERMINED_BY_PLANES or self.max_plies != longest
        # Copied states of morpion_solitaire point into the first state, which must stay alive.
        super().__init__(self, game.new_initial_state())
        self.first = self._state.current_player()
        self._has_tensor = game.get_type().provides_observation_tensor
        self._buffers = threading.local()
        self.observed_shape = self._shape_of_planes()
        self._texts, self._typed = self._action_texts()
        moves = self._random_moves()
        self._infer_planes(moves)
        self._squares, from_top = self._named_squares(moves)
        self.has_board = self._shows_all(moves)
        self.appearance = {"title": game.get_type().long_name, "rows_from_top": from_top}

    def __reduce__(self) -> tuple:
        return _start_of, (self.text,)

    def action_squares(self, action: int) -> tuple[int, ...]:
        return self._squares[action]

    def action_to_text(self, action: int) -> str:
        return self._texts[action]

    def text_to_action(self, text: str) -> int:
        action = self._typed.get(_plain(text))
        if action is not None:
            return action
        also = f", or a move such as {self._texts[0]}" if self._typed else ""
        return parse_index(text, self.num_actions, also=also)

    def planes_of(self, state: Any, agent: int) -> np.ndarray:
        """Return the planes that a player observes in a state, [C, H, W].

        The array is only valid until the next call, which may overwrite it.

        Args:
            state: an OpenSpiel state.
            agent: OpenSpiel's number of the player.
        """
        if not self._has_tensor:
            played = np.zeros(self.observed_shape, np.float32)
            played[0, 0, state.history()] = 1
            return played
        buffer = getattr(self._buffers, "observation", None)
        if buffer is None:
            from open_spiel.python.observation import make_observation

            buffer = self._buffers.observation = make_observation(self._game)
        buffer.set_from(state, agent)
        return buffer.tensor.reshape(self.observed_shape)

    def board_of(self, state: Any) -> np.ndarray:
        """Return the board of an OpenSpiel state, int8[H, W], as `cells` does."""
        observed = self.planes_of(state, self.first) > 0
        first, second = (observed[is_piece].any(axis=0) for is_piece in self._pieces)
        board = np.where(first, 1, 2 * second).astype(np.int8)
        return board[::-1] if self.name in FROM_BELOW else board

    def _shape_of_planes(self) -> tuple[int, int, int]:
        """Return the shape (C, H, W) to which OpenSpiel's observation tensor is reshaped.

        A flat tensor becomes one row. A game without a tensor gets one row with a cell for each
        action, which is 1 if the action has been played.
        """
        if not self._has_tensor:
            return 1, 1, self.num_actions
        shape = tuple(self._game.observation_tensor_shape())
        if len(shape) == 3:
            return shape
        num_planes = shape[0] if len(shape) > 1 else 1
        size = math.prod(shape) // num_planes
        side = math.isqrt(size)
        height = side if num_planes > 1 and side * side == size else 1
        return num_planes, height, size // height

    def _action_texts(self) -> tuple[list[str], dict[str, int]]:
        """Return the text that people read for each action, and the action for each text to type.

        An action is shown as OpenSpiel's text for it, or as its number if that text is missing or
        ambiguous. Texts that differ between the players, such as "x(0,0)" and "o(0,0)", are cut to
        their common end; the full texts can be typed too.

        Returns:
            The texts in the order of the actions, and {simplified text: action}; see `_plain`.
        """
        texts = list(map(str, range(self.num_actions)))
        typed: dict[str, int] = {}
        if self.name in WRITTEN_BY_POSITION:
            return texts, typed
        write = self._state.action_to_string
        agents = range(self.num_players)
        own = [[write(agent, action) for agent in agents] for action in range(self.num_actions)]
        ends = [os.path.commonprefix([text[::-1] for text in spellings]) for spellings in own]
        common = [_plain(end[::-1]) for end in ends]
        counts = collections.Counter(common)
        for action, text in enumerate(common):
            if text and counts[text] == 1:
                texts[action] = text
                typed |= dict.fromkeys(map(_plain, (text, *own[action])), action)
        return texts, typed

    # --- what random games reveal -----------------------------------------------------------------

    def _random_moves(self) -> list["_Move"]:
        """Play random games and return their moves, from which the planes' meaning is inferred.

        Raises:
            ConfigError: if an unfinished game has no legal action.
        """
        rng = random.Random(0)
        moves = []
        state = self._state
        for _ in range(_NUM_PROBES):
            if state.is_terminal() or state.move_number() >= _MAX_PROBED_PLIES:
                state = self._state
            legal = state.legal_actions()
            if not legal:
                raise ConfigError.of("game", f"open_spiel:{self.text}", reason="no action is legal")
            action = rng.choice(legal)
            after = state.clone()
            after.apply_action(action)
            moves.append(_Move(state, state.current_player() ^ self.first, action, after))
            state = after
        return moves

    def _infer_planes(self, moves: list["_Move"]) -> None:
        """Infer which planes hold pieces, whether all are binary and the players' planes equal.

        A player's pieces are in the planes to which only this player's moves add. In games whose
        moves rotate parts of the board, a move adds squares to both players' planes; the plane in
        which the number of pieces grows is then the mover's. A plane that ever covers the whole
        board is a flag, not pieces. If no plane can be assigned to the first player or, in a game
        for two, the players would have different numbers of planes, there are no pieces.
        """
        num_planes = self.observed_shape[0]
        fills = np.zeros((2, num_planes), np.bool_)  # this player's move set a new square
        grows = np.zeros((2, num_planes), np.bool_)  # this player's move added pieces
        flags = np.zeros(num_planes, np.bool_)
        board = (1, 2)
        self.binary_planes = True
        self.adds_player = self.num_players == 2
        other = self.num_players - 1 - self.first
        for move in moves:
            before = self.planes_of(move.before, self.first) > 0
            seen = self.planes_of(move.after, self.first).copy()
            after = seen > 0
            self.binary_planes &= bool((seen == after).all())
            self.adds_player &= np.array_equal(seen, self.planes_of(move.after, other))
            fills[move.mover] |= (after & ~before).any(axis=board)
            grows[move.mover] |= after.sum(axis=board) > before.sum(axis=board)
            flags |= before.all(axis=board)
        self._pieces = np.zeros_like(fills)
        for changed in (grows, fills):
            own = changed & ~changed[::-1] & ~flags
            num_first, num_second = own.sum(axis=1)
            if num_first and (num_first == num_second or self.num_players == 1):
                self._pieces = own

    def _named_squares(self, moves: list["_Move"]) -> tuple[list[tuple[int, ...]], bool]:
        """Return the squares that each action's text names, and whether row 1 is at the top.

        Both ways of counting rows are tried on the moves of random games: after each move, the last
        square named in its text must hold a piece of the mover. If neither way fits all moves, no
        action has squares.
        """
        names = [text.rstrip("*") for text in self._texts]
        _, height, width = self.observed_shape
        for from_top in (False, True):
            squares = [named_squares(name, height, width, from_top) or () for name in names]
            named = [move for move in moves if squares[move.action]]
            if named and all(
                self.board_of(move.after).flat[squares[move.action][-1]] == 1 + move.mover
                for move in named
            ):
                return squares, from_top
        return [()] * len(names), False

    def _shows_all(self, moves: list["_Move"]) -> bool:
        """Return whether the board of `cells` shows all that a person needs to choose a move.

        This is so if each action names squares or a column, each player has one plane of pieces,
        and the other planes show only empty squares or are the same on all squares.
        """
        _, height, width = self.observed_shape
        is_placed = self.num_actions in (width, height * width, height * width + 1)
        is_placed = is_placed and self.name not in WRITTEN_BY_POSITION
        if not (is_placed or any(self._squares)) or (self._pieces.sum(axis=1) != 1).any():
            return False
        is_piece = self._pieces.any(axis=0)
        for move in moves:
            planes = self.planes_of(move.after, self.first)
            empty = planes[is_piece].sum(axis=0) == 0
            others = planes[~is_piece]
            if not all(np.ptp(plane) == 0 or (plane == empty).all() for plane in others):
                return False
        return True


@functools.lru_cache(maxsize=8)
def _start_of(text: str) -> _Start:
    """Return the start position of a game from the cache: a run makes its game repeatedly."""
    return _Start(text)


class _Move(NamedTuple):
    """A move of a random game, with OpenSpiel's states before and after it."""

    before: Any
    mover: int  #: the player who moves; 0 began the game
    action: int
    after: Any


def _load(text: str) -> tuple[str, Any, int | None]:
    """Load a game from OpenSpiel.

    Args:
        text: the game's name with its parameters, possibly with the parameter ``max_plies``, which
            only this package knows.

    Returns:
        The game's name without parameters, OpenSpiel's game object, and ``max_plies``, the user's
        limit on the game's length in plies; None if there is none.

    Raises:
        MissingPackage, ConfigError: see `load_game`.
    """
    require("open_spiel", "pyspiel")
    import pyspiel

    name = text.partition("(")[0]
    game = max_plies = None
    reason: str | None = "OpenSpiel has no such game"
    if name in pyspiel.registered_names():
        try:
            parameters = pyspiel.game_parameters_from_string(text)
            max_plies = parameters.pop("max_plies", None)
            game = pyspiel.load_game(parameters.pop("name"), parameters)
            reason = _reason_against(game, pyspiel.GameType)
        except pyspiel.SpielError as error:
            reason = f"OpenSpiel says: {str(error).strip().splitlines()[0].rstrip('.')}"
    if reason is not None:
        raise ConfigError.of("game", f"open_spiel:{text}", reason=reason)
    return name, game, max_plies


def _reason_against(game: Any, kinds: Any) -> str | None:
    """Return why an OpenSpiel game does not qualify, or None if it does.

    Args:
        game: OpenSpiel's game object, made with the user's parameters.
        kinds: the class ``pyspiel.GameType``.

    Returns:
        A clause such as "it has chance".
    """
    kind = game.get_type()
    num_players = game.num_players()
    if kind.dynamics != kinds.Dynamics.SEQUENTIAL:
        return "its players move at the same time"
    if kind.chance_mode != kinds.ChanceMode.DETERMINISTIC:
        return "it has chance"
    if kind.information != kinds.Information.PERFECT_INFORMATION:
        return "it has hidden information"
    if num_players > 2:
        return f"it has {num_players} players; 1 or 2 are allowed"
    if num_players == 2 and kind.utility not in (
        kinds.Utility.ZERO_SUM,
        kinds.Utility.CONSTANT_SUM,
    ):
        return "one player's gain is not the other's loss"
    if not -math.inf < game.min_utility() < game.max_utility() < math.inf:
        return "the range of its results is not known"
    return None


def _plain(text: str) -> str:
    """Simplify brackets and separators in a move's text.

    "(0,1)" becomes "0.1", and "d8-b6" becomes "d8b6".
    """
    text = re.sub(r"[][()]", "", text).strip(" ;\t")
    return re.sub(r"[\s,;]+", ".", re.sub(r"(?<=\w)-(?=\w)", "", text))


def _drawn_fen(text: str, rows: int) -> str:
    """Draw a position written in FEN, such as "rnbqkbnr/...", as a board of ``rows`` lines.

    The rest of the FEN, such as the side to move, is appended as a last line. A text that is not a
    FEN of ``rows`` rows is returned unchanged.
    """
    board, _, rest = text.partition(" ")
    if board.count("/") != rows - 1:
        return text
    board = re.sub(r"\d", lambda digit: "." * int(digit[0]), board)
    return board.replace("/", "\n") + "\n" + rest
