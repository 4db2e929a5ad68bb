"""Config files: the folders that hold them, their groups and choices, where a value stands.

In: the folder of the program's config files and those of the user. Out: names of groups and files.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from alphazero.config.command_line import split_values
from alphazero.runtime.errors import ConfigError

_SEARCH_PATH = "hydra.searchpath="


def with_config_dir(words: Sequence[str], config_dir: str | None) -> list[str]:
    """Return arguments with the folder of ``--config-dir`` added to ``hydra.searchpath``."""
    if config_dir is None:
        return list(words)
    path = str(Path(config_dir).absolute()).replace("'", "\\'")
    values = ",".join([*_search_path(words), f"'file://{path}'"])
    others = [word for word in words if not word.startswith(_SEARCH_PATH)]
    return [*others, f"{_SEARCH_PATH}[{values}]"]


def own_folders(words: Iterable[str]) -> list[Path]:
    """Return the folders of config files that arguments name: ``hydra.searchpath=[file:///DIR]``.

    Raises:
        ConfigError: if one does not exist.
    """
    values = [value.strip(" '\"").removeprefix("file://") for value in _search_path(words)]
    folders = [Path(value) for value in values if not value.startswith("pkg://")]
    for folder in folders:
        if not folder.is_dir():
            raise ConfigError.of("hydra.searchpath", str(folder), reason="there is no such folder")
    return folders


def _search_path(words: Iterable[str]) -> list[str]:
    """Return the values of ``hydra.searchpath``."""
    texts = [word.removeprefix(_SEARCH_PATH) for word in words if word.startswith(_SEARCH_PATH)]
    return [value for text in texts for value in split_values(text.strip("[] ")) if value]


def config_files(folders: Iterable[Path]) -> dict[str, Path]:
    """Return the config files in folders by their names, such as "experiment/mine"."""
    return {
        path.relative_to(folder).with_suffix("").as_posix(): path
        for folder in folders
        for path in sorted(folder.rglob("*.yaml"))
    }


def groups_of(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the config groups of files with these names, and the choices of each."""
    found: dict[str, list[str]] = {}
    for file in names:
        group, _, name = file.partition("/")
        if name and group != "hydra" and name not in found.setdefault(group, []):
            found[group].append(name)
    return found


def read_values(path: Path) -> Any:
    """Return the plain data of a config file; see `parse_yaml`."""
    return parse_yaml(path.read_text("utf-8"))


def parse_yaml(text: str) -> Any:
    """Return the plain data that a text holds, interpolations as they are written.

    Raises:
        ValueError: saying what is wrong.
    """
    try:
        return OmegaConf.to_container(OmegaConf.create(text))
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}" if mark else "it"
        raise ValueError(f"{place} is not YAML") from None
    except (OmegaConfBaseException, ValueError, RecursionError):
        raise ValueError("it holds more than keys and values") from None


def to_yaml(values: dict[str, Any]) -> str:
    """Return plain data as a text that `parse_yaml` reads."""
    return OmegaConf.to_yaml(OmegaConf.create(values))


def file_with(files: Mapping[str, Path], key: str | None, value: Any) -> Path | None:
    """Return the first file in which a setting has this value, None if there is none."""
    for name, path in files.items():
        try:
            values = read_values(path)
        except (OSError, ValueError):
            continue
        # The keys of a file belong to its group or, as those of an experiment, to the root.
        of_group = {name.partition("/")[0]: values}
        if (key, value) in [*_flat(values), *_flat(of_group)]:
            return path
    return None


def _flat(values: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the keys of nested data with their values: of sections, and of a defaults list."""
    for name, value in values.items() if isinstance(values, dict) else ():
        yield f"{prefix}{name}", value
        yield from _flat(value, f"{prefix}{name}.")
        for entry in value if isinstance(value, list) else ():
            yield from _flat(entry)
