"""The report of an iteration's self-play: what was played, and how fast.

In: finished games, and the work counters of search and evaluator. Out: `SelfPlayReport`.
"""

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.selfplay.game_record import GameRecord
from alphazero.training.events import SelfPlayReport, WorkersReport
from alphazero.workers.source import WorkerReport
from alphazero.workers.unit import SelfPlayWork


def selfplay_report(
    records: list[GameRecord],
    num_samples: int,
    work: SelfPlayWork,
    seconds: float,
) -> SelfPlayReport:
    """Return the report of the games of an iteration, without a sample game.

    Args:
        records: at least one.
        num_samples: samples that the replay window gained from them.
        work: done for them.
        seconds: wall time that they took.
    """
    num_positions = sum(len(record.actions) for record in records)
    results = np.array([record.first_player_result for record in records])
    thread_s = max(work.thread_s, 1e-9)
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
        proven_leaf_fraction=work.num_proven_leaves / max(work.num_simulations, 1),
        exact_fraction=work.exact_s / thread_s,
        search_depth=work.total_depth / max(work.num_simulations, 1),
        game_length=num_positions / len(records),
        first_player_wins=float((results == 1).mean()),
        draws=float((results == 0).mean()),
        distinct_games=len({record.actions.tobytes() for record in records}) / len(records),
    )


def workers_report(workers: list[WorkerReport], seconds: float) -> WorkersReport | None:
    """Return the sums and means of all workers; None if there are none.

    Args:
        seconds: in which the games were played.
    """
    if not workers:
        return None
    num_games = sum(worker.num_games for worker in workers)
    num_stale = sum(worker.num_stale_games for worker in workers)
    staleness = sum(worker.staleness * worker.num_games for worker in workers)
    alive = [worker for worker in workers if worker.is_alive]
    return WorkersReport(
        num_workers=len(alive),
        num_lost=len(workers) - len(alive),
        games_per_s=num_games / seconds,
        staleness=staleness / max(num_games, 1),
        stale_fraction=num_stale / max(num_stale + num_games, 1),
        each=workers,
    )


def game_text(game: Game, record: GameRecord) -> str:
    """Return a game as text: its moves, its result and its last position."""
    moves = " ".join(game.action_to_text(int(action)) for action in record.actions)
    last = game.step(record.states[-1:], record.actions[-1:]).states[0]
    results = {1: "the first player wins", 0: "a draw", -1: "the second player wins"}
    result = results[record.first_player_result]
    return f"{moves}\n{result} after {len(record.actions)} plies\n\n{game.state_to_text(last)}"
