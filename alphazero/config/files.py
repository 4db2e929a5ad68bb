"""Read YAML config files, and list the config groups that they define and the choices in each."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import AliasToken, YAMLError

_MAX_STORED = 20_000  #: maximum characters of a stored config; ours have about 4,000
_MAX_DEPTH = 30  #: maximum nesting depth, and maximum number of interpolations, in a stored config
_NO_YAML = "it is not YAML of plain keys and values"


def config_files(folder: Path) -> dict[str, Path]:
    """Find all config files (``*.yaml``) in a folder and its subfolders.

    Returns:
        {name: path}, where the name is the path within the folder without ".yaml", such as
        "experiment/mine".
    """
    files = sorted(folder.rglob("*.yaml"))
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in files}


def groups_of(names: Iterable[str]) -> dict[str, list[str]]:
    """Group the names of config files, such as "experiment/mine", by config group.

    Files outside any group and those of Hydra's own settings are left out.

    Returns:
        {group: its choices}, such as {"experiment": ["mine"]}.
    """
    groups: dict[str, list[str]] = {}
    for file in names:
        group, _, name = file.partition("/")
        if name and group != "hydra":
            choices = groups.setdefault(group, [])
            if name not in choices:
                choices.append(name)
    return groups


def read_values(path: Path) -> Any:
    """Read a YAML config file as dictionaries, lists and scalars.

    Raises:
        ValueError: if the file is not YAML.
        OSError: if the file cannot be read.
    """
    return _plain(path.read_text("utf-8"))


def parse_yaml(text: str) -> Any:
    """Parse YAML text written by `to_yaml`, leaving interpolations (``${...}``) unresolved.

    Raises:
        ValueError: if the text has more than `_MAX_STORED` characters, more than `_MAX_DEPTH`
            interpolations or levels of nesting, or is not YAML without aliases.
    """
    if len(text) > _MAX_STORED:
        raise ValueError(f"it has more than {_MAX_STORED:,} characters")
    if text.count("${") > _MAX_DEPTH or not _is_simple(text):
        raise ValueError(_NO_YAML)
    return _plain(text)


def _is_simple(text: str) -> bool:
    """Return whether a text is YAML without aliases and nested at most `_MAX_DEPTH` levels deep.

    A few lines of aliases can expand to more data than fits in memory, and deep nesting keeps the
    YAML parser busy for minutes.
    """
    depth = 0
    try:
        for token in yaml.scan(text):
            name = type(token).__name__  # such as "FlowSequenceStartToken", "BlockEndToken"
            depth += ("Start" in name) - name.endswith("EndToken")
            if isinstance(token, AliasToken) or depth > _MAX_DEPTH:
                return False
    except YAMLError:
        return False
    return True


def _plain(text: str) -> Any:
    try:
        return OmegaConf.to_container(OmegaConf.create(text))
    except (YAMLError, OmegaConfBaseException, ValueError, ArithmeticError, RecursionError):
        raise ValueError(_NO_YAML) from None


def to_yaml(values: dict[str, Any]) -> str:
    """Format nested dictionaries and lists as YAML text that `parse_yaml` can read."""
    return OmegaConf.to_yaml(OmegaConf.create(values))
