"""What a training run reports while it runs: data for loggers, which decide what to show.

`Trainer.run` yields a `StageProgress` several times a second and an `IterationReport` after each
iteration. Fractions are in [0, 1].
"""

import dataclasses
import math
from typing import NamedTuple

from alphazero.inference.verified_engine import EngineReport
from alphazero.learner.report import HeldOutReport, LearnerReport
from alphazero.solvers.proof import Failure, ProofReport
from alphazero.training.illustrations import Illustrations
from alphazero.workers.source import WorkerReport


class StageProgress(NamedTuple):
    """How far the iteration in progress is."""

    stage: str  #: "self-play", "learning", "pit", "evaluation", "accuracy" or "proof"
    done: int
    total: int
    iteration: int
    run_fraction: float  #: fraction of the whole run that is done with the finished iterations
    iteration_fraction: float  #: the same for one iteration, on average; 0 before the first
    positions_per_s: float = math.nan  #: of the newest self-play
    loss: float = math.nan  #: mean of the last iteration
    notices: tuple[str, ...] = ()  #: sentences about workers, see `alphazero.workers.source`


@dataclasses.dataclass
class SelfPlayReport:
    """The games of one iteration."""

    num_games: int = 0
    num_positions: int = 0  #: moves made
    num_samples: int = 0  #: new training samples
    seconds: float = 0.0
    positions_per_s: float = 0.0
    simulations_per_s: float = 0.0
    evaluations_per_s: float = 0.0  #: positions evaluated by the network, not by the cache
    cache_hit_rate: float = 0.0  #: fraction of the evaluations that the cache answered
    evaluator_fraction: float = 0.0  #: fraction of the time spent in the evaluator, with its cache
    network_fraction: float = 0.0  #: fraction of the time spent in the network
    mean_batch: float = 0.0  #: positions in a call of the evaluator, before its cache
    proven_leaf_fraction: float = 0.0  #: of the new leaves, see `search.exact_leaves`
    exact_fraction: float = 0.0  #: fraction of the time in the search that proves leaves
    search_depth: float = 0.0  #: mean distance of a new leaf from its root
    game_length: float = 0.0  #: mean, in plies
    first_player_wins: float = 0.0  #: fraction of the games
    draws: float = 0.0  #: fraction of the games
    distinct_games: float = 0.0  #: number of different move sequences over number of games
    sample_game: str = ""  #: one game as text; "" if none is due


@dataclasses.dataclass
class WorkersReport:
    """The workers elsewhere, in one iteration."""

    num_workers: int  #: at its end
    num_lost: int  #: lost or dismissed
    games_per_s: float  #: that counted, over the whole iteration
    staleness: float  #: networks by which the games lagged behind, mean
    stale_fraction: float  #: of the games: dropped, because they lagged too far behind
    each: list[WorkerReport]


@dataclasses.dataclass
class PitReport:
    """The gate's match of the new network against the last accepted one."""

    score: float  #: of the new network, in [0, 1]; a draw counts half
    wins: int
    draws: int
    losses: int
    accepted: bool
    ties: int = 0  #: pairs of games that ended even
    score_low: float = math.nan  #: of the 95% interval
    score_high: float = math.nan  #: of the 95% interval


@dataclasses.dataclass
class StrengthReport:
    """A match against UCT, from the network's viewpoint."""

    opponent: str
    num_simulations: int  #: of the network, for each move
    score: float  #: in [0, 1]; a draw counts half
    score_low: float  #: of the 95% interval
    score_high: float  #: of the 95% interval
    wins: int
    draws: int
    losses: int
    num_distinct: int  #: number of different games


@dataclasses.dataclass
class ExactReport:
    """The network compared with an exact solver, on the evaluation set that ships with the game.

    Figures named "raw" are of the network without search. Accuracy is the fraction of positions
    whose move keeps the exact result.
    """

    num_positions: int
    num_simulations: int  #: of the search
    raw_accuracy: float
    raw_optimal: float  #: fraction of positions whose move has the best possible score
    accuracy: float
    optimal: float
    value_error: float  #: mean |value - exact result| of the network without search, in [0, 2]
    result_accuracy: float  #: fraction of positions whose exact result the raw value predicts
    raw_accuracy_low: float = math.nan  #: of the 95% interval
    raw_accuracy_high: float = math.nan
    accuracy_low: float = math.nan
    accuracy_high: float = math.nan
    #: the first positions whose move, chosen with search, does not keep the exact result
    misplayed: list[Failure] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class ProofSummary:
    """The network's moves in every position of a small game."""

    num_positions: int
    num_accurate: int  #: positions whose move keeps the exact result
    num_losses: int  #: games that some play of the other side wins, for both sides together
    report: ProofReport  #: all details

    @property
    def perfect(self) -> bool:
        """Whether every move keeps the exact result."""
        return self.num_accurate == self.num_positions and self.num_losses == 0


@dataclasses.dataclass(frozen=True)
class Alarm:
    """Something that goes wrong in the run; see `alphazero.training.health`."""

    name: str  #: such as "games_repeat"
    since: int  #: the iteration in which it began
    seen: str  #: what is wrong, with the figures of this iteration
    cause: str  #: the likely cause
    key: str  #: the setting to change
    advice: str  #: what to change it to

    @property
    def title(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ")


@dataclasses.dataclass
class IterationReport:
    """One finished iteration."""

    iteration: int  #: counted from 1
    selfplay: SelfPlayReport
    learner: LearnerReport
    window: int  #: samples in the replay window
    elapsed_s: float = math.nan  #: of the whole run, resumed parts included
    selfplay_s: float = 0.0
    learner_s: float = 0.0
    sampling_s: float = 0.0  #: part of learner_s: making the batches
    measure_s: float = 0.0  #: measuring the strength; not part of elapsed_s
    store_s: float = 0.0  #: writing the files of the iteration before; not part of elapsed_s
    held_out: HeldOutReport = dataclasses.field(default_factory=HeldOutReport)
    engine: EngineReport | None = None
    pit: PitReport | None = None
    strength: StrengthReport | None = None
    exact: ExactReport | None = None
    proof: ProofSummary | None = None
    free_disk_gb: float = math.nan  #: on the disk of the run's folder
    #: alarms that are on
    alarms: list[Alarm] = dataclasses.field(default_factory=list)
    #: names of alarms that were on until the iteration before
    ended_alarms: list[str] = dataclasses.field(default_factory=list)
    last: bool = False  #: whether the run ends with this iteration
    illustrations: Illustrations | None = None  #: None if they are not due
    workers: WorkersReport | None = None  #: None without workers elsewhere


_NO_FIGURES = {"report", "sample_game", "misplayed", "ended_alarms", "illustrations", "each"}


def flat(report: IterationReport) -> dict[str, float | int | bool | str]:
    """Return the figures of a report under names such as "learner.loss", for metrics.jsonl.

    Alarms are one text of names, separated by commas. What is no figure is left out.
    """
    figures = {}
    for field in dataclasses.fields(report):
        value = getattr(report, field.name)
        if dataclasses.is_dataclass(value):
            for inner in dataclasses.fields(value):
                figure = getattr(value, inner.name)
                if inner.name not in _NO_FIGURES and figure is not None:
                    figures[f"{field.name}.{inner.name}"] = figure
        elif field.name == "alarms":
            figures[field.name] = ",".join(alarm.name for alarm in value)
        elif value is not None and field.name not in _NO_FIGURES:
            figures[field.name] = value
    return figures
