"""Tune the weights of a game's weighted rollouts by local search: `python scripts/tune_rollouts.py`, `--help` for its options.

Each round changes all weights a little and lets UCT with weighted rollouts meet UCT with random ones, both with the same thinking time; what
scores better is kept. All candidates get the same openings, so that luck with these favours none. The best score of many is still a lucky
one: the result is therefore measured anew, on openings of its own, and printed with an interval.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from rich.console import Console

from alphazero.evaluation.match import MatchReport, Openings, play_match
from alphazero.games import rules
from alphazero.games.batched_game import Game
from alphazero.games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.uct import UctPlayer
from alphazero.runtime import jit
from alphazero.runtime.random_generators import child_generator

#: A candidate is the best weights plus normal noise of this many times the first weights' size, more after a success and less after a failure: steady
#: when one round in five succeeds (I. Rechenberg's rule).
FIRST_STEP, GROWTH, SHRINKAGE = 0.7, 1.5, 1.5**-0.25
SMALLEST_SIZE = 0.05  # of a weight, for its noise: one that begins at 0 can grow
OPENING_PLIES = 4


@dataclass(frozen=True)
class Round:
    """One candidate of the local search."""

    weights: np.ndarray  #: float64[F]
    score: float  #: against random rollouts, in [0, 1]
    is_best: bool  #: whether it beats all before it


def climb(
    evaluate: Callable[[np.ndarray], float],
    start: np.ndarray,
    num_rounds: int,
    generator: np.random.Generator,
) -> Iterator[Round]:
    """Climb from ``start`` to weights of a higher score, in ``num_rounds`` steps; yield the start and every candidate."""
    best, step, sizes = (
        Round(start, evaluate(start), True),
        FIRST_STEP,
        np.maximum(abs(start), SMALLEST_SIZE),
    )
    yield best
    for _ in range(num_rounds):
        weights = best.weights + step * sizes * generator.standard_normal(len(start))
        score = evaluate(weights)
        candidate = Round(weights, score, score > best.score)
        if candidate.is_best:
            best = candidate
        step *= GROWTH if candidate.is_best else SHRINKAGE
        yield candidate


def meet(
    game: Game, weights: np.ndarray, time_limit_s: float, num_games: int, seed: int
) -> MatchReport:
    """Let weighted rollouts (player A) meet random ones with the same time for each move."""
    weighted = PlayerSettings(
        time_limit_s=time_limit_s, rollout="weighted", rollout_weights=weights.tolist(), seed=seed
    )
    plain = PlayerSettings(time_limit_s=time_limit_s, seed=seed + 1)
    openings = Openings(OPENING_PLIES, seed)
    return play_match(game, UctPlayer(game, weighted), UctPlayer(game, plain), num_games, openings)


def tune(options: argparse.Namespace, console: Console) -> np.ndarray:
    """Run the local search, print its rounds and what it found, and return the best weights."""
    game = make_game(options.game)
    names = rules.feature_names(game.rules)
    start = options.start if options.start is not None else rules.rollout_weights(game.rules)
    if len(names) == 0 or len(start) != len(names):
        raise ValueError(
            f"{game.name} takes {len(names)} rollout weights ({', '.join(names) or 'it has no evaluation of moves'})."
        )
    console.print(
        f"{game.name}, {options.time_limit_s:g} s for a move, {options.games} games for each candidate: {', '.join(names)}"
    )

    def evaluate(weights: np.ndarray) -> float:
        return meet(game, weights, options.time_limit_s, options.games, options.seed).score

    best = None
    for number, found in enumerate(
        climb(evaluate, start, options.rounds, child_generator(options.seed, "tune_rollouts"))
    ):
        best = found if found.is_best else best
        mark = "start" if number == 0 else ("better" if found.is_best else "")
        console.print(
            f"{number:>4}  {written(found.weights)}  scores {found.score:.1%}  {mark}",
            highlight=False,
        )
    report = meet(
        game, best.weights, options.time_limit_s, options.final_games, options.seed + 10**6
    )
    low, high = report.score_interval
    console.print(
        f"best  {written(best.weights)}  scores {report.score:.1%} against random rollouts (95 % interval {low:.1%} to {high:.1%}, "
        f"{len(report.games)} new games)",
        highlight=False,
    )
    return best.weights


def written(weights: np.ndarray) -> str:
    """Return the weights as a player's setting writes them, rollout_weights=[...]."""
    return "[" + ",".join(f"{weight:.4g}" for weight in weights) + "]"


def read_words(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--game", default="othello:6", help="the game (default othello:6)")
    parser.add_argument(
        "--time-limit-s",
        type=float,
        default=0.01,
        help="seconds for a move, of both sides (default 0.01)",
    )
    parser.add_argument("--rounds", type=int, default=8, help="candidates to try (default 8)")
    parser.add_argument(
        "--games",
        type=int,
        default=40,
        help="games for each candidate, an even number (default 40)",
    )
    parser.add_argument(
        "--final-games",
        type=int,
        default=100,
        help="games that measure the result, an even number (default 100)",
    )
    parser.add_argument(
        "--start",
        type=float,
        nargs="+",
        help="the weights to begin with; without them the game's own",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of candidates, openings and players (default 0)"
    )
    options = parser.parse_args(words)
    for name, smallest in (("rounds", 0), ("games", 2), ("final_games", 2), ("seed", 0)):
        number = getattr(options, name)
        if number < smallest or ("games" in name and number % 2):
            even = "an even number" if "games" in name else "a number"
            parser.error(
                f"--{name.replace('_', '-')} {number} is not allowed: it is {even} from {smallest} on."
            )
    options.start = None if options.start is None else np.array(options.start)
    return options


def main(words: list[str]) -> int:
    options = read_words(words)
    jit.announce_first_compilation()
    try:
        tune(options, Console(soft_wrap=True))
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
