"""Names that earlier versions stored in configs, metrics and networks, and today's names for them.

In: plain data read from a file of any earlier version. Out: the same data under today's names. No
other module knows an old name.
"""

from pathlib import Path
from typing import Any

import numpy as np

from alphazero.runtime.errors import ConfigError, StoredFileError

#: Settings that were renamed: old key -> today's key.
RENAMED_SETTINGS = {
    "evaluator.max_policy_divergence": "evaluator.max_policy_kl",
    "learner.average_half_life_steps": "learner.ema_half_life_steps",
    "learner.reuse": "learner.replay_ratio",
    "learner.root_value_share": "learner.root_value_fraction",
    "replay.surprise_share": "replay.surprise_fraction",
    "selfplay.adjudicated_share": "selfplay.adjudicated_fraction",
    "selfplay.first_num_simulations": "selfplay.initial_num_simulations",
    "selfplay.full_search_share": "selfplay.full_search_fraction",
    "selfplay.random_opening_share": "selfplay.random_opening_fraction",
}

#: Settings that were removed: key -> the value at which they changed nothing.
RETIRED_SETTINGS: dict[str, Any] = {
    "learner.margin_weight": 0.5,
    "learner.reply_weight": 0.15,
    "network.line_length": 0,
    "network.margin_head": False,
    "network.reply_head": False,
    "replay.merge_positions": False,
    "replay.return_cut": 0.0,
    "replay.return_lambda": 1.0,
    "search.interior": "puct",
    "replay.reanalysis_share": 0.0,
    "selfplay.moves_from": "visits",
    "selfplay.opening_moves": "random",
}

#: Removed settings that a stored network depends on: with a value other than the one above, the
#: same weights give other outputs in today's network.
SHAPES_OF_STORED_NETWORKS = ("network.line_length",)

#: Removed settings that the learner's state in a stored run depends on.
SHAPES_OF_STORED_RUNS = ("network.line_length", "network.margin_head", "network.reply_head")

#: Prefixes of the names of weights that networks no longer have. They served training only, so a
#: stored network plays the same without them.
RETIRED_WEIGHTS = ("margin.", "reply.")

#: Columns of a run's metrics that were renamed: old name -> today's name.
RENAMED_METRICS = {
    "engine.policy_divergence": "engine.policy_kl",
    "exact.kept": "exact.accuracy",
    "exact.raw_kept": "exact.raw_accuracy",
    "exact.results_right": "exact.result_accuracy",
    "fresh.loss": "held_out.loss",
    "fresh.num_rows": "held_out.num_samples",
    "fresh.policy_loss": "held_out.policy_loss",
    "fresh.value_loss": "held_out.value_loss",
    "held_out.num_rows": "held_out.num_samples",
    "learner.policy_baseline": "learner.uninformed_policy_loss",
    "learner.value_baseline": "learner.uninformed_value_loss",
    "proof.num_kept": "proof.num_accurate",
    "selfplay.evaluator_share": "selfplay.evaluator_fraction",
    "selfplay.network_share": "selfplay.network_fraction",
    "selfplay.num_targets": "selfplay.num_samples",
}

#: Figures of past iterations in a run's state that were renamed: old name -> today's name.
RENAMED_VITALS = {
    "fresh_loss": "held_out_loss",
    "num_targets": "num_samples",
    "policy_baseline": "uninformed_policy_loss",
    "value_baseline": "uninformed_value_loss",
}

#: Arrays of the games in progress in a run's state that were renamed: old name -> today's name.
RENAMED_GAME_ARRAYS = {
    "targets": "is_target",
    "values": "root_values",
    "weights": "action_weights",
}


def current_games(state: dict[str, Any]) -> dict[str, Any]:
    """Return the stored games in progress of a self-play worker under today's names."""
    current = {RENAMED_GAME_ARRAYS.get(name, name): value for name, value in state.items()}
    # Early versions played every game to its end.
    current.setdefault("adjudicated", np.zeros(len(state["rows"]), np.bool_))
    return current


def current_vitals(past: dict[str, Any]) -> dict[str, Any]:
    """Return the stored figures of past iterations under today's names."""
    return {RENAMED_VITALS.get(name, name): values for name, values in past.items()}


def check_not_retired(key: str, value: Any = None) -> None:
    """Check that a setting given by the user was not removed.

    Raises:
        ConfigError: if ``key`` is a removed setting.
    """
    if key in RETIRED_SETTINGS:
        neutral = RETIRED_SETTINGS[key]
        raise ConfigError(
            f"there is no setting '{key}' any more: it was removed, and training always behaves as "
            f"with {key}={_text(neutral)}.",
            key=key,
            value=value,
        )


def check_stored_settings(
    values: dict[str, Any], path: str | Path, section: str, keys: tuple[str, ...]
) -> None:
    """Check that a file's contents do not depend on a setting that was removed.

    Args:
        values: the stored settings of ``section``.
        path: the file that holds them.
        section: such as "network.".
        keys: the removed settings that the contents depend on.

    Raises:
        StoredFileError: if one of ``keys`` has a value other than the one that changed nothing.
    """
    for key in keys:
        neutral = RETIRED_SETTINGS[key]
        value = values.get(key.removeprefix(section), neutral)
        if value != neutral:
            raise StoredFileError(
                f"'{path}' was made with {key}={_text(value)}, which this version no longer has: "
                "use the version that made it.",
                path=path,
            )


def current_settings(values: dict[str, Any], section: str = "") -> dict[str, Any]:
    """Return stored settings under today's names, without those that were removed.

    Args:
        values: nested or flat settings; keys are relative to ``section``.
        section: where they belong, such as "network."; "" is the whole of a run's settings.
    """
    current = {}
    for name, value in values.items():
        key = section + name
        if key in RETIRED_SETTINGS:
            continue
        name = RENAMED_SETTINGS.get(key, key).removeprefix(section)
        current[name] = current_settings(value, f"{key}.") if isinstance(value, dict) else value
    return current


def current_weights(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return a stored network's weights by name, without those that were removed."""
    return {name: array for name, array in arrays.items() if not name.startswith(RETIRED_WEIGHTS)}


def current_metrics(row: dict[str, Any], section: str = "") -> dict[str, Any]:
    """Return a line of a run's metrics, or one section of it, under today's names."""
    return {
        RENAMED_METRICS.get(section + name, section + name).removeprefix(section): value
        for name, value in row.items()
    }


def current_overrides(words: list[str]) -> list[str]:
    """Return stored arguments, such as "learner.reuse=2", under today's names.

    Settings that were removed are left out.
    """
    pairs = (word.partition("=") for word in words)
    return [
        RENAMED_SETTINGS.get(key, key) + equals + value
        for key, equals, value in pairs
        if key not in RETIRED_SETTINGS
    ]


def _text(value: Any) -> str:
    """Return a value as it is written in a command."""
    return str(value).lower() if isinstance(value, bool) else str(value)
