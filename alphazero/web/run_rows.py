"""Read the metrics of a training run incrementally, as one column of values per chart line.

Only lines that were added to metrics.jsonl since the last read are parsed: a run of 10,000
iterations takes half a second at first, and a millisecond after that.
"""

import math
import os
import threading
from typing import NamedTuple

from alphazero.storage.run_folder import RunFolder, parse_row
from alphazero.training.curves import PAGE_CHARTS, Row, alarms_of, number

_LINES = [line for chart in PAGE_CHARTS for line in chart.lines]
_DIGITS = 6


class Column(NamedTuple):
    """A curve's value in each iteration, with its 95% confidence interval.

    Missing values are None.
    """

    y: list[float | None]  #: value of the curve
    low: list[float | None]  #: lower end of the confidence interval
    high: list[float | None]  #: upper end of the confidence interval


class AlarmChange(NamedTuple):
    """The beginning or the end of an alarm about a training run."""

    iteration: int  #: the first iteration with the alarm, or the first without it
    began: bool  #: True if the alarm began, False if it ended
    text: str  #: explanation of the alarm


def rounded(value: float) -> float | None:
    """Round a number to 6 decimals for JSON, and convert NaN to None."""
    return None if math.isnan(value) else round(value, _DIGITS)


class RunRows:
    """The metrics of one training run as columns, with one row per iteration.

    Args:
        folder: the run's folder.

    Attributes:
        lock: callers must hold it while they use any other attribute or method.
    """

    def __init__(self, folder: RunFolder):
        self.lock = threading.Lock()
        self._folder = folder
        self._start_over(0)

    def _start_over(self, inode: int) -> None:
        self._inode = inode
        self._end = 0
        self._last_line = b""
        self.iterations: list[int] = []
        self.games: list[float | None] = []  #: total games played up to each row
        self._num_games = 0.0
        self.hours: list[float | None] = []
        self.columns = {line: Column([], [], []) for line in _LINES}
        self.opponent: str | None = None  #: the opponent in the newest match
        self._alarms: list[str] = []  # names of the current alarms
        self.alarm_changes: list[AlarmChange] = []

    def read(self) -> None:
        """Read the rows added to metrics.jsonl, or all rows if the file was truncated or replaced.

        If the file cannot be opened, all rows read so far are dropped.
        """
        try:
            self._read()
        except OSError:
            if self._inode:
                self._start_over(0)

    def _read(self) -> None:
        with open(self._folder.metrics, "rb") as file:
            status = os.fstat(file.fileno())
            inode = status.st_ino
            if inode == self._inode and status.st_size == self._end:
                return
            file.seek(self._end - len(self._last_line))
            if inode != self._inode or file.read(len(self._last_line)) != self._last_line:
                self._start_over(inode)
                file.seek(0)
            data = file.read()
        *lines, rest = data.split(b"\n")
        for line in lines:
            row = parse_row(line)
            if row:
                self._add(row)
        if lines:
            self._end += len(data) - len(rest)
            self._last_line = lines[-1] + b"\n"

    def _add(self, row: Row) -> None:
        """Append the metrics of one iteration to the columns."""
        self._num_games += number(row, "selfplay.num_games")
        self.games.append(rounded(self._num_games))
        self.iterations.append(row["iteration"])
        self.hours.append(rounded(number(row, "elapsed_s") / 3600))
        for line, column in self.columns.items():
            for values, value in zip(column, line.figures(row)):
                values.append(rounded(value))
        self.opponent = row.get("strength.opponent", self.opponent)
        self._compare_alarms(row)

    def _compare_alarms(self, row: Row) -> None:
        alarms = alarms_of(row)
        texts = str(row.get("alarm_texts") or "").splitlines()
        for name, text in zip(alarms, texts):
            if name not in self._alarms:
                self.alarm_changes.append(AlarmChange(row["iteration"], True, text))
        for name in self._alarms:
            if name not in alarms:
                text = f"{name.replace('_', ' ')}: over."
                self.alarm_changes.append(AlarmChange(row["iteration"], False, text))
        self._alarms = alarms
