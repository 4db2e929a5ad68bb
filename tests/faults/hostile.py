"""What strangers send: strategies of hypothesis, the kept corpus, and a count of what became of it.

The corpus is a folder of files for each protocol. A file is a finding, which was a crash or a wrong
answer once, or a seed; its name says which request it holds. Binary files are kept as they are.
"""

import json
import math
from collections import Counter
from pathlib import Path

import pytest
from harness import IS_FULL, tell
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

#: Numbers at and beyond borders; json writes some of them as NaN and Infinity.
NUMBERS = st.sampled_from(
    [0, -0.0, 1, -1, 2, 7, 9, 63, 64, 0.5, 1e-320, 1e308, -1e308, 2**31, -(2**31), 2**63, 2**64]
    + [10**30, -(10**400), 10**400, math.nan, math.inf, -math.inf]
)
_STRANGE = ["", " ", "\0", "\n", "\ufeff", "\ud800", "\x1b[2J", "null", "-1", "９", "٣", "{}", "a1"]
_STRANGE += ["../../etc/passwd", "examples/snort.py", "os:system", "%s%n", "pass"]
TEXTS = st.text(max_size=12) | st.sampled_from([*_STRANGE, "x" * 5_000, "9" * 5_000])
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def mostly(draw, right, wrong=PLAIN, one_of: int = 5):
    """Return a value of one strategy, or once in so many of the other."""
    return draw(wrong if draw(st.integers(1, one_of)) == 1 else right)


def deep(levels: int) -> str:
    """Return JSON text of lists inside each other, as deep as nobody can write with `json`."""
    return "[" * levels + "]" * levels


@st.composite
def texts_of(draw, requests) -> bytes:
    """Return JSON text of a request, perhaps damaged: doubled keys, constants, cuts, deep lists."""
    request = draw(requests)
    text = json.dumps(request, ensure_ascii=draw(st.booleans()))
    damage = draw(st.sampled_from(["none"] * 5 + ["cut", "doubled", "deep", "letter", "spaces"]))
    place = draw(st.integers(0, len(text)))
    if damage == "cut":
        text = text[:place]
    elif damage == "doubled" and isinstance(request, dict) and request:
        key = draw(st.sampled_from(sorted(request)))
        text = text[:-1] + f", {json.dumps(key)}: {json.dumps(draw(PLAIN))}" + "}"
    elif damage == "deep":
        key = draw(st.sampled_from(["game", "moves", "player", "board", "num_simulations", "x"]))
        text = f'{{"{key}": {deep(draw(st.integers(1, 3_000)))}}}'
    elif damage == "letter":
        text = text[:place] + draw(st.sampled_from('"\\{}[],:\0e9\r')) + text[place + 1 :]
    elif damage == "spaces":
        text = text.replace(" ", draw(st.sampled_from(["\r", "\t", "  ", ""])))
    return text.encode(errors="surrogatepass")


def corpus(protocol: str) -> list:
    """Return the kept inputs of a protocol as parameters, by the name of what they hold."""
    found = sorted((Path(__file__).parent / "corpus" / protocol).iterdir())
    assert found
    return [pytest.param(path.read_bytes(), id=path.stem) for path in found]


def fuzz(what: str, strategy, kind_of, num_examples: tuple[int, int], *needed: str) -> None:
    """Count which kinds values of a strategy are of; some of each needed kind must be there.

    Args:
        kind_of: fails if what becomes of a value is wrong.
        num_examples: in `make test`, where they are the same ones each time, and in all.
    """
    tally = Counter()

    def check(value):
        tally[kind_of(value)] += 1

    silent = settings(
        max_examples=num_examples[IS_FULL],
        deadline=None,
        database=None,
        derandomize=not IS_FULL,
        suppress_health_check=list(HealthCheck),
    )
    silent(given(strategy)(check))()
    assert set(needed) <= set(tally), tally
    tell(what, tally)
