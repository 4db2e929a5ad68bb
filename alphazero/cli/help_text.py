"""`--help` of a command: every key, its value, what it means and what is allowed, from the settings dataclass itself."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from alphazero.runtime.settings import rows


def print_help(command: str, summary: str, settings, examples: list[str]) -> None:
    """Print the help of a command.

    Args:
        settings: an instance of the command's settings dataclass; its values are shown as the defaults.
        examples: lines to type.
    """
    console = Console()
    console.print(f"usage: alphazero {command} \\[key=value ...]\n", highlight=False)
    console.print(summary + "\n", highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("key", "default", "meaning"):
        table.add_column(name, overflow="fold")
    for key, value, text, allowed in rows(settings):
        shown = "" if value is None or value == "" else str(value)
        table.add_row(
            Text(key), Text(shown, style="cyan"), Text(text + (f" [{allowed}]" if allowed else ""))
        )
    console.print(table)
    console.print("\n[bold]examples[/]")
    for example in examples:
        console.print(Text("  " + example))
