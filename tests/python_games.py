"""Games in plain Python that tests train: twins of compiled games."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

from benchmark_parts import python_rules
from benchmark_parts.python_rules import ConnectFour, NotebookConnectFour

__all__ = ["ConnectFour", "NotebookConnectFour", "SmallConnectFour", "write_small"]

#: The names of `SmallConnectFour` and of its compiled twin.
SMALL, COMPILED_SMALL = "python_games:SmallConnectFour", "connect_x:4x4x3"


class SmallConnectFour(ConnectFour):
    """4 x 4, three in a row."""

    rows, columns, length = 4, 4, 3


def write_small(path):
    """Write `SmallConnectFour` as a game file that imports nothing else; return its name."""
    sizes = "rows, columns, length = 4, 4, 3"
    own = f"class SmallConnectFour(ConnectFour):\n    {sizes}\n\n\nGAME = SmallConnectFour()\n"
    path.write_text(f"{Path(python_rules.__file__).read_text()}\n\n{own}")
    return str(path)
