"""Measure how much strength evaluating several leaves per step costs, at equal simulations.

    python scripts/several_leaves.py connect_four --num-simulations 200 --leaves 4 --num-games 1000

Two players with the shipped network play pairs of games in lockstep, from random openings; they
differ only in their leaves per step. The default is that of a player searching a single position.
"""

import argparse
import dataclasses

from alphazero.evaluation.match import Openings, play_match
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player
from alphazero.players.search_player import SearchPlayer


@dataclasses.dataclass(frozen=True, eq=False)
class SeveralLeaves(SearchPlayer):
    """A player that evaluates several leaves of each tree even if it searches many positions."""

    num_leaves: int = 1

    def _leaves_per_step(self, num_positions: int) -> int:
        return self.num_leaves


def main() -> None:
    """Play the match and print its result."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("game")
    parser.add_argument("--num-simulations", type=int, default=200)
    parser.add_argument("--leaves", type=int, default=4)
    parser.add_argument("--num-games", type=int, default=400)
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    game = make_game(options.game)
    evaluator = make_player("best", game, PlayerSettings()).evaluator
    several = SeveralLeaves(game, evaluator, options.num_simulations, num_leaves=options.leaves)
    one = SearchPlayer(game, evaluator, options.num_simulations, seed=1)
    openings = Openings(plies=6, seed=options.seed)
    report = play_match(game, several, one, options.num_games, openings)
    low, high = report.elo_interval
    print(
        f"{game.name}, {options.num_simulations} simulations, {options.leaves} leaves in a step "
        f"against one: {report.score:.1%}, {report.elo:+.0f} Elo ({low:+.0f} to {high:+.0f}), "
        f"{options.num_games} games"
    )


if __name__ == "__main__":
    main()
