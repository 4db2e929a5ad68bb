"""What a game must define for the textbook, and the games of this package in that form.

A game is any object with the methods of `Rules`; it needs no base class. A state is any value that
no method changes. `PlainGame` makes such an object from a batched game, and `NotebookGame` from a
game in the form of the published notebook.
"""

import functools
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

State = Hashable


class Rules(Protocol):
    """The rules of a game for two players, 0 and 1.

    A state determines everything: who is to move, which moves are legal, the result. A pass is an
    action. No position occurs twice in one game.
    """

    def initial_state(self) -> State:
        """Return the start position."""

    def player_to_move(self, state: State) -> int | None:
        """Return 0 for the player who began the game, 1 for the other, even if it is over.

        A game with strictly alternating turns may return None for every state.
        """

    def legal_actions(self, state: State) -> list:
        """Return the legal actions, at least one unless the game is over."""

    def step(self, state: State, action) -> State:
        """Return the state after a legal action; ``state`` stays unchanged."""

    def is_over(self, state: State) -> bool:
        """Return whether the game is finished."""

    def result(self, state: State) -> float:
        """Return the result of a finished game for the player to move there.

        Usually 1 for a win, 0 for a draw, -1 for a loss; other numbers are allowed.
        """


_METHODS = ("initial_state", "player_to_move", "legal_actions", "step", "is_over", "result")
_NOTEBOOK_METHODS = ("start_state", "get_transitions", "run_simulation")


def as_rules(game: Any) -> Any:
    """Return a game as `Rules`: unchanged, or in the notebook's form as `NotebookGame`.

    Raises:
        TypeError: if it has the methods of neither.
    """
    if isinstance(game, type):
        raise TypeError(f"{game.__name__} is a class: use an object of it, {game.__name__}().")
    missing = _lacks(game, _METHODS)
    if not missing:
        return game
    if callable(getattr(game, "get_transitions", None)):
        missing = _lacks(game, _NOTEBOOK_METHODS)
        if not missing:
            return NotebookGame(game)
    raise TypeError(
        f"{game!r} is not a game for the textbook: it has no method '{missing[0]}'. A game of this "
        "package becomes one with PlainGame(alphazero.make_game(...)); a class of your own needs "
        f"{', '.join(_METHODS)}, or {', '.join(_NOTEBOOK_METHODS)}."
    )


def _lacks(game: Any, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if not callable(getattr(game, name, None))]


def turn_passes(game: Rules, state: State, after: State) -> bool:
    """Return whether the player to move differs between a state and the one after it."""
    player = game.player_to_move(after)
    return player is None or player != game.player_to_move(state)


class NotebookGame:
    """A game in the form of the published notebook, as `Rules`; turns alternate.

    The notebook's game has the methods ``start_state()``; ``get_transitions(state)``, which returns
    ``({action: state}, None)``, or ``({}, outcome)`` at the end of the game; and
    ``run_simulation(state)``, the outcome of a random game, also if ``state`` is final. Outcomes
    are any numbers, for the player to move in ``state``. States and actions are hashable.
    ``get_player`` is never called. All other attributes are those of the game.
    """

    def __init__(self, game: Any):
        self.game = game
        self._known = functools.lru_cache(100_000)(self._checked)

    def __getattr__(self, name: str) -> Any:
        if name == "game":  # not set yet, in a copy
            raise AttributeError(name)
        return getattr(self.game, name)

    def initial_state(self) -> State:
        """See `Rules`."""
        return self.game.start_state()

    def player_to_move(self, state: State) -> None:
        """See `Rules`."""

    def legal_actions(self, state: State) -> list:
        """See `Rules`."""
        return list(self._transitions(state)[0])

    def step(self, state: State, action) -> State:
        """See `Rules`."""
        return self._transitions(state)[0][action]

    def is_over(self, state: State) -> bool:
        """See `Rules`."""
        return self._transitions(state)[1] is not None

    def result(self, state: State) -> float:
        """See `Rules`."""
        return self._transitions(state)[1]

    def rollout(self, game: Rules, state: State, rng) -> float:
        """Return the outcome of the game's own simulation, for the player to move in ``state``."""
        outcome = self.game.run_simulation(state)
        if outcome is None:
            raise ValueError(f"run_simulation({state!r}) has returned None: it must be a number.")
        return outcome

    def _transitions(self, state: State) -> tuple[dict, float | None]:
        if not isinstance(state, Hashable):
            raise TypeError(f"a state must be hashable, such as a tuple; {state!r} is not.")
        return self._known(state)

    def _checked(self, state: State) -> tuple[dict, float | None]:
        """Return the transitions of a state.

        Raises:
            ValueError: if they do not have the notebook's form.
        """
        found = self.game.get_transitions(state)
        is_pair = isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], dict)
        if not is_pair or bool(found[0]) == (found[1] is not None):
            raise ValueError(
                f"get_transitions({state!r}) has returned {found!r}: it must be "
                "({action: state}, None), or ({}, outcome) at the end of the game."
            )
        return found


class PlainGame:
    """A game of this package, as `Rules` for single positions.

    A state is a tuple: one row of the states of `alphazero.games.batched_game.Game`.

    Args:
        game: a game from `alphazero.make_game`.
    """

    def __init__(self, game):
        if not (hasattr(game, "inspect") and hasattr(game, "state_dtype")):
            raise TypeError(f"PlainGame takes a game of alphazero.make_game, not {game!r}.")
        self.game = game
        self.action_size: int = game.num_actions
        self._inspect = functools.lru_cache(100_000)(self._look_at)

    def initial_state(self) -> State:
        """See `Rules`."""
        return _to_tuple(self.game.initial_states()[0])

    def player_to_move(self, state: State) -> int:
        """See `Rules`."""
        return self._inspect(state).player

    def legal_actions(self, state: State) -> list[int]:
        """See `Rules`."""
        return list(self._inspect(state).legal_actions)

    def step(self, state: State, action: int) -> State:
        """See `Rules`.

        Raises:
            ValueError: if the action is not legal.
        """
        if action not in self._inspect(state).legal_actions:
            self.game.check_legal(self.to_array(state)[0], action)
        return _to_tuple(self.game.step(self.to_array(state), np.array([action])).states[0])

    def is_over(self, state: State) -> bool:
        """See `Rules`."""
        return self._inspect(state).is_over

    def result(self, state: State) -> float:
        """See `Rules`.

        Raises:
            ValueError: if the game is not over.
        """
        found = self._inspect(state)
        if not found.is_over:
            raise ValueError("the game is not over: it has no result yet.")
        return found.result

    # --- beyond the rules -------------------------------------------------------------------------

    def to_array(self, state: State) -> np.ndarray:
        """Return a state as an array for the batched game, [1, K]."""
        states = np.empty((1, self.game.state_size), self.game.state_dtype)
        for index, word in enumerate(state):
            states[0, index] = word
        return states

    def from_text(self, text: str, player: int) -> State:
        """Return the state of a board in text, one line for each row, with ``player`` to move.

        Raises:
            ValueError: with the row and the column that are wrong.
        """
        return _to_tuple(self.game.text_to_state(text, player))

    def to_text(self, state: State) -> str:
        """Return the board in text, one line for each row."""
        return self.game.state_to_text(self.to_array(state)[0])

    def canonicalize(self, state: State) -> tuple[int, ...]:
        """Return the board, row by row, as the player to move sees it: 1 own, -1 the opponent's."""
        own = 1 + self.player_to_move(state)
        cells = self.game.cells(self.to_array(state)[0]).ravel().tolist()
        return tuple(0 if cell == 0 else 1 if cell == own else -1 for cell in cells)

    def get_symmetries(self, board: tuple, probs: Sequence[float]) -> list[tuple[tuple, list]]:
        """Return the images of a board and its action probabilities under each symmetry.

        Args:
            board: the board from `canonicalize`.
        """
        tables = zip(self.game.cell_symmetries, self.game.action_symmetries)
        return [
            (tuple(board[cell] for cell in cells), [probs[action] for action in actions])
            for cells, actions in tables
        ]

    def _look_at(self, state: State) -> "_Inspected":
        found = self.game.inspect(self.to_array(state))
        result = found.results[0].item()
        return _Inspected(
            is_over=bool(found.over[0]),
            result=int(result) if result.is_integer() else result,
            player=int(found.players[0]),
            legal_actions=tuple(np.flatnonzero(found.legal_action_mask[0]).tolist()),
        )


class _Inspected(NamedTuple):
    is_over: bool
    result: float
    player: int
    legal_actions: tuple[int, ...]


def _to_tuple(row: np.ndarray) -> tuple:
    return tuple(row.tolist())
