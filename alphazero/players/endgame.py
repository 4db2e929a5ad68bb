"""When a player's search asks for exact results at its leaves, measured once on this machine.

In: a game, an evaluator, and the setting ``endgame``. Out: exact leaves for searches of any limit
(`Endgame.leaves`). With T the time of a move, given or else that of its evaluations, dear answers
may take three quarters of it: three eighths in answers that are expected to take up to T / 4 each,
which settle the root's own moves where the game is nearly decided, a quarter in answers of up to
T / 20, an eighth in answers of up to T / 200. Answers that cost little more than an evaluation are
always worth it: they are final, and prune what the network would be asked about.
"""

import dataclasses
import math
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.inference.evaluator import Evaluator
from alphazero.inference.measurements import read_measurement, write_measurement
from alphazero.players.scored_endings import ScoredEndings
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator
from alphazero.solvers.exact_leaves import (
    ProvenLeaves,
    Prover,
    Tier,
    extrapolated,
    game_positions,
    leaf_budgets,
    leaf_costs,
    make_prover,
)

#: Parts of a move's time that an answer may take, and all of such answers together.
_TIERS = ((1 / 4, 3 / 8), (1 / 20, 1 / 4), (1 / 200, 1 / 8))
#: What an answer may always cost.
_EVALUATIONS_PER_ANSWER = 4
#: Answers that cost more nodes than this are not measured.
_MOST_NODES, _UNLIMITED = 1_000_000, 2**62
#: Stored in place of infinity, which JSON lacks.
_INFINITE = 1e18
_NUM_GAMES = 48
_BATCH_SIZE = 8


def check_endgame(text: str) -> str:
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
class EndgameSpeed:
    """What was measured."""

    costs: list[float]  #: nodes of an answer by stage, as far as answers are not too dear
    nodes_per_s: float  #: of each thread, while all of them work
    evaluations_per_s: float  #: in small batches


class Endgame:
    """Exact leaves of one game for searches of different limits.

    Args:
        provers: one for each thread.
        nodes_per_answer: what an answer may cost; None follows from the speeds.
    """

    def __init__(self, provers: list[Prover], speed: EndgameSpeed, nodes_per_answer: float | None):
        self._provers = provers
        self._speed = speed
        self._nodes_per_answer = nodes_per_answer

    @property
    def is_fixed(self) -> bool:
        """Whether the cost of an answer is given in nodes, whatever the limits of a move."""
        return self._nodes_per_answer is not None

    def leaves(self, num_simulations: int, time_limit_s: float | None) -> ProvenLeaves | None:
        """Return the exact leaves of a search; None if no answer is cheap enough.

        Args:
            num_simulations, time_limit_s: the limits of a move; None is no time limit.
        """
        costs = self._costs()
        tiers = self._tiers(num_simulations, time_limit_s)
        if not leaf_budgets(costs, tiers[0].nodes_per_answer).any():
            return None
        return ProvenLeaves(self._provers, costs, tiers)

    def scored_endings(
        self, game: Game, num_simulations: int, time_limit_s: float | None, seed: int
    ) -> ScoredEndings:
        """Return what plays endings for the score in a quarter of a move's time.

        Args:
            num_simulations, time_limit_s: as in `leaves`.
        """
        if self._nodes_per_answer is not None:
            nodes = self._nodes_per_answer
        else:
            nodes = self._move_s(num_simulations, time_limit_s) * self._speed.nodes_per_s / 4
        return ScoredEndings(game, self._provers[0], self._costs(), int(nodes), seed)

    def _costs(self) -> np.ndarray:
        """Return the nodes of an answer by stage; extrapolated unless the user says how many."""
        costs = np.full(self._provers[0].num_stages, math.inf)
        costs[: len(self._speed.costs)] = self._speed.costs
        costs[costs >= _INFINITE] = math.inf
        return extrapolated(costs) if self._nodes_per_answer is None else costs

    def _move_s(self, num_simulations: int, time_limit_s: float | None) -> float:
        return time_limit_s or num_simulations / self._speed.evaluations_per_s

    def _tiers(self, num_simulations: int, time_limit_s: float | None) -> list[Tier]:
        if self._nodes_per_answer is not None:
            return [Tier(self._nodes_per_answer, math.inf)]
        speed, num_threads = self._speed, len(self._provers)
        move_s = self._move_s(num_simulations, time_limit_s)
        cheap = _EVALUATIONS_PER_ANSWER / speed.evaluations_per_s
        nodes_per_s = speed.nodes_per_s
        dear = [
            Tier(part * move_s * nodes_per_s, share * move_s * nodes_per_s * num_threads)
            for part, share in _TIERS
            if part * move_s > cheap
        ]
        return [*dear, Tier(max(cheap * nodes_per_s, 1.0), math.inf)]


def make_endgame(
    game: Game, evaluator: Evaluator, setting: str, num_threads: int, path: Path
) -> Endgame | None:
    """Return exact leaves for players of a game; None if they are off or impossible.

    Args:
        setting: off, auto, or the nodes that an answer may cost on average.
        path: where the measurement is kept, see `alphazero.inference.measurements`.
    """
    if setting == "off" or (prover := make_prover(game)) is None:
        return None
    prove_nothing = np.zeros(prover.num_stages, np.int64)
    prover.prove(game.initial_states(), prove_nothing, np.empty(1, np.int8), 0)  # loads the kernels
    provers = [prover, *(make_prover(game) for _ in range(num_threads - 1))]
    nodes = None if setting == "auto" else float(setting)
    return Endgame(provers, endgame_speed(game, evaluator, provers, path), nodes)


def endgame_speed(
    game: Game, evaluator: Evaluator, provers: Sequence[Prover], path: Path
) -> EndgameSpeed:
    """Return what is stored in ``path``, or measure now and store it."""
    if (stored := _stored_speed(path)) is not None:
        return stored
    print(
        f"Measuring how far from the end {game.name} can be solved quickly: once on this machine, "
        "some seconds ...",
        file=sys.stderr,
        flush=True,
    )

    def policy(states: np.ndarray) -> np.ndarray:
        return evaluator.evaluate(game.observe(states))[0]

    states = game_positions(game, _NUM_GAMES, child_generator(0, "endgame"), policy)
    costs = leaf_costs(provers[0], states, _MOST_NODES)
    speed = EndgameSpeed(
        costs=[min(float(cost), _INFINITE) for cost in costs],
        nodes_per_s=_nodes_per_s(provers, states, costs),
        evaluations_per_s=_evaluations_per_s(evaluator, game.observe(states[:_BATCH_SIZE])),
    )
    write_measurement(path, dataclasses.asdict(speed))
    return speed


def _stored_speed(path: Path) -> EndgameSpeed | None:
    """Return what is stored; None if there is nothing, or nothing that this version can read."""
    stored = read_measurement(path) or {}
    try:
        costs = [float(cost) for cost in stored["costs"]]
        return EndgameSpeed(costs, float(stored["nodes_per_s"]), float(stored["evaluations_per_s"]))
    except (KeyError, TypeError, ValueError):
        return None


def _nodes_per_s(provers: Sequence[Prover], states: np.ndarray, costs: np.ndarray) -> float:
    budgets = leaf_budgets(costs, _MOST_NODES / 30)

    def prove(prover: Prover) -> float:
        prover.forget()
        start = time.perf_counter()
        num_nodes = prover.prove(states, budgets, np.empty(len(states), np.int8), _UNLIMITED)
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
    return len(planes) / sorted(seconds)[num_calls // 2]
