"""The way from the command to the first kernel stays as short as it is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "path_to_first_kernel.py"
#: Game -> the most modules and climbs before self-play calls its first kernel. When a machine
#: first sees a game of one's own, the notes on it are written, too: two climbs more. The network of
#: Connect Four's proposals checks that the board suits it, which the towers before did not.
CEILINGS = {"connect_four": (37, 17), "examples/breakthrough_python.py": (38, 25)}


@pytest.mark.slow
@pytest.mark.parametrize("game", CEILINGS)
def test_few_modules_are_passed_before_the_first_kernel(game):
    command = [sys.executable, str(SCRIPT), f"game={game}"]
    run = subprocess.run(command, cwd=SCRIPT.parents[1], capture_output=True, text=True)
    found = re.search(r"self-play: (\d+) modules, (\d+) climbs", run.stdout)
    assert found, run.stdout + run.stderr
    num_modules, num_climbs = map(int, found.groups())
    assert num_modules <= CEILINGS[game][0] and num_climbs <= CEILINGS[game][1], run.stdout
