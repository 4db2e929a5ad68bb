"""The verbs that every game answers: the first seam, scalar and compiled.

A game is a NamedTuple of its sizes; a position is a one-dimensional numpy array of fixed length and dtype, changed in place by `step`. Each
verb is a generic function over the class of the game: `functools.singledispatch` chooses in plain Python, `numba.extending.overload` does so
in compiled code, so that the same source runs in both worlds and a kernel that takes the game as its first argument compiles once for each game.

A game's file implements the verbs like this::

    class Nim(NamedTuple):
        heaps: int

    @rules.implement(Nim)
    def step(game, state, action):
        state[action] -= 1

Laws, which `tests/test_game_laws.py` checks on random games: exactly one of "over" and "has a legal action" holds; numbers are from the
viewpoint of the player to move; a state determines everything (who moves, whether a pass came before, the result); a pass is an action.
Letters for shapes: K state words, A actions, S symmetries, C planes, H x W board.
"""

import functools

import numpy as np

from alphazero.runtime import jit
from alphazero.runtime.random_generators import random_below

_VERBS = {}
_GAME_CLASSES = set()


def _verb(prototype):
    """Make ``prototype`` a generic function over the class of its first argument, in Python and in compiled code."""
    generic = functools.singledispatch(prototype)
    _VERBS[prototype.__name__] = generic

    jit.overload_by_class(generic)
    return generic


def _python_verb(prototype):
    """Make ``prototype`` a generic function in Python alone: text, tables and sizes are not needed inside kernels."""
    generic = functools.singledispatch(prototype)
    _VERBS[prototype.__name__] = generic
    return generic


def implement(game_class):
    """Register the decorated function as ``game_class``'s implementation of the rule of the same name.

    Raises:
        TypeError: if no rule has that name.
    """
    if game_class not in _GAME_CLASSES:
        _GAME_CLASSES.add(game_class)
        if game_class.__module__.partition(".")[0] != __name__.partition(".")[0]:
            jit.add_user_game(game_class)

    def register(function):
        if function.__name__ not in _VERBS:
            raise TypeError(
                f"'{function.__name__}' is not a rule of a game; the rules are: {', '.join(sorted(_VERBS))}"
            )
        _VERBS[function.__name__].register(game_class, function)
        return function

    return register


def implements(game, verb_name: str) -> bool:
    """Tell whether the game has its own implementation of a verb (and not the default)."""
    generic = _VERBS[verb_name]
    return generic.dispatch(type(game)) is not generic.dispatch(object)


def _missing(game, verb_name):
    raise NotImplementedError(
        f"{type(game).__qualname__} does not implement the rule '{verb_name}'"
    )


# --- compiled verbs ---------------------------------------------------------------------------------------------------------------------


@_verb
def reset(game, state):
    """Write the start position into ``state`` ([K])."""
    _missing(game, "reset")


@_verb
def player_to_move(game, state):
    """Return 0 for the player who moves first in the game and 1 for the other; of a finished game, the one who would move."""
    _missing(game, "player_to_move")


@_verb
def legal_actions(game, state, mask):
    """Write True into ``mask`` (bool[A]) for every legal action and False elsewhere; a finished game has none."""
    _missing(game, "legal_actions")


@_verb
def step(game, state, action):
    """Play a legal ``action`` on ``state``, in place. Never validates: the callers do."""
    _missing(game, "step")


@_verb
def is_over(game, state):
    """Return whether the game is finished."""
    _missing(game, "is_over")


@_verb
def result(game, state):
    """Return the result of a finished game, 1 win, 0 draw, -1 loss, from the viewpoint of the player to move."""
    _missing(game, "result")


@_verb
def observe(game, state, planes):
    """Write the network's input for the player to move into ``planes`` (float32[C, H, W], zero on entry)."""
    _missing(game, "observe")


@_verb
def random_action(game, state, rng, mask):
    """Return a uniformly random legal action of an unfinished game; ``mask`` (bool[A]) is scratch space.

    The default counts the legal actions; a game with bit boards does it faster.
    """
    legal_actions(game, state, mask)
    count = 0
    for action in range(mask.shape[0]):
        if mask[action]:
            count += 1
    remaining = random_below(rng, count)
    for action in range(mask.shape[0]):
        if mask[action]:
            if remaining == 0:
                return action
            remaining -= 1
    return -1


@_verb
def action_scores(game, state, weights, scores):
    """Write an evaluation of every legal action into ``scores`` (float64[A]), for rollouts that are wiser than random.

    ``weights`` (float64[F]) are the tunable weights of the game's F features. Larger is better for the player to move; illegal ones are ignored.
    """
    for action in range(scores.shape[0]):
        scores[action] = 0.0


# --- verbs of plain Python --------------------------------------------------------------------------------------------------------------


@_python_verb
def num_actions(game) -> int:
    """Return A, the number of actions, legal or not."""
    _missing(game, "num_actions")


@_python_verb
def state_layout(game) -> tuple[int, np.dtype]:
    """Return (K, dtype) of a state array."""
    _missing(game, "state_layout")


@_python_verb
def planes_shape(game) -> tuple[int, int, int]:
    """Return (C, H, W) of the network's input."""
    _missing(game, "planes_shape")


@_python_verb
def max_plies(game) -> int:
    """Return an upper bound of the number of actions in one game, passes included."""
    _missing(game, "max_plies")


@_python_verb
def symmetries(game) -> tuple[np.ndarray, np.ndarray]:
    """Return the symmetries of position and policy together, the identity first.

    Returns:
        cells: int32[S, H*W]; the transformed plane at flat index i shows the original plane at ``cells[s, i]``.
        actions: int32[S, A]; the transformed policy at index a shows the original policy at ``actions[s, a]``.
    """
    _, height, width = planes_shape(game)
    return np.arange(height * width, dtype=np.int32)[None], np.arange(
        num_actions(game), dtype=np.int32
    )[None]


@_python_verb
def rollout_weights(game) -> np.ndarray:
    """Return the default weights of `action_scores`, float64[F]; empty where the game has no evaluation."""
    return np.zeros(0)


@_python_verb
def feature_names(game) -> tuple[str, ...]:
    """Return the names of the F features of `action_scores`, in the order of the weights."""
    return ()


@_python_verb
def cells(game, state) -> np.ndarray:
    """Return the board as int8[H, W]: 0 empty, 1 a piece of the player who moves first in the game, 2 a piece of the other."""
    _missing(game, "cells")


@_python_verb
def piece_letters(game) -> str:
    """Return three letters: the empty square, a piece of the first player, a piece of the second player."""
    return ".XO"


@_python_verb
def from_cells(game, board: np.ndarray, player: int) -> np.ndarray:
    """Return the state with the given board (int8[H, W], as `cells` gives it) and player to move.

    Raises:
        ValueError: if no game can have this position, with a sentence that says why.
    """
    _missing(game, "from_cells")


@_python_verb
def action_to_text(game, action: int) -> str:
    """Return how a person writes this action."""
    return str(action)


@_python_verb
def text_to_action(game, text: str) -> int:
    """Return the action that a person wrote.

    Raises:
        ValueError: with one plain sentence on what is wrong and what would be right.
    """
    text, count = text.strip(), num_actions(game)
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"'{text}' is not a number: type a number from 0 to {count - 1}.")
    if int(text) >= count:
        raise ValueError(f"{int(text)} is out of range: type a number from 0 to {count - 1}.")
    return int(text)
