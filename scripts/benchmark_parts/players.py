"""A network that thinks about one position: simulations/s with torch and with "auto"."""

import statistics
import time

from alphazero.games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player
from benchmark_parts.measuring import Row

RUN_S = 0.7  #: seconds of one run
GAMES = ("connect_four", "othello")
ENGINES = ("torch", "auto")


def measure_players(repeats: int) -> list[Row]:
    """Measure the shipped networks from the start position, 200 simulations a search, in turn."""
    rows = []
    for name in GAMES:
        game = make_game(name)
        players = {
            engine: make_player("best", game, PlayerSettings(num_simulations=200, engine=engine))
            for engine in ENGINES
        }
        speeds: dict[str, list[float]] = {engine: [] for engine in ENGINES}
        for repeat in range(repeats + 1):
            for engine, player in players.items():
                speed = _simulations_per_s(player, game.initial_states()[0])
                if repeat:  # the first run warms up
                    speeds[engine].append(speed)
        medians = {engine: statistics.median(found) for engine, found in speeds.items()}
        figures = {f"{engine}_simulations_per_s": speed for engine, speed in medians.items()}
        figures["ratio"] = medians["auto"] / medians["torch"]
        rows.append(Row(f"{name}, auto is {players['auto'].engine}", figures))
    return rows


def _simulations_per_s(player, state) -> float:
    started, simulations = time.perf_counter(), 0
    while time.perf_counter() - started < RUN_S:
        simulations += player.analyse(state).num_simulations
    return simulations / (time.perf_counter() - started)
