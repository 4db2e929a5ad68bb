"""The current network as a player, and the seeds of its matches.

In: a run's settings and the iteration. Out: a player; a seed of its own for each iteration and
purpose. The gate and the strength measurements use both.
"""

from alphazero.games.batched_game import Game
from alphazero.inference.evaluator import Evaluator
from alphazero.players.search_player import SearchPlayer
from alphazero.runtime.random_generators import child_generator
from alphazero.training.settings import TrainSettings


def network_player(
    game: Game,
    evaluator: Evaluator,
    num_simulations: int,
    settings: TrainSettings,
    iteration: int,
) -> SearchPlayer:
    """Return the player that searches with ``evaluator`` as self-play does, but without noise."""
    return SearchPlayer(
        game,
        evaluator,
        num_simulations,
        seed=iteration_seed(settings, "player", iteration),
        name=f"iteration {iteration}",
        settings=settings.search,
    )


def iteration_seed(settings: TrainSettings, purpose: str, iteration: int) -> int:
    """Return the seed for one purpose in one iteration, in [0, 2**31)."""
    return int(child_generator(settings.seed, f"{purpose} {iteration}").integers(2**31))
