"""Import PettingZoo, an optional package, or explain how to install it.

In: the name of an environment. Out: its module. All code that imports PettingZoo calls this module
first.
"""

import importlib
import importlib.util
import os
import warnings

from alphazero.runtime.errors import ConfigError, MissingPackage

INSTALL_HINT = (
    'PettingZoo is not installed; install it with pip install "alphazero-selfplay[pettingzoo]".'
)


def require_pettingzoo() -> None:
    """Raise MissingPackage if PettingZoo or pygame, which draws its boards, is not installed."""
    if any(importlib.util.find_spec(package) is None for package in ("pettingzoo", "pygame")):
        raise MissingPackage(INSTALL_HINT)


def classic_module(environment_name: str):
    """Import the module of a classic environment such as ``"connect_four_v3"``.

    Raises:
        MissingPackage: if PettingZoo, or a package that this environment needs, is not installed.
        ConfigError: if the installed version has no such environment.
    """
    require_pettingzoo()
    # Older versions of pygame print a greeting to standard output.
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "hide")
    module_name = f"pettingzoo.classic.{environment_name}"
    try:
        # Newer versions deprecate this import in favour of a registry that older ones lack.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name != module_name:
            message = f"{environment_name} needs the package {error.name}, which is not installed."
            raise MissingPackage(message, key="env", value=environment_name) from None
        message = f"the installed PettingZoo has no environment '{environment_name}'."
        raise ConfigError(message, key="env", value=environment_name) from None
