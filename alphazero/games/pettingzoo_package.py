"""The door to the PettingZoo package, which is an optional one: find it, or say in one sentence how to get it.

In: the name of an environment. Out: its module. Everything that imports PettingZoo goes through here first.
"""

import importlib
import importlib.util
import os
import warnings

from alphazero.runtime.errors import ConfigError

INSTALL_SENTENCE = (
    'PettingZoo is not installed here: pip install "alphazero-selfplay[pettingzoo]" installs it.'
)


class MissingPackage(ConfigError, ImportError):
    """PettingZoo, or pygame, which its environments draw with, is not installed."""


def require_pettingzoo() -> None:
    """Raise MissingPackage with one plain sentence if PettingZoo or pygame is not installed."""
    if any(importlib.util.find_spec(package) is None for package in ("pettingzoo", "pygame")):
        raise MissingPackage(INSTALL_SENTENCE)


def classic_module(environment_name: str):
    """Return the module of one of PettingZoo's own classic environments, such as ``"connect_four_v3"``; it has `env` and `raw_env`.

    Raises:
        MissingPackage: if PettingZoo is not installed.
        ConfigError: if the installed version has no such environment.
    """
    require_pettingzoo()
    os.environ.setdefault(
        "PYGAME_HIDE_SUPPORT_PROMPT", "hide"
    )  # older versions greet on standard output
    module_name = f"pettingzoo.classic.{environment_name}"
    try:
        # Newer versions warn that their registry is to be used instead; the older ones have none.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name != module_name:
            raise
        raise ConfigError(
            f"the installed PettingZoo has no environment '{environment_name}'."
        ) from None
