"""How a command starts, and what several commands print: tables and files of figures.

A command that reads its own settings is a module of this package with

- a docstring, whose first paragraph is the summary in ``--help``;
- ``EXAMPLES``: complete commands;
- ``Settings``: the class of its settings. A file named by ``json`` is checked before the work;
- ``run(settings, console)``, which returns the exit status, None for 0;
- ``POSITIONAL``, if a word without an equals sign is the value of a setting: the setting's name.
"""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.table import Table
from rich.text import Text

from alphazero.cli.output.help_text import HELP, print_help
from alphazero.config.command_line import from_overrides
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import check_output


def run_command(command: ModuleType, arguments: list[str], console: Console | None = None) -> int:
    """Run a command, or print its help; return the exit status.

    Args:
        console: where its results are printed, by default standard output.

    Raises:
        ValueError: for wrong input.
    """
    if HELP & set(arguments):
        usage = " ".join([name_of(command), getattr(command, "POSITIONAL", "").upper()]).strip()
        print_help(usage, summary_of(command), command.Settings(), command.EXAMPLES)
        return 0
    settings = read_settings(command, arguments)
    if getattr(settings, "json", None):
        check_output(settings.json, "json")
    return command.run(settings, console or Console(highlight=False, emoji=False)) or 0


def name_of(command: ModuleType) -> str:
    """Return the name by which a command is called."""
    return command.__name__.rpartition(".")[2]


def summary_of(command: ModuleType) -> str:
    """Return the first paragraph of a command's docstring as one line."""
    return " ".join((command.__doc__ or "").split("\n\n")[0].split())


def read_settings(command: ModuleType, arguments: list[str]) -> Any:
    """Return the checked settings of a command.

    Raises:
        ConfigError: for a wrong one, or several words that could be the positional one.
    """
    name = f"alphazero {name_of(command)}"
    key = getattr(command, "POSITIONAL", None)
    if key is not None:
        words = [word for word in arguments if "=" not in word and not word.startswith("-")]
        if len(words) > 1:
            message = f"'{name}' takes one {key}, not {len(words)}: {' and '.join(words)}. "
            message += "Settings are written key=value."
            raise ConfigError(message, key=key, value=words[1])
        arguments = [f"{key}={word}" if word in words else word for word in arguments]
    return from_overrides(command.Settings, arguments, name)


def facts_table(title: str) -> Table:
    """Return an empty table of two columns without headings: names and facts."""
    table = Table(title=Text(title, "bold"), title_justify="left", show_header=False)
    table.add_column(style="dim")
    table.add_column()
    return table


def figures_table(*headings: str, left: str | None = None) -> Table:
    """Return an empty table of right-justified columns.

    Args:
        left: the heading of a column of names before them; None leaves it out.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    if left is not None:
        table.add_column(left, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def write_figures(
    path: str, figures: dict, console: Console, what: str = "Figures", indent: int | None = None
) -> None:
    """Write figures as JSON, and print ``what`` is in which file."""
    Path(path).write_text(json.dumps(figures, indent=indent) + "\n")
    console.print(f"{what}: {path}", markup=False, soft_wrap=True)
