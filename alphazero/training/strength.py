"""Measure a network's strength during a run: in matches against UCT, and against perfect play.

The measurements never affect training. `EvaluationSettings` says which are made and how often, and
the `IterationReport` contains their results.
"""

import functools
from collections.abc import Iterator
from pathlib import Path

from alphazero.evaluation.exact.accuracy import measure_accuracy
from alphazero.evaluation.exact.set_file import read_set, shipped_path
from alphazero.evaluation.exact.sets import EvaluationSet
from alphazero.evaluation.match import play_match
from alphazero.evaluation.openings import choose_openings
from alphazero.evaluation.puzzle import puzzle_results, small_game_values
from alphazero.evaluation.report import MatchReport
from alphazero.games.batched_game import Game
from alphazero.inference.evaluator import Evaluator
from alphazero.players.base import PlayerSettings
from alphazero.players.python_uct import uct_player
from alphazero.players.search_player import SearchPlayer
from alphazero.runtime.errors import ConfigError, InputError
from alphazero.runtime.random_generators import child_generator
from alphazero.solvers.enumeration import ExactValues
from alphazero.solvers.proof import prove
from alphazero.training.events import IterationReport
from alphazero.training.reports import ExactReport, ProofSummary, PuzzleReport, StrengthReport
from alphazero.training.settings import TrainSettings


class StrengthMeasurement:
    """Measures the strength of a run's networks.

    Exact values and evaluation sets are loaded once and kept for later iterations.

    Raises:
        ConfigError: on creation, if the game is too short for the random openings of the match
            against UCT, or has too many positions to check all moves.
    """

    def __init__(self, game: Game, settings: TrainSettings):
        self.settings = settings
        self._game = game
        self._exact_values: ExactValues | None = None
        self._evaluation_set: EvaluationSet | None = None
        evaluation = settings.evaluation
        if evaluation.num_games or evaluation.final_num_games:
            choose_openings(game, evaluation.opening_plies, 0, False, "evaluation.opening_plies")
        if evaluation.prove:
            try:
                self._exact_values = ExactValues(game)
            except InputError as error:
                raise ConfigError.of("evaluation.prove", True, False, str(error)[:-1]) from None

    def measure(self, report: IterationReport, evaluator: Evaluator) -> Iterator[tuple[str, int]]:
        """Make the measurements that are due after an iteration, and add them to its report.

        Args:
            report: the iteration's report, in which ``last`` is already set.
            evaluator: the evaluator of the network to measure.

        Yields:
            Before each measurement, its name ("evaluation", "accuracy" or "proof") and the number
            of its parts, such as games.
        """
        settings = self.settings.evaluation
        is_due = settings.every and report.iteration % settings.every == 0
        if not report.last and not is_due:
            return
        player = network_player(
            self._game, evaluator, settings.num_simulations, self.settings, report.iteration
        )
        num_games = settings.final_num_games if report.last else settings.num_games
        if num_games:
            yield "evaluation", num_games
            match = self._play_uct(player, num_games, report.iteration)
            report.strength = self._strength_report(match)
            if self._game.num_players == 1:
                report.puzzle = self._puzzle_report(match)
        evaluation_set = shipped_path(self._game.name)
        if settings.exact and evaluation_set is not None:
            yield "accuracy", 1
            report.exact = self._compare_with_solver(player, evaluation_set)
        if settings.prove:
            yield "proof", 1
            report.proof = self._prove(player)

    def _play_uct(self, player: SearchPlayer, num_games: int, iteration: int) -> MatchReport:
        """Play a match between the network's player, as player A, and UCT.

        Args:
            player: searches with the network to be measured.
            num_games: total number of games; must be even.
            iteration: the current iteration, from which the seeds are derived.
        """
        settings = self.settings.evaluation
        seed = iteration_seed(self.settings, "uct", iteration)
        uct_settings = PlayerSettings(num_simulations=settings.uct_simulations, seed=seed)
        uct = uct_player(self._game, uct_settings)
        seed = iteration_seed(self.settings, "evaluation", iteration)
        openings = choose_openings(self._game, settings.opening_plies, seed)
        return play_match(self._game, player, uct, num_games, openings)

    def _strength_report(self, match: MatchReport) -> StrengthReport:
        low, high = match.score_interval
        return StrengthReport(
            opponent=match.player_b,
            num_simulations=self.settings.evaluation.num_simulations,
            score=match.score,
            score_low=low,
            score_high=high,
            **match.total._asdict(),
            num_distinct=match.num_distinct_games,
        )

    @functools.cached_property
    def _small_game_values(self) -> ExactValues | None:
        return small_game_values(self._game)

    def _puzzle_report(self, match: MatchReport) -> PuzzleReport:
        """Summarize both players' results in a one-player game.

        If the game is small enough to be solved, they are compared with the best possible results.

        Args:
            match: the match of the network's player, as player A, against UCT.
        """
        exact = self._small_game_values if self.settings.evaluation.exact else None
        results = puzzle_results(self._game, match, exact)
        return PuzzleReport(
            num_openings=len(results.results_a),
            mean_result=float(results.results_a.mean()),
            uct_mean_result=float(results.results_b.mean()),
            best_result=float(results.results_a.max()),
            difference_margin=results.difference_margin,
            solved=results.solved(results.results_a),
            uct_solved=results.solved(results.results_b),
        )

    def _compare_with_solver(self, player: SearchPlayer, path: Path) -> ExactReport:
        """Compare the network's moves, with and without search, with those of an exact solver.

        Args:
            player: searches with the network to be measured.
            path: the file of the evaluation set, which is read in the first call only.
        """
        if self._evaluation_set is None:
            self._evaluation_set = read_set(path, self._game)
        raw = measure_accuracy(player.limited(0, None).choose, self._evaluation_set)
        assert raw.values is not None  # with_values is the default
        searched = measure_accuracy(player.choose, self._evaluation_set, with_values=False)
        raw_accuracy = raw.accuracy()
        accuracy = searched.accuracy()
        return ExactReport(
            num_positions=len(self._evaluation_set),
            num_simulations=self.settings.evaluation.num_simulations,
            raw_accuracy=raw_accuracy.fraction,
            raw_optimal=raw.optimal().fraction,
            accuracy=accuracy.fraction,
            optimal=searched.optimal().fraction,
            value_error=raw.values.mean_error,
            result_accuracy=raw.values.result_accuracy.fraction,
            raw_accuracy_low=raw_accuracy.interval.low,
            raw_accuracy_high=raw_accuracy.interval.high,
            accuracy_low=accuracy.interval.low,
            accuracy_high=accuracy.interval.high,
        )

    def _prove(self, player: SearchPlayer) -> ProofSummary:
        """Check the player's move in every position of a small game against perfect play."""
        proof = prove(self._game, lambda states: player.choose(states).actions, self._exact_values)
        return ProofSummary(
            num_positions=proof.num_not_final,
            num_accurate=proof.num_accurate,
            num_losses=proof.num_losses,
            report=proof,
        )


def network_player(
    game: Game, evaluator: Evaluator, num_simulations: int, settings: TrainSettings, iteration: int
) -> SearchPlayer:
    """Make a player that searches with a network as self-play does, but without root noise.

    Args:
        game: the game to play.
        evaluator: the evaluator of the network.
        num_simulations: simulations per move.
        settings: the run's settings, whose search settings are used.
        iteration: the network's iteration, from which the seed and the player's name are derived.
    """
    return SearchPlayer(
        game,
        evaluator,
        num_simulations,
        seed=iteration_seed(settings, "player", iteration),
        name=f"iteration {iteration}",
        settings=settings.search,
    )


def iteration_seed(settings: TrainSettings, purpose: str, iteration: int) -> int:
    """Derive a seed in [0, 2**31) for a given purpose and iteration.

    Args:
        settings: the run's settings, which hold the root seed.
        purpose: a name such as "uct"; different purposes get independent seeds.
        iteration: counted from 1; different iterations get independent seeds.
    """
    generator = child_generator(settings.seed, f"{purpose} {iteration}")
    return int(generator.integers(2**31))
