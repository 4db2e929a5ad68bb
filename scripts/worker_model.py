"""What limits a run with many workers: a model in a few formulas, as a table and a picture.

    python scripts/worker_model.py
    python scripts/worker_model.py samples_per_s=200000 network=5x64
    python scripts/worker_model.py simulated=paced.json picture=docs/images/scale.png

docs/SCALE.md explains the formulas. Lengths and sizes are measured here; speeds are settings, whose
defaults were measured by the commands named there. `simulated` is what
`scripts/simulate_workers.py paced=true json=paced.json` wrote.
"""

import dataclasses
import json
import math
import sys
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from script_command import run_script
from simulate_workers import make_records

from alphazero.games.registry import make_game
from alphazero.network.registry import make_network
from alphazero.network.weights import network_arrays
from alphazero.runtime.settings import option
from alphazero.selfplay.flat_games import flatten
from alphazero.training.compose import compose


@dataclasses.dataclass
class Settings:
    """Settings of this script: the constants of the model."""

    workers: list[int] = option([1, 10, 100, 1000, 10_000], "numbers of workers", low=1)
    cores: list[int] = option([2, 16], "cores of a worker", low=1)
    network: str = option("4x48", "the network, as in configs/network")
    games_per_s: float = option(10.0, "of a core, 64 simulations a move", low=0.001)
    games_per_iteration: int = option(0, "0 is 32 for each worker, at least 300", low=0)
    unit_s: float = option(30.0, "workers.unit_s", low=0.1)
    samples_per_s: float = option(8220.0, "of the learner; 0 is endlessly many", low=0.0)
    replay_ratio: float = option(2.0, "learner.replay_ratio", low=0.0)
    game_us: float = option(39.0, "of the dispatcher for a game", low=0.0)
    unit_us: float = option(780.0, "of the dispatcher for a unit", low=0.0)
    ray_us: float = option(580.0, "of Ray in the learner's process for a unit", low=0.0)
    network_gbit_s: float = option(10.0, "of the learner's machine", low=0.001)
    simulated: str = option(
        "", "figures of scripts/simulate_workers.py paced=true, for the picture"
    )
    picture: str = option("", "draw a picture into this file")


class Sizes(NamedTuple):
    """What is sent."""

    network_bytes: int
    game_bytes: float
    plies: float  #: of a game


class Point(NamedTuple):
    """What the model says about a number of workers."""

    workers: int
    cores: int
    unit_games: float
    offered: float  #: games/s that the workers could play
    learner: float  #: games/s that the learner, which also takes them, can use
    dispatcher: float  #: games/s that can be taken without learning
    network: float  #: games/s that the learner's network connection can carry
    games_per_iteration: int

    @property
    def games_per_s(self) -> float:
        """The least of the limits."""
        return min(self.offered, self.learner, self.dispatcher, self.network)

    @property
    def limit(self) -> str:
        """The name of the least limit."""
        names = ("offered", "learner", "dispatcher", "network")
        least = min(names, key=lambda name: getattr(self, name))
        return "workers" if least == "offered" else least

    @property
    def iteration_s(self) -> float:
        """Seconds between two networks."""
        return self.games_per_iteration / self.games_per_s

    @property
    def staleness(self) -> float:
        """Mean number of networks that are made while a unit is played."""
        return self.unit_games * self.workers / self.offered / self.iteration_s


def main(words: list[str]) -> int:
    """Return the exit status."""
    return run_script(model, Settings, words, "scripts/worker_model.py", __doc__)


def model(settings: Settings) -> None:
    """Print the table and draw the picture."""
    sizes = measure_sizes(settings)
    print(
        f"network {settings.network}: {sizes.network_bytes:,} bytes; a game: "
        f"{sizes.game_bytes:,.0f} bytes, {sizes.plies:.1f} plies"
    )
    show(
        [
            predict(settings, sizes, number, cores)
            for cores in settings.cores
            for number in settings.workers
        ]
    )
    if settings.picture:
        draw(settings, sizes)


def measure_sizes(settings: Settings) -> Sizes:
    """Return the sizes of a network and of a game of Connect Four as they are sent."""
    game = make_game("connect_four")
    network = make_network(
        game.planes_shape, game.num_actions, compose([f"network={settings.network}"]).network
    )
    records = make_records()
    games = flatten(records)
    return Sizes(
        sum(array.nbytes for array in network_arrays(network).values()),
        sum(array.nbytes for array in games.values()) / len(records),
        len(games["actions"]) / len(records),
    )


def predict(settings: Settings, sizes: Sizes, number: int, cores: int) -> Point:
    """Return what the model says about ``number`` workers."""
    num_games = settings.games_per_iteration or max(300, 32 * number)
    speed = cores * settings.games_per_s
    unit_games = max(1.0, min(settings.unit_s * speed, num_games / 4 / number))
    take_s = (settings.game_us + (settings.unit_us + settings.ray_us) / unit_games) / 1e6
    learn_s = 0.0
    if settings.samples_per_s:
        learn_s = sizes.plies * settings.replay_ratio / settings.samples_per_s
    sent_bytes = sizes.game_bytes + number * sizes.network_bytes / num_games
    return Point(
        workers=number,
        cores=cores,
        unit_games=unit_games,
        offered=number * speed,
        learner=1 / (take_s + learn_s) if learn_s else math.inf,
        dispatcher=1 / take_s,
        network=settings.network_gbit_s / 8 * 1e9 / sent_bytes,
        games_per_iteration=num_games,
    )


def show(points: list[Point]) -> None:
    """Print the table."""
    table = Table(
        *("workers", "cores each", "games a unit", "workers play", "learner", "dispatcher"),
        *("network", "games/s", "limit", "iteration, s", "staleness"),
    )
    for point in points:
        speeds = (point.offered, point.learner, point.dispatcher, point.network, point.games_per_s)
        table.add_row(
            f"{point.workers:,}",
            f"{point.cores}",
            f"{point.unit_games:.0f}",
            *(f"{speed:,.0f}" for speed in speeds),
            point.limit,
            f"{point.iteration_s:,.0f}",
            f"{point.staleness:.2f}",
        )
    Console(width=130).print(table)


def draw(settings: Settings, sizes: Sizes) -> None:
    """Draw games/s by the number of workers: the limits, and what was simulated."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 6), layout="constrained")
    numbers = [round(10 ** (place / 8)) for place in range(33)]
    for cores, color in zip(settings.cores, ("#4060c0", "#80a0e0")):
        points = [predict(settings, sizes, number, cores) for number in numbers]
        label = f"workers of {cores} cores"
        axes.plot(numbers, [point.offered for point in points], color=color, label=label)
    for name, color, label in (
        ("network", "#808080", f"network, {settings.network_gbit_s:g} Gbit/s"),
        ("dispatcher", "#d08020", "one dispatcher, with Ray"),
        ("learner", "#c03030", f"one learner, {settings.samples_per_s:,.0f} samples/s"),
    ):
        limits = [getattr(point, name) for point in points]
        if math.isfinite(limits[0]):
            axes.plot(numbers, limits, "--", color=color, label=label)
    bare = dataclasses.replace(settings, ray_us=0.0)
    limits = [predict(bare, sizes, number, settings.cores[0]).dispatcher for number in numbers]
    axes.plot(numbers, limits, ":", color="#d08020", label="one dispatcher, without Ray")
    if settings.simulated:
        rows = json.loads(Path(settings.simulated).read_text())
        taken = [row["taken_games_per_s"] for row in rows]
        axes.plot(
            [row["workers"] for row in rows],
            taken,
            "o",
            color="black",
            label="simulated, without Ray and learner: 20 games/s a worker",
        )
    axes.set(xscale="log", yscale="log", xlabel="workers", ylabel="games per second")
    axes.set_ylim(10, 1e6)
    axes.grid(alpha=0.3)
    figure.legend(fontsize=9, loc="outside lower center", ncols=2)
    figure.savefig(settings.picture, dpi=110)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
