"""The settings of a training run: Hydra composes config groups, arguments change single settings.

In: the arguments of `alphazero train`. One that names a group (``game=connect_four``) chooses one
of its files under configs/; Hydra merges the chosen files. Every other argument changes one setting
and is read as in all commands, by `alphazero.runtime.overrides`. Out: checked plain dataclasses; no
Hydra object leaves this file. Only Hydra's public API is used (`compose`, `initialize_config_dir`,
`ConfigStore`).
"""

import functools
from pathlib import Path

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from alphazero.games.registry import make_game
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.overrides import check_key, parse_overrides, split_values, split_word
from alphazero.runtime.settings import explained, from_plain, rows
from alphazero.training.settings import TrainSettings, check_run

COMMAND = "alphazero train"


def compose(words: list[str]) -> TrainSettings:
    """Return the checked settings of a run.

    Args:
        words: choices of config groups and single settings, such as ``["game=othello", "seed=1"]``.
            Single settings override files, and later arguments override earlier ones.

    Raises:
        ConfigError: for an unknown key or choice, or an impossible value.
    """
    choices = groups()
    known = [row.key for row in rows(TrainSettings())]
    chosen: list[str] = []
    changes: list[str] = []
    for word in _with_choice_of_game(words, choices["game"]):
        key, text = split_word(word)
        check_key(key, text, [*known, *choices], COMMAND)
        _check_single(key, text)
        if key in choices:
            _check_choice(key, text, choices[key])
        (chosen if key in choices else changes).append(word)
    values = parse_overrides(TrainSettings, changes, COMMAND)
    settings = from_plain(_compose_files(tuple(chosen)), values)
    check_run(settings)
    return settings


def groups() -> dict[str, list[str]]:
    """Return the config groups and the choices of each."""
    folders = sorted(path for path in config_folder().iterdir() if path.is_dir())
    return {folder.name: _choices(folder) for folder in folders}


def config_folder() -> Path:
    """Return the folder of the configs: inside the installed package, or beside it in a clone."""
    inside = Path(__file__).parents[1] / "configs"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "configs"


def game_of_choice(choice: str) -> str:
    """Return the name of the game that ``game=`` means: a file of the group or a name."""
    path = config_folder() / "game" / f"{choice}.yaml"
    return OmegaConf.load(path).game.name if path.is_file() else choice


def choice_of_game(name: str) -> str:
    """Return the file of the group ``game`` with the proposals for a game."""
    for choice in groups()["game"]:
        if game_of_choice(choice) == name:
            return choice
    family = name.partition(":")[0]
    return family if family in ("connect_x", "othello") else "custom"


def _with_choice_of_game(words: list[str], choices: list[str]) -> list[str]:
    """Return the arguments with the names of games replaced by a choice and a name.

    ``game=connect_x:4x5x4`` becomes ``game=connect_x game.name=connect_x:4x5x4``. So does
    ``game.name=connect_x:4x5x4`` alone, which would keep the proposals for another game.
    """
    is_chosen = any(word.startswith("game=") for word in words)
    found = []
    for word in words:
        key, _, text = word.partition("=")
        is_name = key == "game" and text not in choices and not _is_list(text)
        if is_name or (key == "game.name" and not is_chosen):
            make_game(text)  # refuses a name that is none
            found += [f"game={choice_of_game(text)}", f"game.name={text}"]
        else:
            found.append(word)
    return found


def _is_list(text: str) -> bool:
    return len(split_values(text)) > 1


def _choices(folder: Path) -> list[str]:
    files = folder.rglob("*.yaml")
    return sorted(file.relative_to(folder).with_suffix("").as_posix() for file in files)


def _check_single(key: str, text: str) -> None:
    if _is_list(text):
        raise ConfigError(
            f"{key}={text} gives several values: --multirun makes a run for each of them.",
            key=key,
            value=text,
        )


def _check_choice(key: str, text: str, allowed: list[str]) -> None:
    if text not in allowed:
        message = f"{key}={text} is not allowed: {key} takes one of {', '.join(allowed)}."
        raise ConfigError(message, key=key, value=text, allowed=allowed)


@functools.lru_cache(maxsize=256)
def _compose_files(words: tuple[str, ...]) -> DictConfig:
    """Return the config that Hydra merges from train.yaml and the chosen files; do not change it.

    Hydra takes a quarter of a second for it.
    """
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.core.config_store import ConfigStore
    from hydra.errors import HydraException

    ConfigStore.instance().store(name="train_schema", node=TrainSettings)
    try:
        with initialize_config_dir(str(config_folder()), version_base="1.3", job_name="train"):
            return hydra_compose("train", overrides=list(words))
    except (HydraException, OmegaConfBaseException) as error:
        cause = error.__cause__ if isinstance(error.__cause__, OmegaConfBaseException) else error
        if isinstance(cause, OmegaConfBaseException):
            raise explained(cause, TrainSettings, {}) from None
        raise ConfigError(str(error).splitlines()[0].rstrip(".") + ".") from None
