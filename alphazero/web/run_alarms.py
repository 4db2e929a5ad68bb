"""Alarms of a run in words: what was seen when one began, the likely cause, and what to change.

In: the name of an alarm, and the row in which it began. Out: the sentences that the run said then.
The metrics hold names alone, so the check is made once more; see `alphazero.training.symptoms`.
"""

from typing import NamedTuple

from alphazero.config.settings import from_stored
from alphazero.storage.run_folder import RunFolder


class AlarmChange(NamedTuple):
    """An alarm that began or ended."""

    row: int  #: the first one with it, or without it
    iteration: int
    name: str
    began: bool

    def text(self, folder: RunFolder) -> str:
        """Return what to say about it; reads all metrics of the run."""
        title = self.name.replace("_", " ")
        if not self.began:
            return f"{title}: over."
        # They import torch, and most runs have no alarm.
        from alphazero.training.health import kept_rows
        from alphazero.training.settings import TrainSettings
        from alphazero.training.symptoms import CHECKS, Run

        try:
            settings = from_stored(TrainSettings, folder.read_config(), folder.config)
            check = next(check for check in CHECKS if check.__name__ == self.name)
            rows = kept_rows(folder.read_metrics()[: self.row + 1])
            found = check(Run(rows, settings, is_on=False))
            assert found is not None
        except Exception:  # noqa: BLE001  # a run of another version, or whose files were edited
            return f"{title}."
        change = f"Change {found.key}: {found.advice}."
        return f"{title}: {found.seen}. Likely cause: {found.cause}. {change}"
