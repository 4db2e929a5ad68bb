"""The settings of a UCT search, as plain data: importing this module loads no search kernels."""

import dataclasses
import math

from alphazero.config.settings import check, option
from alphazero.games.batched_game import Game
from alphazero.runtime.errors import ConfigError

#: Twice the number of visits must fit into 32 bits.
MAX_SIMULATIONS = 2**30 - 1
#: 64 MB with statistics by node. Statistics by position need more for each node: its state, 12
#: bytes, and 8 to 16 bytes of the hash table; see
#: `alphazero.search.uct.search.UctSearch.memory_bytes`.
DEFAULT_MAX_NODES = 4_000_000


@dataclasses.dataclass(frozen=True)
class UctSettings:
    """The settings of a UCT search."""

    uct_c: float = option(math.sqrt(2.0), "exploration constant C of UCB1", 0.0, 1e9)
    num_simulations: int | None = option(
        1000, "simulations per move; None needs a time limit", 1, MAX_SIMULATIONS
    )
    time_limit_s: float | None = option(
        None, "seconds per move, met to a few ms; the first limit reached counts", 1e-9, 1e9
    )
    statistics: str = option(
        "node", "kept for each node, or shared by transpositions", choices=("node", "position")
    )
    keep_table: bool = option(
        False, "with statistics=position, keep the statistics for the whole game"
    )
    record_rollouts: bool = option(
        False, "with statistics=position, also count the positions of rollouts"
    )
    final_move: str = option(
        "visits", "play the most visited move or the best value", choices=("visits", "value")
    )
    rollout: str = option(
        "random",
        "uniformly random moves, or the softmax of the game's evaluation",
        choices=("random", "weighted"),
    )
    rollout_weights: list[float] | None = option(
        None, "weights of the game's evaluation; None takes the game's own"
    )
    max_nodes: int = option(
        DEFAULT_MAX_NODES, "maximum nodes of the tree; simulations continue when it is full"
    )

    def check(self, game: Game) -> None:
        """Check every setting for a search of ``game``, except the values of the rollout weights.

        `alphazero.search.uct.rollout.check_weights` checks those.

        Raises:
            ConfigError: with the key, the value and what is allowed, if a setting is not allowed.
        """
        check(self)
        if self.num_simulations is None and self.time_limit_s is None:
            allowed = f"1 to {MAX_SIMULATIONS}, or a time_limit_s"
            message = "the search has no limit: set num_simulations or time_limit_s."
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
