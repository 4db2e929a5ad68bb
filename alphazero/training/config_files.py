"""The config files: the groups and choices under configs/, and the choice that fits a game."""

import functools
import re
from pathlib import Path

from omegaconf import OmegaConf

from alphazero.games.registry import make_game

#: The choices of the group ``game`` that were made for games without a file, with their games.
_MADE_CHOICES: dict[str, str] = {}


def config_folder() -> Path:
    """Return the folder of the configs: inside the installed package, or beside it in a clone."""
    inside = Path(__file__).parents[1] / "configs"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "configs"


@functools.cache
def config_groups() -> dict[str, list[str]]:
    """Return the config groups and the choices of each."""
    folders = sorted(path for path in config_folder().iterdir() if path.is_dir())
    return {folder.name: _choices(folder) for folder in folders}


def game_of_choice(choice: str) -> str:
    """Return the name of the game that ``game=`` means: a file of the group or a name."""
    path = config_folder() / "game" / f"{choice}.yaml"
    return OmegaConf.load(path).game.name if path.is_file() else choice


def choice_for_game(name: str) -> str:
    """Return the choice of the group ``game`` for a game, with the proposals of its family.

    For a game without a file, such as ``connect_x:4x5x4`` or your own, it is made here, in Hydra's
    `ConfigStore`.

    Args:
        name: of a game, or a choice of the group.

    Raises:
        ConfigError: if there is no such game.
    """
    from hydra.core.config_store import ConfigStore

    choices = config_groups()["game"]
    if name in choices:
        return name
    make_game(name)  # refuses a name that is none
    choice = next((choice for choice in choices if game_of_choice(choice) == name), None)
    if choice is None:
        choice = re.sub(r"\W", "_", Path(name).stem if name.endswith(".py") else name)
        while choice in choices or _MADE_CHOICES.setdefault(choice, name) != name:
            choice += "_"
        family = name.partition(":")[0]
        proposals = family if family in ("connect_x", "othello") else "custom"
        node = {"defaults": [proposals, "_self_"], "game": {"name": name}}
        ConfigStore.instance().store(group="game", name=choice, node=node, package="_global_")
    return choice


def _choices(folder: Path) -> list[str]:
    files = folder.rglob("*.yaml")
    return sorted(file.relative_to(folder).with_suffix("").as_posix() for file in files)
