"""The parts of an iteration's report: what each stage says of itself, in figures.

In: games, work counters and the facts of workers. Out: dataclasses whose fields say how TensorBoard
shows them (`alphazero.runtime.figures`). The part of a tag before the slash is its group. Fractions
are in [0, 1].
"""

import dataclasses
import math
from typing import Any

import numpy as np

from alphazero.evaluation.report import elo_from_score
from alphazero.games.batched_game import Game
from alphazero.runtime.figures import curve, derived_curve
from alphazero.selfplay.game_record import GameRecord
from alphazero.solvers.proof import Failure, ProofReport
from alphazero.workers.source import WorkerReport
from alphazero.workers.unit import SelfPlayWork

_LOW, _HIGH = "Lower end of the 95% interval of ", "Upper end of the 95% interval of "


def _error(tag: str, description: str) -> Any:
    """Return the field of a fraction whose curve shows its complement."""
    return curve(tag, description, value=lambda fraction: 1 - fraction)


@dataclasses.dataclass
class SelfPlayReport:
    """The games of one iteration."""

    num_games: int = 0
    num_positions: int = 0  #: moves made
    num_samples: int = curve("replay/new_samples", "Training samples of the iteration's games.")
    seconds: float = 0.0
    positions_per_s: float = curve("speed/positions_per_s", "Moves of self-play per second.")
    simulations_per_s: float = curve(
        "speed/simulations_per_s", "New leaves in searches per second."
    )
    evaluations_per_s: float = curve("speed/evaluations_per_s", "Network evaluations per second.")
    cache_hit_rate: float = curve("speed/cache_hit_rate", "Fraction of evaluations from the cache.")
    evaluator_fraction: float = curve(
        "speed/evaluator_fraction", "Fraction of the time in the evaluator, with its cache."
    )
    network_fraction: float = curve(
        "speed/network_fraction", "Fraction of the time in the network."
    )
    mean_batch: float = curve("search/mean_batch", "Positions in a call of the evaluator.")
    search_depth: float = curve("search/depth", "Mean plies from the root to a new leaf.")
    game_length: float = curve("games/length_plies", "Mean length of a self-play game, in plies.")
    first_player_wins: float = curve("games/first_player_wins", "Fraction won by the first player.")
    draws: float = curve("games/draws", "Fraction of the games that are drawn.")
    mean_result: float = curve(
        "games/mean_result", "Mean result of a game of one player, in the numbers of its rules."
    )
    distinct_games: float = curve(
        "games/distinct_fraction", "Distinct games, as a fraction of all."
    )

    @derived_curve("games/second_player_wins", "Fraction won by the second player.")
    def second_player_wins(self) -> float:
        """The games that are neither draws nor wins of the first player."""
        return 1 - self.first_player_wins - self.draws


def selfplay_report(
    game: Game, records: list[GameRecord], num_samples: int, work: SelfPlayWork, seconds: float
) -> SelfPlayReport:
    """Return the report of the games of an iteration.

    Args:
        records: at least one.
        num_samples: samples that the replay window gained from them.
        work: done for them.
        seconds: wall time that they took.
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
        first_player_wins=math.nan if is_puzzle else float((results > 0).mean()),
        draws=math.nan if is_puzzle else float((results == 0).mean()),
        mean_result=game.own_result(float(results.mean())) if is_puzzle else math.nan,
        distinct_games=len({record.actions.tobytes() for record in records}) / len(records),
    )


@dataclasses.dataclass(kw_only=True)
class WorkersReport:
    """The workers elsewhere, in one iteration."""

    num_workers: int = curve("workers/number", "Workers in other processes or on other machines.")
    num_lost: int = curve("workers/lost", "Workers that died or left in the iteration.")
    games_per_s: float = curve("workers/games_per_s", "Games per second that counted.")
    staleness: float = curve("workers/staleness_networks", "Mean age of the games, in networks.")
    stale_fraction: float = curve("workers/dropped_fraction", "Fraction dropped as too old.")
    each: list[WorkerReport]


def workers_report(workers: list[WorkerReport], seconds: float) -> WorkersReport | None:
    """Return the sums and means of all workers; None if there are none.

    Args:
        seconds: in which the games were played.
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
        each=workers,
    )


@dataclasses.dataclass(kw_only=True)
class PitReport:
    """The gate's match of the new network against the last accepted one."""

    score: float = curve("pit/score", "Score of the new network; see `pit.counted`.")
    wins: int
    draws: int
    losses: int
    accepted: bool = curve("pit/accepted", "1 if the new network stays, 0 if the old one does.")
    ties: int = 0  #: pairs of games that ended even
    score_low: float = curve("interval/pit_score_low", _LOW + "pit/score.")
    score_high: float = curve("interval/pit_score_high", _HIGH + "pit/score.")


@dataclasses.dataclass(kw_only=True)
class StrengthReport:
    """A match against UCT, from the network's viewpoint.

    In a game of one player, each plays every opening alone; the better result wins.
    """

    opponent: str
    num_simulations: int  #: of the network, for each move
    score: float = curve(
        "strength/score", "Score against UCT: 1 wins all games, a draw counts half."
    )
    score_low: float = curve("interval/strength_score_low", _LOW + "strength/score.")
    score_high: float = curve("interval/strength_score_high", _HIGH + "strength/score.")
    wins: int
    draws: int
    losses: int
    num_distinct: int = curve("strength/distinct_games", "Different games of that match.")

    @derived_curve(
        "strength/elo", "That score as a rating difference; limited by the number of games."
    )
    def elo(self) -> float:
        """The score as a rating difference; half a point is taken off a match of wins alone."""
        margin = 0.5 / (self.wins + self.draws + self.losses)
        return elo_from_score(min(max(self.score, margin), 1 - margin))


@dataclasses.dataclass(kw_only=True)
class PuzzleReport:
    """Results of one player, in the numbers of the rules; UCT solves the same openings."""

    num_openings: int
    mean_result: float = curve("puzzle/mean_result", "Mean result.")
    uct_mean_result: float = curve("puzzle/uct_mean_result", "UCT's mean result.")
    best_result: float = curve("puzzle/best_result", "Best result of an opening.")
    difference_margin: float  #: half of the 95% interval of the difference of the means
    solved: float = curve(
        "puzzle/solved", "Fraction of the openings with the best possible result, if it is known."
    )
    uct_solved: float = curve("puzzle/uct_solved", "The same fraction of UCT.")


@dataclasses.dataclass(kw_only=True)
class ExactReport:
    """The network compared with an exact solver, on the evaluation set that ships with the game.

    Figures named "raw" are of the network without search. Accuracy is the fraction of positions
    whose move keeps the exact result; "optimal" is that of moves with the best possible score.
    """

    num_positions: int
    num_simulations: int  #: of the search
    raw_accuracy: float = _error(
        "exact/error_network", "Fraction of moves, without search, that give away a win or a draw."
    )
    raw_optimal: float = _error(
        "exact/not_best_network", "Fraction of moves, without search, that are not the best."
    )
    accuracy: float = _error(
        "exact/error_search", "Fraction of moves, with search, that give away a win or a draw."
    )
    optimal: float = _error(
        "exact/not_best_search", "Fraction of moves, with search, that are not the best."
    )
    value_error: float = curve("exact/value_error", "Mean |value - exact result|, from 0 to 2.")
    result_accuracy: float = curve(
        "exact/result_accuracy", "Fraction of the exact results that the value predicts."
    )
    raw_accuracy_low: float = _error("interval/error_network_high", _HIGH + "error_network.")
    raw_accuracy_high: float = _error("interval/error_network_low", _LOW + "error_network.")
    accuracy_low: float = _error("interval/error_search_high", _HIGH + "error_search.")
    accuracy_high: float = _error("interval/error_search_low", _LOW + "error_search.")
    #: the first positions whose move, chosen with search, does not keep the exact result
    misplayed: list[Failure] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(kw_only=True)
class ProofSummary:
    """The network's moves in every position of a small game."""

    num_positions: int
    num_accurate: int  #: positions whose move keeps the exact result
    num_losses: int = curve("proof/lost_games", "Games that some play of the opponent wins.")
    report: ProofReport  #: all details

    @derived_curve("proof/misplayed_positions", "Positions whose move gives away a win or a draw.")
    def num_misplayed(self) -> int:
        """Positions whose move does not keep the exact result."""
        return self.num_positions - self.num_accurate
