"""Measure what a training run would measure at its start, show the speeds, and remember the fastest
for later runs on this machine. Takes the settings of 'alphazero train'.

    alphazero tune game=connect_four
    alphazero tune game=othello network=6x64
    alphazero tune game=connect_four run.num_threads=1 evaluator.engine=torch

In: the settings of a training run. Out: a table of speeds; the choice is stored for later runs.
"""

from rich.box import SQUARE
from rich.table import Table

from alphazero.network.registry import make_network
from alphazero.own_games.registry import make_game
from alphazero.runtime.console import Console
from alphazero.runtime.device import choose_device, set_num_threads
from alphazero.runtime.wording import counted
from alphazero.training.run_config import run_with_hydra
from alphazero.training.settings import TrainSettings
from alphazero.training.tuning import Tuning, tune


def main(arguments: list[str]) -> int:
    """Measure, show and store."""
    return run_with_hydra(arguments, "alphazero tune", lambda job: _tune(job.settings))


def _tune(settings: TrainSettings) -> int:
    """Measure, show and store, for a run with these settings."""
    settings.run.retune = True
    console = Console(highlight=False, emoji=False)
    device, num_threads = choose_device(settings.device), set_num_threads(settings.run.num_threads)
    game = make_game(settings.game.name)
    network = make_network(game.planes_shape, game.num_actions, settings.network).to(device)
    with console.status(f"measuring {game.name} on {device} ..."):
        tuning = tune(settings, game, network, device, num_threads)
    if tuning is None:
        console.print(
            "Nothing to measure: evaluator.engine, evaluator.precision, learner.precision and "
            "selfplay.num_parallel_games are all set."
        )
        return 0
    threads = counted(num_threads, "thread")
    console.print(f"{game.name} on {device}, {threads}. Network evaluations:", markup=False)
    _print_speeds(tuning, console)
    return 0


def _print_speeds(tuning: Tuning, console: Console) -> None:
    engine = f"{tuning.engine} {tuning.precision}"
    console.print(_table("engine", tuning.engine_speeds, engine))
    if tuning.lockstep_speeds:
        chosen = str(tuning.num_parallel_games)
        console.print(f"Self-play simulations with {engine}:")
        console.print(_table("parallel games", tuning.lockstep_speeds, chosen))
    console.print(
        f"Measured in {tuning.seconds:.0f} s. Later runs of this game with this network on this "
        "machine use these choices."
    )


def _table(name: str, speeds: dict[str, float], chosen: str) -> Table:
    table = Table(name, "per second", "", box=SQUARE)
    table.columns[1].justify = "right"
    for key, speed in speeds.items():
        table.add_row(key, f"{speed:,.0f}", "chosen" if key == chosen else "")
    return table
