"""The config folders of the user's own: --config-dir and hydra.searchpath.

In: their paths. Out: which files of a config group there are, here and among those that ship.
"""

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

from alphazero.config.command_line import split_values
from alphazero.runtime.errors import ConfigError
from alphazero.training.config_files import config_folder, config_groups

_SEARCH_PATH = "hydra.searchpath"


def own_folders(words: Iterable[str], config_dir: str | None = None) -> list[Path]:
    """Return the folders that a command line adds, those that exist.

    Args:
        words: the arguments, ``hydra.searchpath=[file:///DIR]`` among them.
        config_dir: the value of ``--config-dir``.

    Raises:
        ConfigError: if a folder holds no folder of a config group.
    """
    named = [("--config-dir ", config_dir)] if config_dir is not None else []
    for value in _search_path(words):
        named.append((f"{_SEARCH_PATH}=", value.strip(" '\"").removeprefix("file://")))
    found = [(option, Path(path)) for option, path in named if path and Path(path).is_dir()]
    for option, folder in found:
        _check_groups(option, folder)
    return [folder for _, folder in found]


def with_config_dir(words: Sequence[str], config_dir: str | None) -> list[str]:
    """Return arguments with the folder of ``--config-dir`` added to ``hydra.searchpath``."""
    if config_dir is None:
        return list(words)
    path = str(Path(config_dir).absolute()).replace("'", "\\'")
    values = [*_search_path(words), f"'file://{path}'"]
    others = [word for word in words if not word.startswith(f"{_SEARCH_PATH}=")]
    return [*others, f"{_SEARCH_PATH}=[{','.join(values)}]"]


def _search_path(words: Iterable[str]) -> list[str]:
    """Return the values of ``hydra.searchpath``."""
    texts = [word.partition("=")[2] for word in words if word.startswith(f"{_SEARCH_PATH}=")]
    return [value for text in texts for value in split_values(text.strip("[] ")) if value]


def find_config(folders: Sequence[Path], path: str) -> Path | None:
    """Return the file that Hydra reads for "experiment/mine", those that ship first."""
    files = (folder / f"{path}.yaml" for folder in [config_folder(), *folders])
    return next((file for file in files if file.is_file()), None)


def groups_of(folders: Sequence[Path]) -> dict[str, list[str]]:
    """Return the config groups and the choices of each, the user's own first."""
    found: dict[str, list[str]] = {}
    for folder in folders:
        for file in sorted(folder.rglob("*.yaml")):
            group, _, name = file.relative_to(folder).with_suffix("").as_posix().partition("/")
            if name and group != "hydra":
                found.setdefault(group, []).append(name)
    for group, names in config_groups().items():
        found[group] = list(dict.fromkeys([*found.get(group, []), *names]))
    return found


def choices_hint(choice: str, choices: Sequence[str]) -> str:
    """Return " Did you mean ...?" or the choices of a group, those in a folder of it as one."""
    folder, slash, _ = choice.rpartition("/")
    in_folder = [other for other in choices if slash and other.startswith(f"{folder}/")]
    close = [other for other in choices if other.rpartition("/")[2] == choice]
    close = close or difflib.get_close_matches(choice, in_folder or choices, n=1)
    if close:
        return f" Did you mean {close[0]}?"
    shown = in_folder or [
        f"{other.partition('/')[0]}/..." if "/" in other else other for other in choices
    ]
    return f" There are {', '.join(dict.fromkeys(shown))}." if shown else ""


def _check_groups(option: str, folder: Path) -> None:
    """Check that a folder holds the folder of a config group, or a file of another kind."""
    if any(path.is_dir() for path in folder.iterdir()) or not any(folder.glob("*.yaml")):
        return
    hint = ""
    if folder.absolute().name in config_groups():
        hint = f" Did you mean {option}{folder.absolute().parent}?"
    message = f"{option}{folder} holds no folder of a config group, such as experiment/.{hint}"
    raise ConfigError(message, key=option.rstrip(" ="), value=str(folder))
