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
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.square_names import named_squares
from alphazero.games.text import parse_index
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
    return PythonGame(_Start(text), f"open_spiel:{text}")


class SpielPosition:
    """An OpenSpiel state wrapped as an `alphazero.own_games.python_game.Position`.

    Args:
        rules: the data that all positions of the game share.
        state: the OpenSpiel state, which `step` changes in place.
    """

    is_determined = True  # by `observe` and `key`

    def __init__(self, rules: "_Rules", state: Any):
        self._rules = rules
        self._state = state
        self._player = 0

    def clone(self) -> "SpielPosition":
        twin = SpielPosition(self._rules, self._state.clone())
        twin._player = self._player
        return twin

    def step(self, action: int) -> None:
        self._state.apply_action(action)
        agent = self._state.current_player()
        # At the end of a game OpenSpiel names no player; the result is for whoever would be next.
        if agent < 0:
            self._player = (self._player + 1) % self._rules.game.num_players()
        else:
            self._player = self._swapped(agent)

    def _swapped(self, agent: int) -> int:
        """Convert a player's number, 0 or 1, from OpenSpiel's numbering to this package's or back.

        In this package's numbering, 0 begins the game.
        """
        return agent ^ self._rules.first

    def player_to_move(self) -> int:
        return self._player

    def is_over(self) -> bool:
        return self._state.is_terminal() or self._state.move_number() >= self._rules.max_plies

    def result(self) -> float:
        return self._state.returns()[self._swapped(self._player)]

    def legal_actions(self) -> list[int]:
        return self._state.legal_actions()

    def observe(self) -> np.ndarray:
        rules = self._rules
        observed = rules.planes(self._state, self._swapped(self._player))
        num_observed = len(observed)
        planes = np.empty(rules.planes_shape, np.bool_ if rules.is_binary else np.float32)
        planes[:num_observed] = observed
        planes[num_observed:] = self._player
        if rules.is_binary and not np.array_equal(planes[:num_observed], observed):
            reason = f"after {self._state.history()} its planes hold more than 0 and 1"
            raise ConfigError.of("game", f"open_spiel:{rules.text}", reason=reason)
        return planes

    def cells(self) -> np.ndarray:
        return self._rules.cells(self._state)

    def to_text(self) -> str | None:
        """Return OpenSpiel's text of the position, or None if the board of `cells` shows it all.

        A FEN is drawn as a board with one line per row.
        """
        if self._rules.has_board:
            return None
        text = re.sub(r"\x1b\[\d*m", "", str(self._state)).strip("\n")
        return _drawn_fen(text, self._rules.planes_shape[1])

    def legal_texts(self) -> list[str] | None:
        if self._rules.name not in WRITTEN_BY_POSITION:
            return None
        return [self._state.action_to_string(action) for action in sorted(self.legal_actions())]

    def key(self) -> bytes:
        if self._rules.is_determined_by_planes:
            return b""
        return np.array(self._state.history(), np.int32).tobytes()


class _Start(SpielPosition):
    """The start position of an OpenSpiel game; it also has attributes such as ``num_actions``.

    Args:
        text: the game's name with its parameters, such as ``hex(board_size=7)``.
    """

    def __init__(self, text: str):
        rules = _rules_of(text)
        super().__init__(rules, rules.start)
        self.num_players = rules.game.num_players()
        self.num_actions = rules.game.num_distinct_actions()
        self.max_plies = rules.max_plies
        self.result_range = rules.game.min_utility(), rules.game.max_utility()
        self.binary_planes = rules.is_binary
        title = rules.game.get_type().long_name
        self.appearance = {"title": title, "rows_from_top": rules.rows_from_top}
        self.piece_letters = "." + LETTERS.get(rules.name, "XO")

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return type(self), (self._rules.text,)

    def action_squares(self, action: int) -> tuple[int, ...]:
        return self._rules.squares[action]

    def action_to_text(self, action: int) -> str:
        return self._rules.texts[action]

    def text_to_action(self, text: str) -> int:
        action = self._rules.typed.get(_plain(text))
        if action is not None:
            return action
        also = f", or a move such as {self._rules.texts[0]}" if self._rules.typed else ""
        return parse_index(text, self.num_actions, also=also)


class _Rules:
    """The data that all positions of an OpenSpiel game share, partly inferred from random games.

    Attributes:
        text: the game's name with its parameters.
        name: the game's name without its parameters.
        game: OpenSpiel's game object.
        start: OpenSpiel's first state, from which all others are copied; never changed.
        first: OpenSpiel's index, 0 or 1, of the player who moves first.
        max_plies: maximum game length, in plies.
        planes_shape: (C, H, W), including the plane of the player to move, if there is one.
        is_binary: whether the planes hold only 0 and 1.
        is_determined_by_planes: whether the planes and the player to move determine everything that
            follows (see `DETERMINED_BY_PLANES`).
        texts: the text that a person reads for each action, in the order of their numbers.
        typed: the action for each text that a person may type, {text: action}; texts are simplified
            by `_plain`.
        squares: the squares of each action (see `alphazero.games.rules.action_squares`).
        rows_from_top: True if row 1 is at the top of the board, False if it is at the bottom.
        has_board: whether the board that `cells` returns shows all that a person needs to choose a
            move.
    """

    def __init__(self, text: str):
        self.text = text
        self.name, self.game, max_plies = _load(text)
        longest = self.game.max_game_length()
        self.max_plies = min(max_plies or _MOST_PLIES, longest, _MOST_PLIES)
        is_cut = self.max_plies < longest
        self.is_determined_by_planes = self.name in DETERMINED_BY_PLANES and not is_cut
        # Copied states of morpion_solitaire point into the first state, which must stay alive.
        self.start = self.game.new_initial_state()
        self.first = self.start.current_player()
        self._buffers = threading.local()
        self._observed_shape = self._shape_of_planes()
        moves = list(self._random_moves())
        self._pieces, self.is_binary, depends_on_player = self._planes_of(moves)
        needs_plane = self.game.num_players() == 2 and not depends_on_player
        num_planes, height, width = self._observed_shape
        self.planes_shape = (num_planes + needs_plane, height, width)
        self.texts, self.typed = _action_texts(self)
        self.squares, self.rows_from_top = self._named_squares(moves)
        self.has_board = self._has_board(moves)

    def planes(self, state: Any, agent: int) -> np.ndarray:
        """Return the planes that a player observes in a state, [C, H, W].

        The array is only valid until the next call, which may overwrite it. The plane of the player
        to move, which `SpielPosition.observe` may add, is missing.

        Args:
            state: an OpenSpiel state.
            agent: OpenSpiel's number of the player.
        """
        if not self._has_tensor:
            played = np.zeros(self._observed_shape, np.float32)
            played[0, 0, state.history()] = 1
            return played
        buffer = getattr(self._buffers, "observation", None)
        if buffer is None:
            from open_spiel.python.observation import make_observation

            buffer = make_observation(self.game)
            self._buffers.observation = buffer
        buffer.set_from(state, agent)
        return buffer.tensor.reshape(self._observed_shape)

    def cells(self, state: Any) -> np.ndarray:
        """Return the board of an OpenSpiel state, int8[H, W].

        A square is 0 if empty, 1 if it holds a piece of the player who begins the game, 2 if it
        holds the other player's.
        """
        observed = self.planes(state, self.first) > 0
        first, second = (observed[is_piece].any(axis=0) for is_piece in self._pieces)
        board = np.where(first, 1, 2 * second).astype(np.int8)
        return board[::-1] if self.name in FROM_BELOW else board

    @property
    def _has_tensor(self) -> bool:
        return self.game.get_type().provides_observation_tensor

    def _shape_of_planes(self) -> tuple[int, int, int]:
        """Return the shape (C, H, W) to which OpenSpiel's observation tensor is reshaped.

        A flat tensor becomes one row. A game without a tensor gets one row with a cell for each
        action, which is 1 if the action has been played.
        """
        if not self._has_tensor:
            return 1, 1, self.game.num_distinct_actions()
        shape = tuple(self.game.observation_tensor_shape())
        if len(shape) == 3:
            return shape
        num_planes = 1 if len(shape) == 1 else shape[0]
        size = math.prod(shape) // num_planes
        side = math.isqrt(size)
        is_square = num_planes > 1 and side * side == size
        return (num_planes, side, side) if is_square else (num_planes, 1, size)

    def _random_moves(self) -> Iterator["_Move"]:
        """Play random games and yield their moves, from which the planes' meaning is inferred.

        Raises:
            ConfigError: if an unfinished game has no legal action.
        """
        rng = random.Random(0)
        state = self.start
        for _ in range(_NUM_PROBES):
            if state.is_terminal() or state.move_number() >= _MAX_PROBED_PLIES:
                state = self.start
            before = state
            mover = before.current_player() ^ self.first
            legal = before.legal_actions()
            if not legal:
                raise ConfigError.of("game", f"open_spiel:{self.text}", reason="no action is legal")
            action = rng.choice(legal)
            state = before.clone()
            state.apply_action(action)
            yield _Move(before, mover, action, state)

    def _planes_of(self, moves: list["_Move"]) -> tuple[tuple[np.ndarray, np.ndarray], bool, bool]:
        """Infer from the moves of random games what the planes show.

        Returns:
            A pair of masks, bool[C] each, of the planes that hold the first and the second player's
            pieces; whether all planes hold only 0 and 1; and whether the two players ever see
            different planes.
        """
        is_binary = True
        depends_on_player = False
        is_puzzle = self.game.num_players() == 1
        pieces = _PlayersPlanes(self._observed_shape[0])
        for move in moves:
            before = self.planes(move.before, self.first).copy()
            after = self.planes(move.after, self.first).copy()
            is_binary &= bool(np.isin(after, (0, 1)).all())
            if not is_puzzle:
                others = self.planes(move.after, 1 - self.first)
                depends_on_player |= not np.array_equal(after, others)
            pieces.add(move.mover, before > 0, after > 0)
        return pieces.pieces(is_puzzle), is_binary, depends_on_player

    def _named_squares(self, moves: list["_Move"]) -> tuple[list[tuple[int, ...]], bool]:
        """Return the squares that each action's text names, and whether row 1 is at the top.

        Both ways of counting rows are tried on the moves of random games: after each move, the last
        square named in its text must hold a piece of the mover. If neither way fits all moves, no
        action has squares.
        """
        names = [text.rstrip("*") for text in self.texts]
        _, height, width = self._observed_shape
        for from_top in (False, True):
            squares = [named_squares(name, height, width, from_top) or () for name in names]
            named = [move for move in moves if squares[move.action]]
            if named and all(self._ends_on(squares[move.action][-1], move) for move in named):
                return squares, from_top
        return [()] * len(names), False

    def _ends_on(self, square: int, move: "_Move") -> bool:
        """Return whether the mover has a piece on a square after a move."""
        return self.cells(move.after).flat[square] == 1 + move.mover

    def _has_board(self, moves: list["_Move"]) -> bool:
        """Return whether the board of `cells` shows all that a person needs to choose a move.

        This is so if each action names squares or a column, each player has one plane of pieces,
        and the other planes show only empty squares or are the same on all squares.

        Args:
            moves: moves of random games.
        """
        _, height, width = self._observed_shape
        is_placed = len(self.texts) in (width, height * width, height * width + 1)
        is_placed = is_placed and self.name not in WRITTEN_BY_POSITION
        if not is_placed and not any(self.squares):
            return False
        if any(planes.sum() != 1 for planes in self._pieces):
            return False
        is_piece = self._pieces[0] | self._pieces[1]
        for move in moves:
            planes = self.planes(move.after, self.first)
            empty = planes[is_piece].sum(axis=0) == 0
            for plane in planes[~is_piece]:
                is_constant = np.ptp(plane) == 0
                if not is_constant and (plane != empty).any():
                    return False
        return True


class _PlayersPlanes:
    """Infers which planes hold each player's pieces: those to which only that player's moves add.

    In games whose moves rotate parts of the board, a move adds squares to both players' planes; the
    plane in which the number of pieces grows is then the mover's. A plane that ever covers the
    whole board is a flag, not pieces.
    """

    def __init__(self, num_planes: int):
        self._fills = np.zeros((2, num_planes), np.bool_)  # this player's move set a new square
        self._grows = np.zeros((2, num_planes), np.bool_)  # this player's move added pieces
        self._flags = np.zeros(num_planes, np.bool_)

    def add(self, mover: int, before: np.ndarray, after: np.ndarray) -> None:
        """Record the planes before and after a move of a random game.

        Args:
            mover: the player who made the move; 0 began the game.
            before, after: bool[C, H, W], True where a plane is above 0.
        """
        board = (1, 2)
        self._fills[mover] |= (after & ~before).any(axis=board)
        self._grows[mover] |= after.sum(axis=board) > before.sum(axis=board)
        self._flags |= before.all(axis=board)

    def pieces(self, is_puzzle: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return masks of the planes with the first and the second player's pieces, bool[C] each.

        All entries are False if no plane can be assigned to the first player or, in a game for two,
        the players would have different numbers of planes.

        Args:
            is_puzzle: whether the game has only one player.
        """
        for changed in (self._fills, self._grows):
            only_own = changed & ~changed[::-1]
            first, second = only_own & ~self._flags
            if first.any() and (is_puzzle or first.sum() == second.sum()):
                return first, second
        nothing = np.zeros_like(self._flags)
        return nothing, nothing


class _Move(NamedTuple):
    """A move of a random game, with OpenSpiel's states before and after it."""

    before: Any
    mover: int  #: the player who moves; 0 began the game
    action: int
    after: Any


@functools.lru_cache(maxsize=8)
def _rules_of(text: str) -> _Rules:
    """Return the cached data that all positions of a game share; a run makes its game repeatedly.

    Args:
        text: the game's name with its parameters, such as ``hex(board_size=7)``.
    """
    return _Rules(text)


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
    full_name = f"open_spiel:{text}"
    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    reason = _reason_against(kinds[name]) if name in kinds else "OpenSpiel has no such game"
    if reason is not None:
        raise ConfigError.of("game", full_name, reason=reason)
    try:
        parameters = pyspiel.game_parameters_from_string(text)
        max_plies = parameters.pop("max_plies", None)
        game = pyspiel.load_game(parameters.pop("name"), parameters)
    except pyspiel.SpielError as error:
        first_line = str(error).strip().splitlines()[0]
        reason = f"OpenSpiel says: {first_line.rstrip('.')}"
        raise ConfigError.of("game", full_name, reason=reason) from None
    if max_plies is not None and (not isinstance(max_plies, int) or max_plies < 1):
        raise ConfigError.of("max_plies", max_plies, "a whole number from 1")
    reason = _reason_against_size(game)
    if reason is not None:
        raise ConfigError.of("game", full_name, reason=reason)
    return name, game, max_plies


def _reason_against(kind: Any) -> str | None:
    """Return the reason why an OpenSpiel game does not qualify with any parameters.

    Args:
        kind: OpenSpiel's description of the game, a ``pyspiel.GameType``.

    Returns:
        A clause such as "it has chance"; None if the game may qualify for some parameters.
    """
    import pyspiel

    kinds = pyspiel.GameType
    if kind.dynamics != kinds.Dynamics.SEQUENTIAL:
        return "its players move at the same time"
    if kind.chance_mode != kinds.ChanceMode.DETERMINISTIC:
        return "it has chance"
    if kind.information != kinds.Information.PERFECT_INFORMATION:
        return "it has hidden information"
    if kind.min_num_players > 2:
        return f"it has at least {kind.min_num_players} players; 1 or 2 are allowed"
    return None


def _reason_against_size(game: Any) -> str | None:
    """Return why a loaded OpenSpiel game does not qualify, or None if it does.

    The reason is a clause such as "the range of its results is not known".

    Args:
        game: OpenSpiel's game object, made with the user's parameters.
    """
    import pyspiel

    utilities = pyspiel.GameType.Utility
    if game.num_players() > 2:
        return f"it has {game.num_players()} players; 1 or 2 are allowed"
    zero_sum = game.get_type().utility in (utilities.ZERO_SUM, utilities.CONSTANT_SUM)
    if game.num_players() == 2 and not zero_sum:
        return "one player's gain is not the other's loss"
    try:
        worst = game.min_utility()
        best = game.max_utility()
    except pyspiel.SpielError:
        return "the range of its results is not known"
    if not -math.inf < worst < best < math.inf:
        return "the range of its results is not known"
    return None


# --- actions as text ------------------------------------------------------------------------------


def _action_texts(rules: _Rules) -> tuple[list[str], dict[str, int]]:
    """Return the text that people read for each action, and the action for each text to type.

    An action is shown as OpenSpiel's text for it, or as its number if that text is missing or
    ambiguous. Texts that differ between the players, such as "x(0,0)" and "o(0,0)", are cut to
    their common end; the full texts can be typed too.

    Returns:
        The texts in the order of the actions, and {simplified text: action}; see `_plain`.
    """
    texts = list(map(str, range(rules.game.num_distinct_actions())))
    if rules.name in WRITTEN_BY_POSITION:
        return texts, {}
    state = rules.game.new_initial_state()
    agents = range(rules.game.num_players())
    own = list[list[str]]()  # for each action, its text for each player
    for action in range(len(texts)):
        own.append([state.action_to_string(agent, action) for agent in agents])
    common = list(map(_common_text, own))
    counts = collections.Counter(common)
    typed = {}
    for action, text in enumerate(common):
        if text and counts[text] == 1:
            texts[action] = text
            for spelling in (text, *own[action]):
                typed[_plain(spelling)] = action
    return texts, typed


def _common_text(texts: list[str]) -> str:
    if len(set(texts)) == 1:
        return _plain(texts[0])
    reversed_texts = [text[::-1] for text in texts]
    reversed_end = os.path.commonprefix(reversed_texts)
    return _plain(reversed_end[::-1])


def _plain(text: str) -> str:
    """Simplify brackets and separators in a move's text.

    "(0,1)" becomes "0.1", and "d8-b6" becomes "d8b6".
    """
    text = re.sub(r"(?<=\w)-(?=\w)", "", text.translate(_BRACKETS).strip(" ;\t"))
    return re.sub(r"[\s,;]+", ".", text)


_BRACKETS = str.maketrans("", "", "()[]")


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
