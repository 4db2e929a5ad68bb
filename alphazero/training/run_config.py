"""Compose and check the settings of a training run from config files and arguments.

`alphazero.config.hydra` merges config files and the arguments of `alphazero train`. This module
selects the config files proposed for a game, and checks the result.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from alphazero.config.files import config_files, groups_of, read_values
from alphazero.config.hydra import Composer
from alphazero.config.settings import from_plain
from alphazero.network.registry import is_own_kind
from alphazero.own_games.registry import is_shipped_game, make_game
from alphazero.runtime.errors import ConfigError
from alphazero.training.settings import TrainSettings, check_run

#: {root algorithm: arguments that it would ignore, unless they turn something off}
_UNUSED = {
    "puct": r"search\.(gumbel_scale|max_num_considered_actions|value_scale|maxvisit_init)=",
    "gumbel": r"search\.(dirichlet_\w+|root_prior_temperature|forced_playouts_k)=(?!0$|false$)",
}


def compose(words: Sequence[str], config_dir: str | None = None) -> TrainSettings:
    """Merge config files and command-line arguments into the checked settings of a run.

    Args:
        words: arguments that choose files of config groups or set single values, such as
            ``["game=othello", "seed=1"]``. Single values override files, and later arguments
            override earlier ones.
        config_dir: a folder with the user's own config files; None if there is none.

    Raises:
        ConfigError: for an unknown key or choice, or a value that is not allowed.
    """
    settings = _merged(words, config_dir)
    check_run(settings)
    root = settings.search.root
    for word in words:
        if re.search(_UNUSED[root], word):
            key, _, value = word.partition("=")
            raise ConfigError.of(key, value, reason=f"search.root={root} does not use it")
    return settings


def _merged(words: Sequence[str], config_dir: str | None = None) -> TrainSettings:
    composer = Composer(TrainSettings, config_folder(), config_dir)
    plain = composer.merge(_with_files(words, composer.groups))
    return from_plain(TrainSettings, plain)


# --- the files that ship --------------------------------------------------------------------------


def config_folder() -> Path:
    """Return the folder ``configs`` of the shipped config files.

    It is inside the installed package or, in a clone, beside the package.
    """
    inside = Path(__file__).parents[1] / "configs"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "configs"


def config_groups(config_dir: str | None = None) -> dict[str, list[str]]:
    """Return the choices in each config group, from the user's own files and the shipped ones.

    Args:
        config_dir: a folder with the user's own config files; None if there is none.

    Returns:
        {group: names of its files}, such as {"game": ["othello"]}, with the user's files first.
    """
    own_files = [] if config_dir is None else config_files(Path(config_dir))
    return groups_of([*own_files, *config_files(config_folder())])


def game_of_choice(choice: str) -> str:
    """Return the name of the game that the argument ``game=CHOICE`` selects.

    Args:
        choice: the name of a shipped config file in the group "game", which is read; any other text
            is already the name of a game and is returned unchanged.
    """
    path = config_folder() / "game" / f"{choice}.yaml"
    if not path.is_file():
        return choice
    return str(read_values(path)["game"]["name"])


# --- games and networks without a file ------------------------------------------------------------


def _with_files(words: Sequence[str], groups: dict[str, list[str]]) -> list[str]:
    """Rewrite the arguments that name a game or a network class without a config file of its own.

    ``game=connect_x:4x5x4`` becomes the choice of the config file proposed for the game, followed
    by the game's name; ``network=module:Class`` becomes ``network.kind=module:Class``, with default
    values for the network's other settings.

    Args:
        words: command-line arguments.
        groups: {config group: names of its files}.
    """
    replaced = []
    for word in words:
        key, _, text = word.lstrip("+").partition("=")
        if text and key == "game":
            replaced += [f"game={text}"] if text in groups["game"] else _game_words(text)
        elif key == "network" and text not in groups["network"] and is_own_kind(text):
            replaced += ["~network", f"network.kind={text}"]
        else:
            replaced.append(word)
    return replaced


def _game_words(name: str) -> list[str]:
    """Return the arguments that select a game, and a config file with settings proposed for it.

    The config file is the game's own or, if there is none, that of the game's family, such as
    "connect_x", or "custom".

    Raises:
        ConfigError: if there is no such game.
    """
    name = make_game(name).name  # raises if there is no such game
    choices = config_groups()["game"]
    for choice in choices:
        if game_of_choice(choice) == name:
            return [f"game={choice}"]
    family = name.partition(":")[0]
    proposals = family if is_shipped_game(name) and family in choices else "custom"
    return [f"game={proposals}", f"game.name={name}"]
