"""Play PettingZoo environments as games: `make_game("pettingzoo:connect_four_v3")`.

A user's own environment is named ``pettingzoo:module:factory``. Each position of the game owns a
copy of the environment. An AEC environment qualifies if two agents act in turns, without chance or
hidden information, and observe planes and an action mask. Others are refused with the reason, as
far as it can be detected. This module contains no rules.

The agent with the larger sum of rewards wins. PettingZoo's environments do not state how long their
games can be: a table holds the limits of the classic ones, and users state the limits of others. A
game that reaches its limit is decided by the rewards so far: a draw if rewards come only at the
end.
"""

import ast
import copy
import importlib
import inspect
import os
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.games.connect_x import ConnectX
from alphazero.games.symmetry import square_tables
from alphazero.games.tic_tac_toe import TicTacToe
from alphazero.own_games.adapters.library_position import LibraryPosition, limit_plies
from alphazero.own_games.python_game import PythonGame
from alphazero.runtime.errors import ConfigError, MissingPackage, require
from alphazero.runtime.own_code import GAMES, load_own

_SHARED_ATTRIBUTES = ("action_spaces", "observation_spaces", "screen", "clock")
_WRAPPERS = "pettingzoo.utils."  #: the package of PettingZoo's own wrappers
_PROBED_PLIES = 30


class _Known(NamedTuple):
    """Facts that a classic environment does not state, mostly as functions of the environment."""

    max_plies: Callable[[Any], int | None]  #: upper bound on the plies of a game; None if unknown
    #: The tables (cells, actions) of `alphazero.games.rules.symmetries`; None if unknown.
    symmetries: Callable[[Any], Any] = lambda environment: None
    #: Returns the board, int8[H, W], as `alphazero.own_games.python_game.Position.cells` does; if
    #: None, the board is guessed from the planes.
    cells: Callable[[Any], np.ndarray] | None = None
    #: Draws the position as text; returns None if the board shows everything.
    drawn: Callable[[Any], str | None] = lambda environment: None
    #: Returns the text of a legal action; None if it does not depend on the position.
    text: Callable[[Any, int], str] | None = None
    looks: dict[str, Any] = {}  #: more fields of `alphazero.games.appearance.Appearance`
    #: Whether the planes and the player to move determine everything that follows.
    is_determined_by_planes: bool = False


def load_game(text: str) -> PythonGame:
    """Make the PettingZoo game with the name ``"pettingzoo:" + text``.

    Args:
        text: a classic environment such as ``connect_four_v3``, or ``module:factory``: the class
            of an environment, or a function that returns one. Arguments for the environment follow
            in brackets, as in ``go_v5(board_size=9,max_plies=200)``; ``max_plies`` is not passed to
            the environment, but limits the plies of a game.

    Raises:
        MissingPackage: if PettingZoo or a package that the environment needs is not installed.
        ConfigError: if there is no such environment, or it does not qualify.
    """
    return PythonGame(_Start(text), f"pettingzoo:{text}")


def classic_module(environment_name: str):
    """Import and return the module of a classic environment such as ``"connect_four_v3"``.

    Raises:
        MissingPackage: if PettingZoo, or a package that this environment needs, is not installed,
            or the installed version has no such environment.
    """
    require("pettingzoo", "pettingzoo", "pygame")
    # Older versions of pygame print a greeting to standard output.
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "hide")
    try:
        # Newer versions deprecate this import in favour of a registry that older ones lack.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return importlib.import_module(f"pettingzoo.classic.{environment_name}")
    except ModuleNotFoundError as error:
        message = f"{environment_name} needs the package {error.name}, which is not installed."
        raise MissingPackage(message, key="env", value=environment_name) from None


class EnvironmentPosition(LibraryPosition):
    """A PettingZoo environment wrapped as a position."""

    moves: tuple[int, ...] = ()
    _gain = 0.0  # the first agent's rewards so far minus the second's
    _observation: dict[str, np.ndarray] | None = None

    def clone(self) -> "EnvironmentPosition":
        state = _copied(self._state, {})
        twin = EnvironmentPosition(self._start, state, self._player, self._plies, self._over)
        twin.moves = self.moves
        twin._gain = self._gain
        twin._observation = self._observation
        return twin

    def play(self, action: int) -> None:
        self._state.step(action)
        self.moves = (*self.moves, action)
        self._observation = None
        first, second = (self._state.rewards[agent] for agent in self._start.agents)
        self._gain += first - second

    def turn(self) -> int | None:
        ends = (*self._state.terminations.values(), *self._state.truncations.values())
        if any(ends):
            return None
        return self._start.agents.index(self._state.agent_selection)

    def result(self) -> float:
        return float(np.sign(self._gain if self._player == 0 else -self._gain))

    def legal_actions(self) -> np.ndarray:
        return np.flatnonzero(self._observed()["action_mask"])

    def planes(self) -> np.ndarray:
        observed = np.asarray(self._observed()["observation"])
        if observed.ndim == 3:
            return np.moveaxis(observed, 2, 0)
        if observed.ndim == 2:
            return observed[None]
        return observed.reshape(1, 1, -1)

    def cells(self) -> np.ndarray:
        """Return the board, int8[H, W]: 0 empty, 1 the first player's piece, 2 the second's.

        For an environment that is not in `_KNOWN`, the board is guessed: two planes are taken as
        the pieces of the agent to move and of the opponent. With any other number of planes, the
        board is empty.
        """
        if self._start.known.cells is not None:
            return self._start.known.cells(self._state)
        planes = self.planes() != 0
        if len(planes) != 2:
            return np.zeros(planes.shape[1:], np.int8)
        opponents = np.where(planes[1], 2 - self._player, 0)
        return np.where(planes[0], 1 + self._player, opponents).astype(np.int8)

    def to_text(self) -> str | None:
        return self._start.known.drawn(self._state)

    def legal_texts(self) -> list[str] | None:
        text = self._start.known.text
        if text is None:
            return None
        return [text(self._state, action) for action in self.legal_actions()]

    def _observed(self) -> dict[str, np.ndarray]:
        if self._observation is None:
            agent = self._start.agents[self._player]
            self._observation = self._state.observe(agent)
        return self._observation


class _Start(EnvironmentPosition):
    """The start position of an environment; it also has attributes such as ``num_actions``.

    Args:
        text: the environment's name with its arguments; see `load_game`.

    Attributes:
        known: facts about the environment.
        agents: the two agents in the order of turns.

    Raises:
        ConfigError: if the environment does not qualify, or the length of its games is not known.
    """

    num_players = 2

    def __init__(self, text: str):
        self._text = text
        name = f"pettingzoo:{text}"
        source, arguments = _parse(name, text)
        max_plies = arguments.pop("max_plies", None)
        environment = _make(name, source, arguments)
        reason = _reason_against(environment)
        if reason is not None:
            raise ConfigError.of("game", name, reason=reason)
        is_known = source in _KNOWN
        self.known = _KNOWN[source] if is_known else _UNKNOWN
        #: The object that identifies the rules; for a known environment its name suffices.
        self.rules_object = self if is_known else _rules_of(environment)
        longest = self.known.max_plies(environment)
        self.max_plies = limit_plies(max_plies, longest)
        self.has_key = not self.known.is_determined_by_planes or self.max_plies != longest
        first = environment.agent_selection
        self.agents = first, *(agent for agent in environment.possible_agents if agent != first)
        super().__init__(self, environment)
        self.adds_player = not is_known and self._shows_both_the_same()
        self.num_actions = int(environment.action_space(first).n)
        space = environment.observation_space(first)["observation"]
        is_whole = space.dtype.kind in "biu"  # and holds only 0 and 1:
        self.binary_planes = is_whole and np.min(space.low) >= 0 and np.max(space.high) <= 1
        words = re.sub(r"_v\d+$", "", source.rpartition(":")[2]).split("_")
        self.appearance = {"title": " ".join(words).capitalize()} | self.known.looks

    def __reduce__(self) -> tuple:
        return type(self), (self._text,)

    def symmetries(self) -> Any:
        return self.known.symmetries(self._state)

    def _shows_both_the_same(self) -> bool:
        """Return whether both agents observe the same planes in a game's first 30 positions.

        The first legal action is always played.
        """
        position = self.clone()
        for _ in range(_PROBED_PLIES):
            first, second = (position._state.observe(agent)["observation"] for agent in self.agents)
            if not np.array_equal(first, second):
                return False
            if position.is_over():
                break
            position.step(int(position.legal_actions()[0]))
        return True


# --- which environments qualify -------------------------------------------------------------------


def _reason_against(environment: Any) -> str | None:
    """Return why an environment cannot be played as a game, or None if it can.

    The reason is a clause such as "its agents do not share one Discrete action space".
    """
    if not hasattr(environment, "agent_selection"):
        return "it is not an AEC environment, in which one agent acts at a time"
    agents = environment.possible_agents
    if len(agents) != 2:
        return f"it has {len(agents)} agents; 2 are allowed"
    if environment.metadata.get("is_parallelizable"):
        return "its agents act at the same time ('is_parallelizable')"
    sizes: set = {getattr(environment.action_space(agent), "n", None) for agent in agents}
    if len(sizes) != 1 or None in sizes:
        return "its agents do not share one Discrete action space"
    observed = environment.observe(environment.agent_selection)
    if not isinstance(observed, dict) or not {"observation", "action_mask"} <= observed.keys():
        return "its observations are not a dict of 'observation' and 'action_mask'"
    return None


# --- environments ---------------------------------------------------------------------------------


def _parse(name: str, text: str) -> tuple[str, dict[str, Any]]:
    """Split a text such as "go_v5(board_size=9)" into the environment's name and its arguments.

    Args:
        name: the whole name of the game, for error messages.
        text: the name without "pettingzoo:"; the arguments' values are Python literals.

    Raises:
        ConfigError: if the text does not have this form.
    """
    source = text.partition("(")[0]
    try:
        call = ast.parse(f"f{text[len(source) :] or '()'}", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError(text)
        return source, {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError):
        allowed = "NAME or NAME(key=value,...)"
        raise ConfigError.of("game", name, allowed, "it cannot be read") from None


def _make(name: str, source: str, arguments: dict[str, Any]) -> Any:
    """Make an environment and reset it to the start of a game.

    Args:
        name: the game's name, for error messages.
        source: the name of a classic environment, or ``module:factory``.
        arguments: the keyword arguments of the factory.

    Raises:
        ConfigError: if there is no such environment, or the factory refuses the arguments.
    """
    if ":" in source:
        factory = load_own(source, GAMES, "game")
    elif source in _KNOWN:
        factory = classic_module(source).raw_env
    else:
        reason = (
            "it is unknown, or has agents that act at the same time, chance or hidden information"
        )
        raise ConfigError.of("game", name, [*_KNOWN, "module:factory"], reason)
    try:
        inspect.signature(factory).bind(**arguments)
    except TypeError as error:
        raise ConfigError.of("game", name, reason=str(error)) from None
    environment = factory(**arguments)
    if hasattr(environment, "reset"):
        environment.reset(seed=0)
    return environment


def _rules_of(environment: Any) -> Any:
    """Return the outermost wrapper that is not PettingZoo's own, or else the environment itself."""
    while type(environment).__module__.startswith(_WRAPPERS):
        environment = environment.env
    return environment


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    """Copy an environment, or the value of one of its attributes.

    An environment is copied with its ``clone()`` method or, if it has none, by attributes:
    `copy.deepcopy` would return an environment at the start of the game, since PettingZoo pickles
    environments by how they were made. The copies share the spaces, which never change, and the
    pygame objects, which cannot be copied. Lists and dicts of numbers and strings need no deep copy
    (13 us instead of 60 us for connect_four_v3).

    Args:
        value: the environment, with or without wrappers, or the attribute's value.
        memo: the copies made so far by the id of the original, as in `copy.deepcopy`.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if id(value) in memo:
        return memo[id(value)]
    parts = value.values() if kind is dict else value if kind is list else [value]
    if all(type(part) in _PLAIN for part in parts):
        twin = value.copy()
    elif not hasattr(kind, "observation_space"):
        return copy.deepcopy(value, memo)
    elif hasattr(kind, "clone"):  # the environment would answer for a wrapper without a clone()
        twin = value.clone()
    else:
        twin = memo[id(value)] = object.__new__(kind)
        for name, part in vars(value).items():
            twin.__dict__[name] = part if name in _SHARED_ATTRIBUTES else _copied(part, memo)
    memo[id(value)] = twin
    return twin


_PLAIN = frozenset((int, float, str, bool, type(None)))


# --- the classic environments ---------------------------------------------------------------------


def _chess_cells(environment: Any) -> np.ndarray:
    """Return the board of a chess environment, int8[8, 8]: 0 empty, 1 white, 2 black.

    Row 0 is rank 8.
    """
    board = np.zeros(64, np.int8)
    for square, piece in environment.board.piece_map().items():
        board[square] = 1 if piece.color else 2
    return board.reshape(8, 8)[::-1]


def _chess_text(environment: Any, action: int) -> str:
    """Return a move in standard algebraic notation, such as "Nf3"."""
    utils = importlib.import_module("pettingzoo.classic.chess.chess_utils")
    player = environment.possible_agents.index(environment.agent_selection)
    return environment.board.san(utils.action_to_move(environment.board, action, player))


def _go_cells(environment: Any) -> np.ndarray:
    return np.array([0, 1, 2], np.int8)[environment._go.board]  # white is -1: the last entry


def _like(twin: Any) -> _Known:
    """Return the facts about an environment with the board and the actions of a compiled game."""
    return _Known(
        max_plies=lambda environment: rules.max_plies(twin),
        symmetries=lambda environment: rules.symmetries(twin),
        is_determined_by_planes=True,
    )


_UNKNOWN = _Known(max_plies=lambda environment: getattr(environment, "max_plies", None))
_KNOWN = {
    # It numbers its squares column by column: the same board, mirrored along its diagonal.
    "tictactoe_v3": _like(TicTacToe(3)),
    "connect_four_v3": _like(ConnectX(6, 7, 4)),
    # chess_v6 claims every draw: at most 5,898.5 moves if each 50th captures or moves a pawn.
    "chess_v6": _Known(
        max_plies=lambda environment: 11_797,
        cells=_chess_cells,
        drawn=lambda environment: str(environment.board),
        text=_chess_text,
        looks={"sides": ("White", "Black"), "colors": ("light", "dark"), "board": "wood"},
    ),
    # go_v5 has no superko, so its games may never end; this is OpenSpiel's limit.
    "go_v5": _Known(
        max_plies=lambda environment: 2 * environment._N**2,
        symmetries=lambda environment: square_tables(environment._N, has_pass=True),
        cells=_go_cells,
    ),
}
