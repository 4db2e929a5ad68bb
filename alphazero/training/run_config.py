"""The settings of a training run, from config files and the arguments of a command line.

In: the arguments of `alphazero train`. Out: checked `TrainSettings`. `alphazero.config.hydra`
composes them; this module knows the files that ship, and which of them proposes values for a game.
"""

import functools
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from alphazero.config import hydra_main
from alphazero.config.command_line import split_values
from alphazero.config.files import config_files, groups_of, read_values
from alphazero.config.help import HELP, print_help
from alphazero.config.hydra import Composer, Configs, store_choice
from alphazero.config.hydra_main import Job, split_command_line
from alphazero.network.registry import is_own_kind
from alphazero.own_games.registry import is_shipped_game, make_game, same_game
from alphazero.runtime.errors import ConfigError
from alphazero.storage.run_folder import name_part
from alphazero.training.settings import TrainSettings, check_new_run

COMMAND = "alphazero train"
#: The choices that were made for games and networks without a file, with their names.
_MADE_CHOICES: dict[str, str] = {}


def compose(words: list[str], config_dir: str | None = None) -> TrainSettings:
    """Return the checked settings of a run.

    Args:
        words: choices of config groups and single settings, such as ``["game=othello", "seed=1"]``.
            Single settings override files, and later arguments override earlier ones.
        config_dir: a folder with more config files.

    Raises:
        ConfigError: for an unknown key or choice, or an impossible value.
    """
    settings: TrainSettings = Composer(run_configs(), words, COMMAND, config_dir).compose()
    return settings


def recipe_of(game_name: str) -> TrainSettings:
    """Return the settings of a game's runs as its config files propose them."""
    return compose([f"game={game_name}"])


def run_with_hydra(arguments: list[str], command: str, run: Callable[[Job], float | None]) -> int:
    """Run the job of a command line, or each job of a sweep; return the exit status.

    See `alphazero.config.hydra_main`. ``Job.folder`` is None unless hydra.run.dir or
    hydra.sweep.dir puts the run elsewhere than ``run.root``.
    """

    def run_in_folder(job: Job) -> float | None:
        return run(job._replace(folder=_folder(job)))

    return hydra_main.run_with_hydra(run_configs(), arguments, command, run_in_folder)


def _folder(job: Job) -> Path | None:
    """Return the folder of a run that Hydra's settings name, None if they name none."""
    default = Path() if job.sweep_folder is None else Path(job.settings.run.root)
    if job.folder is None or job.folder == default.absolute():
        return None
    is_shared = job.folder == job.sweep_folder
    return job.folder / name_part(job.overrides) if is_shared else job.folder


def print_run_help(
    command: str, summary: str, arguments: Sequence[str], examples: list[str]
) -> None:
    """Print the help of a command that takes the settings of a training run.

    Args:
        arguments: of the command line. Those with "=" are settings, whose resolved values are
            shown; the others are sections or settings, see `print_help`.

    Raises:
        ConfigError: for an impossible setting, or if there is no such section.
    """
    arguments = [word for word in arguments if word not in HELP]
    words, _, known = split_command_line(arguments, f"alphazero {command}")
    sections = [word for word in words if "=" not in word and word[0] != "~"]
    words = [word for word in words if word not in sections]
    composer = Composer(run_configs(), words, COMMAND, known.config_dir)
    print_help(command, summary, composer.compose(), examples, composer.groups, sections)


def run_configs() -> Configs:
    """Return what Hydra composes."""
    return Configs(TrainSettings, config_folder(), "train", check_new_run, _with_own_choices)


def config_folder() -> Path:
    """Return the folder of the configs: inside the installed package, or beside it in a clone."""
    inside = Path(__file__).parents[1] / "configs"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "configs"


@functools.cache
def config_groups() -> dict[str, list[str]]:
    """Return the config groups that ship and the choices of each."""
    return groups_of(config_files(config_folder()))


def game_of_choice(choice: str) -> str:
    """Return the name of the game that ``game=`` means: a file of the group or a name."""
    path = config_folder() / "game" / f"{choice}.yaml"
    return str(read_values(path)["game"]["name"]) if path.is_file() else choice


def _with_own_choices(words: Sequence[str], groups: dict[str, list[str]]) -> list[str]:
    """Return the arguments with the names of games and networks replaced by choices of groups.

    ``game=connect_x:4x5x4`` chooses the proposals for that game. So does
    ``game.name=connect_x:4x5x4`` alone, which would keep the proposals for another game.
    ``network=module:Class`` is ``network.kind=module:Class`` with the other settings' defaults.
    """
    is_chosen = any(word.lstrip("+~").startswith("game=") for word in words)
    _check_recipes(words)
    found = []
    for word in words:
        key, _, text = word.lstrip("+").partition("=")
        if text and (key == "game" or (key == "game.name" and not is_chosen)):
            choices = groups["game"]
            names = [name if name in choices else _choice_for(name) for name in split_values(text)]
            word = f"game={','.join(names)}"
        elif text and key == "network":
            choices = groups["network"]
            names = [
                _made_choice("network", name, ["_self_"], {"kind": name})
                if name not in choices and is_own_kind(name)
                else name
                for name in split_values(text)
            ]
            word = f"network={','.join(names)}"
        found.append(word)
    return found


def _check_recipes(words: Sequence[str]) -> None:
    """Check that no recipe of a game is chosen with another game of this package.

    Raises:
        ConfigError: for a game that is not that of the experiment.
    """
    parts = [word.lstrip("+").partition("=") for word in words]
    chosen = {key: split_values(text) for key, _, text in parts}
    for experiment in chosen.get("experiment", ()):
        recipe = _game_of_recipe(experiment)
        for game in map(game_of_choice, chosen.get("game", ())):
            if recipe and is_shipped_game(game) and not same_game(game, recipe):
                reason = f"experiment={experiment} is a recipe for {recipe}"
                allowed = f"{recipe}, or game={game} with another experiment or none"
                raise ConfigError.of("game", game, allowed, reason)


def _game_of_recipe(experiment: str) -> str | None:
    """Return the game that an experiment that ships, or one that it is based on, chooses."""
    path = config_folder() / "experiment" / f"{experiment}.yaml"
    for entry in read_values(path).get("defaults", []) if path.is_file() else []:
        if isinstance(entry, dict) and "override /game" in entry:
            return game_of_choice(entry["override /game"])
        if isinstance(entry, str) and (found := _game_of_recipe(entry)):
            return found
    return None


def _choice_for(name: str) -> str:
    """Return the choice of the group ``game`` for a game, with the proposals of its family.

    For a game without a file, such as ``connect_x:4x5x4`` or your own, it is made here, in Hydra's
    `ConfigStore`.

    Raises:
        ConfigError: if there is no such game.
    """
    name = make_game(name).name  # refuses a name that is none
    choices = config_groups()["game"]
    choice = next((choice for choice in choices if game_of_choice(choice) == name), None)
    if choice is None:
        family = name.partition(":")[0]
        proposals = family if is_shipped_game(name) and family in choices else "custom"
        choice = _made_choice("game", name, [proposals, "_self_"], {"name": name})
    return choice


def _made_choice(group: str, name: str, defaults: list[str], values: dict[str, str]) -> str:
    """Make a choice of a config group for a name without a file; return the choice.

    Args:
        values: of the section that is called as the group is.
    """
    choice = re.sub(r"\W", "_", Path(name).stem if name.endswith(".py") else name)
    while choice in config_groups()[group] or _MADE_CHOICES.setdefault(choice, name) != name:
        choice += "_"
    store_choice(group, choice, {"defaults": defaults, group: values})
    return choice
