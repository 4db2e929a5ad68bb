"""The shortest command that repeats a training run.

In: the settings of a stored run. Out: arguments of `alphazero train`: a preset, and every setting
whose value in the run differs.
"""

from alphazero.config.files import read_values
from alphazero.config.settings import rows
from alphazero.evaluation.run_facts import AUTOTUNED_KEYS, RUN_FOLDER_KEYS
from alphazero.runtime.errors import value_text
from alphazero.training.run_config import compose, config_folder, config_groups, game_of_choice
from alphazero.training.settings import TrainSettings


def recipe(settings: dict, game_name: str) -> list[str]:
    """Return the shortest list of arguments that gives a run these settings.

    Settings that the run measured, such as the engine, are left to be measured again where the
    preset leaves them open.

    Args:
        settings: by their keys, see `alphazero.evaluation.run_facts.flat_settings`. A missing key
            has its default, because a run of an older version did what the default does. Keys that
            no longer exist are ignored.
    """
    defaults = {row.key: row.value for row in rows(TrainSettings())}
    wanted = {
        key: settings.get(key, default)
        for key, default in defaults.items()
        if key not in RUN_FOLDER_KEYS
    } | {"game.name": game_name}
    found = []
    for arguments in _presets(game_name):
        composed = {row.key: row.value for row in rows(compose(arguments))}
        if composed["game.name"] != game_name:
            continue
        is_open = {key for key in AUTOTUNED_KEYS if composed[key] in ("auto", 0)}
        changes = [
            f"{key}={value_text(value)}"
            for key, value in wanted.items()
            if value != composed[key] and key not in is_open
        ]
        found.append([*arguments, *changes])
    return min(found, key=len, default=[])


def _presets(game_name: str) -> list[list[str]]:
    """Return the arguments of each preset and experiment of a game, or of presets for any game."""
    games = [choice for choice in config_groups()["game"] if game_of_choice(choice) == game_name]
    if not games:
        return [[f"game={game_name}"]]
    experiments = [
        name for name in config_groups()["experiment"] if _game_of_experiment(name) in games
    ]
    return [[f"game={choice}"] for choice in games] + [
        [f"experiment={name}"] for name in experiments
    ]


def _game_of_experiment(name: str) -> str | None:
    """Return the choice of the group ``game`` that an experiment makes, None if it makes none."""
    config = read_values(config_folder() / "experiment" / f"{name}.yaml")
    for entry in config.get("defaults", []):
        if "override /game" in entry:
            return entry["override /game"]
    return None
