"""The rules that a game must define, as compiled functions of a single position.

A file that defines a game needs to import only this module of the package.

A game is a NamedTuple of its sizes. A position is a one-dimensional numpy array of fixed length and
dtype, which `step` changes in place. Each rule is a generic function that dispatches on the class
of the game: with `functools.singledispatch` in Python, with numba's `overload` in compiled code.
The same source therefore runs in both, and a kernel that takes the game as its first argument is
compiled once for each class of game.

A game's file implements the rules like this::

    from alphazero.games import rules

    class Nim(NamedTuple):
        heaps: int

    @rules.implement(Nim)
    def step(game, state, action):
        state[action] -= 1

Laws, checked by `tests/games/test_game_laws.py` on random games:

- A position is either over or has a legal action, never both.
- The state alone determines the player to move, the legal actions, the result and what follows.
- A pass is an action.
- Results and values are from the viewpoint of the player to move.

Letters for shapes: K state entries, A actions, S symmetries, C planes, H x W board, F features.
"""

import functools
import inspect

import numpy as np

from alphazero.games.appearance import Appearance as Appearance
from alphazero.games.symmetry import identity_tables
from alphazero.games.symmetry import mirror_tables as mirror_tables
from alphazero.games.symmetry import square_tables as square_tables
from alphazero.runtime import jit
from alphazero.runtime.bits import highest_bit_index as highest_bit_index
from alphazero.runtime.bits import lowest_bit_index as lowest_bit_index
from alphazero.runtime.bits import popcount as popcount
from alphazero.runtime.jit import njit as njit
from alphazero.runtime.random_generators import random_below as random_below
from alphazero.runtime.source_text import digest_of, module_file, source_text

_RULES = {}
_COMPILED = set()
_GAME_CLASSES = set()


def _compiled_rule(prototype):
    """Make a rule dispatch on the class of its first argument, in Python and in compiled code.

    The decorated function ``prototype`` is the default for classes that do not implement the rule.
    """
    generic = _python_rule(prototype)
    _COMPILED.add(generic)
    jit.overload_by_class(generic)
    return generic


def _python_rule(prototype):
    """Make a rule dispatch on the class of its first argument, in Python only.

    The decorated function ``prototype`` is the default for classes that do not implement the rule.
    """
    generic = functools.singledispatch(prototype)
    _RULES[prototype.__name__] = generic
    return generic


def implement(game_class):
    """Return a decorator that registers a function as the game class's rule of the same name.

    Args:
        game_class: the NamedTuple class of the game.

    Raises:
        TypeError: when a function is decorated, if no rule has the function's name or if its
            parameters differ from the rule's.
    """
    if game_class not in _GAME_CLASSES:
        _GAME_CLASSES.add(game_class)
        if game_class.__module__.partition(".")[0] != __name__.partition(".")[0]:
            file = module_file(game_class.__module__)
            jit.add_user_game(game_class, digest_of(source_text(file)) if file else "")

    def register(function):
        name = function.__name__
        if name not in _RULES:
            raise TypeError(f"'{name}' is not a rule; the rules are {', '.join(sorted(_RULES))}")
        _check_arguments(function)
        _RULES[name].register(game_class, function)
        return function

    return register


def share_python_rules(source, game_class):
    """Give a game class the rules in plain Python of another one, but for those that it has."""
    for rule in set(_RULES.values()) - _COMPILED:
        if source in rule.registry and game_class not in rule.registry:
            rule.register(game_class, rule.registry[source])


def _check_arguments(function) -> None:
    name, given = function.__name__, inspect.signature(function)
    expected = inspect.signature(_RULES[name].__wrapped__).parameters
    try:
        given.bind(*expected)
    except TypeError:
        takes = ", ".join(expected)
        raise TypeError(f"the rule '{name}' takes ({takes}); this function takes {given}") from None


def _missing(game, rule_name) -> NotImplementedError:
    class_name = type(game).__qualname__
    return NotImplementedError(f"{class_name} does not implement the rule '{rule_name}'")


# --- compiled rules -------------------------------------------------------------------------------


@_compiled_rule
def reset(game, state):
    """Write the start position into ``state`` (K entries)."""
    raise _missing(game, "reset")


@_compiled_rule
def player_to_move(game, state):
    """Return the player to move: 0 began the game, 1 is the other player.

    If the game is over, this is the player who would move next. In a game for one player it is
    always 0.
    """
    raise _missing(game, "player_to_move")


@_compiled_rule
def legal_actions(game, state, mask):
    """Write into ``mask`` (bool[A]) whether each action is legal: all False if the game is over.

    Every entry must be written, because the mask may hold the values of another position.
    """
    raise _missing(game, "legal_actions")


@_compiled_rule
def step(game, state, action):
    """Play a legal ``action`` by changing ``state`` in place; the caller validates the action."""
    raise _missing(game, "step")


@_compiled_rule
def is_over(game, state):
    """Return whether the game is finished."""
    raise _missing(game, "is_over")


@_compiled_rule
def result(game, state):
    """Return the result of a finished game for the player who would move next.

    It is 1 for a win, 0 for a draw and -1 for a loss, or any number in `result_range` if the game
    defines that rule.
    """
    raise _missing(game, "result")


@_compiled_rule
def result_range(game):
    """Return the worst and the best possible result on the game's own scoring scale.

    Search and training use results scaled linearly so that these two become -1 and 1. In a game for
    two players, the scaled results of both must add up to 0.
    """
    return -1.0, 1.0


@_compiled_rule
def observe(game, state, planes):
    """Write the network's input for the player to move into ``planes`` (float32[C, H, W]).

    All entries of ``planes`` are 0 before the call.
    """
    raise _missing(game, "observe")


@_compiled_rule
def random_action(game, state, rng, mask):
    """Return a legal action of an unfinished game, chosen uniformly at random.

    The default chooses from the mask that `legal_actions` writes; a game can define a faster rule.

    Args:
        state: the position, an array of K state entries.
        rng: uint64[1], the random state, which is advanced; see
            `alphazero.runtime.random_generators.kernel_rng`.
        mask: bool[A], scratch memory that the rule may overwrite.
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


@_compiled_rule
def action_scores(game, state, weights, scores):
    """Write a score for each legal action into ``scores`` (float64[A]), to guide weighted rollouts.

    An action is played with a probability proportional to exp(score), so a larger score must be
    better for the player to move. Scores of illegal actions are ignored. By default, all are 0.

    Args:
        state: the position, an array of K state entries.
        weights: float64[F], the weight of each of the game's features; see `feature_names`.
        scores: float64[A], the array to write to.
    """
    for action in range(scores.shape[0]):
        scores[action] = 0.0


@njit
def scaled_result(game, state):
    """Return the result of a finished game for the player to move, scaled to [-1, 1]."""
    worst, best = result_range(game)
    return 2.0 * (result(game, state) - worst) / (best - worst) - 1.0


# --- rules in plain Python ------------------------------------------------------------------------


@_python_rule
def num_players(game) -> int:
    """Return the number of players: 2, or 1 for a puzzle."""
    return 2


@_python_rule
def num_actions(game) -> int:
    """Return A, the number of different actions in the game, legal or not."""
    raise _missing(game, "num_actions")


@_python_rule
def state_layout(game) -> tuple[int, np.dtype]:
    """Return the number of entries of a state, K, and their dtype."""
    raise _missing(game, "state_layout")


@_python_rule
def planes_shape(game) -> tuple[int, int, int]:
    """Return the shape (C, H, W) of the network's input."""
    raise _missing(game, "planes_shape")


@_python_rule
def max_plies(game) -> int:
    """Return an upper bound on the number of actions in a game, including passes."""
    raise _missing(game, "max_plies")


@_python_rule
def symmetries(game) -> tuple[np.ndarray, np.ndarray]:
    """Return the symmetries of the board as permutation tables for positions and policies.

    The first symmetry must be the identity; by default it is the only one.

    Returns:
        cells: int32[S, H*W]; the entry at flat index i of a transformed plane is the entry at
            ``cells[s, i]`` of the original plane.
        actions: int32[S, A]; entry a of the transformed policy is entry ``actions[s, a]`` of the
            original policy.
    """
    _, height, width = planes_shape(game)
    return identity_tables(height, width, num_actions(game))


@_python_rule
def rollout_weights(game) -> np.ndarray:
    """Return the default weights for `action_scores`, float64[F].

    F is the number of features; it is 0 if the game defines none.
    """
    return np.zeros(0)


@_python_rule
def feature_names(game) -> tuple[str, ...]:
    """Return the names of the features used by `action_scores`, in the order of their weights."""
    return ()


@_python_rule
def cells(game, state) -> np.ndarray:
    """Return the board, int8[H, W]: 0 empty, 1 the first player's piece, 2 the second's.

    If `piece_letters` has a fourth letter, 3 is a blocked square.
    """
    raise _missing(game, "cells")


@_python_rule
def piece_letters(game) -> str:
    """Return the letters that draw an empty square and each player's piece on a board as text.

    They are in the order empty, first player, second player. A fourth letter stands for a blocked
    square, in games that have them.
    """
    return ".XO"


@_python_rule
def appearance(game) -> Appearance:
    """Return the game's appearance: its title, sides, piece colours and style of board."""
    return Appearance()


@_python_rule
def from_cells(game, board: np.ndarray, player: int) -> np.ndarray:
    """Return the state (K entries) with the given board and player to move.

    Args:
        board: int8[H, W], as `cells` returns it.
        player: the player to move; 0 began the game.

    Raises:
        ValueError: if the board cannot be reached in a game, or the game does not define this rule.
    """
    raise ValueError(
        "this game cannot set up a position from a board, because it does not define the rule "
        "'from_cells': give the moves that lead to the position."
    )


@_python_rule
def action_squares(game, action: int) -> tuple[int, ...]:
    """Return the squares that an action leaves and enters, or the one it fills; () for a pass.

    A square is a flat index, row * W + column, with row 0 at the top. With this rule people can
    move pieces by clicking, dragging, or typing the names of squares.
    """
    return ()


@_python_rule
def action_to_text(game, action: int) -> str | None:
    """Format an action in the game's own notation, such as "pass".

    The default returns None: the action is then written as the names of its squares, or as its
    number, counted from 0.
    """
    return None


@_python_rule
def text_to_action(game, text: str) -> int | None:
    """Parse an action that a person typed in the game's own notation, and return its number.

    The default returns None: people then type the text that `action_to_text` returns, the names of
    the action's squares, or its number, counted from 0.

    Raises:
        ValueError: if the text is not an action; the message says what is allowed.
    """
    return None
