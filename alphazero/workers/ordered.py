"""Ordered mode: units whose games depend on the network, the unit and the seed of the run alone.

So threads of the learner, processes and other machines play the same games, given equal engines,
and a unit whose worker died is played again by another one without a difference.
"""

from alphazero.inference.cache import CachedEvaluator
from alphazero.runtime.random_generators import child_generator
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.threads import ParallelSelfPlay
from alphazero.workers.unit import Unit

UNITS_OF_A_VERSION = 1 << 20  #: the ids of an iteration's units begin with this, times its version


def ordered_units(version: int, num_games: int, unit_games: int, run_fraction: float) -> list[Unit]:
    """Return the units of an iteration; the last one may be smaller.

    Args:
        version: of the network that plays them.
        num_games: of the iteration.
        unit_games: of a unit.
    """
    first_id = version * UNITS_OF_A_VERSION
    starts = range(0, num_games, unit_games)
    return [
        Unit(first_id + index, min(unit_games, num_games - start), run_fraction)
        for index, start in enumerate(starts)
    ]


def play_ordered(
    selfplay: ParallelSelfPlay, streams: list[CachedEvaluator], unit: Unit, seed: int
) -> list[GameRecord]:
    """Play the games of a unit.

    Args:
        selfplay: with settings that do not carry games over.
        streams: its evaluators.
        seed: of the run.
    """
    for stream in streams:
        stream.clear()
    selfplay.restart(child_generator(seed, f"unit {unit.id}"))
    return list(selfplay.play(unit.num_games, unit.run_fraction))
