"""Print the speeds that a run measures at its start, and remember the choice for later runs.

    python scripts/tune.py game=connect_four network=5x64
    python scripts/tune.py game=connect_four run.num_threads=1 evaluator.engine=torch

The script takes the same settings as `alphazero train`.
"""

import sys

from script_command import exit_status

from alphazero.network.registry import make_network
from alphazero.own_games.registry import make_game
from alphazero.runtime.device import choose_device, set_num_threads
from alphazero.training.run_config import compose
from alphazero.training.tuning import tune


def main(arguments: list[str]) -> int:
    """Measure and print the speeds; return the exit status."""
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    return exit_status(lambda: _print_speeds(arguments))


def _print_speeds(arguments: list[str]) -> None:
    settings = compose(arguments)
    settings.run.retune = True
    device, num_threads = choose_device(settings.device), set_num_threads(settings.run.num_threads)
    game = make_game(settings.game.name)
    network = make_network(game.planes_shape, game.num_actions, settings.network).to(device)
    tuning = tune(settings, game, network, device, num_threads)
    if tuning is None:
        print("Nothing to measure: engine, precisions and number of parallel games are all set.")
        return
    print(f"{game.name} on {device}, {num_threads} threads")
    for engine, speed in tuning.engine_speeds.items():
        print(f"{engine:>18}: {speed:>9,.0f} evaluations/s")
    for size, speed in tuning.lockstep_speeds.items():
        print(f"{size:>12} games: {speed:>9,.0f} simulations/s")
    games = settings.selfplay.num_parallel_games
    print(f"chosen: {tuning.engine} {tuning.precision}, {games} parallel games")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
