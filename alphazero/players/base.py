"""Players: positions in, moves out. What the arena, the terminal and the engine know of whoever chooses the moves.

A player is told nothing but the positions, so that any two of them can meet. Those of this file need no network;
`alphazero.players.network` holds the one that does, and `alphazero.players.registry` reads the words by which a person names a player.
Letters for shapes: B positions, K state words, A actions.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from alphazero.runtime.settings import option

MAX_SIMULATIONS = 10_000_000
MAX_TIME_S = 86_400.0

#: ``progress(done, total)``: simulations made so far and to be made; ``total`` is None where only the clock ends the search.
Progress = Callable[[int, int | None], None]


class Choice(NamedTuple):
    """The moves of B positions."""

    actions: np.ndarray  #: int32[B], legal actions
    action_weights: np.ndarray  #: float32[B, A], the distribution that the player saw, such as visit shares; sums to 1, 0 where illegal
    values: np.ndarray  #: float32[B], expected results from the viewpoint of the player to move; nan where the player has no opinion


class Analysis(NamedTuple):
    """What a player thinks of one position; every value is from the viewpoint of the player to move there."""

    action: int  #: the move it would play
    action_weights: np.ndarray  #: float32[A], as in `Choice`
    value: float  #: expected result in [-1, 1]; nan where the player has no opinion
    visits: (
        np.ndarray
    )  #: int32[A], simulations that went through each action; all 0 without a search
    values: np.ndarray  #: float32[A], expected result of each action; nan where unknown
    principal_variation: list[int]  #: the line it expects, starting with ``action``
    num_simulations: int  #: how many simulations it made
    scores: np.ndarray | None = (
        None  #: int16[A], exact scores as `alphazero.solvers.base.Solver` gives them; None from a player that does not know them
    )


class Player(Protocol):
    """A chooser of moves.

    Laws: actions are legal; the same player made with the same seed and asked the same questions in the same order gives the same answers
    (a time limit breaks this); ``states`` is never changed.

    A player that must be told how a position came about has ``choose_after(histories, states)``, see `alphazero.players.gtp`, which matches ask then.
    """

    name: str
    #: How many positions it likes to be asked about at once: 1 for a search that takes them one by one, hundreds for a network.
    batch_size: int

    def choose(self, states: np.ndarray) -> Choice:
        """Choose a move in each of B unfinished positions, [B, K]."""

    def analyse(self, state: np.ndarray, progress: Progress | None = None) -> Analysis:
        """Say what it thinks of one unfinished position, [K]."""

    def limited(self, num_simulations: int | None, time_limit_s: float | None) -> "Player":
        """Return the same player, knowledge shared, freshly seeded, with these limits in place of its own; both None leaves its own."""


@dataclasses.dataclass
class PlayerSettings:
    """How players think, unless the words that name a player say otherwise (``uct:500,uct_c=0.7``)."""

    num_simulations: int | None = option(
        None,
        "simulations for a move; without it 1000 for uct, 200 for a network, or the time limit",
        1,
        MAX_SIMULATIONS,
    )
    time_limit_s: float | None = option(
        None, "seconds for a move; with num_simulations, whichever ends first", 0.001, MAX_TIME_S
    )
    uct_c: float = option(math.sqrt(2.0), "UCT: exploration constant C of UCB1", 0.0, 1000.0)
    statistics: str = option(
        "node",
        "UCT: statistics belong to tree nodes, or to positions (transpositions share them)",
        choices=("node", "position"),
    )
    final_move: str = option(
        "visits",
        "UCT: play the most visited move, or the one of the best value",
        choices=("visits", "value"),
    )
    rollout: str = option(
        "random",
        "UCT: uniformly random rollouts, or weighted by an evaluation of the moves",
        choices=("random", "weighted"),
    )
    rollout_weights: list[float] | None = option(
        None, "UCT: weights of the evaluation of weighted rollouts; without them the game's own"
    )
    with_search: bool = option(True, "network: search with it, or play its best guess at once")
    device: str = option("auto", "network: where it runs: auto, cpu, cuda")
    engine: str = option(
        "torch",
        "network: what runs it (openvino is faster on a CPU, where installed)",
        choices=("torch", "torch_compile", "openvino"),
    )
    precision: str = option(
        "float32",
        "network: number format; int8 needs openvino",
        choices=("float32", "bfloat16", "int8"),
    )
    seed: int = option(
        0, "seed of everything random; the same seed gives the same game", 0, 2**63 - 1
    )
