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

from alphazero.games.batched_game import Game
from alphazero.runtime.random_generators import child_generator
from alphazero.runtime.settings import option

#: Simulations of a UCT player that is given neither a number nor a time.
DEFAULT_UCT_SIMULATIONS = 1000
MAX_SIMULATIONS = 10_000_000
MAX_TIME_S = 86_400.0
MAX_THREADS = 1024

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
        None  #: int16[A], exact scores as `alphazero.solvers.solver.Solver` gives them; None from a player that does not know them
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


class RandomPlayer:
    """Plays a uniformly random legal action and has no opinion."""

    batch_size = 1

    def __init__(self, game: Game, seed: int = 0, name: str = "random"):
        self.game = game
        self.name = name
        self._seed = seed
        self._generator = child_generator(seed, "random player")

    def choose(self, states: np.ndarray) -> Choice:
        mask = self.game.legal_action_mask(states)
        keys = np.where(mask, self._generator.random(mask.shape), -1.0)
        weights = mask / mask.sum(axis=1, keepdims=True)
        return Choice(
            keys.argmax(axis=1).astype(np.int32),
            weights.astype(np.float32),
            np.full(len(states), np.nan, np.float32),
        )

    def analyse(self, state: np.ndarray, progress: Progress | None = None) -> Analysis:
        choice = self.choose(state[None])
        action, num_actions = int(choice.actions[0]), self.game.num_actions
        unknown = np.full(num_actions, np.nan, np.float32)
        return Analysis(
            action,
            choice.action_weights[0],
            math.nan,
            np.zeros(num_actions, np.int32),
            unknown,
            [action],
            0,
        )

    def limited(self, num_simulations: int | None, time_limit_s: float | None) -> "RandomPlayer":
        return RandomPlayer(self.game, self._seed, self.name)


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
    num_threads: int = option(
        1,
        "UCT: threads, each with a tree of its own, their results summed; 0 takes all cores",
        0,
        MAX_THREADS,
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


class UctPlayer:
    """Plays what the UCT search with random rollouts says; see `alphazero.search.uct.search`."""

    batch_size = 1

    def __init__(self, game: Game, settings: PlayerSettings | None = None):
        self.game = game
        self.settings = settings or PlayerSettings()
        self.name = _uct_name(self.settings)
        self._search = _uct_search(game, self.settings)

    def choose(self, states: np.ndarray) -> Choice:
        outputs = [self._search.run(state) for state in states]
        weights = (
            np.stack([output.action_weights for output in outputs])
            if outputs
            else np.zeros((0, self.game.num_actions), np.float32)
        )
        return Choice(
            np.array([output.action for output in outputs], np.int32),
            weights,
            np.array([output.value for output in outputs], np.float32),
        )

    def analyse(self, state: np.ndarray, progress: Progress | None = None) -> Analysis:
        output = self._search.run(state, progress)
        return Analysis(
            int(output.action),
            output.action_weights,
            float(output.value),
            output.visits,
            output.values,
            self._search.principal_variation(),
            int(output.num_simulations),
        )

    def limited(self, num_simulations: int | None, time_limit_s: float | None) -> "UctPlayer":
        if num_simulations is None and time_limit_s is None:
            return UctPlayer(self.game, self.settings)
        return UctPlayer(
            self.game,
            dataclasses.replace(
                self.settings, num_simulations=num_simulations, time_limit_s=time_limit_s
            ),
        )


def _uct_search(game: Game, settings: PlayerSettings):
    from alphazero.search.uct.search import UctSearch

    return UctSearch(
        game,
        uct_c=settings.uct_c,
        num_simulations=uct_simulations(settings),
        time_limit_s=settings.time_limit_s,
        statistics=settings.statistics,
        final_move=settings.final_move,
        rollout=settings.rollout,
        rollout_weights=settings.rollout_weights,
        num_threads=settings.num_threads,
        seed=settings.seed,
    )


def uct_simulations(settings: PlayerSettings) -> int | None:
    """Return the largest number of simulations that the settings allow a UCT player for one move; None where only the clock ends it."""
    if settings.num_simulations is None and settings.time_limit_s is None:
        return DEFAULT_UCT_SIMULATIONS
    return settings.num_simulations


def _uct_name(settings: PlayerSettings) -> str:
    parts = []
    if settings.num_simulations is not None or settings.time_limit_s is None:
        parts.append(f"uct:{uct_simulations(settings)}")
    if settings.time_limit_s is not None:
        parts.append(f"{'' if parts else 'uct,'}time_limit_s={settings.time_limit_s:g}")
    standard = PlayerSettings()
    for key in ("uct_c", "statistics", "final_move", "rollout", "num_threads"):
        value = getattr(settings, key)
        if value != getattr(standard, key):
            parts.append(f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}")
    if settings.rollout_weights is not None:
        parts.append(
            f"rollout_weights=[{','.join(f'{weight:g}' for weight in settings.rollout_weights)}]"
        )
    return ",".join(parts)
