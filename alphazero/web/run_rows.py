"""The metrics of a run as columns, read incrementally.

In: metrics.jsonl. Out: the values of each chart, by row. Only lines added since the last read are
parsed: a run of 10,000 rows takes half a second at first, and a millisecond after that.
"""

import os
import threading
from typing import Any, NamedTuple

from alphazero.plots.curves import RUN_CHARTS, Curve, Row, is_number
from alphazero.storage.run_folder import RunFolder, parse_row
from alphazero.web.run_alarms import AlarmChange

CURVES = [curve for chart in RUN_CHARTS for curve in chart.curves]
_NEWEST = ("elapsed_s", "exact.accuracy", "proof.num_accurate", "proof.num_positions")
_DIGITS = 6


class Column(NamedTuple):
    """The values of a curve by row, with 95% intervals; None where a row has no value."""

    y: list[float | None]
    low: list[float | None]  #: lower end of the interval
    high: list[float | None]  #: upper end of the interval


def point(curve: Curve, row: Row) -> list[float | None]:
    """Return the value of a curve in a row, and the ends of its 95% interval."""
    low, high = curve.bounds(row) or (None, None)
    return [_rounded(curve.figure(row)), _rounded(low), _rounded(high)]


def _rounded(value: float | None) -> float | None:
    """Return a number rounded for JSON; None if it is missing or not finite."""
    return round(value, _DIGITS) if is_number(value) else None


class RunRows:
    """The metrics rows of one run, as columns.

    Attributes:
        lock: callers must hold it while they use any other attribute or method.
        version: changes when rows that were read earlier have changed.
    """

    def __init__(self, folder: RunFolder):
        self.lock = threading.Lock()
        self._folder = folder
        self._num_starts = 0
        self._start_over(0)

    def _start_over(self, inode: int) -> None:
        self._num_starts += 1
        self.version = f"{self._num_starts}.{inode}"
        self._inode, self._end, self._last_line = inode, 0, b""
        self.is_damaged = False
        self.iterations: list[int] = []
        self.games: list[float | None] = []  #: total games played up to each row
        self._num_games = 0.0
        self.hours: list[float | None] = []
        self.columns = {curve: Column([], [], []) for curve in CURVES}
        self.newest: dict[str, float] = {}  #: the latest value of some metrics
        self.opponent: str | None = None  #: opponent in the newest match
        self.alarms: list[str] = []  #: names of the current alarms
        self.alarm_changes: list[AlarmChange] = []
        self._alarm_texts: dict[AlarmChange, str] = {}

    def __len__(self) -> int:
        return len(self.iterations)

    def read(self) -> None:
        """Read the rows added to the file, or all rows if it was truncated or replaced."""
        try:
            self._read()
        except OSError:
            if self._inode:
                self._start_over(0)

    def alarm_text(self, change: AlarmChange) -> str:
        """Return the explanation of an alarm, which is computed once."""
        if change not in self._alarm_texts:
            self._alarm_texts[change] = change.text(self._folder)
        return self._alarm_texts[change]

    def _read(self) -> None:
        with open(self._folder.metrics, "rb") as file:
            inode, size = os.fstat(file.fileno()).st_ino, os.fstat(file.fileno()).st_size
            if inode == self._inode and size == self._end:
                return
            file.seek(self._end - len(self._last_line))
            if inode != self._inode or file.read(len(self._last_line)) != self._last_line:
                self._start_over(inode)
                file.seek(0)
            data = file.read()
        *lines, rest = data.split(b"\n")
        for line in lines:
            if row := parse_row(line):
                self._add(row)
        if lines:
            self._end += len(data) - len(rest)
            self._last_line = lines[-1] + b"\n"
        self.is_damaged = not self.iterations and bool(lines or rest and rest[:1] != b"{")

    def _add(self, row: Row) -> None:
        """Add a row to the columns."""
        num_games: Any = row.get("selfplay.num_games")
        seconds = row["elapsed_s"]
        if is_number(num_games):
            self._num_games += num_games
        self.games.append(_rounded(self._num_games) if is_number(num_games) else None)
        self.iterations.append(row["iteration"])
        self.hours.append(_rounded(seconds / 3600) if is_number(seconds) else None)
        for curve, column in self.columns.items():
            for values, value in zip(column, point(curve, row)):
                values.append(value)
        self.newest |= {key: row[key] for key in _NEWEST if is_number(row.get(key))}
        if isinstance(opponent := row.get("strength.opponent"), str):
            self.opponent = opponent
        self._compare_alarms(row)

    def _compare_alarms(self, row: Row) -> None:
        alarms = [name for name in str(row.get("alarms") or "").split(",") if name]
        for names, others, began in ((alarms, self.alarms, True), (self.alarms, alarms, False)):
            for name in names:
                if name not in others:
                    change = AlarmChange(len(self) - 1, row["iteration"], name, began)
                    self.alarm_changes.append(change)
        self.alarms = alarms
