"""Suggest an existing setting in place of an unknown key, usually the most similar name."""

import difflib
import re


def nearest_key_hint(key: str, known: list[str]) -> str:
    """Return the hint " Did you mean ...?" with the known key that is most similar to ``key``.

    If no known key is similar, the hint lists the settings in the section of ``key``; if there is
    no such section, the hint is "".
    """
    key = _as_written_here(key)
    section, dot, name = key.rpartition(".")
    of_section = [other for other in known if dot and other.startswith(section + ".")]
    likely = of_section or known
    last = {other: re.split("[./]", other)[-1] for other in likely}
    cutoff = 0.85 if of_section else 0.6
    close = difflib.get_close_matches(key, likely, n=1, cutoff=cutoff)
    close += [other for other in likely if last[other] == name]
    if close:
        return f" Did you mean {close[0]}?"
    if not of_section:
        return ""
    names = ", ".join(last[other] for other in of_section)
    return f" The settings of {section} are {names}."


def _as_written_here(key: str) -> str:
    """Convert a key to lower case with underscores: ``--maxVisits`` becomes ``max_visits``."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key.strip().lstrip("-+~"))
    return snake.lower().replace("-", "_")
