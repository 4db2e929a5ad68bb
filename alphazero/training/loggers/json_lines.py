"""metrics.jsonl: one JSON line for each iteration, for plots and other programs."""

import json
import math
from pathlib import Path

from alphazero.training.events import IterationReport, StageProgress, flat


class JsonLinesLogger:
    """Appends lines to a file."""

    def __init__(self, path: Path):
        self._path = Path(path)

    def progress(self, event: StageProgress) -> None:
        """Ignore it."""

    def iteration(self, report: IterationReport) -> None:
        """Write the figures of the report; those that are not finite become null."""
        figures = {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in flat(report).items()
        }
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(figures) + "\n")

    def close(self) -> None:
        """Do nothing: the file is closed after every line."""
