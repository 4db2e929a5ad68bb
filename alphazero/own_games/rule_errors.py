"""Describe an error in a user's game file in one sentence with a line number.

In: an exception raised by a rule, or a message from numba. Out: text that names the line of the
user's file, the cause and, if known, the fix. Nothing is run or compiled here.
"""

import re
import traceback
from pathlib import Path
from typing import Any

from alphazero.games import rules
from alphazero.runtime import jit
from alphazero.runtime.errors import ConfigError

#: Patterns in numba's messages, and their explanations; a pattern's groups fill the braces.
_COMPILER_CAUSES = (
    (
        r"NRT required but not enabled|Only accept returning of array passed into the function",
        "this helper function creates an array or a list, which needs @rules.njit(allocates=True)",
    ),
    (
        r"Cannot infer the type of variable '(\w+)[\w.$]*'[^,]*, have imprecise type: "
        r"(?:list|Dict|set)",
        "compiled code cannot tell what '{0}' will hold, because it starts empty: use a numpy "
        "array, such as np.zeros(9, np.int8)",
    ),
    (
        r"Can't unify return type",
        "the 'return' statements of this function give different types: compiled code needs one "
        "type, such as np.int64",
    ),
    (
        r"Cannot unify (.+?) and (.+?) for '(\w+)",
        "the variable '{2}' is sometimes {0}, sometimes {1}: compiled code needs one type",
    ),
    (
        r"unsupported NumPy function '([\w.]+)'",
        "compiled code does not support '{0}' with these arguments: write a loop over numbers",
    ),
    (
        r"The use of yield in a closure is unsupported",
        "compiled code does not support generator expressions: write a loop",
    ),
)
_UNUSABLE = "the game '{}' cannot be used: "
_FALLBACK = "numba cannot compile this; write plain loops over numbers and arrays"


def unusable(name: str, reason: str, value: Any, allowed: Any) -> ConfigError:
    """Make the error that reports why a game cannot be used."""
    message = f"{_UNUSABLE.format(name)}{reason.replace(_UNUSABLE.format(name), '')}."
    return ConfigError(message, key="game", value=value, allowed=allowed)


def python_error_text(error: Exception, path: Path | None) -> str:
    """Format an error raised by rules, with the last line of their file in the traceback.

    Args:
        path: the file that contains the rules; None names no line.
    """
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}." if error.lineno else f"{error.msg}."
    text = " ".join(str(error).split()).rstrip(".")
    text = jit.with_written_names(f"{type(error).__name__}: {text}" if text else repr(error))
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if path and Path(frame.filename) == path.resolve()]
    if not own:
        return f"{text}."
    function = "" if own[-1].name == "<module>" else f", in '{own[-1].name}'"
    return f"line {own[-1].lineno}{function}: {text}."


def compiler_error_text(text: str, path: Path) -> str:
    """Extract the line and the cause of an error from numba's message."""
    text = jit.with_written_names(re.sub(r"\x1b\[\d*m", "", text))
    found = re.search(rf'{re.escape(path.name)}(?:", line |:| \()(\d+)', text)
    where = f"line {found[1]}: " if found else ""
    return f"{where}{_compiler_cause(text.partition(' Raised from ')[0])}."


def _compiler_cause(text: str) -> str:
    text = re.sub(r"Literal\[(\w+)\]\([^)]*\)", r"\1", text)
    unknown = re.search(r"Untyped global name '(\w+)'", text)
    if unknown:
        name = unknown[1]
        fix = f"call rules.{name}(...)" if hasattr(rules, name) else "a helper needs @rules.njit"
        return f"compiled code does not know '{name}': {fix}"
    for pattern, cause in _COMPILER_CAUSES:
        found = re.search(pattern, text)
        if found:
            return cause.format(*found.groups())
    # Messages are nested: each level says "Failed in ...", and the innermost names the cause.
    reasons = re.findall(
        r"(?:\w+Error: |Failed in [^\n]*\n\s*)(?!Failed in|No implementation of)(\S.+)", text
    )
    if reasons:
        return reasons[-1].rstrip(". ")
    called = re.search(r"No implementation of function Function\(<[\w ]*?(\w+)(?: at|>)", text)
    if called:
        return f"compiled code cannot call '{called[1]}' with these arguments"
    first_line = text.strip().splitlines()[0].rstrip(". ") if text.strip() else ""
    return _FALLBACK if not first_line or first_line.startswith("Failed in") else first_line
