"""Compare the accuracy of networks when each may use the same time per move, on one core.

    python scripts/accuracy_at_equal_time.py connect_four fresh.csv RUN best --ms 5 20 50

The positions of the set are searched in lockstep, without a cache or exact endings. The number of
simulations is the time times the network's speed, in simulations/s of the same search.
"""

import argparse
import time

import numpy as np
from script_command import exit_status

from alphazero.evaluation.exact.accuracy import Proportion, measure_accuracy
from alphazero.evaluation.exact.set_file import find_set
from alphazero.own_games.registry import make_game
from alphazero.players.base import Choice, Player, PlayerSettings, joined
from alphazero.players.registry import make_player
from alphazero.players.search_player import SearchPlayer
from alphazero.runtime.device import set_num_threads

_NUM_POSITIONS = 512  #: searched in lockstep
_NUM_SIMULATIONS = 200  #: of the searches that measure the speed


def main() -> None:
    """Print a line for each network."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("game")
    parser.add_argument("set", help="a file of scripts/make_evaluation_set.py")
    parser.add_argument("networks", nargs="+", help="folders of runs, network files, or best")
    parser.add_argument("--ms", type=float, nargs="+", default=[5.0], help="milliseconds per move")
    options = parser.parse_args()
    set_num_threads(1)
    game = make_game(options.game)
    positions = find_set(options.set, game)
    first = positions.states[:_NUM_POSITIONS]

    def accuracy_of(player: Player) -> Proportion:
        def choose(states: np.ndarray) -> Choice:
            starts = range(0, len(states), _NUM_POSITIONS)
            return joined(player.choose(states[at : at + _NUM_POSITIONS]) for at in starts)

        return measure_accuracy(choose, positions, with_values=False).accuracy()

    for spec in options.networks:
        network = make_player(spec, game, PlayerSettings(num_simulations=_NUM_SIMULATIONS))
        alone = make_player(spec, game, PlayerSettings(with_search=False))
        found = [f"alone {accuracy_of(alone).fraction:.1%}"]
        SearchPlayer(game, network.evaluator, 2, seed=1).choose(first)  # compiles
        start = time.perf_counter()
        SearchPlayer(game, network.evaluator, _NUM_SIMULATIONS, seed=1).choose(first)
        per_s = _NUM_SIMULATIONS * len(first) / (time.perf_counter() - start)
        for ms in options.ms:
            num_simulations = max(round(ms / 1000 * per_s), 2)
            player = SearchPlayer(game, network.evaluator, num_simulations, seed=1)
            accuracy = accuracy_of(player)
            low, high = accuracy.interval
            found.append(
                f"{ms:g} ms, {num_simulations:,} simulations: {accuracy.fraction:.1%} "
                f"({low:.1%} to {high:.1%})"
            )
        print(f"{spec} on {network.evaluator.report.name}, {per_s:,.0f} simulations/s: ", end="")
        print("; ".join(found), flush=True)


if __name__ == "__main__":
    raise SystemExit(exit_status(main))
