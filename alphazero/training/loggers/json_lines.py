"""One JSON line for each iteration, in the run's folder: for plots and other programs."""

import json
import math
from pathlib import Path

from alphazero.training.events import IterationReport, StageProgress, flat


class JsonLinesLogger:
    """Appends to a file, line by line."""

    def __init__(self, path: Path):
        self._path = Path(path)

    def progress(self, event: StageProgress) -> None:
        """Ignored."""

    def iteration(self, report: IterationReport) -> None:
        """Write the report's numbers; what is not a number becomes null."""
        numbers = {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in flat(report).items()
        }
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(numbers) + "\n")

    def close(self) -> None:
        """Nothing is left to do: every line is written when it is made."""
