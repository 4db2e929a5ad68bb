"""Identify a user's game by a digest of its rules.

The text of the rules is their source code (`alphazero.runtime.source_text`), followed by the sizes
of the game. For a class defined in a notebook, the source code is that of the class's methods, if
Python knows it.
"""

import ast
import hashlib
import inspect
import textwrap
from typing import Any

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.runtime.jit import with_written_names
from alphazero.runtime.source_text import digest_of, module_file, source_text

_SIZES = "SIZES = "  # begins the last line of a text of rules
_PACKAGE = __name__.partition(".")[0]


def identify(game: Game) -> Game:
    """Set the `rules_text` and `rules_digest` of a game, and return the game.

    Both stay "" for games of this package and its adapters, which are identified by their names.
    """
    rules_class = type(game.rules_object)
    if rules_class.__module__.partition(".")[0] != _PACKAGE:
        file = module_file(rules_class.__module__)
        text = source_text(file) if file else _source_of_methods(rules_class)
        game.rules_text = f"{text}\n\n\n{_SIZES}{_sizes_of(game)!r}\n"
        game.rules_digest = digest_of(game.rules_text)
    return game


def _source_of_methods(game_class: type) -> str:
    """Return the source code of a class's methods; "" if Python does not know it."""
    methods = filter(inspect.isfunction, vars(game_class).values())
    try:
        return "\n".join(textwrap.dedent(inspect.getsource(method)) for method in methods)
    except OSError:
        return ""


def _sizes_of(game: Game) -> dict[str, Any]:
    sizes = {
        "made_as": made_as(game.rules_object),
        "num_actions": int(game.num_actions),
        "planes_shape": tuple(map(int, game.planes_shape)),
    }
    if not isinstance(game, CompiledGame):  # its rules would have to be compiled first
        start = game.initial_states()
        planes = game.observe(start)
        legal = game.legal_action_mask(start)
        digest = hashlib.sha256(planes.tobytes() + legal.tobytes())
        sizes["start"] = digest.hexdigest()[:16]
    return sizes


def made_as(rules: Any) -> str:
    """Format the call that makes a game's rules, such as "Snort(side=5)".

    It shows those arguments of the class that the object ``rules`` stores as attributes of the same
    name, possibly after an underscore, if they are numbers, strings, None, or lists of these.
    """
    if isinstance(rules, tuple):
        return with_written_names(repr(rules))
    try:
        names = list(inspect.signature(type(rules)).parameters)
    except (TypeError, ValueError):  # written in C
        names = []
    arguments = []
    for name in names:
        value = getattr(rules, name, getattr(rules, f"_{name}", ...))
        if _is_plain(value):
            arguments.append(f"{name}={value!r}")
    return f"{type(rules).__qualname__}({', '.join(arguments)})"


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def network_shapes(text: str) -> tuple:
    """Return the shape of the network's input and the number of actions stated in a text of rules.

    Args:
        text: a game's `Game.rules_text`.

    Returns:
        ((C, H, W), A).

    Raises:
        SyntaxError, ValueError, TypeError, KeyError: if the text is damaged.
    """
    sizes = ast.literal_eval(text.rpartition(_SIZES)[2])
    return sizes["planes_shape"], sizes["num_actions"]


def is_rules_text(text: str) -> bool:
    """Return whether a stored text is an undamaged `Game.rules_text`, with valid code and sizes."""
    try:
        return bool(digest_of(text) and network_shapes(text))
    except (SyntaxError, ValueError, KeyError, TypeError, RecursionError, MemoryError):
        return False
