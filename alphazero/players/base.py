"""The interface of players, which choose moves in given positions.

Matches, the terminal and the JSON engine use a player only through this interface. A player is
given positions and nothing else, so any two players of a game can play each other. The players are
in the other modules of this package; `alphazero.players.registry` makes one from its specification,
such as "uct:1000".

Shapes: B positions, K state words, A actions. Every value is an expected result in [-1, 1] from the
viewpoint of the player to move in that position: 1 is a sure win, -1 a sure loss.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from alphazero.config.settings import option
from alphazero.inference.engines.registry import ENGINES, PRECISIONS

NETWORK_KIND_HELP = (
    "network: the class of your own network, module:Class; a stored network alone never imports it"
)
MAX_SIMULATIONS = 10_000_000
#: Number of simulations sufficient to run every kernel of a search at least once.
WARM_UP_SIMULATIONS = 64
MAX_TIME_S = 86_400.0

#: The action that ``choose_after`` returns to resign; so far from any legal action that a faulty
#: player is unlikely to return it by mistake.
RESIGN = -(2**31)

#: A function called as ``progress(done, total)`` during the search of a position, with the number
#: of simulations made so far and in total; ``total`` is None if the search has a time limit.
SearchProgress = Callable[[int, int | None], None]


class Choice(NamedTuple):
    """The moves that a player chooses in B positions, with its action weights and values."""

    #: int32[B], the chosen actions, all legal.
    actions: np.ndarray
    #: float32[B, A], the player's weight for each action: visit fractions of a search, the policy
    #: of a network, or equal weights for equally good actions. Each row sums to 1 and is 0 where an
    #: action is illegal.
    action_weights: np.ndarray
    #: float32[B], expected results for the player to move; NaN if the player has no estimate.
    values: np.ndarray


def joined(parts: Iterable[Choice]) -> Choice:
    """Concatenate the choices made in several batches of positions into one `Choice`."""
    return Choice(*map(np.concatenate, zip(*parts)))


class Analysis(NamedTuple):
    """A player's analysis of one position, from the viewpoint of the player to move."""

    #: The move that the player would play.
    action: int
    #: float32[A], the player's weight for each action, as in `Choice`.
    action_weights: np.ndarray
    #: Expected result in [-1, 1]; NaN if the player has no estimate.
    value: float
    #: int32[A], number of simulations that began with each action; all 0 without a search.
    visits: np.ndarray
    #: float32[A], expected result after each action, in [-1, 1]; NaN where unknown.
    values: np.ndarray
    #: The moves that the player expects from both sides, starting with ``action``.
    principal_variation: list[int]
    #: Number of simulations made; 0 without a search.
    num_simulations: int
    #: int16[A], exact scores as defined by `alphazero.solvers.base.Solver`; None if unknown.
    scores: np.ndarray | None = None


class Player(Protocol):
    """The interface of players, which choose moves and analyse positions.

    Every player obeys these rules:

    - its actions are legal;
    - a player made with the same seed and asked about the same positions in the same order gives
      the same answers, unless it has a time limit;
    - it never changes ``states``.

    Some members are optional. A player that needs the moves that led to a position has a method
    ``choose_after(histories, states)``, as in `alphazero.players.gtp`; a match then calls it
    instead of `choose`, and the player may return `RESIGN`. A player with a network has attributes
    ``engine`` and ``method`` (see `thinking_of`).
    """

    @property
    def name(self) -> str:
        """The player's name in matches and tables."""

    @property
    def batch_size(self) -> int:
        """Number of positions to pass to `choose` at once.

        It is 1 for a player that searches positions one by one, and up to several hundred for a
        player that evaluates them in a batch.
        """

    def choose(self, states: np.ndarray) -> Choice:
        """Choose a move in each of B unfinished positions.

        Args:
            states: [B, K], one position of K state words per row.

        Returns:
            The moves, with weights and values from the viewpoint of the player to move.
        """

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """Analyse one unfinished position, from the viewpoint of the player to move.

        Args:
            state: the position, an array of K state words.
            progress: called from time to time with the number of simulations made so far and in
                total (see `SearchProgress`).
        """

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> "Player":
        """Return a copy of this player with the given search limits, restarted from the same seed.

        The copy may share what this player has loaded, such as a network. The two arguments replace
        both limits: a search ends at the first one it reaches. If both are None, the copy keeps
        this player's limits.

        Args:
            num_simulations: maximum simulations per move; None means no limit.
            time_limit_s: maximum seconds per move; None means no limit.
        """


def engine_of(player: Player) -> str:
    """Return the engine that runs a player's network, such as "openvino int8"; "" if unknown."""
    return getattr(player, "engine", "")


def thinking_of(player: Player) -> str:
    """Describe how a player chooses its moves, such as "openvino int8, search".

    Returns:
        The engine and the method of a player with a network; "" for other players.
    """
    parts = (engine_of(player), getattr(player, "method", ""))
    return ", ".join(part for part in parts if part)


def endgame_option(default: str) -> Any:
    """Declare the setting ``endgame``; its default differs between commands."""
    text = "network: solve positions near the end of the game exactly"
    return option(default, text, choices=("off", "auto"))


@dataclasses.dataclass
class PlayerSettings:
    """Settings of players: search limits, UCT, network, exact endgames and seed.

    A player specification such as "uct:500,uct_c=0.7" overrides them for one player.
    """

    HEADING: ClassVar[str] = (
        "player settings (for a single player, after a comma: uct:500,uct_c=0.7)"
    )

    num_simulations: int | None = option(
        None,
        "simulations per move; default 1000 (uct), 200 (network), or no limit with time_limit_s",
        low=1,
        high=MAX_SIMULATIONS,
    )
    time_limit_s: float | None = option(
        None,
        "seconds per move; with num_simulations, whichever ends first",
        low=0.001,
        high=MAX_TIME_S,
    )
    uct_c: float = option(
        math.sqrt(2.0), "UCT: exploration constant C of UCB1", low=0.0, high=1000.0
    )
    statistics: str = option(
        "node",
        "UCT: statistics per tree node, or per position (shared by transpositions)",
        choices=("node", "position"),
    )
    keep_table: bool = option(
        False, "UCT: with statistics=position, keep what was learned for the whole game"
    )
    final_move: str = option(
        "visits",
        "UCT: play the most visited move, or the one with the best value",
        choices=("visits", "value"),
    )
    rollout: str = option(
        "random",
        "UCT: uniformly random rollouts, or weighted by an evaluation of the moves",
        choices=("random", "weighted"),
    )
    rollout_weights: list[float] | None = option(
        None, "UCT: weights of that evaluation; default the game's own"
    )
    with_search: bool = option(True, "network: search, or play the most likely move of its policy")
    device: str = option("auto", "network: device: auto, cpu, cuda")
    engine: str = option(
        "auto",
        "network: inference engine; auto takes the fastest that this machine has",
        choices=("auto", *ENGINES),
    )
    precision: str = option(
        "auto",
        "network: number format; auto takes the fastest that the device has",
        choices=("auto", *PRECISIONS),
    )
    network_kind: str | None = option(None, NETWORK_KIND_HELP)
    endgame: str = endgame_option("off")
    seed: int = option(
        0, "seed of all random numbers; the same seed gives the same game", low=0, high=2**63 - 1
    )

    def limited(self, num_simulations: int | None, time_limit_s: float | None) -> "PlayerSettings":
        """Return these settings with both search limits replaced, or unchanged if both are None.

        Args:
            num_simulations: maximum simulations per move; None means no limit.
            time_limit_s: maximum seconds per move; None means no limit.
        """
        if num_simulations is None and time_limit_s is None:
            return self
        return dataclasses.replace(self, num_simulations=num_simulations, time_limit_s=time_limit_s)
