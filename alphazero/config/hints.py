"""Which setting is meant by a key that does not exist: what other programs and the papers call it.

In: a key that someone typed, and the known ones. Out: the end of an error message.
"""

import difflib
import re

_NETWORK = ("checkpoint", "model", "network", "weights")
_SEARCH = ("iterations", "max_playouts", "max_visits", "nodes", "playouts", "sims", "visits")
#: What Stable-Baselines3, KataGo and the papers call our settings. If several settings fit, the
#: first is likeliest. Names that look alike need no row.
_SYNONYMS: dict[str, tuple[str, ...]] = {
    "player": _NETWORK,
    "run": _NETWORK,
    "a": ("white", *_NETWORK),
    "b": ("black", "opponent"),
    "first": ("white",),
    "second": ("black", "opponent", *_NETWORK),
    "game": ("env",),
    "num_iterations": ("iterations", "total_timesteps"),
    "num_simulations": _SEARCH,
    "time_limit_s": ("max_time", "movetime"),
    "pb_c_init": ("c", "cpuct"),
    "uct_c": ("c", "cpuct"),
    "sampled_plies": ("temperature",),
    "games_per_iteration": ("episodes", "games"),
    "num_games": ("episodes", "games"),
    "num_parallel_games": ("n_envs",),
    "num_threads": ("num_workers", "threads"),
    "window_max": ("buffer_size",),
    "batch_size": ("batch",),
    "learning_rate": ("lr",),
    "epochs": ("n_epochs",),
    "device": ("gpu",),
    "engine": ("backend",),
    "json": ("output",),
}


def nearest_key_hint(key: str, known: list[str]) -> str:
    """Return " Did you mean ...?" with the known key most like ``key``.

    Without such a key, return the list of its section, or "" if there is no such section.
    """
    key = _as_written_here(key)
    section, dot, name = key.rpartition(".")
    of_section = [other for other in known if dot and other.startswith(section + ".")]
    likely = of_section or known
    last = {other: re.split("[./]", other)[-1] for other in likely}
    close = [
        other
        for ours, theirs in _SYNONYMS.items()
        for other in likely
        if last[other] == ours and name in theirs
    ]
    close += difflib.get_close_matches(key, likely, n=1, cutoff=0.85 if of_section else 0.6)
    close += [other for other in likely if last[other] == name]
    if close:
        return f" Did you mean {close[0]}?"
    if not of_section:
        return ""
    names = ", ".join(last[other] for other in of_section)
    return f" The settings of {section} are {names}."


def _as_written_here(key: str) -> str:
    """Return a key without option dashes, in lower case with underscores: ``--maxVisits``."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key.strip().lstrip("-+~"))
    return snake.lower().replace("-", "_")
