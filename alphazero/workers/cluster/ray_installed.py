"""Refuse workers=ray where Ray is not installed. Imports nothing of it."""

import importlib.util

from alphazero.runtime.errors import ConfigError


def check_ray_installed(key: str, other: str, others: tuple[str, ...]) -> None:
    """Refuse workers=ray if Ray is not installed.

    Args:
        key: the setting that asked for it.
        other: what needs no Ray, for the message.
        others: all other values of the setting.

    Raises:
        ConfigError: if it is refused.
    """
    if importlib.util.find_spec("ray") is None:
        message = "workers=ray needs Ray, which is not installed: pip install "
        message += "'alphazero-selfplay[cluster]', in a clone pip install -e '.[cluster]'; or use "
        message += f"workers={other} on this machine alone."
        raise ConfigError(message, key=key, value="ray", allowed=others)
