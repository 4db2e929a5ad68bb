"""`alphazero tune`: measure which engine, number format and number of games in lockstep are the fastest here, and remember it for later runs."""

from rich.console import Console
from rich.table import Table

from alphazero.cli.help_text import print_help
from alphazero.runtime import jit
from alphazero.training.compose import compose
from alphazero.training.settings import TrainSettings

SUMMARY = "Measure what a run leaves to auto, as its start does, and show the figures. Takes the settings of 'alphazero train'."
EXAMPLES = [
    "alphazero tune game=connect_four",
    "alphazero tune game=othello network=6x64",
    "alphazero tune game=connect_four run.num_threads=1 evaluator.engine=torch",
]


def main(words: list[str]) -> int:
    """Measure, show and remember."""
    if {"-h", "--help"} & set(words):
        print_help("tune", SUMMARY, TrainSettings(), EXAMPLES)
        return 0
    settings = compose(words)
    settings.run.retune = True
    jit.announce_first_compilation()
    from alphazero.games.registry import make_game
    from alphazero.network.registry import make_network
    from alphazero.runtime.device import choose_device, set_num_threads
    from alphazero.training.autotune import tune

    console = Console(highlight=False)
    device, num_threads = choose_device(settings.device), set_num_threads(settings.run.num_threads)
    game = make_game(settings.game.name)
    network = make_network(game.planes_shape, game.num_actions, settings.network).to(device)
    with console.status(f"measuring {game.name} on {device} ..."):
        tuning = tune(settings, game, network, device, num_threads)
    if tuning is None:
        console.print(
            "These settings leave nothing open: evaluator.engine, evaluator.precision, learner.precision and selfplay.num_parallel_games are set."
        )
        return 0
    chosen = f"{tuning.engine} {tuning.precision}"
    threads = f"{num_threads} thread{'s' * (num_threads > 1)}"
    console.print(f"{game.name} on {device}, {threads}. Evaluations of the network:")
    console.print(_table("engine", tuning.engine_speeds, chosen))
    if tuning.lockstep_speeds:
        console.print(f"Simulations of self-play with {chosen}:")
        console.print(
            _table("games in lockstep", tuning.lockstep_speeds, str(tuning.num_parallel_games))
        )
    console.print(
        f"Measured in {tuning.seconds:.0f} s, and remembered for runs of this game with this network on this machine."
    )
    return 0


def _table(name: str, speeds: dict[str, float], chosen: str) -> Table:
    table = Table(name, "per second", "")
    table.columns[1].justify = "right"
    for key, speed in speeds.items():
        table.add_row(key, f"{speed:,.0f}", "chosen" if key == chosen else "")
    return table
