"""The gate: a match between the new network and the last accepted network decides which is kept.

After this match, called a pit, the learner holds the kept network and its optimizer state.
AlphaGo Zero has such a gate (Silver et al. 2017, "Evaluator"); AlphaZero does not.
"""

import dataclasses
from collections.abc import Callable

import torch

from alphazero.evaluation.match import play_match
from alphazero.evaluation.openings import choose_openings
from alphazero.evaluation.report import MatchReport, score_interval
from alphazero.games.batched_game import Game
from alphazero.inference.engines.agreement import PositionSample
from alphazero.inference.network_evaluator import NetworkEvaluator
from alphazero.learner.learner import Learner
from alphazero.training.reports import PitReport
from alphazero.training.settings import TrainSettings
from alphazero.training.strength import iteration_seed, network_player


@dataclasses.dataclass
class Gate:
    """Plays each new network against the last accepted one; the learner keeps one of the two.

    Raises:
        ConfigError: on creation, if the game is too short for the random openings of a pit.
    """

    game: Game
    settings: TrainSettings
    learner: Learner  #: before a pit, holds the new network; after it, the one that is kept
    #: creates an evaluator for a network, the game and a sample; called once, at the first pit
    make_evaluator: Callable[[torch.nn.Module, Game, PositionSample], NetworkEvaluator]
    #: the learner's state when a network was last accepted; None if there is no gate
    accepted: dict | None = None
    #: created at the first pit and reused, as it owns engines, threads and a large cache
    _accepted_evaluator: NetworkEvaluator | None = None

    def __post_init__(self) -> None:
        if self.settings.pit.every:
            choose_openings(
                self.game, self.settings.pit.opening_plies, 0, False, "pit.opening_plies"
            )

    def accept(self) -> None:
        """Accept the learner's current network without a match, as at the start of a run."""
        if self.settings.pit.every:
            self.accepted = self.learner.state_dict()

    def is_due(self, iteration: int) -> bool:
        """Return whether an iteration, counted from 1, ends with a pit."""
        every = self.settings.pit.every
        return bool(every) and iteration % every == 0

    def pit(self, evaluator: NetworkEvaluator, sample: PositionSample, iteration: int) -> PitReport:
        """Play the new network against the accepted one, which is restored if the new one fails.

        The new network is accepted if its score is at least ``pit.acceptance``.

        Args:
            evaluator: the evaluator into which the new network's weights are loaded; they stay
                there even if the network is rejected.
            sample: positions on which the accepted network's engine is compared with float32.
            iteration: the current iteration, from which the seeds are derived.

        Returns:
            The result, from the new network's viewpoint.
        """
        assert self.accepted is not None
        pit = self.settings.pit
        new_state = self.learner.state_dict()
        evaluator.update(self.learner.played_network)
        self.learner.load_state_dict(self.accepted)
        accepted = self._evaluate_accepted(sample)
        num_simulations = pit.num_simulations
        new = network_player(self.game, evaluator, num_simulations, self.settings, iteration)
        old = network_player(self.game, accepted, num_simulations, self.settings, iteration)
        openings = choose_openings(
            self.game, pit.opening_plies, iteration_seed(self.settings, "pit", iteration)
        )
        match = play_match(self.game, new, old, pit.num_games, openings)
        scores = pit_scores(match, pit.counted, pit.tie_score)
        score = sum(scores) / len(scores)
        is_accepted = score >= pit.acceptance
        if is_accepted:
            self.learner.load_state_dict(new_state)
            self.accepted = new_state
        low, high = score_interval(scores)
        return PitReport(
            score=score,
            wins=match.wins,
            draws=match.draws,
            losses=match.losses,
            accepted=is_accepted,
            score_low=low,
            score_high=high,
        )

    def _evaluate_accepted(self, sample: PositionSample) -> NetworkEvaluator:
        """Return an evaluator for the accepted network, which must be loaded in the learner.

        Args:
            sample: positions on which the evaluator's engine is compared with float32.
        """
        network = self.learner.played_network
        if self._accepted_evaluator is None:
            self._accepted_evaluator = self.make_evaluator(network, self.game, sample)
        else:
            self._accepted_evaluator.update(network, sample)
        return self._accepted_evaluator


def pit_scores(match: MatchReport, counted: str, tie_score: float) -> list[float]:
    """Return the new network's score, in [0, 1], for each game or each pair of games.

    A pair consists of two games from the same opening with sides swapped. Networks of equal
    strength tie in most pairs even from unbalanced openings, as each wins with the better side.
    With a ``tie_score`` of 0.5, the mean over pairs equals the mean over games.

    Args:
        match: the match, with the new network as player A.
        counted: "pairs" for a score per pair, "games" for a score per game.
        tie_score: the score that replaces 0.5 for a tied pair or a drawn game.
    """
    scores = match.pair_scores if counted == "pairs" else [game.score for game in match.games]
    return [tie_score if score == 0.5 else score for score in scores]
