"""Raise alarms about problems of a training run, and report when each begins and ends.

`HealthMonitor` adds the current alarms to each iteration's report. The checks are in
`alphazero.training.symptoms`; this module keeps the rows of metrics that they read. A resumed run
reads these rows from metrics.jsonl, and so raises the same alarms as an uninterrupted one.
"""

from typing import Any

from alphazero.runtime.errors import InputError
from alphazero.training.curves import alarms_of
from alphazero.training.events import Alarm, IterationReport, flat
from alphazero.training.settings import TrainSettings
from alphazero.training.symptoms import CHECKS, Observed, lower_rate

_NUM_RECENT = 100  # iterations whose rows are kept; pits may be far apart


class TrainingDivergedError(InputError):
    """Training has diverged: losses, weights or the network's outputs are not finite.

    Args:
        report: the report of the iteration in which training diverged.
        settings: the run's settings, from which the advice is derived.
        stored_iteration: the last stored iteration; 0 if there is none.
        resume_words: the command-line arguments with which `alphazero train` resumes the run.

    Attributes:
        iteration: the iteration in which training diverged.
        stored_iteration: the last stored iteration, from which the run can continue; 0 if none.
        key, value: the learning-rate setting to lower, and a value that is usually safe.
    """

    def __init__(
        self,
        report: IterationReport,
        settings: TrainSettings,
        stored_iteration: int,
        resume_words: str,
    ):
        self.iteration = report.iteration
        self.stored_iteration = stored_iteration
        self.key, self.value = lower_rate(settings)
        change = f"{self.key}={self.value}"
        rate = report.learner.learning_rate
        again = f"Start again with {change}."
        if stored_iteration:
            again = f"Continue from the last stored iteration:  alphazero train {resume_words} "
            again += change
        super().__init__(
            f"training diverged in iteration {report.iteration}: the weights of the network or its "
            f"answers are not finite, because a learning rate of {rate:g} is too large. {again}"
        )


class HealthMonitor:
    """Checks each iteration of a run for problems, and keeps track of which alarms are on.

    Args:
        settings: the run's settings, on which the checks and their advice depend.
    """

    def __init__(self, settings: TrainSettings):
        self.settings = settings
        self._rows: list[dict[str, Any]] = []
        self._since: dict[str, int] = {}  # the alarms that are on, each with its first iteration

    def observe(self, report: IterationReport) -> None:
        """Check an iteration for problems, and add the alarms to its report.

        The report gets the alarms that are on, and the names of those that have just ended.

        Args:
            report: the iteration's report, with all of its metrics.
        """
        self._rows = [*self._rows[1 - _NUM_RECENT :], flat(report)]
        for check in CHECKS:
            name = check.__name__
            finding = check(Observed(self._rows, self.settings, name in self._since))
            if finding is not None:
                since = self._since.setdefault(name, report.iteration)
                report.alarms.append(Alarm(name, since, *finding))
            elif self._since.pop(name, None) is not None:
                report.ended_alarms.append(name)

    def restore(self, rows: list[dict[str, Any]]) -> None:
        """Restore the alarms that are on, and the metrics that checks read, in a resumed run.

        Args:
            rows: the rows of the run's metrics.jsonl, oldest first.
        """
        for row in rows:
            iteration = row["iteration"]
            self._since = {name: self._since.get(name, iteration) for name in alarms_of(row)}
        self._rows = rows[-_NUM_RECENT:]
