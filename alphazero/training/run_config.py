"""Compose the settings of a training run from config files and arguments.

`alphazero.config.hydra` merges the config files and the arguments of `alphazero train`. This module
selects the config files proposed for a game.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from alphazero.config.files import read_values
from alphazero.config.hydra import ConfigFiles
from alphazero.network.registry import is_own_kind
from alphazero.own_games.registry import is_shipped_game, usual_name
from alphazero.runtime.errors import ConfigError
from alphazero.training.settings import TrainSettings

#: {root algorithm: arguments that it would ignore, unless they turn something off}
_UNUSED = {
    "puct": r"search\.(gumbel_scale|max_num_considered_actions|value_scale|maxvisit_init)=",
    "gumbel": r"search\.(dirichlet_\w+|root_prior_temperature|forced_playouts_k)=(?!0$|false$)",
}


def compose(overrides: Sequence[str], config_dir: str | None = None) -> TrainSettings:
    """Merge config files and command-line arguments into the settings of a run.

    `alphazero.training.settings.check_run` then compares them with each other and with the game.

    Args:
        overrides: arguments that choose files of config groups or set single values, such as
            ``["game=othello", "seed=1"]``. Single values override files, and later arguments
            override earlier ones. A game or a network class without a config file of its own may
            also be chosen, such as ``game=connect_x:4x5x4`` or ``network=module:Class``.
        config_dir: a folder with the user's own config files; None if there is none.

    Raises:
        ConfigError: for an unknown key or choice, or a value that is not allowed.
    """
    files = ConfigFiles(config_folder(), config_dir)
    choices, values = files.parse(TrainSettings, overrides)
    game = choices.get("game")
    if game is not None and game not in files.groups["game"]:
        choices["game"] = _proposals_for(usual_name(game), files.groups["game"])
        values.setdefault("game", {}).setdefault("name", usual_name(game))
    kind = choices.get("network")
    if kind is not None and kind not in files.groups["network"] and is_own_kind(kind):
        choices["network"] = None
        values.setdefault("network", {}).setdefault("kind", kind)
    settings = files.merge(TrainSettings, choices, values)
    root = settings.search.root
    for override in overrides:
        if re.search(_UNUSED[root], override):
            key, _, value = override.partition("=")
            raise ConfigError.of(key, value, reason=f"search.root={root} does not use it")
    return settings


def _proposals_for(game_name: str, choices: list[str]) -> str:
    """Return the name of the config file with the settings proposed for a game.

    It is the game's own or, if there is none, that of the game's family, such as "connect_x", or
    "custom".

    Args:
        choices: the names of the config files in the group "game".
    """
    for choice in choices:
        if game_of_choice(choice) == game_name:
            return choice
    family = game_name.partition(":")[0]
    return family if is_shipped_game(game_name) and family in choices else "custom"


# --- the files that ship --------------------------------------------------------------------------


def config_folder() -> Path:
    """Return the folder ``configs`` of the shipped config files.

    It is inside the installed package or, in a clone, beside the package.
    """
    inside = Path(__file__).parents[1] / "configs"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "configs"


def config_groups(config_dir: str | None = None) -> dict[str, list[str]]:
    """Return the choices in each config group, from the user's own files and the shipped ones.

    Args:
        config_dir: a folder with the user's own config files; None if there is none.

    Returns:
        {group: names of its files}, such as {"game": ["othello"]}, with the user's files first.
    """
    return ConfigFiles(config_folder(), config_dir).groups


def game_of_choice(choice: str) -> str:
    """Return the name of the game that the argument ``game=CHOICE`` selects.

    Args:
        choice: the name of a shipped config file in the group "game", which is read; any other text
            is already the name of a game and is returned unchanged.
    """
    path = config_folder() / "game" / f"{choice}.yaml"
    if not path.is_file():
        return choice
    return str(read_values(path)["game"]["name"])
