"""What a training run tells while it goes: data for loggers (console, TensorBoard, JSON lines), which alone decide what to show."""

import dataclasses
import math
from typing import NamedTuple

from alphazero.inference.network_evaluator import EngineReport
from alphazero.learner.learner import HeldOutReport, LearnerReport
from alphazero.solvers.proof import ProofReport


class StageProgress(NamedTuple):
    """How far the iteration under way is."""

    stage: str  #: "self-play", "learning", "pit" or "evaluation"
    done: int
    total: int
    iteration: int
    run_fraction: float  #: of the whole run, in [0, 1], iterations that are finished only
    iteration_fraction: float  #: how much a finished iteration adds to run_fraction, for an estimate of the time left; 0 before the first
    positions_per_s: float = math.nan  #: of the self-play of this iteration, or of the last one
    loss: float = math.nan  #: mean of the last iteration


@dataclasses.dataclass
class SelfPlayReport:
    """The games of one iteration."""

    num_games: int = 0
    num_positions: int = 0  #: moves made
    num_samples: int = 0  #: rows to learn from
    seconds: float = 0.0
    positions_per_s: float = 0.0
    simulations_per_s: float = 0.0
    evaluations_per_s: float = 0.0  #: positions that the network answered
    cache_hit_rate: float = 0.0  #: share of the positions asked for that came from the cache
    evaluator_fraction: float = (
        0.0  #: of the seconds, spent inside the evaluator, its cache included
    )
    network_fraction: float = 0.0  #: of the seconds, spent inside the network
    mean_batch: float = 0.0  #: positions in a call of the evaluator, those in its cache included
    search_depth: float = 0.0  #: mean distance of a new leaf from its root
    game_length: float = 0.0  #: mean plies
    first_player_wins: float = 0.0  #: share of the games
    draws: float = 0.0  #: share of the games
    distinct_games: float = (
        0.0  #: share of the games whose moves no other game of the iteration has
    )
    sample_game: str = ""  #: one game as text, '' where none is due


@dataclasses.dataclass
class PitReport:
    """The gate."""

    score: float  #: of the new network; a draw is half
    wins: int
    draws: int
    losses: int
    accepted: bool


@dataclasses.dataclass
class StrengthReport:
    """A match against UCT, from the network's viewpoint."""

    opponent: str
    num_simulations: int
    score: float
    score_low: float  #: 95 % interval
    score_high: float
    wins: int
    draws: int
    losses: int
    num_distinct: int  #: games that differ


@dataclasses.dataclass
class ExactReport:
    """The network beside an exact solver, on the evaluation set that ships with the game."""

    num_positions: int
    num_simulations: int
    raw_accuracy: (
        float  #: share of the positions in which the network alone keeps the best possible result
    )
    raw_optimal: float  #: share in which its move has the best possible score
    accuracy: float  #: the same with search
    optimal: float
    value_error: float  #: mean |value - exact result| of the network alone, in [0, 2]
    result_accuracy: float  #: share of the positions whose result its value tells


@dataclasses.dataclass
class ProofSummary:
    """What looking at every position found."""

    num_positions: int
    num_accurate: int  #: positions in which the chosen move keeps the best possible result
    num_losses: int  #: games lost against any play, both sides
    report: ProofReport  #: all of it

    @property
    def perfect(self) -> bool:
        """Whether no position is misplayed."""
        return self.num_accurate == self.num_positions and self.num_losses == 0


@dataclasses.dataclass(frozen=True)
class Alarm:
    """Something that goes wrong in the run, in plain words; see `alphazero.training.health`."""

    name: str  #: such as "games_repeat"
    since: int  #: the iteration in which it began
    seen: str  #: what is wrong, with the figures of this iteration
    cause: str  #: the likely one
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
    window: int  #: rows trained on
    elapsed_s: float = math.nan  #: of the whole run, resumed parts included
    selfplay_s: float = 0.0
    learner_s: float = 0.0
    sampling_s: float = 0.0  #: of learner_s, spent on making batches
    measure_s: float = 0.0  #: matches and proofs of strength
    store_s: float = 0.0  #: writing what the iteration before left behind
    held_out: HeldOutReport = dataclasses.field(default_factory=HeldOutReport)
    engine: EngineReport | None = None
    pit: PitReport | None = None
    strength: StrengthReport | None = None
    exact: ExactReport | None = None
    proof: ProofSummary | None = None
    free_disk_gb: float = math.nan  #: room on the disk of the run's folder
    alarms: list[Alarm] = dataclasses.field(default_factory=list)  #: those that are on
    ended_alarms: list[str] = dataclasses.field(
        default_factory=list
    )  #: names of those that were on until the iteration before
    last: bool = False  #: whether the run ends with it


def flat(report: IterationReport) -> dict[str, float | int | bool | str]:
    """Return the report's numbers by name, such as "learner.loss", and the names of the alarms that are on, for JSON lines."""
    numbers = {}
    for field in dataclasses.fields(report):
        value = getattr(report, field.name)
        if dataclasses.is_dataclass(value):
            for inner in dataclasses.fields(value):
                number = getattr(value, inner.name)
                if inner.name not in ("report", "sample_game") and number is not None:
                    numbers[f"{field.name}.{inner.name}"] = number
        elif field.name == "alarms":
            numbers[field.name] = ",".join(alarm.name for alarm in value)
        elif value is not None and field.name != "ended_alarms":
            numbers[field.name] = value
    return numbers
