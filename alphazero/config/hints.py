"""Which setting is meant by a key that does not exist: what other programs and the papers call it.

In: a key that someone typed, and the known ones. Out: the end of an error message.
"""

import difflib
import re

#: What Stable-Baselines3, OpenSpiel, KataGo, chess engines and the papers call a setting, and its
#: names here, the likeliest first. Those that a command does not have are skipped.
_SYNONYMS: dict[str, tuple[str, ...]] = {
    "agent": ("player", "first", "a"),
    "alpha": ("dirichlet_alpha",),
    "backend": ("engine",),
    "batch": ("batch_size",),
    "black": ("second", "b"),
    "blocks": ("blocks",),
    "bs": ("batch_size",),
    "buffer_size": ("window_max",),
    "c": ("uct_c", "pb_c_init"),
    "c_puct": ("pb_c_init", "uct_c"),
    "checkpoint": ("player", "run", "a", "second", "resume"),
    "cpuct": ("pb_c_init", "uct_c"),
    "cuda": ("device",),
    "depth": ("num_simulations", "blocks"),
    "dtype": ("precision",),
    "entropy_coef": ("dirichlet_fraction",),
    "env": ("game", "env"),
    "environment": ("env", "game"),
    "episodes": ("games_per_iteration", "num_games"),
    "epsilon": ("dirichlet_fraction",),
    "filters": ("channels",),
    "format": ("precision",),
    "games": ("games_per_iteration", "num_games"),
    "gpu": ("device",),
    "hidden_size": ("channels",),
    "iterations": ("num_iterations", "num_simulations"),
    "iters": ("num_iterations", "num_simulations"),
    "lr": ("learning_rate",),
    "max_nodes": ("num_simulations",),
    "max_playouts": ("num_simulations",),
    "max_simulations": ("num_simulations",),
    "max_steps": ("num_iterations",),
    "max_time": ("time_limit_s",),
    "max_visits": ("num_simulations",),
    "mcts_simulations": ("num_simulations",),
    "model": ("player", "run", "a", "second"),
    "movetime": ("time_limit_s",),
    "n_envs": ("num_parallel_games",),
    "n_epochs": ("epochs",),
    "n_games": ("games_per_iteration", "num_games"),
    "network": ("player", "run", "a", "second"),
    "nn_depth": ("blocks",),
    "nn_width": ("channels",),
    "nodes": ("num_simulations",),
    "num_actors": ("num_threads",),
    "num_envs": ("num_parallel_games",),
    "num_episodes": ("games_per_iteration", "num_games"),
    "num_iters": ("num_iterations", "num_simulations"),
    "num_playouts": ("num_simulations",),
    "num_rollouts": ("num_simulations",),
    "num_workers": ("num_threads",),
    "opponent": ("second", "b"),
    "out": ("out", "json", "output", "into"),
    "output": ("output", "json", "out", "into"),
    "p1": ("first", "a"),
    "p2": ("second", "b"),
    "path": ("player", "run", "a", "second"),
    "picture": ("plot", "output"),
    "player": ("first", "a", "run"),
    "player1": ("first", "a"),
    "player2": ("second", "b"),
    "playouts": ("num_simulations",),
    "positions": ("num_positions",),
    "random_seed": ("seed",),
    "replay_buffer_size": ("window_max",),
    "resume_from": ("resume",),
    "rollouts": ("num_simulations",),
    "rounds": ("num_games",),
    "runs": ("run",),
    "save": ("json", "out", "output"),
    "seconds": ("time_limit_s",),
    "simulations": ("num_simulations",),
    "sims": ("num_simulations",),
    "temp": ("temperature", "sampled_plies"),
    "temperature": ("temperature", "sampled_plies"),
    "threads": ("num_threads",),
    "time": ("time_limit_s",),
    "time_limit": ("time_limit_s",),
    "total_timesteps": ("num_iterations",),
    "visits": ("num_simulations",),
    "weights": ("player", "run", "a", "second"),
    "white": ("first", "a"),
    "workers": ("num_threads",),
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
    close = close or [other for other in known if other.split(".")[-1] == name]
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
