"""Identify a user's game by a digest of its rules, and name the changes between two versions.

In: a new game, or the stored text of its rules, which is parsed and never run. Out: the text of the
rules (`alphazero.runtime.source_text`) followed by the sizes of the game, and that text's digest;
or the names of the parts that differ. A class without source, as in a notebook, is identified by
its behaviour in random games.
"""

import ast
import hashlib
import inspect
from typing import Any

import numpy as np

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.runtime.jit import with_written_names
from alphazero.runtime.source_text import digest_of, module_file, parts_of, source_text

#: Names under which the game's sizes and its behaviour are added to the text of its rules.
SIZES = "SIZES"
BEHAVIOUR = "BEHAVIOUR"
_PACKAGE = __name__.partition(".")[0]
_NUM_GAMES = 8  # random games in a digest of behaviour
_MAX_PLIES = 200  # most plies of these games
_MAX_NAMES = 6  # most changed names in a message


def identify(game: Game) -> Game:
    """Set a game's `rules_text` and `rules_digest`, and return the game.

    Both stay "" for games of this package, which are identified by their names.
    """
    rules = game.rules_object
    if type(rules).__module__.partition(".")[0] != _PACKAGE:
        file = module_file(type(rules).__module__)
        text = file and source_text(file) or f"{BEHAVIOUR} = {_behaviour(game)!r}"
        game.rules_text = f"{text}\n\n\n{SIZES} = {_sizes_of(game)!r}\n"
        game.rules_digest = digest_of(game.rules_text)
    return game


def _sizes_of(game: Game) -> dict[str, Any]:
    sizes = {
        "made_as": made_as(game.rules_object),
        "num_actions": int(game.num_actions),
        "planes_shape": tuple(map(int, game.planes_shape)),
    }
    if not isinstance(game, CompiledGame):  # its rules would have to be compiled first
        start = game.initial_states()
        seen = game.observe(start).tobytes() + game.legal_action_mask(start).tobytes()
        sizes["start"] = hashlib.sha256(seen).hexdigest()[:16]
    return sizes


def made_as(rules: Any) -> str:
    """Write the call that makes the game: its class, with the arguments that the object stores."""
    if isinstance(rules, tuple):
        return with_written_names(repr(rules))
    try:
        names = list(inspect.signature(type(rules)).parameters)
    except (TypeError, ValueError):  # written in C
        names = []
    values = {name: getattr(rules, name, getattr(rules, f"_{name}", ...)) for name in names}
    arguments = [f"{name}={value!r}" for name, value in values.items() if _is_plain(value)]
    return f"{type(rules).__qualname__}({', '.join(arguments)})"


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def _behaviour(game: Game) -> str:
    """Play random games and return a digest of everything that the rules return in them."""
    rng = np.random.default_rng(0)
    digest = hashlib.sha256()
    states = game.initial_states(_NUM_GAMES)
    for _ in range(min(game.max_plies, _MAX_PLIES)):
        found = game.inspect(states)
        for seen in (found.legal_action_mask, found.results, found.players, game.observe(states)):
            digest.update(np.ascontiguousarray(seen).tobytes())
        states = states[~found.over]
        legal = found.legal_action_mask[~found.over]
        if not len(states):
            break
        states = game.step(states, (rng.random(legal.shape) * legal).argmax(axis=1)).states
    return digest.hexdigest()


def changes(old: str, new: str) -> str:
    """Describe how two texts of rules differ, such as "changed: step, winner"; "" if equal."""
    before, after = parts_of(old), parts_of(new)
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if BEHAVIOUR in names:
        return "random games differ, or only one of the two has a source"
    rules = [name for name in names if name != SIZES]
    if names and not rules:
        return f"{_sizes(old)['made_as']} has become {_sizes(new)['made_as']}"
    more = f" and {len(rules) - _MAX_NAMES} more" if len(rules) > _MAX_NAMES else ""
    return f"changed: {', '.join(rules[:_MAX_NAMES])}{more}" if rules else ""


def network_shapes(text: str) -> tuple:
    """Read from a text of rules the input and output shapes of their network, ((C, H, W), A)."""
    sizes = _sizes(text)
    return sizes["planes_shape"], sizes["num_actions"]


def is_rules_text(text: str) -> bool:
    """Return whether a stored text of rules is undamaged and can be compared."""
    try:
        return bool(digest_of(text) and network_shapes(text))
    except (SyntaxError, ValueError, KeyError, TypeError, RecursionError, MemoryError):
        return False


def _sizes(text: str) -> dict[str, Any]:
    """Parse the last line of a text of rules: the game's sizes, a dictionary of literals."""
    sizes: dict[str, Any] = ast.literal_eval(text[text.rindex(f"{SIZES} = ") + len(SIZES) + 3 :])
    return sizes
