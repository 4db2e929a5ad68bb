"""Explanations of a run's alarms: what was observed, the likely cause, and what to change.

In: an alarm's name, and the metrics row in which it began. Out: the text that the run printed then.
The metrics contain only names, so the check runs again; see `alphazero.training.symptoms`.
"""

from typing import NamedTuple

from alphazero.config.settings import from_stored
from alphazero.storage.run_folder import RunFolder


class AlarmChange(NamedTuple):
    """The beginning or end of an alarm in a training run."""

    row: int  #: the first metrics row with the alarm, or without it
    iteration: int
    name: str
    began: bool

    def text(self, folder: RunFolder) -> str:
        """Return an explanation of the alarm; reads all metrics of the run."""
        title = self.name.replace("_", " ")
        if not self.began:
            return f"{title}: over."
        # Imported here because they import torch, and most runs have no alarms.
        from alphazero.training.health import kept_rows
        from alphazero.training.settings import TrainSettings
        from alphazero.training.symptoms import CHECKS, Run

        try:
            settings = from_stored(TrainSettings, folder.read_config(), folder.config)
            check = next(check for check in CHECKS if check.__name__ == self.name)
            rows = kept_rows(folder.read_metrics()[: self.row + 1])
            alarm = check(Run(rows, settings, is_on=False))
            assert alarm is not None
        except Exception:  # noqa: BLE001  # the run is from another version or was edited
            return f"{title}."
        change = f"Change {alarm.key}: {alarm.advice}."
        return f"{title}: {alarm.seen}. Likely cause: {alarm.cause}. {change}"
