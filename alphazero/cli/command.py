"""Run the commands of `alphazero`, and write their results as tables and JSON files.

A command is a module of this package with

- a docstring, whose first paragraph is the summary in ``--help`` and whose indented lines are the
  examples;
- ``Settings``: the class of its settings. If there is a setting ``json``, the command checks before
  it runs that this file can be written;
- ``run(settings, console)``, which returns the exit status; None means 0;
- ``POSITIONAL`` (optional): the settings to which arguments without ``=`` are assigned, in order,
  separated by spaces.

A command that takes the settings of a training run has ``main(arguments)`` instead of the last
three: it prints its own help and returns the exit status.
"""

import json
from types import ModuleType
from typing import Any

from rich.table import Table

from alphazero.config.command_line import from_overrides
from alphazero.config.help import HELP, print_help
from alphazero.runtime.console import Console
from alphazero.runtime.files import check_output, write_output


def run_command(command: ModuleType, arguments: list[str], console: Console | None = None) -> int:
    """Run a command or, with ``--help`` among its arguments, print its help.

    Args:
        command: the module of the command.
        arguments: the command-line arguments after the command's name.
        console: where the command prints its results; None means standard output.

    Returns:
        The exit status.

    Raises:
        ValueError: if an argument, or a file that it names, cannot be used.
    """
    if not hasattr(command, "Settings"):
        return command.main(arguments)
    if HELP & set(arguments):
        summary, examples = summary_and_examples(command)
        usage = f"{_name(command)} {getattr(command, 'POSITIONAL', '').upper()}".rstrip()
        print_help(usage, summary, command.Settings(), examples)
        return 0
    settings = read_settings(command, arguments)
    if getattr(settings, "json", None):
        check_output(settings.json, "json")
    return command.run(settings, console or Console(highlight=False, emoji=False)) or 0


def read_settings(command: ModuleType, arguments: list[str]) -> Any:
    """Make a command's settings from its arguments, and check them.

    Args:
        command: the module of the command.
        arguments: the command-line arguments after the command's name. If the command has
            ``POSITIONAL`` settings, the arguments without ``=`` are their values, in order.

    Returns:
        An instance of the command's class ``Settings``.

    Raises:
        ConfigError: for an invalid setting, or any other argument without ``=``.
    """
    name = f"alphazero {_name(command)}"
    arguments = list(arguments)
    keys = getattr(command, "POSITIONAL", "").split()
    for index, word in enumerate(arguments):
        if keys and "=" not in word and not word.startswith("-"):
            arguments[index] = f"{keys.pop(0)}={word}"
    return from_overrides(command.Settings, arguments, name)


def _name(command: ModuleType) -> str:
    return command.__name__.rpartition(".")[2]


def summary_and_examples(command: ModuleType) -> tuple[str, list[str]]:
    """Return the summary and the example lines for a command's ``--help``.

    They are the first paragraph and the indented lines of the docstring of the command's module.
    """
    doc = command.__doc__ or ""
    summary = " ".join(doc.split("\n\n")[0].split())
    return summary, [line.strip() for line in doc.splitlines() if line.startswith("    ")]


def figures_table(*headings: str, left: str) -> Table:
    """Make a table without rows, whose right-justified columns are for numbers.

    Args:
        headings: the headings of the right-justified columns.
        left: the heading of the left-justified first column, for names.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(left, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def write_figures(path: str, figures: dict[str, Any], console: Console) -> None:
    """Write a command's results to a JSON file, and print the path of the file.

    Args:
        path: the file to write.
        figures: the results, as nested dictionaries, lists and numbers.
        console: where to print the path.

    Raises:
        OSError: if the file cannot be written; the results are then kept in a temporary file, if
            possible, and the message names that file.
    """
    write_output(path, (json.dumps(figures) + "\n").encode())
    console.print(f"Figures: {path}", markup=False)
