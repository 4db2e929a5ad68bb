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
import hashlib
import inspect
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from alphazero.games.appearance import read_appearance
from alphazero.games.batched_game import Game, Transition
from alphazero.games.symmetry import identity_tables
from alphazero.own_games.notebook_form import NotebookStart
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import random_below

_MAX_OBJECTS = 65_536  # most position objects kept at a time; each takes about 1 kB
_KEY_BYTES = 16
# Bytes in the header of a row, see `_Layout`.
_RESULT = slice(0, 4)
_PLAYER = 4
_OVER = 5
_HEADER = 6
_UNUSABLE = "the game '{}' cannot be used: "


def unusable(name: str, reason: str, value: Any, allowed: Any) -> ConfigError:
    """Return the error to raise for a game that cannot be used.

    Args:
        name: the game's name.
        reason: a clause that says what is wrong, without a final period.
        value: what was refused, such as the name of a method or of the game.
        allowed: what is accepted instead; see `ConfigError`.
    """
    start = _UNUSABLE.format(name)
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
        return PythonGame(NotebookStart(source, name), name)
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

    def legal_actions(self) -> Sequence[int]:
        """Return the legal actions, each a number from 0 to ``num_actions`` - 1.

        An unfinished game has at least one. The method is not called after the end of a game.
        """

    def cells(self) -> np.ndarray:
        """Return the board, [H, W]: 0 empty, 1 the first player's piece, 2 the second's.

        A blocked square is 3, in games where ``piece_letters`` has a fourth letter.
        """


class _Layout(NamedTuple):
    """The byte offset of each part of the row that stores a position.

        0-3 result, float32 | 4 player | 5 over | legal | planes | key | plies | actions

    Replaying the actions rebuilds the position object. The bytes before ``plies`` are equal for
    equal positions, even if different actions led to them.
    """

    legal: int  #: whether each action is legal, one bit each
    planes: int  #: the network's input, one bit or one float32 per value
    key: int  #: digest of the object's `key()`, if it has that method
    plies: int  #: number of actions so far, uint16
    actions: int  #: the actions, uint8 or uint16
    size: int  #: length of the row in bytes


class PythonGame(Game):
    """A game whose rules are the methods of a Python object.

    Args:
        start: the start position, with the methods of `Position`.
        name: the game's name, one that `alphazero.own_games.registry.make_game` accepts; None means
            the name of the object's class.

    Raises:
        ConfigError: if a method or attribute is missing or wrong; the message names it.
    """

    state_dtype = np.dtype(np.uint8)

    def __init__(self, start: Any, name: str | None = None):
        self.name = name or type(start).__name__
        self._check_methods(start)
        self.num_actions = int(start.num_actions)
        self.max_plies = int(start.max_plies)
        low, high = getattr(start, "result_range", (-1, 1))
        self.result_range = float(low), float(high)
        if not low < high:
            raise self._refusal("result_range", f"(worst, best), not {(low, high)}")
        self.num_players = getattr(start, "num_players", 2)
        if self.num_players not in (1, 2):
            raise self._refusal("num_players", f"1 or 2, not {self.num_players}")
        try:
            self.appearance = read_appearance(getattr(start, "appearance", {}))
        except (TypeError, ValueError) as error:
            raise self._refusal("appearance", f"fields of Appearance: {error}") from None
        self._start = start
        self.rules_object = getattr(start, "rules_object", start)
        self.piece_letters = getattr(start, "piece_letters", ".XO")
        self._observes = callable(getattr(start, "observe", None))
        self.has_binary_planes = not self._observes or bool(getattr(start, "binary_planes", False))
        self._has_key = callable(getattr(start, "key", None))
        self.planes_shape = np.shape(self.planes(start))
        if len(self.planes_shape) != 3:
            raise self._refusal("observe", f"an array of 3 axes, not {self.planes_shape}")
        tables = start.symmetries() if callable(getattr(start, "symmetries", None)) else None
        tables = tables or identity_tables(*self.planes_shape[1:], self.num_actions)
        self.cell_symmetries, self.action_symmetries = tables
        self._action_type = np.dtype(np.uint8 if self.num_actions <= 256 else np.uint16)
        self._layout = self._make_layout()
        self.state_size = self._layout.size
        self.identity_size = self._layout.plies  # without the actions so far
        #: Position objects by the bytes of the actions that lead to them. Threads share this dict:
        #: its operations are atomic, and a lost entry only costs a replay.
        self._objects: dict[bytes, Any] = {}
        no_actions = np.zeros((1, self.max_plies), self._action_type)
        self._start_state = self._rows([start], no_actions, 0)

    def __reduce__(self) -> tuple[type, tuple[Any, str]]:
        return type(self), (self._start, self.name)

    def initial_states(self, num_games: int = 1) -> np.ndarray:
        return np.repeat(self._start_state, num_games, axis=0)

    def step(self, states: np.ndarray, actions: np.ndarray) -> Transition:
        plies = self._plies(states)
        played = self._actions(states).copy()
        if len(plies) and plies.max() >= self.max_plies:
            raise self._refusal("max_plies", f"at least {self.max_plies + 1}: a game goes on")
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
        self.check_states(states)
        layout = self._layout
        over = states[:, _OVER].astype(np.bool_)
        legal = np.unpackbits(states[:, layout.legal : layout.planes], axis=1)
        return Transition(
            states=states,
            over=over,
            results=_view(states[:, _RESULT], np.float32)[:, 0].copy(),
            players=states[:, _PLAYER].astype(np.int8),
            legal_action_mask=legal[:, : self.num_actions].astype(np.bool_),
        )

    def observe(self, states: np.ndarray) -> np.ndarray:
        part = states[:, self._layout.planes : self._layout.key]
        if self.has_binary_planes:
            num_values = math.prod(self.planes_shape)
            planes = np.unpackbits(part, axis=1)[:, :num_values]
            return planes.astype(np.float32).reshape(-1, *self.planes_shape)
        return _view(part, np.float32).reshape(-1, *self.planes_shape).copy()

    def playout(self, states: np.ndarray, rng: np.ndarray) -> np.ndarray:
        results = np.empty(len(states), np.float32)
        for row, state in enumerate(states):
            results[row] = self._playout(self.position(state), rng)
        return results

    def position(self, state: np.ndarray) -> Any:
        """Return a state's position object, which the caller must not change."""
        batch = state[None]
        ply = self._plies(batch)[0]
        return self._object(self._actions(batch)[0, :ply].tobytes())

    def reread(self, state: np.ndarray) -> np.ndarray:
        """Compute a state (K entries) anew from its position object.

        The new state equals ``state`` unless the rules break a law, for example by changing an
        object that they should have copied.
        """
        batch = state[None]
        positions = [self.position(state)]
        return self._rows(positions, self._actions(batch), self._plies(batch))[0]

    def after(self, position: Any, action: int) -> Any:
        """Play an action on a copy of a position object, and return the copy.

        Raises:
            ConfigError: if ``step`` returns a new position instead of changing its object.
        """
        following = self.copied(position)
        returned = following.step(action)
        if isinstance(returned, type(position)) and returned is not following:
            raise self._refusal("step", "a method that changes its object and returns nothing")
        return following

    def copied(self, position: Any) -> Any:
        """Copy a position object with its ``clone`` method or, if it has none, `copy.deepcopy`."""
        clone = getattr(position, "clone", None)
        return copy.deepcopy(position) if clone is None else clone()

    def planes(self, position: Any) -> np.ndarray:
        """Return the network's input, [C, H, W], for the player to move in a position object."""
        if self._observes:
            return position.observe()
        cells = np.asarray(position.cells())
        own = 1 + position.player_to_move()
        blocked = [cells == 3] * (len(self.piece_letters) - 3)
        return np.stack([cells == own, cells == 3 - own, *blocked])

    def scaled_result(self, position: Any) -> float:
        """Return the result of a finished game for the player to move, scaled to [-1, 1].

        Raises:
            ConfigError: if the result is None or outside ``result_range``.
        """
        low, high = self.result_range
        result = position.result()
        if result is None or not low <= result <= high:
            raise self._refusal("result", f"from {low:g} to {high:g} (result_range), not {result}")
        return 2 * (result - low) / (high - low) - 1

    # --- text -------------------------------------------------------------------------------------

    def cells(self, state: np.ndarray) -> np.ndarray:
        return np.asarray(self.position(state).cells(), np.int8)

    def drawn(self, state: np.ndarray) -> str | None:
        position = self.position(state)
        return position.to_text() if callable(getattr(position, "to_text", None)) else None

    def legal_texts(self, state: np.ndarray) -> list[str] | None:
        position = self.position(state)
        return position.legal_texts() if hasattr(position, "legal_texts") else None

    def action_squares(self, action: int) -> tuple[int, ...]:
        own = getattr(self._start, "action_squares", None)
        return () if own is None else tuple(own(action))

    def own_action_text(self, action: int) -> str | None:
        own = getattr(self._start, "action_to_text", None)
        return None if own is None else own(action)

    def own_text_action(self, text: str) -> int | None:
        own = getattr(self._start, "text_to_action", None)
        return None if own is None else own(text)

    # --- objects and numbers ----------------------------------------------------------------------

    def _rows(self, positions: list, played: np.ndarray, plies: np.ndarray | int) -> np.ndarray:
        """Convert position objects to states, [B, K].

        Args:
            positions: B position objects.
            played: [B, max_plies], the actions so far in each game, followed by unused entries.
            plies: int[B], the number of actions so far in each game; or one number for all.
        """
        num = len(positions)
        layout = self._layout
        states = np.zeros((num, layout.size), np.uint8)
        legal = np.zeros((num, self.num_actions), np.bool_)
        results = np.zeros((num, 1), np.float32)
        planes_type = np.bool_ if self.has_binary_planes else np.float32
        planes = np.zeros((num, *self.planes_shape), planes_type)
        for row, position in enumerate(positions):
            states[row, _PLAYER] = position.player_to_move()
            if position.is_over():
                states[row, _OVER] = 1
                results[row] = self.scaled_result(position)
            else:
                self._mark_legal(legal[row], position)
            planes[row] = self.planes(position)
            if self._has_key:
                digest = hashlib.blake2b(position.key(), digest_size=_KEY_BYTES).digest()
                states[row, layout.key : layout.plies] = np.frombuffer(digest, np.uint8)
        states[:, _RESULT] = results.view(np.uint8)
        states[:, layout.legal : layout.planes] = np.packbits(legal, axis=1)
        flat = planes.reshape(num, math.prod(self.planes_shape))
        packed = np.packbits(flat, axis=1) if self.has_binary_planes else flat.view(np.uint8)
        states[:, layout.planes : layout.key] = packed
        counts = np.empty((num, 1), np.uint16)
        counts[:, 0] = plies
        states[:, layout.plies : layout.actions] = counts.view(np.uint8)
        states[:, layout.actions :] = played.view(np.uint8)
        return states

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
        if len(self._objects) >= _MAX_OBJECTS:
            self._objects.clear()
        self._objects[key] = position

    def _make_layout(self) -> _Layout:
        num_values = math.prod(self.planes_shape)
        planes_size = -(-num_values // 8) if self.has_binary_planes else 4 * num_values
        legal = _HEADER
        planes = legal + -(-self.num_actions // 8)
        key = planes + planes_size
        plies = key + _KEY_BYTES * self._has_key
        actions = plies + 2
        size = actions + self.max_plies * self._action_type.itemsize
        return _Layout(legal, planes, key, plies, actions, size)

    def _plies(self, states: np.ndarray) -> np.ndarray:
        layout = self._layout
        counts = _view(states[:, layout.plies : layout.actions], np.uint16)
        return counts[:, 0].astype(np.int64)

    def _actions(self, states: np.ndarray) -> np.ndarray:
        return _view(states[:, self._layout.actions :], self._action_type)

    def _mark_legal(self, mask: np.ndarray, position: Any) -> None:
        actions = position.legal_actions()
        try:
            mask[list(actions)] = True
        except (IndexError, TypeError, ValueError):
            allowed = f"numbers from 0 to {self.num_actions - 1}, not {actions}"
            raise self._refusal("legal_actions", allowed) from None
        if not mask.any():
            raise self._refusal("legal_actions", "at least one action while the game is not over")

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
            legal = position.legal_actions()
            position.step(int(legal[random_below(rng, len(legal))]))
        result = self.scaled_result(position)
        return result if position.player_to_move() == player else -result

    def _check_methods(self, start: Any) -> None:
        for name in ("step", "player_to_move", "is_over", "result", "legal_actions", "cells"):
            if not callable(getattr(start, name, None)):
                raise self._refusal(name, "a method of the class")
        for name in ("num_actions", "max_plies"):
            value = getattr(start, name, None)
            if not isinstance(value, int | np.integer) or not 1 <= value <= 65_535:
                raise self._refusal(name, "a whole number from 1 to 65535")

    def _refusal(self, name: str, allowed: str) -> ConfigError:
        return unusable(self.name, f"{name} must be {allowed}", name, allowed)


def _view(part: np.ndarray, dtype: Any) -> np.ndarray:
    """Reinterpret each row of bytes, uint8[B, n], as numbers of the given dtype."""
    return np.ascontiguousarray(part).view(dtype)
