"""The text of `alphazero COMMAND --help`, made from the command's settings class.

In: the settings, a summary and examples. Out: text on standard output, with the default value, the
meaning and the allowed values of each setting.
"""

import dataclasses

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from alphazero.players.base import PlayerSettings
from alphazero.runtime.settings import Row, rows, value_text

_WIDTH = 100  # longer lines are hard to read
_PLAYERS = "player settings (for one player alone, after a comma: uct:500,uct_c=0.7)"


def print_help(
    command: str,
    summary: str,
    settings,
    examples: list[str],
    choices: dict[str, list[str]] | None = None,
) -> None:
    """Print the help of a command.

    Args:
        settings: an instance of the command's settings class; its values are shown as the defaults.
        examples: complete commands.
        choices: the config groups of the command and the files in each.
    """
    console = Console(highlight=False)
    console.width = min(console.width, _WIDTH)
    console.print(f"usage: alphazero {command} [key=value ...]\n", markup=False)
    console.print(summary, markup=False)
    if choices:
        console.print("\n[bold]config groups[/]")
        console.print(Padding(_choices_table(choices), (0, 0, 0, 2), expand=False))
    for heading, group in _groups(settings):
        console.print(f"\n[bold]{heading}[/]")
        for row in group:
            _print_hanging(console, _setting(row), row.help)
    console.print("\n[bold]examples[/]")
    for example in examples:
        console.print(f"  {example}", markup=False, soft_wrap=True)


def _choices_table(choices: dict[str, list[str]]) -> Table:
    """Return the files of each config group; groups of a single file leave nothing to choose."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, files in choices.items():
        if len(files) > 1:
            table.add_row(Text(name, "cyan"), ", ".join(files))
    return table


def _groups(settings) -> list[tuple[str, list[Row]]]:
    """Return the settings under their headings, in the order of the help."""
    fields = dataclasses.fields(settings)
    headings = {
        field.name: f"{field.name}: {field.metadata['help']}"
        for field in fields
        if dataclasses.is_dataclass(field.type)
    }
    groups: dict[str, list[Row]] = {heading: [] for heading in [*headings.values(), "settings"]}
    groups[_PLAYERS] = []
    of_players = {field.name for field in dataclasses.fields(PlayerSettings)} - {"seed"}
    for row in rows(settings):
        section, dot, _ = row.key.rpartition(".")
        is_of_player = isinstance(settings, PlayerSettings) and row.key in of_players
        heading = headings[section] if dot else _PLAYERS if is_of_player else "settings"
        groups[heading].append(row)
    return [(heading, group) for heading, group in groups.items() if group]


def _setting(row: Row) -> Text:
    """Return ``key=default`` and the allowed values."""
    value = f"{row.value:g}" if isinstance(row.value, float) else value_text(row.value)
    default = "" if row.value in (None, "") else f"={value}"
    allowed = f"  [{row.allowed}]" if row.allowed else ""
    return Text.assemble((row.key, "cyan"), default, (allowed, "dim"))


def _print_hanging(console: Console, title: Text, text: str) -> None:
    """Print a title and, indented below it, a text."""
    console.print(Padding(title, (0, 0, 0, 2), expand=False))
    console.print(Padding(Text(text), (0, 0, 0, 6), expand=False))
