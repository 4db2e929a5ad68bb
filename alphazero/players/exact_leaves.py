"""When a player's search asks for exact results at its leaves, measured once on this machine.

In: a game, an evaluator, and the setting ``endgame``. Out: exact leaves for searches of any limit
(`LeafPolicy.leaves`). With T the time of a move, expensive answers may take three quarters of it:
three eighths in answers that are expected to take up to T / 4 each, which settle the root's own
moves where the game is nearly decided, a quarter in answers of up to T / 20, an eighth in answers
of up to T / 200. Answers that cost little more than an evaluation are always worth it: they are
final, and prune what the network would be asked about.

If the number of simulations is the limit, T is a third of the time of its evaluations, so that
expensive answers add a quarter to it; those that cost no more than an evaluation are always worth
it. All are counted in nodes, at the speeds measured once: the same question has the same answer. A
limit of time is kept by the clock, too, on a machine that is busier than it was then.
"""

import dataclasses
import logging
import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.inference.evaluator import Evaluator
from alphazero.inference.measurements import measured_once, read_measurement
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator
from alphazero.solvers.exact_leaves import (
    ProvenLeaves,
    Tier,
    extrapolated,
    game_positions,
    leaf_budgets,
    leaf_costs,
    make_prover,
)
from alphazero.solvers.provers import Prover

_log = logging.getLogger(__name__)
#: Fractions of a move's time: for one answer, and for all such answers together. A fixed limit of
#: 500 nodes instead keeps the result in 98.2% of 2,000 positions of Connect Four at 200 simulations
#: (tiers: 98.45%, no exact leaves: 98.05%), and in 148 of 150 of plies 6 to 20 at 0.5 s (150).
_TIERS = ((1 / 4, 3 / 8), (1 / 20, 1 / 4), (1 / 200, 1 / 8))
#: What an answer may always cost if the time is limited; otherwise it is one.
_EVALUATIONS_PER_ANSWER = 4
#: Answers that cost more nodes than this are not measured.
_MOST_NODES = 1_000_000
_NUM_GAMES = 48
#: Of a move's evaluations, what expensive answers may plan with if the time is not limited.
_FRACTION_OF_EVALUATIONS = 1 / 3
#: What is measured: evaluations in batches of so many, and a prover's speed over so many nodes.
BATCH_SIZE, MEASURED_NODES = 32, 2_000_000


def check_setting(text: str) -> str:
    """Return the setting.

    Raises:
        ConfigError: if it is neither off, auto nor a number of nodes.
    """
    is_number = text.isascii() and text.isdigit() and 1 <= int(text) <= 10**9
    if text not in ("off", "auto") and not is_number:
        allowed = "off, auto, or the nodes that an answer may cost on average, such as 10000"
        raise ConfigError.of("endgame", text, allowed)
    return text


@dataclasses.dataclass(frozen=True)
class LeafSpeed:
    """What was measured."""

    costs: list[float]  #: nodes of an answer by stage, as far as answers are not too expensive
    nodes_per_s: float  #: of each thread, while all of them work
    evaluations_per_s: float  #: in batches of `BATCH_SIZE`


@dataclasses.dataclass
class LeafPolicy:
    """Decides which leaves of a game are solved, for searches of different limits.

    In its methods ``num_simulations`` and ``time_limit_s`` are the limits of a move, whichever ends
    first; infinite and None are no limit.
    """

    provers: list[Prover]  #: one for each thread
    speed: LeafSpeed | None  #: None while it is not measured: no leaf is solved
    nodes_per_answer: float | None  #: what an answer may cost; None follows from the speeds

    @property
    def is_fixed(self) -> bool:
        """Whether the cost of an answer is given in nodes, whatever the limits of a move."""
        return self.nodes_per_answer is not None

    @property
    def costs(self) -> np.ndarray:
        """The nodes of an answer by stage; extrapolated unless the user says how many."""
        costs = np.full(self.provers[0].num_stages, math.inf)
        if self.speed is not None:
            costs[: len(self.speed.costs)] = self.speed.costs[: len(costs)]
        return costs if self.is_fixed else extrapolated(costs)

    def leaves(self, num_simulations: float, time_limit_s: float | None) -> ProvenLeaves | None:
        """Return the exact leaves of a search; None if no answer is cheap enough."""
        if self.speed is None:
            return None
        move_s = _move_s(self.speed, num_simulations, time_limit_s)
        is_timed = move_s == time_limit_s
        costs, tiers = self.costs, self._tiers(self.speed, move_s, is_timed)
        if not leaf_budgets(costs, tiers[0].nodes_per_answer).any():
            return None
        nodes_per_s = self.speed.nodes_per_s * len(self.provers) if is_timed else None
        return ProvenLeaves(self.provers, costs, tiers, nodes_per_s)

    def _tiers(self, speed: LeafSpeed, move_s: float, is_timed: bool) -> list[Tier]:
        if self.nodes_per_answer is not None:
            return [Tier(self.nodes_per_answer, math.inf)]
        nodes_per_s = speed.nodes_per_s
        move_s *= 1 if is_timed else _FRACTION_OF_EVALUATIONS
        cheap = (_EVALUATIONS_PER_ANSWER if is_timed else 1) / speed.evaluations_per_s
        expensive = [
            Tier(part * move_s * nodes_per_s, share * move_s * nodes_per_s * len(self.provers))
            for part, share in _TIERS
            if part * move_s > cheap
        ]
        return [*expensive, Tier(max(cheap * nodes_per_s, 1.0), math.inf)]


def _move_s(speed: LeafSpeed, num_simulations: float, time_limit_s: float | None) -> float:
    evaluations_s = num_simulations / speed.evaluations_per_s
    return evaluations_s if time_limit_s is None else min(time_limit_s, evaluations_s)


def make_leaf_policy(
    game: Game,
    evaluator: Evaluator,
    setting: str,
    num_threads: int,
    path: Path,
    measures: bool = True,
) -> LeafPolicy | None:
    """Return which leaves players of a game solve; None if they solve none, or cannot.

    Args:
        setting: off, auto, or the nodes that an answer may cost on average.
        path: where the measurement is kept, see `alphazero.inference.measurements`.
        measures: measure now if nothing is stored; otherwise the policy has no speed then.
    """
    num_provers = 0 if setting == "off" else num_threads
    provers = [one for _ in range(num_provers) if (one := make_prover(game)) is not None]
    if not provers:
        return None
    provers[0].prove(game.initial_states(), np.zeros(1, np.int64), 1)  # loads the kernels
    nodes = None if setting == "auto" else float(setting)
    speed = leaf_speed(game, evaluator, provers, path) if measures else known_speed(path)
    return LeafPolicy(provers, speed, nodes)


def leaf_speed(
    game: Game, evaluator: Evaluator, provers: Sequence[Prover], path: Path, is_quiet: bool = False
) -> LeafSpeed:
    """Return what is stored in ``path``, or measure now and store it.

    Args:
        is_quiet: measure without a warning that it takes some seconds.
    """

    def measure() -> LeafSpeed:
        if not is_quiet:
            _log.warning(
                "Measuring how far from the end %s can be solved quickly: once on this machine, "
                "some seconds ...",
                game.name,
            )

        def policy(states: np.ndarray) -> np.ndarray:
            return evaluator.evaluate(game.observe(states))[0]

        states = game_positions(game, _NUM_GAMES, child_generator(0, "endgame"), policy)
        costs = leaf_costs(provers[0], states, _MOST_NODES)
        return LeafSpeed(
            costs=costs.tolist(),
            nodes_per_s=_nodes_per_s(provers, states, costs),
            evaluations_per_s=_evaluations_per_s(evaluator, game.observe(states[:BATCH_SIZE])),
        )

    return measured_once(path, LeafSpeed, measure)


def known_speed(path: Path) -> LeafSpeed | None:
    """Return what is stored in ``path``, None if nothing is."""
    return read_measurement(path, LeafSpeed)


def _nodes_per_s(provers: Sequence[Prover], states: np.ndarray, costs: np.ndarray) -> float:
    budgets = leaf_budgets(costs, _MOST_NODES)[provers[0].stages(states)]

    def prove(prover: Prover) -> float:
        prover.forget()
        start = time.perf_counter()
        _, num_nodes = prover.prove(states, budgets, MEASURED_NODES)
        seconds = time.perf_counter() - start
        prover.forget()
        return max(num_nodes, 1) / seconds

    with ThreadPoolExecutor(len(provers)) as pool:
        return min(pool.map(prove, provers))


def _evaluations_per_s(evaluator: Evaluator, planes: np.ndarray, num_calls: int = 9) -> float:
    seconds = []
    for _ in range(num_calls):
        start = time.perf_counter()
        evaluator.evaluate(planes)
        seconds.append(time.perf_counter() - start)
    return len(planes) / min(seconds)  # a busy moment would make answers look cheap
