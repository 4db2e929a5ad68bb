"""Create a package for your own game: sample rules to replace, a simple second implementation,
tests, and settings for training. The sample game can be trained at once.

    alphazero new_game my_game
    alphazero new_game my_game kind=compiled

The command writes a folder of that name. docs/ADD_A_GAME.md describes how to write rules.
"""

import dataclasses
import importlib.util
import keyword
import re
import shutil
from pathlib import Path

from alphazero.config.settings import option
from alphazero.own_games.registry import game_names
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import write_atomically

POSITIONAL = "name"
_TEMPLATES = Path(__file__).with_name("new_game_files")
#: The files of the new package, and the templates they are made from.
_FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "my_game.py": "rules_{kind}.py",
    "my_game_twin.py": "twin.py",
    "test_my_game.py": "test.py",
    "configs/experiment/my_game.yaml": "my_game.yaml",
}


@dataclasses.dataclass
class Settings:
    """Settings of the `new_game` command: the game's name, and whether its rules are compiled."""

    name: str = option("", "the game's name, in lower case; 'name=' may be left out")
    kind: str = option("python", "compiled rules are faster", choices=("python", "compiled"))


def run(settings: Settings, console: Console) -> None:
    """Write the package, and print the commands that check, install and train the game.

    If writing fails, the new folder is deleted.

    Raises:
        ConfigError: if the name is not allowed or already taken.
        OSError: if a file cannot be written.
    """
    name = settings.name
    folder = Path(name)
    _check(name, folder)
    try:
        for file_name, template_name in _FILES.items():
            template = _TEMPLATES / f"{template_name.format(kind=settings.kind)}.txt"
            text = template.read_text(encoding="utf-8")
            path = folder / file_name.replace("my_game", name)
            write_atomically(path, _named(text, name).encode())
    except BaseException:  # such as a full disk or Ctrl-C
        shutil.rmtree(folder, ignore_errors=True)
        raise
    lines = [
        f"{name}/{name}.py holds rules to replace by yours. They can be trained as they are:",
        "",
        f"    cd {name}",
        f"    alphazero check_game game={name}.py twin={name}_twin.py",
        "    pip install -e .",
        f"    alphazero train game={name}",
        "",
        f"Not installed, it is game={name}:GAME in that folder, game={name}/{name}.py from here.",
    ]
    console.print("\n".join(lines), markup=False)


def _named(text: str, name: str) -> str:
    """Insert the new game's name into the text of a template.

    ``name`` replaces ``my_game``, and ``name`` in camel case replaces ``MyGame``.
    """
    class_name = "".join(part.capitalize() for part in name.split("_"))
    return text.replace("MyGame", class_name).replace("my_game", name)


def _check(name: str, folder: Path) -> None:
    """Check that the new game's name is allowed and free, and that its folder does not exist.

    Raises:
        ConfigError: if the name is not a lower-case identifier, a game or an installed module has
            it, or ``folder`` exists.
    """
    allowed = "a name such as my_game: lower-case letters, digits and _, starting with a letter"
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise ConfigError.of("name", name, allowed)
    spec = importlib.util.find_spec(name)
    here = Path.cwd()
    is_taken = spec and spec.origin and Path(spec.origin).parent not in (here, here / name)
    if name in game_names() or is_taken:
        reason = "a game or a module has this name already"
        raise ConfigError.of("name", name, "another one", reason)
    if folder.exists():
        raise ConfigError.of("name", name, "another one", "this folder or file exists")
