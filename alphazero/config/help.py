"""Print a command's `--help` text from its settings class.

The text shows the default value, the meaning and the allowed values of each setting.
"""

import dataclasses
import inspect
from collections.abc import Sequence
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from alphazero.config.hints import nearest_key_hint
from alphazero.config.settings import Row, rows
from alphazero.runtime.console import TrimmedConsole
from alphazero.runtime.errors import ConfigError, value_text

HELP = {"-h", "--help"}
_WIDTH = 100  # longer lines are hard to read
_OPTIONS = {
    "--multirun": "a run for each of several values: seed=1,2,3, seed=range(1,4)",
    "--cfg job": "print all resolved settings and end",
    "--config-dir DIR": "take config files from a folder of yours, too: DIR/experiment/mine.yaml",
}


def print_help(
    command: str,
    summary: str,
    settings: Any,
    examples: list[str],
    choices: dict[str, list[str]] | None = None,
    sections: Sequence[str] = (),
) -> None:
    """Print the help of a command.

    A command with config groups has many settings, so its help is an overview; ``sections`` selects
    the settings to print in full.

    Args:
        command: the name of the command.
        summary: what the command does.
        settings: an instance of the command's settings class; its values are shown as the defaults.
        examples: example command lines.
        choices: the command's config groups, and the names of the files in each; None if the
            command has none.
        sections: names of the sections or single settings to print instead of the overview, or
            "all"; only for commands with ``choices``.

    Raises:
        ConfigError: if there is no such section or setting.
    """
    console = TrimmedConsole(highlight=False, emoji=False)
    console.width = min(console.width, _WIDTH)
    if sections:
        _print_settings(console, _chosen(settings, sections))
        return
    console.print(f"usage: alphazero {command} [key=value ...]\n", markup=False)
    console.print(summary, markup=False)
    if choices:
        files = dict[str, str]()
        for group, names in choices.items():
            if len(names) > 1:  # a single file leaves nothing to choose
                files[group] = ", ".join(names)
        helps = {field.name: field.metadata["help"] for field in _sections(settings)}
        _print_table(console, "config groups[/]: choose one file of each, group=file", files)
        _print_table(console, "sections[/]: set any value, section.key=value", helps)
        _print_settings(console, {"settings": _groups(settings)["settings"]})
        _print_table(console, "options[/]", _OPTIONS)
        first_section = next(iter(helps))
        console.print(
            f"\n'alphazero {command} --help {first_section}' lists the settings of a section "
            "with their ranges, '--help all' lists all settings.",
            markup=False,
        )
    else:
        _print_settings(console, _groups(settings))
    console.print("\n[bold]examples[/]")
    for example in examples:
        console.print(f"  {example}", markup=False, soft_wrap=True)


def _print_settings(console: TrimmedConsole, groups: dict[str, list[Row]]) -> None:
    for heading, group in groups.items():
        console.print(f"\n[bold]{heading}[/]")
        for row in group:
            console.print(_indented(_setting(row), 2))
            console.print(_indented(Text(row.help), 6))


def _print_table(console: TrimmedConsole, heading: str, table: dict[str, str]) -> None:
    """Print a heading and, below it, a two-column table of names and their meanings."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for name, text in table.items():
        grid.add_row(Text(name, "cyan"), text)
    console.print(f"\n[bold]{heading}")
    console.print(_indented(grid, 2))


def _indented(part: Table | Text, num_columns: int) -> Padding:
    return Padding(part, (0, 0, 0, num_columns), expand=False)


def _chosen(settings: Any, sections: Sequence[str]) -> dict[str, list[Row]]:
    """Return the selected settings as {heading: settings below it}.

    Args:
        settings: an instance of the command's settings class.
        sections: names of whole sections or of single settings, or "all".

    Raises:
        ConfigError: if there is no such section or setting.
    """
    groups = _groups(settings)
    sections_of = {heading: heading.partition(":")[0] for heading in groups}
    known = sorted({"all", *sections_of.values(), *(row.key for row in rows(settings))})
    for section in sections:
        if section not in known:
            hint = nearest_key_hint(section, known)
            message = f"--help {section}: there is no such section.{hint}"
            raise ConfigError(message, key="--help", value=section, allowed=known)
    chosen = {}
    for heading, group in groups.items():
        if not {"all", sections_of[heading]} & set(sections):
            group = [row for row in group if row.key in sections]
        if group:
            chosen[heading] = group
    return chosen


def _sections(settings: Any) -> list[dataclasses.Field]:
    return [field for field in dataclasses.fields(settings) if dataclasses.is_dataclass(field.type)]


def _groups(settings: Any) -> dict[str, list[Row]]:
    """Group a command's settings by heading: sections first, then the settings outside sections.

    Settings that the command's own class declares come before inherited ones. A base class may
    define a separate heading for its settings as ``HEADING``.

    Returns:
        {heading: settings below it}.
    """
    all_rows = list(rows(settings))
    groups: dict[str, list[Row]] = {}
    for field in _sections(settings):
        heading = f"{field.name}: {field.metadata['help']}"
        prefix = f"{field.name}."
        groups[heading] = [row for row in all_rows if row.key.startswith(prefix)]
    own, *bases = type(settings).__mro__
    declared = dict[str, type]()
    for cls in (own, *bases):
        declared |= dict.fromkeys(inspect.get_annotations(cls), cls)
    for cls in (own, *reversed(bases)):
        group = groups.setdefault(vars(cls).get("HEADING", "settings"), [])
        group += [row for row in all_rows if declared.get(row.key) is cls]
    return {heading: group for heading, group in groups.items() if group}


def _setting(row: Row) -> Text:
    """Format a setting as ``key=default``, followed by its allowed values in brackets."""
    value = f"{row.value:g}" if isinstance(row.value, float) else value_text(row.value)
    default = "" if row.value in (None, "") else f"={value}"
    allowed = f"  [{row.allowed}]" if row.allowed else ""
    return Text.assemble((row.key, "cyan"), default, (allowed, "dim"))
