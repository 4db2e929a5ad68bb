"""Define the methods that the textbook's searches call on a game, and adapt games without them.

A game is any object with the methods of `Rules`; it needs no base class. A state is any hashable
value that no method changes. `PlainGame` adapts one of the batched games that `alphazero.make_game`
returns, and `NotebookGame` a game in the form of the notebooks in docs/notebooks.md.
"""

import functools
from collections.abc import Hashable
from typing import Any, NamedTuple, Protocol

import numpy as np

State = Hashable


class Rules(Protocol):
    """The rules of a game for two players, 0 and 1, as the textbook's searches call them.

    A state alone determines the player to move, the legal actions and the result. A pass is an
    action. No position occurs twice in one game.
    """

    def initial_state(self) -> State:
        """Return the start position."""

    def player_to_move(self, state: State) -> int | None:
        """Return the player to move: 0 began the game, 1 is the other player.

        If the game is over, this is the player who would move next. A game whose players strictly
        alternate may return None for every state.
        """

    def legal_actions(self, state: State) -> list:
        """Return the legal actions, of which an unfinished game has at least one."""

    def step(self, state: State, action) -> State:
        """Return the state after a legal action, leaving ``state`` unchanged."""

    def is_over(self, state: State) -> bool:
        """Return whether the game is finished."""

    def result(self, state: State) -> float:
        """Return the result of a finished game for the player who would move next.

        It is usually 1 for a win, 0 for a draw and -1 for a loss, but may be any number.
        """


_METHODS = ("initial_state", "player_to_move", "legal_actions", "step", "is_over", "result")
_NOTEBOOK_METHODS = ("start_state", "get_transitions", "run_simulation")


def as_rules(game: Any) -> Any:
    """Return a game with the methods of `Rules`, adapting a game in notebook form.

    Args:
        game: an object with the methods of `Rules`, which is returned unchanged, or with those that
            `NotebookGame` needs.

    Raises:
        TypeError: if ``game`` is a class, or an object with the methods of neither form.
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
    """Return whether the move from ``state`` to ``after`` passes the turn to the other player.

    It always does if `player_to_move` returns None.
    """
    player = game.player_to_move(after)
    return player is None or player != game.player_to_move(state)


class NotebookGame:
    """Adapts a game in the form of the notebooks in docs/notebooks.md to `Rules`; turns alternate.

    Such a game has three methods. ``start_state()`` returns the start position.
    ``get_transitions(state)`` returns ``({action: state}, None)``, or ``({}, outcome)`` at the end
    of the game. ``run_simulation(state)`` returns the outcome of a random game, even if ``state``
    is final. Outcomes are any numbers, for the player to move in ``state``. States and actions are
    hashable. ``get_player`` is never called. Any other attribute is looked up in the adapted game.

    Args:
        game: the game in notebook form.
    """

    def __init__(self, game: Any):
        self.game = game
        self._known = functools.lru_cache(100_000)(self._checked)

    def __getattr__(self, name: str) -> Any:
        if name == "game":  # while a copy is being made, it is not set yet
            raise AttributeError(name)
        return getattr(self.game, name)

    def initial_state(self) -> State:
        """Return the start position; see `Rules.initial_state`."""
        return self.game.start_state()

    def player_to_move(self, state: State) -> None:
        """Return None, because the players strictly alternate; see `Rules.player_to_move`."""

    def legal_actions(self, state: State) -> list:
        """Return the legal actions, [] if the game is over; see `Rules.legal_actions`."""
        return list(self._transitions(state)[0])

    def step(self, state: State, action) -> State:
        """Return the state after a legal action; see `Rules.step`."""
        return self._transitions(state)[0][action]

    def is_over(self, state: State) -> bool:
        """Return whether the game is finished; see `Rules.is_over`."""
        return self._transitions(state)[1] is not None

    def result(self, state: State) -> float:
        """Return the result of a finished game for the player to move; see `Rules.result`."""
        return self._transitions(state)[1]

    def rollout(self, game: Rules, state: State, rng) -> float:
        """Return the outcome of a random game that the adapted game's ``run_simulation`` plays.

        The outcome is for the player to move in ``state``. This method replaces
        `alphazero.textbook.uct.random_rollout`, so it takes the same arguments; ``game`` and
        ``rng`` are not used.

        Raises:
            ValueError: if ``run_simulation`` returns None.
        """
        outcome = self.game.run_simulation(state)
        if outcome is None:
            raise ValueError(f"run_simulation({state!r}) has returned None: it must be a number.")
        return outcome

    def _transitions(self, state: State) -> tuple[dict, float | None]:
        if not isinstance(state, Hashable):
            raise TypeError(f"a state must be hashable, such as a tuple; {state!r} is not.")
        return self._known(state)

    def _checked(self, state: State) -> tuple[dict, float | None]:
        """Call the game's ``get_transitions`` for a state and check the form of what it returns.

        Raises:
            ValueError: if it returns neither ``({action: state}, None)`` nor ``({}, outcome)``.
        """
        answer = self.game.get_transitions(state)
        is_pair = isinstance(answer, tuple) and len(answer) == 2
        is_valid = is_pair and isinstance(answer[0], dict)
        if not is_valid or bool(answer[0]) == (answer[1] is not None):
            raise ValueError(
                f"get_transitions({state!r}) has returned {answer!r}: it must be "
                "({action: state}, None), or ({}, outcome) at the end of the game."
            )
        return answer


class PlainGame:
    """Adapts a batched game (`alphazero.games.batched_game.Game`) to `Rules`.

    A state is a tuple of numbers: one row of the batched game's array of states.

    Args:
        game: a batched game, such as `alphazero.make_game` returns.

    Raises:
        TypeError: if ``game`` is not a batched game.
    """

    def __init__(self, game):
        if not (hasattr(game, "inspect") and hasattr(game, "state_dtype")):
            raise TypeError(f"PlainGame takes a game of alphazero.make_game, not {game!r}.")
        self.game = game
        self._inspect = functools.lru_cache(100_000)(self._look_at)

    def initial_state(self) -> State:
        """Return the start position; see `Rules.initial_state`."""
        return _to_tuple(self.game.initial_states()[0])

    def player_to_move(self, state: State) -> int:
        """Return the player to move, 0 or 1; see `Rules.player_to_move`."""
        return self._inspect(state).player

    def legal_actions(self, state: State) -> list[int]:
        """Return the legal actions, [] if the game is over; see `Rules.legal_actions`."""
        return list(self._inspect(state).legal_actions)

    def step(self, state: State, action: int) -> State:
        """Return the state after a legal action; see `Rules.step`.

        Raises:
            ValueError: if the action is not legal.
        """
        states = self.to_array(state)
        if action not in self._inspect(state).legal_actions:
            self.game.check_legal(states[0], action)
        after = self.game.step(states, np.array([action]))
        return _to_tuple(after.states[0])

    def is_over(self, state: State) -> bool:
        """Return whether the game is finished; see `Rules.is_over`."""
        return self._inspect(state).is_over

    def result(self, state: State) -> float:
        """Return the result of a finished game for the player to move; see `Rules.result`.

        Raises:
            ValueError: if the game is not over.
        """
        inspected = self._inspect(state)
        if not inspected.is_over:
            raise ValueError("the game is not over: it has no result yet.")
        return inspected.result

    # --- beyond the rules -------------------------------------------------------------------------

    def to_array(self, state: State) -> np.ndarray:
        """Convert a state to an array of one row for the batched game: [1, ``game.state_size``]."""
        states = np.empty((1, self.game.state_size), self.game.state_dtype)
        for index, word in enumerate(state):
            states[0, index] = word
        return states

    def from_text(self, text: str, player: int) -> State:
        """Convert a board, typed as one line per row, to the state with ``player`` to move.

        Args:
            text: the board in the form that `to_text` writes.
            player: the player to move; 0 began the game.

        Raises:
            ValueError: if the text is not a board (the message names the wrong row and column) or
                the position cannot be set up.
        """
        return _to_tuple(self.game.text_to_state(text, player))

    def to_text(self, state: State) -> str:
        """Draw the position as text, usually one line per row of the board."""
        return self.game.state_to_text(self.to_array(state)[0])

    def _look_at(self, state: State) -> "_Inspected":
        inspected = self.game.inspect(self.to_array(state))
        result = inspected.results[0].item()
        legal = np.flatnonzero(inspected.legal_action_mask[0])
        return _Inspected(
            is_over=bool(inspected.over[0]),
            result=int(result) if result.is_integer() else result,
            player=int(inspected.players[0]),
            legal_actions=tuple(legal.tolist()),
        )


class _Inspected(NamedTuple):
    is_over: bool
    result: float
    player: int
    legal_actions: tuple[int, ...]


def _to_tuple(row: np.ndarray) -> tuple:
    return tuple(row.tolist())
