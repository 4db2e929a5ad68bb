"""Make README.md fit for a package index, where relative links lead nowhere.

hatchling calls the hook below whenever it builds or installs this package. In: README.md, and the
version and `[project.urls]` of pyproject.toml. Out: the package's description, whose links and
pictures are absolute addresses of the files at the version's tag, and which names the address to
clone.
"""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: `[text](target)` or `![text](target)` whose target is a path of this repository.
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")


class CustomMetadataHook(MetadataHookInterface):
    """Sets the project's `readme`, which pyproject.toml therefore declares as dynamic."""

    def update(self, metadata: dict) -> None:
        """Add the description to the project's metadata; see `MetadataHookInterface.update`."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        address = metadata["urls"]["Repository"]
        text = with_absolute_links(text, address, f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def with_absolute_links(text: str, address: str, tag: str) -> str:
    """Replace relative links and pictures by absolute ones, and `ADDRESS` in `git clone ADDRESS`.

    Args:
        text: the text in Markdown; its links are relative to the repository's root.
        address: the repository's address, as `[project.urls]` gives it.
        tag: the tag at which the files are shown.
    """

    def absolute(match: re.Match) -> str:
        mark, title, target = match.groups()
        return f"{mark}[{title}]({address}/{'raw' if mark else 'blob'}/{tag}/{target})"

    text = text.replace("git clone ADDRESS", f"git clone {address}")
    return _LINK.sub(absolute, text)
