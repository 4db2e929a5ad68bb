"""The settings of a UCT search. Plain data: this file imports no kernels of the search."""

import dataclasses
import math

from alphazero.config.settings import check, option
from alphazero.games.batched_game import Game
from alphazero.runtime.errors import ConfigError

#: A visit adds at most 2 points, and points are counted in 32 bits.
MAX_SIMULATIONS = 2**30 - 1
#: Statistics by node: 64 MB. By position: 64 MB plus, per node, the state, 12 bytes, and 8 to 16
#: bytes of the hash table; see `alphazero.search.uct.search.UctSearch.memory_bytes`.
DEFAULT_MAX_NODES = 4_000_000


@dataclasses.dataclass(frozen=True)
class UctSettings:
    """The settings of a UCT search."""

    uct_c: float = option(math.sqrt(2.0), "exploration constant C of UCB1", 0.0, 1e9)
    num_simulations: int | None = option(
        1000, "simulations per move; None needs a time limit", 1, MAX_SIMULATIONS
    )
    time_limit_s: float | None = option(
        None, "seconds per move, kept to a few ms; with num_simulations, the earlier end", 1e-9, 1e9
    )
    statistics: str = option(
        "node", "of each tree node, or shared by transpositions", choices=("node", "position")
    )
    keep_table: bool = option(
        False, "with statistics=position, keep what was learned for the whole game"
    )
    record_rollouts: bool = option(
        False, "with statistics=position, count visits and wins of the rollouts' positions too"
    )
    final_move: str = option(
        "visits", "play the move with most visits or the best value", choices=("visits", "value")
    )
    rollout: str = option(
        "random",
        "uniformly random moves, or the softmax of the game's evaluation",
        choices=("random", "weighted"),
    )
    rollout_weights: list[float] | None = option(
        None, "weights of that evaluation; None takes the game's own"
    )
    max_nodes: int = option(
        DEFAULT_MAX_NODES, "size of the tree; when it is full, simulations add no nodes"
    )

    def check(self, game: Game) -> None:
        """Check every value, for a search of ``game``.

        `alphazero.search.uct.rollout.check_weights` checks the weights themselves.

        Raises:
            ConfigError: naming the key, the value, and what is allowed.
        """
        check(self)
        if self.num_simulations is None and self.time_limit_s is None:
            allowed = f"1 to {MAX_SIMULATIONS}, or a time_limit_s"
            message = "the search needs an end: set num_simulations or time_limit_s."
            raise ConfigError(message, key="num_simulations", allowed=allowed)
        for key in ("keep_table", "record_rollouts"):
            if getattr(self, key) and self.statistics != "position":
                reason = f"it needs statistics=position, not {self.statistics}"
                raise ConfigError.of(key, True, False, reason)
        smallest = 1 + game.num_actions
        if not smallest <= self.max_nodes <= MAX_SIMULATIONS:
            allowed = f"{smallest} to {MAX_SIMULATIONS}"
            message = f"max_nodes={self.max_nodes} is not allowed: {game.name} takes {allowed}."
            raise ConfigError(message, key="max_nodes", value=self.max_nodes, allowed=allowed)
        if self.rollout == "random" and self.rollout_weights is not None:
            message = "rollout_weights needs rollout=weighted; random rollouts have no weights."
            raise ConfigError(message, key="rollout_weights", value=self.rollout_weights)
