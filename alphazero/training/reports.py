"""The parts of an iteration's report, with the metrics of each stage.

The numbers in these dataclasses become a row of metrics.jsonl. `alphazero.training.curves` declares
which of them are drawn. Fractions are in [0, 1].
"""

import dataclasses
from math import nan

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.selfplay.game_record import GameRecord
from alphazero.solvers.proof import ProofReport
from alphazero.workers.source import WorkerReport
from alphazero.workers.unit import SelfPlayWork


@dataclasses.dataclass
class SelfPlayReport:
    """Metrics of one iteration's self-play games."""

    num_games: int = 0
    num_positions: int = 0  #: moves made
    num_samples: int = 0
    seconds: float = 0.0
    positions_per_s: float = nan
    simulations_per_s: float = nan
    evaluations_per_s: float = nan
    cache_hit_rate: float = nan
    evaluator_fraction: float = nan
    network_fraction: float = nan
    mean_batch: float = nan
    search_depth: float = nan
    game_length: float = nan
    first_player_wins: float = nan
    draws: float = nan
    mean_result: float = nan
    distinct_games: float = nan


def selfplay_report(
    game: Game, records: list[GameRecord], num_samples: int, work: SelfPlayWork, seconds: float
) -> SelfPlayReport:
    """Compute the metrics of an iteration's self-play games.

    Args:
        records: the games, at least one.
        num_samples: number of samples that the replay window gained from them.
        work: counts of the self-play work for these games.
        seconds: wall-clock time of self-play.
    """
    num_positions = sum(len(record.actions) for record in records)
    results = np.array([record.first_player_result for record in records])
    thread_s = max(work.thread_s, 1e-9)
    is_puzzle = game.num_players == 1
    return SelfPlayReport(
        num_games=len(records),
        num_positions=num_positions,
        num_samples=num_samples,
        seconds=seconds,
        positions_per_s=num_positions / seconds,
        simulations_per_s=work.num_simulations / seconds,
        evaluations_per_s=work.num_evaluated / seconds,
        cache_hit_rate=float(1 - work.num_evaluated / max(work.num_requested, 1)),
        evaluator_fraction=work.evaluator_s / thread_s,
        network_fraction=work.network_s / thread_s,
        mean_batch=work.num_evaluations / max(work.num_batches, 1),
        search_depth=work.total_depth / max(work.num_simulations, 1),
        game_length=num_positions / len(records),
        first_player_wins=nan if is_puzzle else float((results > 0).mean()),
        draws=nan if is_puzzle else float((results == 0).mean()),
        mean_result=game.own_result(float(results.mean())) if is_puzzle else nan,
        distinct_games=len({record.actions.tobytes() for record in records}) / len(records),
    )


@dataclasses.dataclass
class WorkersReport:
    """Metrics of the workers in other processes and on other machines, in one iteration."""

    num_workers: int = 0
    num_lost: int = 0
    games_per_s: float = nan
    staleness: float = nan
    stale_fraction: float = nan


def workers_report(workers: list[WorkerReport], seconds: float) -> WorkersReport | None:
    """Sum up the work of all workers in one iteration; return None if there are no workers.

    Args:
        seconds: time in which the games were played.
    """
    if not workers:
        return None
    num_games = sum(worker.num_games for worker in workers)
    num_stale = sum(worker.num_stale_games for worker in workers)
    staleness = sum(worker.total_staleness for worker in workers)
    num_alive = sum(worker.is_alive for worker in workers)
    return WorkersReport(
        num_workers=num_alive,
        num_lost=len(workers) - num_alive,
        games_per_s=num_games / seconds,
        staleness=staleness / max(num_games, 1),
        stale_fraction=num_stale / max(num_stale + num_games, 1),
    )


@dataclasses.dataclass(kw_only=True)
class PitReport:
    """The result of the gate's match between the new network and the last accepted one."""

    score: float = nan
    wins: int
    draws: int
    losses: int
    accepted: bool
    score_low: float = nan
    score_high: float = nan


@dataclasses.dataclass(kw_only=True)
class StrengthReport:
    """The result of a match against UCT, from the network's viewpoint.

    In a game of one player, each plays every opening alone; the better result wins.
    """

    opponent: str
    num_simulations: int  #: the network's simulations per move
    score: float = nan
    score_low: float = nan
    score_high: float = nan
    wins: int
    draws: int
    losses: int
    num_distinct: int = 0


@dataclasses.dataclass(kw_only=True)
class PuzzleReport:
    """The network's and UCT's results from the same openings, in a game of one player.

    Results are on the scale of the game's rules.
    """

    num_openings: int
    mean_result: float
    uct_mean_result: float
    best_result: float
    difference_margin: float  #: half-width of the 95% confidence interval of the means' difference
    solved: float
    uct_solved: float


@dataclasses.dataclass(kw_only=True)
class ExactReport:
    """The network compared with an exact solver, on the positions that ship with the game.

    "raw" metrics are those of the network without search. Accuracy is the fraction of positions
    whose move keeps the exact result; "optimal" is the fraction of moves with the best score.
    """

    num_positions: int
    num_simulations: int  #: simulations per search
    raw_accuracy: float
    raw_optimal: float
    accuracy: float
    optimal: float
    value_error: float
    result_accuracy: float
    raw_accuracy_low: float
    raw_accuracy_high: float
    accuracy_low: float
    accuracy_high: float


@dataclasses.dataclass(kw_only=True)
class ProofSummary:
    """How many of the network's moves are correct, over all positions of a small game."""

    num_positions: int
    num_accurate: int  #: positions whose move keeps the exact result
    num_losses: int
    report: ProofReport  #: the complete result of the check
