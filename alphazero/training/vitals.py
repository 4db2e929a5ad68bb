"""The figures of an iteration that health checks read.

In: an `IterationReport`. Out: `Vitals`, plain numbers that are kept and stored for many iterations,
and means over several iterations.
"""

import math
from typing import NamedTuple

from alphazero.training.events import IterationReport


class Vitals(NamedTuple):
    """Figures of one iteration, NaN where there is none; see `alphazero.training.events`."""

    iteration: float
    num_games: float
    num_samples: float
    window: float
    distinct_games: float
    first_player_wins: float
    draws: float
    num_steps: float
    loss: float
    policy_entropy: float
    target_entropy: float
    value_loss: float
    uninformed_policy_loss: float
    uninformed_value_loss: float
    gradient_norm: float
    weight_size: float
    held_out_loss: float
    pit_accepted: float  #: 1 or 0
    pit_ties: float  #: fraction of the pairs of games
    strength: float  #: score against UCT
    strength_games: float
    free_disk_gb: float
    num_workers: float
    workers_lost: float
    stale_fraction: float


def vitals(report: IterationReport) -> Vitals:
    """Return the figures of a report."""
    games, learner, strength = report.selfplay, report.learner, report.strength
    figures = {
        name: getattr(source, name)
        for source in (report, games, learner)
        for name in Vitals._fields
        if hasattr(source, name)
    }
    figures["held_out_loss"] = report.held_out.loss
    figures["pit_accepted"] = figures["pit_ties"] = math.nan
    if (pit := report.pit) is not None:
        figures["pit_accepted"] = pit.accepted
        figures["pit_ties"] = 2 * pit.ties / (pit.wins + pit.draws + pit.losses)
    figures["strength"] = figures["strength_games"] = math.nan
    if strength is not None:
        figures["strength"] = strength.score
        figures["strength_games"] = strength.wins + strength.draws + strength.losses
    workers = report.workers
    figures["num_workers"] = math.nan if workers is None else workers.num_workers
    figures["workers_lost"] = math.nan if workers is None else workers.num_lost
    figures["stale_fraction"] = math.nan if workers is None else workers.stale_fraction
    return Vitals(**{name: float(value) for name, value in figures.items()})


def mean(past: list[Vitals], name: str) -> float:
    """Return the mean of a figure over iterations, NaN without any."""
    return sum(getattr(one, name) for one in past) / len(past) if past else math.nan


def fraction_of_games(past: list[Vitals], name: str, num_games: int) -> float:
    """Return a figure that is a fraction of the games, over the newest games.

    Args:
        past: iterations, the newest last.
        num_games: the newest iterations that together have at least this many games count.

    Returns:
        The fraction, NaN if there are fewer games.
    """
    games = total = 0.0
    for one in reversed(past):
        games += one.num_games
        total += one.num_games * getattr(one, name)
        if games >= num_games:
            return total / games
    return math.nan
