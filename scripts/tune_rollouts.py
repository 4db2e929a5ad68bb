"""Tune the weights of a game's weighted rollouts: `python scripts/tune_rollouts.py --help`.

Local search: each round adds noise to the best weights so far, and UCT with these weighted rollouts
plays UCT with random rollouts, both with the same thinking time. A candidate with a higher score
replaces the best. All candidates play the same openings, so that none gets luckier ones. The best
score of many is still partly luck, so the result is measured again on new openings, and printed
with a confidence interval.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from script_command import exit_status

from alphazero.evaluation.match import MatchReport, Openings, play_match
from alphazero.games import rules
from alphazero.games.batched_game import Game
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.uct import UctPlayer
from alphazero.runtime import jit
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator

#: Initial standard deviation of a candidate's noise, relative to the first weights, and its factors
#: after a success and a failure. It is stable if one round in five succeeds (I. Rechenberg's rule).
FIRST_STEP, GROWTH, SHRINKAGE = 0.7, 1.5, 1.5**-0.25
MIN_SIZE = 0.05  # lower bound of a weight's size in its noise, so that a weight of 0 can grow
OPENING_PLIES = 4


@dataclass(frozen=True)
class Round:
    """One candidate of the local search."""

    weights: np.ndarray  #: float64[F]
    score: float  #: score against random rollouts, in [0, 1]
    is_best: bool  #: whether it is better than all earlier candidates


def climb(
    evaluate: Callable[[np.ndarray], float],
    start: np.ndarray,
    num_rounds: int,
    generator: np.random.Generator,
) -> Iterator[Round]:
    """Climb from ``start`` to weights with higher scores; yield the start and every candidate."""
    sizes, step = np.maximum(abs(start), MIN_SIZE), FIRST_STEP
    best = Round(start, evaluate(start), True)
    yield best
    for _ in range(num_rounds):
        weights = best.weights + step * sizes * generator.standard_normal(len(start))
        score = evaluate(weights)
        candidate = Round(weights, score, score > best.score)
        if candidate.is_best:
            best = candidate
        step *= GROWTH if candidate.is_best else SHRINKAGE
        yield candidate


def play_random_rollouts(
    game: Game, weights: np.ndarray, time_limit_s: float, num_games: int, seed: int
) -> MatchReport:
    """Play UCT with weighted rollouts (player A) against random ones, at equal time per move."""
    weighted = PlayerSettings(
        time_limit_s=time_limit_s, rollout="weighted", rollout_weights=weights.tolist(), seed=seed
    )
    plain = PlayerSettings(time_limit_s=time_limit_s, seed=seed + 1)
    openings = Openings(OPENING_PLIES, seed)
    return play_match(game, UctPlayer(game, weighted), UctPlayer(game, plain), num_games, openings)


def tune(options: argparse.Namespace, console: Console) -> np.ndarray:
    """Run the local search, print its rounds and result, and return the best weights."""
    game = make_game(options.game)
    start = first_weights(game, options.start)
    limits = f"{options.time_limit_s:g} s per move, {options.games} games per candidate"
    console.print(f"{game.name}, {limits}: {', '.join(rules.feature_names(game.rules))}")

    def evaluate(weights: np.ndarray) -> float:
        limit_s, num_games = options.time_limit_s, options.games
        return play_random_rollouts(game, weights, limit_s, num_games, options.seed).score

    generator = child_generator(options.seed, "tune_rollouts")
    best = None
    for number, tried in enumerate(climb(evaluate, start, options.rounds, generator)):
        best = tried if tried.is_best else best
        mark = "start" if number == 0 else ("better" if tried.is_best else "")
        line = f"{number:>4}  {format_weights(tried.weights)}  scores {tried.score:.1%}  {mark}"
        console.print(line, highlight=False)
    final_seed = options.seed + 10**6
    report = play_random_rollouts(
        game, best.weights, options.time_limit_s, options.final_games, final_seed
    )
    low, high = report.score_interval
    console.print(
        f"best  {format_weights(best.weights)}  scores {report.score:.1%} against random rollouts "
        f"(95% interval {low:.1%} to {high:.1%}, {len(report.games)} new games)",
        highlight=False,
    )
    return best.weights


def first_weights(game: Game, start: np.ndarray | None) -> np.ndarray:
    """Return the initial weights, the game's own if ``start`` is None.

    Raises:
        ConfigError: if the game has no evaluation, or takes a different number of weights.
    """
    names = rules.feature_names(game.rules)
    if len(names) == 0:
        message = f"{game.name} has no evaluation of moves, so it has no rollout weights."
        raise ConfigError(message, key="game", value=game.name)
    start = rules.rollout_weights(game.rules) if start is None else start
    if len(start) != len(names):
        allowed = f"{len(names)} numbers ({', '.join(names)})"
        message = f"start={format_weights(start)} is not allowed: {game.name} takes {allowed}."
        raise ConfigError(message, key="start", value=start, allowed=allowed)
    return start


def format_weights(weights: np.ndarray) -> str:
    """Return the weights in the form that the player setting ``rollout_weights`` takes."""
    return "[" + ",".join(f"{weight:.4g}" for weight in weights) + "]"


def read_options(arguments: list[str]) -> argparse.Namespace:
    """Read the command line; exit with status 2 if an argument is not allowed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--game", default="othello:6", help="the game (default: othello:6)")
    add("--time-limit-s", type=float, default=0.01, help="seconds per move (default: 0.01)")
    add("--rounds", type=int, default=8, help="candidates to try (default: 8)")
    add("--games", type=int, default=40, help="games per candidate, an even number (default: 40)")
    add("--final-games", type=int, default=100, help="games of the final measurement, even (100)")
    add("--start", type=float, nargs="+", help="the first weights (default: the game's own)")
    add("--seed", type=int, default=0, help="seed of candidates, openings and players (default: 0)")
    options = parser.parse_args(arguments)
    for name, smallest in (("rounds", 0), ("games", 2), ("final_games", 2), ("seed", 0)):
        number, even = getattr(options, name), "games" in name
        if number < smallest or (even and number % 2):
            allowed = f"{'an even number, ' if even else ''}{smallest} or more"
            parser.error(
                f"--{name.replace('_', '-')} {number} is not allowed: it must be {allowed}."
            )
    options.start = None if options.start is None else np.array(options.start)
    return options


def main(arguments: list[str]) -> int:
    """Run the script and return its exit status."""
    options = read_options(arguments)
    jit.announce_first_compilation()
    return exit_status(lambda: tune(options, Console(soft_wrap=True)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
