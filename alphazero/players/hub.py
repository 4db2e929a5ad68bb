"""Networks in repositories of the Hugging Face Hub, named `hf:owner/name` or `hf:owner/name@tag`.

A repository holds one network, `name.safetensors`, and its card. The file is untrusted, and is read
and checked like any other network file. The package `huggingface_hub`, imported on first use, keeps
downloads in its cache and knows the user's token.
"""

import contextlib
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from alphazero.runtime.errors import ConfigError, require

PREFIX = "hf:"


class Repository(NamedTuple):
    """The place of a network on the hub."""

    name: str  #: "owner/name"
    revision: str | None  #: a branch, tag or commit; None means the default branch
    file: str  #: the name of the network's file


def repository_of(name: str) -> Repository:
    """Parse a name such as ``hf:owner/name`` or ``hf:owner/name@tag``.

    Raises:
        ConfigError: if it is not of this form.
    """
    found = re.fullmatch(r"(?:hf:)?([\w.-]+/([\w.-]+))(?:@(.+))?", name)
    if found is None:
        message = f"'{name}' does not name a repository: hf:OWNER/NAME does, or hf:OWNER/NAME@TAG."
        raise ConfigError(message, value=name)
    return Repository(found[1], found[3], f"{found[2]}.safetensors")


@functools.cache  # a command asks for the same network several times
def download(name: str) -> Path:
    """Return the path of a network on the hub, downloaded unless the cache has its newest version.

    Raises:
        ConfigError: if there is no such network, the hub cannot be reached, or `huggingface_hub` is
            not installed.
    """
    repository, revision, file = repository_of(name)
    with hub(name) as package:
        return Path(package.hf_hub_download(repository, file, revision=revision))


@contextlib.contextmanager
def hub(name: str) -> Iterator[Any]:
    """Import `huggingface_hub`, and turn what it raises about a repository into a ConfigError."""
    require("hub", "huggingface_hub")
    import huggingface_hub

    try:
        yield huggingface_hub
    except Exception as error:  # its errors, and those of its HTTP client, have no common base
        if getattr(error, "errno", None):  # such as a full disk
            raise
        raise ConfigError(f"'{name}': {_reason(name, error)}", value=name) from error


def _reason(name: str, error: Exception) -> str:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 403):
        return "it does not exist or is closed to you. 'hf auth login' stores a token."
    if status == 404:
        return f"there is no such repository or tag, or no file {repository_of(name).file} in it."
    return f"the hub cannot be reached, or fails ({status or type(error).__name__})."
