"""Identify a user's game by the SHA-256 digest of its rules.

The text of the rules is their source code (`alphazero.runtime.source_text`), followed by the sizes
of the game. For a class defined in a notebook, the source code is that of the class's methods, if
Python can find it. Comments, docstrings and layout do not affect the digest.
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
    """Set the `rules_text` and `rules_digest` of a user's game, and return the game.

    Games of this package and its adapters are identified by their names: both stay "".
    """
    rules_class = type(game.rules_object)
    if rules_class.__module__.partition(".")[0] != _PACKAGE:
        file = module_file(rules_class.__module__)
        text = source_text(file) if file else _source_of_methods(rules_class)
        game.rules_text = f"{text}\n\n\n{_SIZES}{_sizes_of(game)!r}\n"
        game.rules_digest = digest_of(game.rules_text)
    return game


def _source_of_methods(game_class: type) -> str:
    """Return the source code of a class's methods, or "" if Python cannot find it."""
    methods = filter(inspect.isfunction, vars(game_class).values())
    try:
        return "\n".join(textwrap.dedent(inspect.getsource(method)) for method in methods)
    except OSError:
        return ""


def _sizes_of(game: Game) -> dict[str, Any]:
    sizes = {
        "made_as": constructor_repr(game.rules_object),
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


def constructor_repr(rules: Any) -> str:
    """Format a constructor call that describes a game's rules, such as "Snort(side=5)".

    An argument is shown if the object ``rules`` stores it in an attribute of the same name, with or
    without a leading underscore, and it is a number, a string, None, or a list of these.
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
    """Read the network's input shape and the number of actions from the text of a game's rules.

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
    """Return whether a text is a valid `Game.rules_text`: Python code that ends with the sizes."""
    try:
        return bool(digest_of(text) and network_shapes(text))
    except (SyntaxError, ValueError, KeyError, TypeError, RecursionError, MemoryError):
        return False
