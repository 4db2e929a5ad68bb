"""Alarms: what goes wrong in a training run, said once when it begins and once when it is over.

In: the report of each iteration. Out: in the same report, the alarms that are on and the ones that ended. The symptoms are in
`alphazero.training.symptoms`; this file keeps the figures that they are read from. Its state is a part of the run's, so that a resumed run says what one
that never stopped would have said.
"""

import math

import numpy as np

from alphazero.training.events import Alarm, IterationReport
from alphazero.training.settings import TrainSettings
from alphazero.training.symptoms import CHECKS, Vitals

_NUM_RECENT = 30  # iterations whose figures are kept
_NUM_MEASURED = (
    16  # of the older ones, those with a pit or a measurement of strength, which may be far apart
)


class HealthMonitor:
    """Watches one run.

    Args:
        settings: of the run; they decide what is advised.
    """

    def __init__(self, settings: TrainSettings):
        self.settings = settings
        self._past: list[Vitals] = []
        self._since: dict[
            str, int
        ] = {}  # the alarms that are on, and the iteration in which each began

    def observe(self, report: IterationReport) -> None:
        """Look at the report of the next iteration and put the alarms into it."""
        self._past = _kept([*self._past, vitals(report, self.settings.learner.value_weight)])
        for check in CHECKS:
            name = check.__name__
            finding = check(self._past, self.settings, name in self._since)
            if finding is not None:
                since = self._since.setdefault(name, report.iteration)
                report.alarms.append(Alarm(name, since, *finding))
            elif self._since.pop(name, None) is not None:
                report.ended_alarms.append(name)

    def state_dict(self) -> dict:
        """Return the figures and the alarms that are on. The room on the disk is not the run's, and is looked at anew."""
        columns = zip(Vitals._fields, zip(*self._past))
        return {
            "past": {name: np.array(column) for name, column in columns if name != "free_disk_gb"},
            "since": dict(self._since),
        }

    def load_state_dict(self, state: dict | None) -> None:
        """Restore what `state_dict` returned; None, of a run that had no alarms yet, begins with nothing."""
        state = state or {"past": {}, "since": {}}
        past = state["past"]
        length = len(past.get("iteration", ()))
        columns = [past.get(name, np.full(length, math.nan)).tolist() for name in Vitals._fields]
        self._past = [Vitals(*row) for row in zip(*columns)]
        self._since = dict(state["since"])


def vitals(report: IterationReport, value_weight: float) -> Vitals:
    """Return the figures of a report that the symptoms are read from. The loss is that of policy and value, which new games and ignorance have too."""
    games, learner = report.selfplay, report.learner
    figures = {
        name: getattr(source, name)
        for source in (report, games, learner)
        for name in Vitals._fields
        if hasattr(source, name)
    }
    figures["loss"] = learner.policy_loss + value_weight * learner.value_loss
    figures["held_out_loss"] = report.held_out.loss
    figures["pit_accepted"] = math.nan if report.pit is None else report.pit.accepted
    strength = report.strength
    figures["strength"] = math.nan if strength is None else strength.score
    figures["strength_games"] = (
        math.nan if strength is None else strength.wins + strength.draws + strength.losses
    )
    return Vitals(**{name: float(value) for name, value in figures.items()})


def divergence(report: IterationReport) -> str | None:
    """Return why a run cannot go on after the learning of this iteration, None if it can: numbers that are none are in every later answer."""
    learner = report.learner
    if math.isfinite(learner.loss) and math.isfinite(learner.weight_norm):
        return None
    where = f"after the learning of iteration {report.iteration}"
    return f"the network's weights are not finite numbers any more {where}: the steps are too large (a step size of {learner.learning_rate:g})."


def _kept(past: list[Vitals]) -> list[Vitals]:
    """Return the newest figures, and of the older ones those with a pit or a measurement of strength."""
    older = [
        old
        for old in past[:-_NUM_RECENT]
        if not (math.isnan(old.pit_accepted) and math.isnan(old.strength))
    ]
    return older[-_NUM_MEASURED:] + past[-_NUM_RECENT:]
