"""The options of Hydra's command line, told apart from settings and checked.

In: the arguments of `alphazero train` and `tune`. Out: settings, options and what the options mean;
a ConfigError for an option that does not exist or cannot be.
"""

import argparse
import difflib
from typing import NamedTuple

from hydra._internal.utils import get_args_parser  # hydra.main's; there is no public name

from alphazero.config.hints import nearest_key_hint
from alphazero.config.settings import rows
from alphazero.runtime.errors import ConfigError
from alphazero.training.hydra_overrides import split_argument
from alphazero.training.settings import TrainSettings


class CommandLine(NamedTuple):
    """A command line in its two parts."""

    words: list[str]  #: settings and choices of config groups
    options: list[str]  #: Hydra's options with their values
    known: argparse.Namespace  #: the options by their names


def split_command_line(arguments: list[str], command: str) -> CommandLine:
    """Return a command line in its two parts.

    ``--package`` alone means ``--cfg job --package``.

    Args:
        command: such as "alphazero train"; error messages name it.

    Raises:
        ConfigError: for an unknown option, or a value that an option does not take.
    """
    options: list[str] = []
    words: list[str] = []
    for index, argument in enumerate(arguments):
        follows_option = index > 0 and arguments[index - 1].startswith("-")
        is_value = follows_option and "=" not in argument and argument[:1] not in ("~", "+", "")
        (options if argument.startswith("-") or is_value else words).append(argument)
    known = _parsed(options, command)
    if known.package is not None and known.cfg is None and not known.info:
        options = [*options, "--cfg", "job"]
        known.cfg = "job"
    if known.cfg == "job" and known.config_name is None and known.package is not None:
        _check_package(known.package)
    return CommandLine(words, options, known)


def _parsed(options: list[str], command: str) -> argparse.Namespace:
    """Return Hydra's options by their names; its parser would print a page and end the process."""
    parser = get_args_parser()
    parser.exit_on_error = False
    try:
        known, unknown = parser.parse_known_args(options)
    except argparse.ArgumentError as error:
        raise ConfigError(f"{error}.", key=error.argument_name) from None
    if unknown:
        name = unknown[0].partition("=")[0]
        names = [text for action in parser._actions for text in action.option_strings]
        close = difflib.get_close_matches(name, names, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        message = f"'{command}' has no option {name}.{hint} Settings are written key=value, and "
        message += f"'{command} --hydra-help' lists the options."
        raise ConfigError(message, key=name, allowed=names)
    for word in known.overrides:  # follows an option that takes no value
        split_argument(word)
    return known


def _check_package(package: str) -> None:
    """Check that ``--package`` names a section or a setting."""
    keys = [row.key for row in rows(TrainSettings())]
    sections = dict.fromkeys(key.partition(".")[0] for key in keys if "." in key)
    known = [*sections, *keys]
    if package not in known:
        hint = nearest_key_hint(package, known) or f" The sections are {', '.join(sections)}."
        message = f"--package {package}: there is no such section.{hint}"
        raise ConfigError(message, key="--package", value=package, allowed=known)
