"""The settings of self-play, with formulas for the number of simulations and the temperature.

The number of simulations depends on the progress of the run, the temperature on a game's ply. This
module does not depend on search or games.
"""

import dataclasses

import numpy as np

from alphazero.config.settings import option


@dataclasses.dataclass
class SelfPlaySettings:
    """The settings of self-play: number of games and simulations, random openings, temperatures."""

    num_parallel_games: int = option(
        0,
        "games played in lockstep, which share the network's batches; 0 takes about as many as an "
        "iteration has, 64 to 512, or 512 to 4096 on a GPU",
        low=0,
        high=65536,
    )
    games_per_iteration: int = option(
        200, "games finished in an iteration, before the network learns from them", low=1
    )
    initial_games_per_iteration: int = option(
        8,
        "games of the first iteration; each later one has twice as many as the one before, up to "
        "games_per_iteration; 0 starts with games_per_iteration",
        low=0,
    )
    carry_over: bool = option(
        True,
        "continue unfinished games in the next iteration; false plays every game to its end first",
    )
    num_simulations: int = option(
        128, "simulations of a search (AlphaZero: 800)", low=2, high=1_000_000
    )
    initial_num_simulations: int = option(
        0,
        "simulations of a search at the start of the run, which grow linearly to num_simulations; "
        "0, or more than num_simulations, starts with num_simulations",
        low=0,
    )
    simulations_grown_at: float = option(
        0.5, "fraction of the run after which a search has num_simulations", low=0.01, high=1.0
    )
    random_opening_fraction: float = option(
        0.0,
        "fraction of the games that begin with random moves, to reach positions that good play "
        "avoids",
        low=0.0,
        high=1.0,
    )
    random_opening_plies: int = option(
        6,
        "largest number of random moves in such an opening, at least 1; they are not trained on",
        low=1,
        high=1000,
    )
    temperature: float = option(
        1.0,
        "temperature of the first moves: 1 samples in proportion to the visits, 0 plays the most "
        "visited move",
        low=0.0,
        high=10.0,
    )
    num_sampled_plies: int = option(
        15, "plies played at this temperature (AlphaZero: 30 in chess)", low=0
    )
    final_temperature: float = option(0.0, "temperature afterwards", low=0.0, high=10.0)
    temperature_half_life: float = option(
        0.0,
        "plies in which the temperature moves half-way to final_temperature; 0 switches at once",
        low=0.0,
    )


def games_in(settings: SelfPlaySettings, iteration: int) -> int:
    """Return the number of games in an iteration, counted from 1.

    It doubles from ``initial_games_per_iteration`` to ``games_per_iteration``. A slow game thus has
    a trained network, its losses and an estimate of the time left after a few games.
    """
    most = settings.games_per_iteration
    first = settings.initial_games_per_iteration or most
    return min(first << min(iteration - 1, most.bit_length()), most)


def games_until(settings: SelfPlaySettings, iteration: int) -> int:
    """Return the number of games in all iterations up to this one; 0 for iteration 0."""
    num_growing = min(iteration, settings.games_per_iteration.bit_length())
    growing = sum(games_in(settings, number + 1) for number in range(num_growing))
    return growing + (iteration - num_growing) * settings.games_per_iteration


def simulations_at(settings: SelfPlaySettings, progress: float) -> int:
    """Return the number of simulations per search at a given point of the run.

    The number grows linearly from ``initial_num_simulations`` to ``num_simulations``, which it
    reaches at the fraction ``simulations_grown_at`` of the run. If ``initial_num_simulations`` is
    0, or more than ``num_simulations``, it is always ``num_simulations``.

    Args:
        settings: the settings of self-play.
        progress: fraction of the run that is done, in [0, 1].
    """
    last = settings.num_simulations
    first = min(settings.initial_num_simulations or last, last)
    return round(first + (last - first) * min(progress / settings.simulations_grown_at, 1.0))


def ply_temperatures(settings: SelfPlaySettings, plies: np.ndarray) -> np.ndarray:
    """Return the temperature at which the move at each ply is sampled.

    The temperature is ``temperature`` for the first ``num_sampled_plies`` plies. After them, it is
    ``final_temperature`` or, if ``temperature_half_life`` is not 0, approaches this value with that
    half-life in plies.

    Args:
        settings: the settings of self-play.
        plies: int[M], plies counted from 0.

    Returns:
        float64[M], for `alphazero.selfplay.lockstep.sample_actions`; 0 means the best move.
    """
    first = settings.temperature
    last = settings.final_temperature
    plies_after = np.maximum(plies - settings.num_sampled_plies + 1, 0)
    if settings.temperature_half_life:
        decay = 0.5 ** (plies_after / settings.temperature_half_life)
    else:
        decay = plies_after == 0
    return last + (first - last) * decay
