"""The events that a training run yields, from which loggers choose what to display.

`Trainer.run` yields a `StageProgress` several times a second and an `IterationReport` after each
iteration. Fractions are in [0, 1].
"""

import dataclasses
import math
from typing import Any, NamedTuple

from alphazero.inference.verified_engine import EngineReport
from alphazero.learner.report import HeldOutReport, LearnerReport
from alphazero.selfplay.game_record import GameRecord
from alphazero.training.reports import (
    ExactReport,
    PitReport,
    ProofSummary,
    PuzzleReport,
    SelfPlayReport,
    StrengthReport,
    WorkersReport,
)


class StageProgress(NamedTuple):
    """An event for loggers: the progress of an iteration's current stage, such as self-play."""

    #: stage: "self-play", "learning", "pit", "evaluation", "accuracy" or "proof"
    stage: str
    done: int  #: finished parts of the stage, such as games or learner steps
    total: int  #: all parts of the stage
    iteration: int  #: the current iteration, counted from 1
    progress: float  #: estimated fraction of the whole run that is done, in [0, 1]
    notices: tuple[str, ...] = ()  #: messages about workers, such as the loss of one


@dataclasses.dataclass(frozen=True)
class Alarm:
    """A problem, such as overfitting, that a check of `alphazero.training.symptoms` has found."""

    name: str  #: name of the check, such as "games_repeat"
    since: int  #: iteration in which the alarm began
    seen: str  #: the problem, with this iteration's numbers
    cause: str  #: the likely cause
    key: str  #: the setting to change
    advice: str  #: the value to change it to

    @property
    def title(self) -> str:
        """The check's name with spaces instead of underscores, such as "games repeat"."""
        return self.name.replace("_", " ")

    @property
    def text(self) -> str:
        """The problem, its likely cause and the advice, as full sentences."""
        change = f"Change {self.key}: {self.advice}."
        return f"{self.title}: {self.seen}. Likely cause: {self.cause}. {change}"


@dataclasses.dataclass
class IterationReport:
    """The results of one finished iteration, as an event for loggers."""

    iteration: int  #: counted from 1
    selfplay: SelfPlayReport  #: metrics of the iteration's games
    #: losses and other metrics of the iteration's learner steps
    learner: LearnerReport = dataclasses.field(default_factory=LearnerReport)
    window: int = 0  #: number of samples in the replay window
    elapsed_s: float = math.nan  #: seconds of training since the run began, without measurements
    selfplay_s: float = 0.0  #: seconds of self-play
    learner_s: float = 0.0  #: seconds of learning, including the time for making batches
    sampling_s: float = 0.0  #: seconds for making batches
    measure_s: float = 0.0  #: seconds for measuring the strength
    store_s: float = 0.0  #: seconds for storing the previous iteration
    #: losses on samples of the new games before training on them
    held_out: HeldOutReport = dataclasses.field(default_factory=HeldOutReport)
    engine: EngineReport | None = None  #: the engine that runs the new network in search
    pit: PitReport | None = None  #: None if no gate match was due
    strength: StrengthReport | None = None  #: None if no match against UCT was due
    puzzle: PuzzleReport | None = None  #: None also unless the game has one player
    exact: ExactReport | None = None  #: None if no comparison with an exact solver was due
    proof: ProofSummary | None = None  #: None if no check of all positions was due
    #: alarms that are on after this iteration
    alarms: list[Alarm] = dataclasses.field(default_factory=list)
    #: names of alarms that ended with this iteration
    ended_alarms: list[str] = dataclasses.field(default_factory=list)
    last: bool = False  #: whether the run ends with this iteration
    sample_game: GameRecord | None = None  #: the first game, if on the run's first board
    workers: WorkersReport | None = None  #: None if all games are played in this process


_NO_FIGURES = {"report", "ended_alarms", "sample_game"}


def flat(report: Any, prefix: str = "") -> dict[str, Any]:
    """Convert an iteration's report to a row of metrics.jsonl, with keys such as "learner.loss".

    Alarms become two strings: their names separated by commas, and one line of text for each.
    Numbers that are not finite become None. Parts that are None, the sample game, the names of
    ended alarms and the complete proof are left out.

    Args:
        report: the report, or one of its parts, such as a `LearnerReport`.
        prefix: put before each key; used to recurse into the parts.
    """
    figures: dict[str, Any] = {}
    for field in dataclasses.fields(report):
        value = getattr(report, field.name)
        if field.name in _NO_FIGURES or value is None:
            continue
        if dataclasses.is_dataclass(value):
            figures |= flat(value, f"{field.name}.")
        elif field.name == "alarms":
            figures["alarms"] = ",".join(alarm.name for alarm in value)
            figures["alarm_texts"] = "\n".join(alarm.text for alarm in value)
        else:
            is_finite = not isinstance(value, float) or math.isfinite(value)
            figures[prefix + field.name] = value if is_finite else None
    return figures
