"""The arguments of `alphazero train`, checked, as overrides in Hydra's grammar.

In: arguments as people type them. A value is read by the type of its setting, as in all commands
(`alphazero.config.command_line`), so text needs no quotes. Out: overrides that mean the same to
Hydra. Hydra's own forms pass unchanged: ``hydra.run.dir=...``, ``~group``, ``+group=file``,
``group@package=file``, ``${interpolations}``, and sweeps such as ``seed=range(1,4)``.
"""

import functools
import re
from pathlib import Path
from typing import Any, NamedTuple

from alphazero.config.command_line import check_key, parse_overrides, split_values
from alphazero.config.settings import from_plain, rows
from alphazero.runtime.errors import ConfigError
from alphazero.training.config_files import choice_for_game, config_groups
from alphazero.training.own_files import OwnFiles
from alphazero.training.own_folders import own_folders
from alphazero.training.settings import TrainSettings

_SWEEP_FUNCTION = re.compile(r"(choice|range|interval|glob|shuffle|sort|tag)\(.*\)$")
_UNQUOTED = re.compile(r"[\w./][\w./:+@%-]*$", re.ASCII)
_WORDS_WITH_A_MEANING = {"true", "false", "null", "nan", "inf"}


class Argument(NamedTuple):
    """One argument of the command line."""

    prefix: str  #: "~" deletes, "+" and "++" add, "" sets
    key: str
    text: str | None  #: None without "="

    @property
    def is_hydras(self) -> bool:
        """True for what only Hydra understands, such as ``hydra.run.dir=...``."""
        return "@" in self.key or re.split("[./]", self.key)[0] == "hydra"

    def __str__(self) -> str:
        return self.prefix + self.key + ("" if self.text is None else f"={self.text}")


def hydra_overrides(
    words: list[str], command: str, multirun: bool = False, config_dir: str | None = None
) -> list[str]:
    """Return arguments in Hydra's grammar; check the user's own config files that they choose.

    Args:
        words: choices of config groups, single settings and Hydra's own settings.
        command: such as "alphazero train"; error messages name it.
        multirun: values separated by commas make a run each. The names of the runs then consist of
            these settings alone.
        config_dir: a folder with config files of the user's own.

    Raises:
        ConfigError: for an unknown key or an impossible value.
    """
    arguments = [split_argument(word) for word in words]
    choices = _check_choices(arguments, own_folders(words, config_dir))
    arguments = with_choice_of_game(arguments, choices["game"])
    found = [_override(argument, command, multirun) for argument in arguments]
    if multirun and not any("override_dirname" in word for word in words):
        fixed = [argument.key for argument in arguments if not _is_sweep(argument)]
        found.append(f"hydra.job.config.override_dirname.exclude_keys=[{','.join(fixed)}]")
    return found


def split_argument(word: str) -> Argument:
    """Split an argument.

    Raises:
        ConfigError: if it has no "=", unless it begins with "~".
    """
    prefix = next((prefix for prefix in ("~", "++", "+") if word.startswith(prefix)), "")
    key, equals, text = word.removeprefix(prefix).partition("=")
    if not key or (not equals and prefix != "~"):
        raise ConfigError(f"'{word}' is not of the form key=value.", key=word)
    return Argument(prefix, key, text if equals else None)


def _check_choices(arguments: list[Argument], folders: list[Path]) -> dict[str, list[str]]:
    """Check the choices of config groups, and the user's own files among them.

    Returns:
        The choices of each group, the user's own included.
    """
    for argument in arguments:
        if "+" in argument.prefix and argument.key in config_groups():
            _check_added(argument, arguments)
    if not folders:
        return config_groups()
    own = OwnFiles(folders)
    for argument in arguments:
        if argument.key in own.groups and argument.prefix != "~":
            for choice in split_values((argument.text or "").strip("[]")):
                own.check(argument.key, choice)
    return own.groups


def _check_added(argument: Argument, arguments: list[Argument]) -> None:
    """Check that a group with "+" has no choice yet: `experiment` alone has none by default."""
    key = argument.key
    others = [other for other in arguments if other.key == key and other is not argument]
    if key == "experiment" and not others:
        return
    reason = (
        f"{others[0]} chooses a file of {key}, too: give one of them"
        if others
        else f"the group {key} has a choice already, which {key}={argument.text} replaces"
    )
    raise ConfigError(f"{argument} is not allowed: {reason}.", key=key, value=argument.text)


def with_choice_of_game(arguments: list[Argument], choices: list[str]) -> list[Argument]:
    """Return the arguments with the name of a game replaced by a choice of the group ``game``.

    ``game=connect_x:4x5x4`` chooses the proposals for that game. So does
    ``game.name=connect_x:4x5x4`` alone, which would keep the proposals for another game.
    """
    is_chosen = any(argument.key == "game" for argument in arguments)
    found = []
    for argument in arguments:
        is_name = argument.key == "game.name" and not is_chosen
        if argument.text and not argument.prefix and (argument.key == "game" or is_name):
            names = split_values(argument.text)
            found_choices = [name if name in choices else choice_for_game(name) for name in names]
            argument = Argument("", "game", ",".join(found_choices))
        found.append(argument)
    return found


def _override(argument: Argument, command: str, multirun: bool) -> str:
    """Return an argument in Hydra's grammar."""
    groups = config_groups()
    known = [*(row.key for row in rows(TrainSettings())), *groups]
    if argument.is_hydras or ("+" in argument.prefix and argument.key not in known):
        return str(argument)  # "+" may add a group of the user's own config folder
    check_key(argument.key, argument.text or "", known, command)
    if argument.prefix == "~":
        return _deletion(argument, groups)
    if _is_sweep(argument) and not multirun:
        message = f"{argument} gives several values: --multirun makes a run for each of them."
        raise ConfigError(message, key=argument.key, value=argument.text)
    key, text = argument.key, argument.text or ""
    if _SWEEP_FUNCTION.match(text):
        return f"{key}={text}"
    values = split_values(text) if multirun else [text]
    literal = _choice if key in groups else functools.partial(_literal_of_setting, key, command)
    return f"{key}={','.join(map(literal, values))}"


def _deletion(argument: Argument, groups: dict[str, list[str]]) -> str:
    if argument.key not in groups:
        message = f"{argument}: a setting cannot be deleted, only a choice such as ~experiment can."
        raise ConfigError(message, key=argument.key)
    return str(argument)


def _is_sweep(argument: Argument) -> bool:
    """Return whether an argument gives several values."""
    text = argument.text or ""
    return len(split_values(text)) > 1 or bool(_SWEEP_FUNCTION.match(text))


def _choice(text: str) -> str:
    """Return the choice of a config group, or a list of choices, in Hydra's grammar."""
    return text if not text or text[0] == "[" or "${" in text else hydra_literal(text)


@functools.lru_cache(maxsize=1024)
def _literal_of_setting(key: str, command: str, text: str) -> str:
    """Return the value that a text means for a setting, checked, in Hydra's grammar.

    Remembered, because checking one value fills and checks all settings of a run: 5 ms.
    """
    if "${" in text:
        return text
    values = parse_overrides(TrainSettings, [f"{key}={text}"], command)
    value: Any = from_plain(TrainSettings, values)
    for name in key.split("."):
        value = getattr(value, name)
    return hydra_literal(value)


def hydra_literal(value: Any) -> str:
    """Return a value as Hydra's grammar writes it; text is quoted where that is needed."""
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{','.join(map(hydra_literal, value))}]"
    if not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if _UNQUOTED.match(value) and not _has_a_meaning(value):
        return value
    # Backslashes count only before a quote: there, and at the end, each is written twice.
    escaped = re.sub(
        r"(\\*)('|$)", lambda found: found[1] * 2 + found[2].replace("'", r"\'"), value
    )
    return f"'{escaped}'"


def _has_a_meaning(text: str) -> bool:
    """Return whether Hydra reads a text without quotes as a number, a switch or nothing."""
    try:
        float(text)
        return True
    except ValueError:
        return text.lower() in _WORDS_WITH_A_MEANING
