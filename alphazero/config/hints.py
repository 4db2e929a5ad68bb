"""Which setting is meant by a key that does not exist: what other programs and the papers call it.

In: a key that someone typed, and the known ones. Out: the end of an error message.
"""

import difflib
import re

#: What Stable-Baselines3, KataGo and the papers call a setting, and its names here, the likeliest
#: first. Those that a command does not have are skipped; names that look alike need no row.
_SYNONYMS: dict[str, tuple[str, ...]] = {
    "backend": ("engine",),
    "batch": ("batch_size",),
    "black": ("second", "b"),
    "buffer_size": ("window_max",),
    "c": ("uct_c", "pb_c_init"),
    "checkpoint": ("player", "run", "a", "second", "resume"),
    "cpuct": ("pb_c_init", "uct_c"),
    "env": ("game", "env"),
    "episodes": ("games_per_iteration", "num_games"),
    "games": ("games_per_iteration", "num_games"),
    "gpu": ("device",),
    "iterations": ("num_iterations", "num_simulations"),
    "lr": ("learning_rate",),
    "max_playouts": ("num_simulations",),
    "max_time": ("time_limit_s",),
    "max_visits": ("num_simulations",),
    "model": ("player", "run", "a", "second"),
    "movetime": ("time_limit_s",),
    "n_envs": ("num_parallel_games",),
    "n_epochs": ("epochs",),
    "nodes": ("num_simulations",),
    "num_workers": ("num_threads",),
    "opponent": ("second", "b"),
    "output": ("output", "json", "out", "into"),
    "playouts": ("num_simulations",),
    "sims": ("num_simulations",),
    "temperature": ("temperature", "sampled_plies"),
    "threads": ("num_threads",),
    "total_timesteps": ("num_iterations",),
    "visits": ("num_simulations",),
    "weights": ("player", "run", "a", "second"),
    "white": ("first", "a"),
}


def nearest_key_hint(key: str, known: list[str]) -> str:
    """Return " Did you mean ...?" with the known key most like ``key``.

    Without such a key, return the list of its section, or "" if there is no such section.
    """
    section, dot, name = _as_written_here(key).rpartition(".")
    player = next((other for other in ("second", "b", "player") if other in known), None)
    if name == "root" and player:
        return f" A run elsewhere is a player by its folder: {player}=ROOT/GAME/RUN."
    key = section + dot + name
    of_section = [other for other in known if dot and other.startswith(section + ".")]
    cutoff = 0.85 if of_section else 0.6
    close = [
        other
        for synonym in _SYNONYMS.get(name, ())
        for other in of_section or known
        if other.split(".")[-1] == synonym
    ]
    close = close or difflib.get_close_matches(key, of_section or known, n=1, cutoff=cutoff)
    close = close or [other for other in known if re.split("[./]", other)[-1] == name]
    if close:
        return f" Did you mean {close[0]}?"
    if not of_section:
        return ""
    names = ", ".join(other.removeprefix(section + ".") for other in of_section)
    return f" The settings of {section} are {names}."


def _as_written_here(key: str) -> str:
    """Return a key without option dashes, in lower case with underscores: ``--maxVisits``."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key.strip().lstrip("-+~"))
    return snake.lower().replace("-", "_")
