"""Alarms: what goes wrong in a training run, reported once when it begins and once when it is over.

In: the report of each iteration. Out: the same report with the alarms that are on and those that
ended. The checks are in `alphazero.training.symptoms`; this module keeps the figures that they
read. Its state belongs to the run's state, so a resumed run raises the alarms of one that never
stopped.
"""

import math

import numpy as np

from alphazero.runtime.errors import InputError
from alphazero.training.events import Alarm, IterationReport
from alphazero.training.settings import TrainSettings
from alphazero.training.symptoms import CHECKS, lower_rate
from alphazero.training.vitals import Vitals, vitals

_NUM_RECENT = 30  # iterations whose figures are kept
# Older iterations with a pit or a strength measurement that are kept: these may be far apart.
_NUM_MEASURED = 16


class TrainingDivergedError(InputError):
    """The weights are no longer finite; no later iteration could repair them.

    Attributes:
        iteration: the iteration in which training diverged.
        stored_iteration: the last one that is stored, from which the run can continue; 0 if none.
        key, value: the setting to change, and a value that is usually safe.
    """

    def __init__(
        self, message: str, *, iteration: int, stored_iteration: int, key: str, value: str
    ):
        super().__init__(message)
        self.iteration = iteration
        self.stored_iteration = stored_iteration
        self.key = key
        self.value = value


class HealthMonitor:
    """Watches one run.

    Args:
        settings: of the run; the advice depends on them.
    """

    def __init__(self, settings: TrainSettings):
        self.settings = settings
        self._past: list[Vitals] = []
        self._since: dict[str, int] = {}  # the alarms that are on: iteration in which each began

    def observe(self, report: IterationReport) -> None:
        """Check the report of the next iteration and add the alarms to it."""
        new = vitals(report)
        self._past = _kept([*self._past, new])
        for check in CHECKS:
            name = check.__name__
            finding = check(self._past, self.settings, name in self._since)
            if finding is not None:
                since = self._since.setdefault(name, report.iteration)
                report.alarms.append(Alarm(name, since, *finding))
            elif self._since.pop(name, None) is not None:
                report.ended_alarms.append(name)

    def state_dict(self) -> dict:
        """Return the figures and the alarms that are on.

        The free disk space is left out: it is not a property of the run.
        """
        columns = zip(Vitals._fields, zip(*self._past))
        return {
            "past": {name: np.array(column) for name, column in columns if name != "free_disk_gb"},
            "since": dict(self._since),
        }

    def load_state_dict(self, state: dict | None) -> None:
        """Restore what `state_dict` returned; None starts empty."""
        state = state or {"past": {}, "since": {}}
        past = state["past"]
        missing = np.full(len(past.get("iteration", ())), math.nan)
        columns = [past.get(name, missing).tolist() for name in Vitals._fields]
        self._past = [Vitals(*row) for row in zip(*columns)]
        self._since = dict(state["since"])


def diverged(report: IterationReport) -> bool:
    """Return whether training in this iteration made the loss or the weights infinite or NaN."""
    learner = report.learner
    return not (math.isfinite(learner.loss) and math.isfinite(learner.weight_norm))


def check_weights(
    report: IterationReport, settings: TrainSettings, stored_iteration: int, resume_words: str
) -> None:
    """Check that training in this iteration left finite weights.

    Args:
        stored_iteration: the last stored iteration, 0 if none.
        resume_words: the arguments of `alphazero train` that resume the run.

    Raises:
        TrainingDivergedError: if the loss or the weights are not finite.
    """
    if not diverged(report):
        return
    key, value = lower_rate(settings)
    message = (
        f"training diverged in iteration {report.iteration}: the weights are not finite numbers, "
        f"because the steps are too large (learning rate {report.learner.learning_rate:g})."
    )
    if stored_iteration:
        message += (
            f" Iteration {stored_iteration} is stored; continue from it with:  "
            f"alphazero train {resume_words} {key}={value}"
        )
    else:
        message += f" Start again with {key}={value}."
    raise TrainingDivergedError(
        message,
        iteration=report.iteration,
        stored_iteration=stored_iteration,
        key=key,
        value=value,
    )


def _kept(past: list[Vitals]) -> list[Vitals]:
    """Return the newest figures, and older ones with a pit or a strength measurement."""
    older = [
        old
        for old in past[:-_NUM_RECENT]
        if not (math.isnan(old.pit_accepted) and math.isnan(old.strength))
    ]
    return older[-_NUM_MEASURED:] + past[-_NUM_RECENT:]
