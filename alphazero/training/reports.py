"""The parts of an iteration's report, each with the metrics of one stage or measurement.

The numbers in these dataclasses become a row of metrics.jsonl. `alphazero.training.curves` declares
which of them are drawn. Fractions are in [0, 1].
"""

import dataclasses
from math import nan

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.selfplay.game_record import GameRecord
from alphazero.solvers.proof import ProofReport
from alphazero.workers.source import WorkersTally
from alphazero.workers.unit import SelfPlayWork


@dataclasses.dataclass
class SelfPlayReport:
    """Metrics of the self-play games of one iteration."""

    num_games: int = 0
    num_positions: int = 0  #: moves made, over all games
    num_samples: int = 0  #: samples that the replay window gained
    seconds: float = 0.0  #: wall-clock time of self-play
    positions_per_s: float = nan  #: moves made per second, over all games
    simulations_per_s: float = nan  #: simulations that added a leaf node
    evaluations_per_s: float = nan  #: positions evaluated by the network, not found in the cache
    cache_hit_rate: float = nan  #: fraction of requested evaluations found in the cache
    evaluator_fraction: float = nan  #: fraction of the threads' time spent in the evaluator
    network_fraction: float = nan  #: fraction of the threads' time spent in the network
    mean_batch: float = nan  #: mean number of positions per call of the evaluator
    search_depth: float = nan  #: mean depth of new leaf nodes, in plies
    game_length: float = nan  #: mean length of a game, in plies
    first_player_wins: float = nan  #: fraction of the games; NaN in a one-player game
    draws: float = nan  #: fraction of the games; NaN in a one-player game
    mean_result: float = nan  #: on the game's own scoring scale; NaN unless the game has one player
    distinct_games: float = nan  #: number of different games, as a fraction of all


def selfplay_report(
    game: Game, records: list[GameRecord], num_samples: int, work: SelfPlayWork, seconds: float
) -> SelfPlayReport:
    """Compute the metrics of the self-play games of an iteration.

    Args:
        game: the game that was played.
        records: the finished games, at least one.
        num_samples: number of samples that the replay window gained from them.
        work: number of simulations and evaluations, and the time they took, during these games.
        seconds: wall-clock time of self-play.
    """
    num_positions = sum(len(record.actions) for record in records)
    results = np.array([record.first_player_result for record in records])
    thread_s = max(work.thread_s, 1e-9)
    num_hits = work.num_requested - work.num_evaluated
    is_puzzle = game.num_players == 1
    return SelfPlayReport(
        num_games=len(records),
        num_positions=num_positions,
        num_samples=num_samples,
        seconds=seconds,
        positions_per_s=num_positions / seconds,
        simulations_per_s=work.num_simulations / seconds,
        evaluations_per_s=(work.num_evaluations - num_hits) / seconds,
        cache_hit_rate=float(num_hits / max(work.num_evaluations, 1)),
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
    """Metrics of the workers in other processes or on other machines, over one iteration."""

    num_workers: int = 0  #: workers that are alive
    num_lost: int = 0  #: workers that died or left during the iteration
    games_per_s: float = nan  #: games per second of all workers, without dropped games
    staleness: float = nan  #: mean age of the games' networks, in network versions
    stale_fraction: float = nan  #: fraction of games dropped because their network was too old


def workers_report(tally: WorkersTally | None, seconds: float) -> WorkersReport | None:
    """Return the metrics of the workers in one iteration; None if threads play.

    Args:
        tally: the counts of the iteration.
        seconds: wall-clock time in which the games were played.
    """
    if tally is None:
        return None
    return WorkersReport(
        num_workers=tally.num_workers,
        num_lost=tally.num_lost,
        games_per_s=tally.num_games / seconds,
        staleness=tally.total_staleness / max(tally.num_games, 1),
        stale_fraction=tally.num_stale_games / max(tally.num_stale_games + tally.num_games, 1),
    )


@dataclasses.dataclass(kw_only=True)
class PitReport:
    """The result of the gate's match between the new network and the last accepted one.

    All numbers are from the viewpoint of the new network.
    """

    score: float = nan  #: mean score in [0, 1], over games or pairs as `PitSettings` says
    wins: int
    draws: int
    losses: int
    accepted: bool  #: whether the new network is kept
    score_low: float = nan  #: lower end of the score's 95% confidence interval
    score_high: float = nan  #: upper end


@dataclasses.dataclass(kw_only=True)
class StrengthReport:
    """The result of a match against UCT, from the network's viewpoint.

    In a one-player game, both play every opening alone, and the better result wins.
    """

    opponent: str  #: UCT's name as a player, with its number of simulations
    num_simulations: int  #: the network's simulations per move
    score: float = nan  #: in [0, 1]: a win is 1, a draw 0.5
    score_low: float = nan  #: lower end of the score's 95% confidence interval
    score_high: float = nan  #: upper end
    wins: int
    draws: int
    losses: int
    num_distinct: int = 0  #: number of different games in the match


@dataclasses.dataclass(kw_only=True)
class PuzzleReport:
    """The network's and UCT's results from the same openings, in a one-player game.

    Results are on the game's own scoring scale, such as minus the number of pegs left over.
    """

    num_openings: int
    mean_result: float
    uct_mean_result: float
    best_result: float  #: the network's best result from any opening
    difference_margin: float  #: half-width of the 95% confidence interval of the means' difference
    solved: float  #: fraction of openings with the best possible result; NaN if it is unknown
    uct_solved: float  #: the same fraction for UCT


@dataclasses.dataclass(kw_only=True)
class ExactReport:
    """How often the network agrees with an exact solver, on the game's evaluation set.

    "raw" metrics are those of the network without search. Accuracy is the fraction of positions in
    which the network's move keeps the exact result (win, draw or loss); "optimal" is the fraction
    in which no other move has a better exact score.
    """

    num_positions: int
    num_simulations: int  #: simulations per search
    raw_accuracy: float
    raw_optimal: float
    accuracy: float
    optimal: float
    #: mean absolute difference between the value without search and the exact result, 0 to 2
    value_error: float
    #: fraction of positions in which the value without search predicts the exact result
    result_accuracy: float
    raw_accuracy_low: float
    raw_accuracy_high: float
    accuracy_low: float
    accuracy_high: float


@dataclasses.dataclass(kw_only=True)
class ProofSummary:
    """How many of the network's moves keep the exact result, over all positions of a small game."""

    num_positions: int  #: unfinished positions
    num_accurate: int  #: positions in which the network's move keeps the exact result
    num_losses: int  #: games that the network loses, over all possible play of the opponent
    report: ProofReport  #: the complete result of the check
