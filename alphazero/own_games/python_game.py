"""Play games written in plain Python: the methods they need, and their positions as rows of bytes.

A game is given by its start position, an object with the methods of `Position`, or by an object in
notebook form (`alphazero.own_games.notebook_form`). The object's class is a user's or one in
`alphazero.own_games.adapters`. `PythonGame` stores each position as a row of bytes, so that search,
self-play, replay and stored runs treat the game like a compiled one. A row holds the actions so far
and what the object's methods returned for the position. A table of bounded size keeps the position
objects; a dropped object is rebuilt by replaying its actions. Features that need compiled rules,
such as the fused UCT kernel, do not work with these games.
"""

import copy
import gc
import hashlib
import inspect
import math
import operator
import sys
import types
from collections.abc import Callable, Container, Hashable, Iterable
from typing import Any, Protocol

import numpy as np

from alphazero.games.appearance import read_appearance
from alphazero.games.batched_game import Game, Transition
from alphazero.games.symmetry import identity_tables
from alphazero.own_games.merged_positions import contents
from alphazero.own_games.notebook_form import NotebookStart
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import random_below

_OBJECTS_BYTES = 128 << 20  # most memory of the position objects kept by a game
_ENTRY_BYTES = 1_000  # assumed for an entry of their table, and for what only C++ knows of
_KEPT_PER_MEASUREMENT = 64
_KEY_BYTES = 16


def unusable(name: str, reason: str, value: Any, allowed: Any) -> ConfigError:
    """Return the error to raise for a game that cannot be used.

    Args:
        name: the game's name.
        reason: a clause that says what is wrong, without a final period.
        value: what was refused, such as the name of a method or of the game.
        allowed: what is accepted instead; see `ConfigError`.
    """
    start = f"the game '{name}' cannot be used: "
    message = f"{start}{reason.replace(start, '')}."
    return ConfigError(message, key="game", value=value, allowed=allowed)


def has_python_rules(source: Any) -> bool:
    """Return whether an object or a class looks like a game in plain Python.

    An object does if it has a method ``legal_actions`` or, in notebook form, ``get_transitions``.
    Abstract classes do not count.
    """
    if inspect.isabstract(source):
        return False
    return hasattr(source, "legal_actions") or hasattr(source, "get_transitions")


def make_python_game(source: Any, name: str) -> "PythonGame":
    """Make the game that a plain Python object defines.

    Args:
        source: the start position, with the methods of `Position`, or an object in notebook form.
        name: the name to give the game.

    Raises:
        ConfigError: if a method or attribute is missing or wrong; the message names it.
    """
    if callable(getattr(source, "get_transitions", None)):
        source = NotebookStart(source)
    return PythonGame(source, name)


class Position(Protocol):
    """The methods that a position of a game in plain Python must have.

    Positions obey the laws in `alphazero.games.rules`. A pass is an action. The position alone
    determines the player to move, the legal actions and the result. Results are from the viewpoint
    of the player to move.

    Besides these methods, a class may define:

    ======================  ==================================================================
    ``num_actions``         number of actions A, legal or not; required
    ``max_plies``           upper bound on the actions in a game; required
    ``clone()``             a copy; by default `copy.deepcopy`
    ``observe()``           the network's input for the player to move, [C, H, W]; by default
                            the player's own pieces, the opponent's, and blocked squares if
                            there are any, from ``cells``
    ``binary_planes``       True if ``observe`` returns only 0 and 1, which saves memory
    ``key()``               bytes that distinguish positions with equal ``observe``, such as
                            repetitions
    ``num_players``         1 for a puzzle; by default 2
    ``result_range``        the worst and the best result; by default (-1, 1)
    ``symmetries()``        (cells, actions), as in `alphazero.games.rules.symmetries`
    ``action_squares(a)``   the squares that action a leaves and enters, or fills, as in
                            `alphazero.games.rules.action_squares`
    ``to_text()``           the position as text, if a person needs more than ``cells`` shows; if
                            it returns None, the board is drawn from ``cells``
    ``piece_letters``       letters for an empty square, the first player's piece, the second's;
                            with a fourth letter, ``cells`` has 3 for a blocked square
    ``appearance``          a dict of the fields of `alphazero.games.appearance.Appearance`
    ``action_to_text(a)``   the action's text, read back by ``text_to_action(text)``; by default
                            the names of its squares, or its number
    ``legal_texts()``       the texts of the legal actions, by number, that the web page shows if
                            they depend on the position, as Nf3 does; None if they do not
    ======================  ==================================================================
    """

    num_actions: int
    max_plies: int

    def step(self, action: int) -> None:
        """Play a legal action by changing this object in place; return nothing."""

    def player_to_move(self) -> int:
        """Return the player to move: 0 began the game, 1 is the other player.

        If the game is over, this is the player who would move next. In a puzzle it is always 0.
        """

    def is_over(self) -> bool:
        """Return whether the game is finished."""

    def result(self) -> float:
        """Return the result of a finished game for the player to move.

        It is usually 1 for a win, 0 for a draw and -1 for a loss (see ``result_range``).
        """

    def legal_actions(self) -> Iterable[int]:
        """Return the legal actions, each a number from 0 to ``num_actions`` - 1.

        An unfinished game has at least one. The method is not called after the end of a game.
        """

    def cells(self) -> np.ndarray:
        """Return the board, [H, W]: 0 empty, 1 the first player's piece, 2 the second's.

        A blocked square is 3, in games where ``piece_letters`` has a fourth letter.
        """


class PythonGame(Game):
    """A game whose rules are the methods of a Python object.

    A state is a row of bytes with the fields that `_fields` lists. Replaying the actions rebuilds
    the position object. The bytes before ``plies`` are equal for equal positions, even if different
    actions led to them.

    Args:
        start: the start position, with the methods of `Position`.
        name: the game's name, one that `alphazero.own_games.registry.make_game` accepts; None means
            the name of the object's class.

    Raises:
        ConfigError: if a method or attribute is missing or wrong; the message names it.
    """

    state_dtype = np.dtype(np.uint8)
    planes_shape = 0, 0, 0  # until the first planes are known

    def __init__(self, start: Any, name: str | None = None):
        self.name = name or type(start).__name__
        self.rules_object = getattr(start, "rules_object", start)
        self._check_methods(start)
        self.num_actions = int(start.num_actions)
        self.max_plies = int(start.max_plies)
        low, high = map(float, getattr(start, "result_range", (-1, 1)))
        if not low < high:
            raise self._refusal("result_range", "be (worst, best)", (low, high))
        self.result_range = low, high
        self.num_players = getattr(start, "num_players", 2)
        if self.num_players not in (1, 2):
            raise self._refusal("num_players", "be 1 or 2", self.num_players)
        try:
            self.appearance = read_appearance(getattr(start, "appearance", {}))
        except (TypeError, ValueError) as error:
            raise self._refusal("appearance", f"have fields of Appearance: {error}") from None
        self._start = start
        self.piece_letters = getattr(start, "piece_letters", ".XO")
        self._observes = callable(getattr(start, "observe", None))
        self.has_binary_planes = not self._observes or bool(getattr(start, "binary_planes", False))
        # The adapters of libraries make sure that planes and key determine what follows.
        self._is_determined = getattr(start, "is_determined", False)
        self._has_key = callable(getattr(start, "key", None))
        self.planes_shape = self.planes(start).shape
        tables = _if_defined(start, "symmetries")
        tables = tables or identity_tables(*self.planes_shape[1:], self.num_actions)
        self.cell_symmetries, self.action_symmetries = tables
        self._action_type = np.dtype(np.uint8 if self.num_actions <= 256 else np.uint16)
        fields = self._fields()
        self._identity = np.dtype(fields[:-2])  # without the moves
        self._row = np.dtype(fields)
        self.identity_size = self._identity.itemsize
        self.state_size = self._row.itemsize
        #: Position objects by the bytes of the actions that lead to them. Threads share this dict:
        #: its operations are atomic, and a lost entry only costs a replay.
        self._objects: dict[bytes, Any] = {}
        self._object_bytes = 0  # of the object that was measured last
        self._shared = _reached(start, ()).keys()
        no_actions = np.zeros((1, self.max_plies), self._action_type)
        self._start_state = self._rows([start], no_actions, 0)

    def __reduce__(self) -> tuple[type, tuple[Any, str]]:
        return type(self), (self._start, self.name)

    def initial_states(self, num_games: int = 1) -> np.ndarray:
        return np.repeat(self._start_state, num_games, axis=0)

    def step(self, states: np.ndarray, actions: np.ndarray) -> Transition:
        rows = _view(states, self._row)
        plies = rows["plies"].astype(np.int64)
        played = rows["actions"].copy()
        if len(plies) and plies.max() >= self.max_plies:
            raise self._refusal("max_plies", "be larger, as a game goes on", self.max_plies)
        positions = []
        for row, action in enumerate(np.asarray(actions).tolist()):
            ply = plies[row]
            before = self._object(played[row, :ply].tobytes())
            position = self.after(before, action)
            played[row, ply] = action
            self._keep(played[row, : ply + 1].tobytes(), position)
            positions.append(position)
        return self.inspect(self._rows(positions, played, plies + 1))

    def inspect(self, states: np.ndarray) -> Transition:
        return packed_transition(states, self._identity, self.num_actions)

    def observe(self, states: np.ndarray) -> np.ndarray:
        planes = _view(states, self._identity)["planes"]
        if self.has_binary_planes:
            planes = np.unpackbits(planes, axis=1, count=math.prod(self.planes_shape))
        return planes.astype(np.float32).reshape(-1, *self.planes_shape)

    def playout(self, states: np.ndarray, rng: np.ndarray) -> np.ndarray:
        results = [self._playout(self.position(state), rng) for state in states]
        return np.array(results, np.float32)

    def position(self, state: np.ndarray) -> Any:
        """Return a state's position object, which the caller must not change."""
        (row,) = _view(state[None], self._row)
        return self._object(row["actions"][: row["plies"]].tobytes())

    def variant(self, state: np.ndarray) -> Hashable:
        try:
            return () if self._is_determined else contents(self.position(state))
        except Exception:  # an object that cannot be taken apart: compare the moves so far
            return state[self.identity_size :].tobytes()

    def moves_of(self, state: np.ndarray) -> list[int]:
        (row,) = _view(state[None], self._row)
        return row["actions"][: row["plies"]].tolist()

    def reread(self, state: np.ndarray) -> np.ndarray:
        """Compute a state (K entries) from its position object again.

        The new state equals ``state`` unless the rules break a law, for example by changing an
        object that they should have copied.
        """
        rows = _view(state[None], self._row)
        return self._rows([self.position(state)], rows["actions"], rows["plies"])[0]

    def after(self, position: Any, action: int) -> Any:
        """Play an action on a copy of a position object, and return the copy.

        Raises:
            ConfigError: if ``step`` returns a new position instead of changing its object.
        """
        following = self.copied(position)
        returned = following.step(action)
        if isinstance(returned, type(position)) and returned is not following:
            raise self._refusal("step", "change its object, and return nothing", returned)
        return following

    def copied(self, position: Any) -> Any:
        """Copy a position object with its ``clone`` method or, if it has none, `copy.deepcopy`.

        Raises:
            ConfigError: if ``clone`` returns no position, or `copy.deepcopy` fails.
        """
        if hasattr(position, "clone"):
            return self._returned(position, "clone")
        try:
            return copy.deepcopy(position)
        except Exception as error:
            allowed = f"be defined, as the object cannot be copied without it ({error})"
            raise self._refusal("clone", allowed) from error

    def planes(self, position: Any) -> np.ndarray:
        """Return the network's input, [C, H, W], for the player to move in a position object."""
        if self._observes:
            return self._returned(position, "observe")
        cells = self._returned(position, "cells")
        own = 1 + self._returned(position, "player_to_move")
        blocked = [cells == 3] * (len(self.piece_letters) - 3)
        return np.array([cells == own, cells == 3 - own, *blocked])

    def scaled_result(self, position: Any) -> float:
        """Return the result of a finished game for the player to move, scaled to [-1, 1].

        Raises:
            ConfigError: if the result is not a number in ``result_range``.
        """
        return self._returned(position, "result")

    # --- text -------------------------------------------------------------------------------------

    def cells(self, state: np.ndarray) -> np.ndarray:
        return self._returned(self.position(state), "cells").astype(np.int8)

    def drawn(self, state: np.ndarray) -> str | None:
        return _if_defined(self.position(state), "to_text")

    def legal_texts(self, state: np.ndarray) -> list[str] | None:
        return _if_defined(self.position(state), "legal_texts")

    def action_squares(self, action: int) -> tuple[int, ...]:
        return tuple(_if_defined(self._start, "action_squares", action) or ())

    def own_action_text(self, action: int) -> str | None:
        return _if_defined(self._start, "action_to_text", action)

    def own_text_action(self, text: str) -> int | None:
        return _if_defined(self._start, "text_to_action", text)

    # --- objects and numbers ----------------------------------------------------------------------

    def _rows(self, positions: list, played: np.ndarray, plies: np.ndarray | int) -> np.ndarray:
        """Convert position objects to states, [B, K].

        Args:
            positions: B position objects.
            played: [B, max_plies], the actions so far in each game, followed by unused entries.
            plies: int[B], the number of actions so far in each game; or one number for all.
        """
        num = len(positions)
        rows = np.zeros(num, self._row)
        rows["plies"] = plies
        rows["actions"] = played
        players, overs, results, keys = (rows[name] for name in ("player", "over", "result", "key"))
        legal = np.zeros((num, self.num_actions), np.bool_)
        planes_type = np.bool_ if self.has_binary_planes else np.float32
        planes = np.zeros((num, *self.planes_shape), planes_type)
        for row, position in enumerate(positions):
            players[row] = self._returned(position, "player_to_move")
            overs[row] = over = self._returned(position, "is_over")
            if over:
                results[row] = self.scaled_result(position)
            else:
                legal[row, self._returned(position, "legal_actions")] = True
            planes[row] = self.planes(position)
            if self._has_key:
                keys[row] = self._returned(position, "key")
        rows["legal"] = np.packbits(legal, axis=1)
        flat = planes.reshape(num, math.prod(self.planes_shape))
        rows["planes"] = np.packbits(flat, axis=1) if self.has_binary_planes else flat
        return rows.view(np.uint8).reshape(num, self.state_size)

    def _object(self, key: bytes) -> Any:
        """Return the position object after a sequence of actions from the start.

        An object missing from the table ``_objects`` is rebuilt: the remaining actions are replayed
        from the latest earlier position in the table.

        Args:
            key: the array of actions as bytes; its dtype is ``_action_type``.
        """
        known = len(key)
        position = self._objects.get(key)
        while position is None and known > 0:
            known -= self._action_type.itemsize
            position = self._objects.get(key[:known])
        if position is None:
            position = self._start
        elif known == len(key):
            return position
        position = self.copied(position)
        for action in np.frombuffer(key[known:], self._action_type).tolist():
            position.step(action)
        self._keep(key, position)
        return position

    def _keep(self, key: bytes, position: Any) -> None:
        """Store a position object in the table; if the table is full, drop its older half first."""
        objects = self._objects
        if len(objects) % _KEPT_PER_MEASUREMENT == 0:
            own = _reached(position, self._shared).values()
            self._object_bytes = _ENTRY_BYTES + len(key) + sum(map(sys.getsizeof, own))
        if len(objects) * self._object_bytes > _OBJECTS_BYTES:
            for old in list(objects)[: len(objects) // 2]:
                objects.pop(old, None)  # another thread may have dropped it
        objects[key] = position

    def _fields(self) -> list[tuple]:
        """Return the fields of a state's row, in order: those of the position, those of the moves.

        There is one bit or one float32 for each value of the planes. ``key`` is a digest of what
        the object's `key()` returns.
        """
        num_values = math.prod(self.planes_shape)
        planes = ("u1", -(-num_values // 8)) if self.has_binary_planes else ("f4", num_values)
        return [
            *header_fields(self.num_actions),
            ("planes", planes[0], planes[1:]),
            ("key", "u1", (_KEY_BYTES * self._has_key,)),
            ("plies", "u2"),
            ("actions", self._action_type, (self.max_plies,)),
        ]

    def _playout(self, position: Any, rng: np.ndarray) -> float:
        """Play a random game from a position object to its end.

        Args:
            position: the position object to start from.
            rng: uint64[1], the random state, which is advanced in place.

        Returns:
            The result in [-1, 1], for the player to move at ``position``, which stays unchanged.
        """
        player = position.player_to_move()
        position = self.copied(position)
        while not position.is_over():
            legal = list(position.legal_actions())
            position.step(int(legal[random_below(rng, len(legal))]))
        result = self.scaled_result(position)
        return result if position.player_to_move() == player else -result

    # --- errors -----------------------------------------------------------------------------------

    def _returned(self, position: Any, name: str) -> Any:
        """Call a method of a position object, and return what it returned as `_METHODS` reads it.

        Raises:
            ConfigError: if it cannot be read; the message names the method and the value.
        """
        read, allowed = _METHODS[name]
        value = getattr(position, name)()
        try:
            return read(self, value)
        except (AttributeError, BufferError, TypeError, ValueError):
            raise self._refusal(name, f"return {allowed.format(self)}", value) from None

    def _check_methods(self, start: Any) -> None:
        for name in ("step", "player_to_move", "is_over", "result", "legal_actions", "cells"):
            if not callable(getattr(start, name, None)):
                raise self._refusal(name, "be a method of the class")
        for name in ("num_actions", "max_plies"):
            value = getattr(start, name, None)
            if not isinstance(value, int | np.integer) or not 1 <= value <= 65_535:
                raise self._refusal(name, "be a whole number from 1 to 65535", value)

    def _refusal(self, name: str, allowed: str, value: Any = ...) -> ConfigError:
        """Return the error to raise for a method or an attribute of the game's class.

        Args:
            name: the method or attribute.
            allowed: what it must do or be, such as "return bytes".
            value: what it is or has returned instead; by default it is not shown.
        """
        shown = "" if value is ... else f", not {' '.join(repr(value).split())[:100]}"
        reason = f"{type(self.rules_object).__name__}.{name} must {allowed}{shown}"
        return unusable(self.name, reason, name, allowed)


# --- what the methods of a position return --------------------------------------------------------


def _numbers(game: PythonGame, returned: Any, num_axes: int) -> np.ndarray:
    array = np.asarray(returned)
    shape = game.planes_shape[-num_axes:] if any(game.planes_shape) else array.shape
    if array.ndim != num_axes or array.shape != shape or array.dtype.kind not in "biuf":
        raise ValueError
    return array


def _actions(game: PythonGame, returned: Any) -> list[int]:
    actions = list(map(operator.index, returned))
    if not 0 <= min(actions) <= max(actions) < game.num_actions:
        raise ValueError
    return actions


def _result(game: PythonGame, result: Any) -> float:
    low, high = game.result_range
    if np.ndim(result) or not low <= result <= high:
        raise ValueError
    return 2 * (float(result) - low) / (high - low) - 1


#: For each method of a position, a function of the game and of what the method returned, and what
#: that must be. The function returns the value to use, or raises an error if the value is wrong.
_METHODS: dict[str, tuple[Callable[[PythonGame, Any], Any], str]] = {
    "clone": (lambda game, copied: copied.step and copied, "a copy"),
    "player_to_move": (
        lambda game, player: range(game.num_players).index(operator.index(player)),
        "a whole number from 0, below num_players={0.num_players}",
    ),
    "is_over": (lambda game, over: bool(over), "True or False"),
    "result": (
        _result,
        "a number from {0.result_range[0]:g} to {0.result_range[1]:g} (result_range)",
    ),
    "legal_actions": (
        _actions,
        "whole numbers from 0, below num_actions={0.num_actions}, at least one",
    ),
    "cells": (
        lambda game, cells: _numbers(game, cells, 2),
        "numbers of the shape [H, W] of the planes",
    ),
    "observe": (
        lambda game, planes: _numbers(game, planes, 3),
        "numbers, always of one shape [C, H, W]",
    ),
    "key": (lambda game, key: list(hashlib.blake2b(key, digest_size=_KEY_BYTES).digest()), "bytes"),
}


def _if_defined(position: Any, name: str, *arguments: Any) -> Any:
    """Call an optional method, and return what it returns; None if there is no such method."""
    method = getattr(position, name, None)
    return method(*arguments) if callable(method) else None


# --- memory and bytes -----------------------------------------------------------------------------


def _reached(root: Any, known: Container[int]) -> dict[int, Any]:
    """Return the objects that an object refers to, directly or not, and itself, by their ids.

    Args:
        root: the object.
        known: the ids of objects to leave out, with what only they refer to.
    """
    reached: dict[int, Any] = {}
    pending = [root]
    while pending:
        one = pending.pop()
        if not (id(one) in reached or id(one) in known or isinstance(one, _SHARED_TYPES)):
            reached[id(one)] = one
            pending += gc.get_referents(one)
    return reached


_SHARED_TYPES = type, types.ModuleType, types.FunctionType


def header_fields(num_actions: int) -> list[tuple]:
    """Return the first fields of a state's row, which `packed_transition` reads.

    There is one bit for each action, which says whether it is legal.
    """
    legal = ("legal", "u1", (-(-num_actions // 8),))
    return [("result", "f4"), ("player", "i1"), ("over", "?"), legal]


def packed_transition(states: np.ndarray, dtype: np.dtype, num_actions: int) -> Transition:
    """Return the state of play in positions whose rows begin with `header_fields`.

    Args:
        states: uint8[B, K], the positions.
        dtype: the fields with which a row begins.
        num_actions: the number of actions A.
    """
    rows = _view(states, dtype)
    legal = np.unpackbits(rows["legal"], axis=1, count=num_actions)
    return Transition(
        states=states,
        over=rows["over"].copy(),
        results=rows["result"].copy(),
        players=rows["player"].copy(),
        legal_action_mask=legal.view(np.bool_),
    )


def _view(states: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Reinterpret the first bytes of each row, uint8[B, n], as the fields of ``dtype``, [B]."""
    return np.ascontiguousarray(states[:, : dtype.itemsize]).view(dtype)[:, 0]
