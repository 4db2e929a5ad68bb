"""The report of an iteration's self-play: what was played, and how fast.

In: finished games, and the work counters of search and evaluator. Out: `SelfPlayReport`.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.inference.network_evaluator import NetworkEvaluator
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.threads import ParallelSelfPlay
from alphazero.training.events import SelfPlayReport


class SelfPlayWork(NamedTuple):
    """Work of self-play, added up over its workers since the start of the program."""

    num_simulations: int  #: simulations whose leaf was new
    num_evaluations: int  #: positions that search passed to the evaluator
    num_batches: int
    total_depth: int  #: of the new leaves
    evaluator_s: float  #: wall seconds inside the evaluator
    num_proven_leaves: int  #: new leaves whose result an exact search proved
    exact_s: float  #: wall seconds inside the exact search
    num_requested: int  #: the same positions, counted by the evaluator
    num_evaluated: int  #: of these, positions that the network answered; the cache had the others
    network_s: float  #: wall seconds inside the engine

    @classmethod
    def now(cls, selfplay: ParallelSelfPlay, evaluator: NetworkEvaluator) -> "SelfPlayWork":
        """Return the present counts."""
        streams = np.sum([stream.counts for stream in evaluator.streams], axis=0)
        return cls(*dataclasses.astuple(selfplay.counts), *streams)

    def since(self, before: "SelfPlayWork") -> "SelfPlayWork":
        """Return the work done after ``before``."""
        return SelfPlayWork._make(count - old for count, old in zip(self, before))


def selfplay_report(
    records: list[GameRecord],
    num_samples: int,
    work: SelfPlayWork,
    seconds: float,
    num_workers: int,
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
    worker_seconds = seconds * num_workers
    return SelfPlayReport(
        num_games=len(records),
        num_positions=num_positions,
        num_samples=num_samples,
        seconds=seconds,
        positions_per_s=num_positions / seconds,
        simulations_per_s=work.num_simulations / seconds,
        evaluations_per_s=work.num_evaluated / seconds,
        cache_hit_rate=float(1 - work.num_evaluated / max(work.num_requested, 1)),
        evaluator_fraction=work.evaluator_s / worker_seconds,
        network_fraction=work.network_s / worker_seconds,
        mean_batch=work.num_evaluations / max(work.num_batches, 1),
        proven_leaf_fraction=work.num_proven_leaves / max(work.num_simulations, 1),
        exact_fraction=work.exact_s / worker_seconds,
        search_depth=work.total_depth / max(work.num_simulations, 1),
        game_length=num_positions / len(records),
        first_player_wins=float((results == 1).mean()),
        draws=float((results == 0).mean()),
        distinct_games=len({record.actions.tobytes() for record in records}) / len(records),
    )


def game_text(game: Game, record: GameRecord) -> str:
    """Return a game as text: its moves, its result and its last position."""
    moves = " ".join(game.action_to_text(int(action)) for action in record.actions)
    last = game.step(record.states[-1:], record.actions[-1:]).states[0]
    results = {1: "the first player wins", 0: "a draw", -1: "the second player wins"}
    result = results[record.first_player_result]
    return f"{moves}\n{result} after {len(record.actions)} plies\n\n{game.state_to_text(last)}"
