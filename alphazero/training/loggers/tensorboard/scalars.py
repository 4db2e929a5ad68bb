"""The curves in TensorBoard: tag, figure and description of each.

In: an `IterationReport`. Out: values by tag. The part of a tag before the slash is its group;
TensorBoard sorts groups and tags by name. The bounds of intervals have a group of their own:
`alphazero.training.loggers.tensorboard.charts` draws them as bands.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from alphazero.evaluation.report import elo_from_score
from alphazero.training.events import IterationReport, StrengthReport


class Scalar(NamedTuple):
    """One curve."""

    tag: str
    value: Callable[[Any], float | None]  #: of a report; fails only if ``part`` is None
    description: str
    part: str = "selfplay"  #: field of the report; the curve has no value where it is None


def scalars(report: IterationReport) -> Iterator[tuple[Scalar, float]]:
    """Yield the curves for which the report has a value, and the value."""
    for scalar in SCALARS:
        if getattr(report, scalar.part) is not None:
            value = scalar.value(report)
            if value is not None and not math.isnan(value):
                yield scalar, float(value)


def elo(score: float, strength: StrengthReport) -> float:
    """Return a score against UCT as a rating difference.

    A match of wins alone would make it infinite: it counts as one with half a point less.
    """
    margin = 0.5 / (strength.wins + strength.draws + strength.losses)
    return elo_from_score(min(max(score, margin), 1 - margin))


_LOW, _HIGH = "Lower end of the 95% interval of", "Upper end of the 95% interval of"

# fmt: off
SCALARS = (
    # --- how strong the network is, measured every `evaluation.every` iterations ------------------
    Scalar("strength/score", lambda r: r.strength.score,
           "Score against UCT with `evaluation.uct_simulations` simulations: 1 wins every game, "
           "a draw counts half.", "strength"),
    Scalar("strength/elo", lambda r: elo(r.strength.score, r.strength),
           "The score as a rating difference to UCT. If all games are won, half a point is "
           "taken off, so a longer match can show more.", "strength"),
    Scalar("strength/distinct_games", lambda r: r.strength.num_distinct,
           "Different games in the match against UCT.", "strength"),
    Scalar("interval/strength_score_low", lambda r: r.strength.score_low,
           f"{_LOW} strength/score.", "strength"),
    Scalar("interval/strength_score_high", lambda r: r.strength.score_high,
           f"{_HIGH} strength/score.", "strength"),
    Scalar("exact/error_search", lambda r: 1 - r.exact.accuracy,
           "Fraction of the exactly solved positions in which the move, chosen with "
           "`evaluation.num_simulations` simulations, gives away a win or a draw.", "exact"),
    Scalar("exact/error_network", lambda r: 1 - r.exact.raw_accuracy,
           "The same for the network's most probable move, without search.", "exact"),
    Scalar("exact/not_best_search", lambda r: 1 - r.exact.optimal,
           "Fraction of the positions in which the move, chosen with search, is not among the best:"
           " not the fastest win or the slowest loss, for example.", "exact"),
    Scalar("exact/not_best_network", lambda r: 1 - r.exact.raw_optimal,
           "The same for the network's most probable move, without search.", "exact"),
    Scalar("exact/value_error", lambda r: r.exact.value_error,
           "Mean |value - exact result| of the network without search, from 0 to 2.", "exact"),
    Scalar("exact/result_accuracy", lambda r: r.exact.result_accuracy,
           "Fraction of the positions whose exact result (win, draw, loss) the value predicts.",
           "exact"),
    Scalar("interval/error_search_low", lambda r: 1 - r.exact.accuracy_high,
           f"{_LOW} exact/error_search.", "exact"),
    Scalar("interval/error_search_high", lambda r: 1 - r.exact.accuracy_low,
           f"{_HIGH} exact/error_search.", "exact"),
    Scalar("interval/error_network_low", lambda r: 1 - r.exact.raw_accuracy_high,
           f"{_LOW} exact/error_network.", "exact"),
    Scalar("interval/error_network_high", lambda r: 1 - r.exact.raw_accuracy_low,
           f"{_HIGH} exact/error_network.", "exact"),
    Scalar("proof/misplayed_positions", lambda r: r.proof.num_positions - r.proof.num_accurate,
           "Positions of the game, of all that are not finished, in which the move gives away a "
           "win or a draw; 0 is perfect.", "proof"),
    Scalar("proof/lost_games", lambda r: r.proof.num_losses,
           "Games that some play of the opponent wins; 0 is unbeatable.", "proof"),
    Scalar("pit/score", lambda r: r.pit.score,
           "Score of the new network against the last accepted one; it stays from "
           "`pit.acceptance` on. A pair of games that ends even counts `pit.tie_score`.", "pit"),
    Scalar("pit/accepted", lambda r: r.pit.accepted,
           "1 if the new network stays, 0 if the old one is restored.", "pit"),
    Scalar("interval/pit_score_low", lambda r: r.pit.score_low, f"{_LOW} pit/score.", "pit"),
    Scalar("interval/pit_score_high", lambda r: r.pit.score_high, f"{_HIGH} pit/score.", "pit"),
    # --- what the network learns ------------------------------------------------------------------
    Scalar("loss/total", lambda r: r.learner.loss,
           "Weighted sum of the losses on the replay window."),
    Scalar("loss/total_held_out", lambda r: r.held_out.loss,
           "Policy and value loss on new games before training on them: overfitting cannot lower "
           "it."),
    Scalar("loss/policy", lambda r: r.learner.policy_loss,
           "Cross-entropy of the network's policy and the search's, in nats; it cannot fall below "
           "policy/entropy_search."),
    Scalar("loss/policy_held_out", lambda r: r.held_out.policy_loss,
           "The policy loss on new games before training on them."),
    Scalar("loss/policy_uninformed", lambda r: r.learner.uninformed_policy_loss,
           "The policy loss of equal probabilities: what a network that has learned nothing has."),
    Scalar("loss/value", lambda r: r.learner.value_loss,
           "Cross-entropy of win, draw and loss, or the squared error of a scalar value head."),
    Scalar("loss/value_held_out", lambda r: r.held_out.value_loss,
           "The value loss on new games before training on them."),
    Scalar("loss/value_uninformed", lambda r: r.learner.uninformed_value_loss,
           "The value loss of the best constant: what a network that has learned nothing has."),
    Scalar("policy/entropy_network", lambda r: r.learner.policy_entropy,
           "Entropy of the network's policy, in nats; 0 is certainty."),
    Scalar("policy/entropy_search", lambda r: r.learner.target_entropy,
           "Entropy of the policy target, which the search makes, in nats."),
    Scalar("value/absolute_error", lambda r: r.learner.value_error,
           "Mean |v - z|: value and result of the game, from 0 to 2."),
    Scalar("value/calibration_error", lambda r: r.learner.calibration_error,
           "How far results are from the predicted values, on average over ten bins of v."),
    Scalar("learner/learning_rate", lambda r: r.learner.learning_rate, "The learning rate."),
    Scalar("learner/gradient_norm", lambda r: r.learner.gradient_norm,
           "Norm of the gradient before it is clipped."),
    Scalar("learner/steps", lambda r: r.learner.num_steps, "Learner steps of the iteration."),
    Scalar("learner/weight_norm", lambda r: r.learner.weight_norm, "Norm of all weights."),
    Scalar("learner/weight_size", lambda r: r.learner.weight_size,
           "Root of the mean squared weight."),
    # --- what it learns from ----------------------------------------------------------------------
    Scalar("games/length_plies", lambda r: r.selfplay.game_length,
           "Mean length of a self-play game, in plies."),
    Scalar("games/first_player_wins", lambda r: r.selfplay.first_player_wins,
           "Fraction of the games that the first player wins."),
    Scalar("games/second_player_wins",
           lambda r: 1 - r.selfplay.first_player_wins - r.selfplay.draws,
           "Fraction of the games that the second player wins."),
    Scalar("games/draws", lambda r: r.selfplay.draws, "Fraction of the games that are drawn."),
    Scalar("games/distinct_fraction", lambda r: r.selfplay.distinct_games,
           "Fraction of the games that differ from all others of the iteration."),
    Scalar("replay/new_samples", lambda r: r.selfplay.num_samples,
           "Training samples that the iteration's games add."),
    Scalar("replay/window_samples", lambda r: r.window,
           "Samples in the replay window, from which batches are drawn."),
    Scalar("search/proven_leaf_fraction", lambda r: r.selfplay.proven_leaf_fraction,
           "Fraction of the new leaves whose result an exact search proved (search.exact_leaves)."),
    Scalar("search/depth", lambda r: r.selfplay.search_depth,
           "Mean distance of a new leaf from its root, in plies."),
    Scalar("search/mean_batch", lambda r: r.selfplay.mean_batch,
           "Positions in a call of the evaluator."),
    Scalar("search/policy_kl_from_float32", lambda r: r.engine.policy_kl,
           "Divergence of the engine's policy from that of torch in float32, in nats.", "engine"),
    Scalar("search/value_error_from_float32", lambda r: r.engine.value_error,
           "Difference of the engine's values from those of torch in float32.", "engine"),
    # --- how fast, how healthy --------------------------------------------------------------------
    Scalar("speed/positions_per_s", lambda r: r.selfplay.positions_per_s,
           "Moves of self-play per second."),
    Scalar("speed/simulations_per_s", lambda r: r.selfplay.simulations_per_s,
           "Simulations of self-play per second whose leaf was new."),
    Scalar("speed/evaluations_per_s", lambda r: r.selfplay.evaluations_per_s,
           "Positions that the network evaluates per second; the cache answers the others."),
    Scalar("speed/cache_hit_rate", lambda r: r.selfplay.cache_hit_rate,
           "Fraction of the evaluations that the cache answers."),
    Scalar("speed/evaluator_fraction", lambda r: r.selfplay.evaluator_fraction,
           "Fraction of the time of self-play in the evaluator, with its cache."),
    Scalar("speed/network_fraction", lambda r: r.selfplay.network_fraction,
           "Fraction of the time of self-play in the network."),
    Scalar("speed/exact_fraction", lambda r: r.selfplay.exact_fraction,
           "Fraction of the time of self-play in the search that proves leaves."),
    Scalar("workers/number", lambda r: r.workers.num_workers,
           "Workers in other processes or on other machines.", "workers"),
    Scalar("workers/lost", lambda r: r.workers.num_lost,
           "Workers that died, left or were dismissed in the iteration.", "workers"),
    Scalar("workers/games_per_s", lambda r: r.workers.games_per_s,
           "Games per second that counted, over the whole iteration.", "workers"),
    Scalar("workers/staleness_networks", lambda r: r.workers.staleness,
           "Networks by which the games lag behind the newest one, on average.", "workers"),
    Scalar("workers/dropped_fraction", lambda r: r.workers.stale_fraction,
           "Fraction of the games that are dropped as too old.", "workers"),
    Scalar("time/elapsed_s", lambda r: r.elapsed_s,
           "Seconds since the start of the run, resumed parts included, without measurements."),
    Scalar("time/selfplay_s", lambda r: r.selfplay_s, "Seconds of self-play."),
    Scalar("time/learner_s", lambda r: r.learner_s, "Seconds of learning, with sampling."),
    Scalar("time/sampling_s", lambda r: r.sampling_s, "Seconds for making batches."),
    Scalar("time/measure_s", lambda r: r.measure_s, "Seconds for measuring the strength."),
    Scalar("time/store_s", lambda r: r.store_s,
           "Seconds for writing the files of the iteration before."),
    Scalar("time/engine_swap_s", lambda r: r.engine.seconds,
           "Seconds for loading new weights into the engine.", "engine"),
    Scalar("health/alarms", lambda r: len(r.alarms),
           "Alarms that are on; the tab TEXT says which, and what to change."),
    Scalar("health/free_disk_gb", lambda r: r.free_disk_gb,
           "Gigabytes free on the disk of the run's folder."),
)
