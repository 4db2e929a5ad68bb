"""Declare a run's curves, such as the policy loss over iterations, and the charts that show them.

Each curve is computed from the rows of metrics.jsonl, one per iteration, whose numbers come from
`alphazero.training.reports`. Curves are shown by TensorBoard, by the page of `alphazero serve` and
by `alphazero plot`. A new field of a report puts its number into metrics.jsonl; a line in `CURVES`
shows it in TensorBoard, a chart in `CHARTS` adds it to TensorBoard's custom scalars, and a chart in
`PAGE_CHARTS` shows it on the page. Only the page's chart of ratings is declared elsewhere, in
`alphazero.web.run_charts`.
"""

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from alphazero.evaluation.report import elo_from_score

Row = dict[str, Any]
_MAX_NUMBER = 1e300  # larger numbers might not stay finite as percentages


def number(row: Row, key: str) -> float:
    """Return a metric's value in an iteration; NaN if missing, not a number, or 1e300 or more.

    Args:
        row: the iteration's row of metrics.jsonl.
        key: the metric, such as "learner.loss".
    """
    value = row.get(key)
    if isinstance(value, (int, float)) and abs(value) < _MAX_NUMBER:
        return float(value)
    return math.nan


def newest(rows: Iterable[Row], key: str) -> float:
    """Return a metric's newest value; NaN if no iteration has one.

    Args:
        rows: rows of metrics.jsonl, newest first.
        key: the metric, such as "learner.loss".
    """
    for row in rows:
        value = number(row, key)
        if not math.isnan(value):
            return value
    return math.nan


def alarms_of(row: Row) -> list[str]:
    """Return the names of an iteration's alarms."""
    return [name for name in str(row.get("alarms") or "").split(",") if name]


class Curve(NamedTuple):
    """A curve of a run: one number per iteration, computed from that iteration's metrics."""

    description: str  #: a sentence about what the curve shows, displayed by TensorBoard
    keys: tuple[str, ...]  #: the metrics that ``value`` takes as arguments
    value: Callable[..., float]  #: computes the curve's value from these metrics

    def figure(self, row: Row) -> float:
        """Return the curve's value in one iteration; NaN if a metric that it needs is missing.

        Args:
            row: the iteration's row of metrics.jsonl.
        """
        numbers = [number(row, key) for key in self.keys]
        if any(map(math.isnan, numbers)):
            return math.nan
        return self.value(*numbers)


def curve(description: str, *keys: str, value: Callable[..., float] = float) -> Curve:
    """Make a curve of one metric, or of several metrics combined by a function.

    Args:
        description: a sentence about what the curve shows, displayed by TensorBoard.
        keys: the metrics, such as "learner.loss".
        value: called with the values of these metrics in an iteration; returns the curve's value.
    """
    return Curve(description, keys, value)


def _error(description: str, key: str) -> Curve:
    """Make a curve that shows 1 minus a metric, such as the error instead of the accuracy."""
    return Curve(description, (key,), lambda fraction: 1 - fraction)


def _elo(score: float, *counts: float) -> float:
    """Convert a match score to an Elo difference, which is limited so that it stays finite.

    A perfect score is lowered by half a game, and a score of 0 is raised by half a game.

    Args:
        score: the score in [0, 1], from the network's viewpoint.
        counts: the numbers of wins, draws and losses, whose sum is the number of games.
    """
    margin = 0.5 / max(sum(counts), 1)
    return elo_from_score(min(max(score, margin), 1 - margin))


_LOW = "Lower end of the 95% interval of "
_HIGH = "Upper end of the 95% interval of "
#: The curves, keyed by TensorBoard tag; the part before the slash is the group.
CURVES = {
    "replay/new_samples": curve("Samples of the iteration's games.", "selfplay.num_samples"),
    "replay/window_samples": curve("Samples in the replay window.", "window"),
    "speed/positions_per_s": curve("Moves of self-play per second.", "selfplay.positions_per_s"),
    "speed/simulations_per_s": curve("New leaves per second.", "selfplay.simulations_per_s"),
    "speed/evaluations_per_s": curve("Evaluations by the network.", "selfplay.evaluations_per_s"),
    "speed/cache_hit_rate": curve("Fraction answered by the cache.", "selfplay.cache_hit_rate"),
    "search/mean_batch": curve("Positions in a call of the evaluator.", "selfplay.mean_batch"),
    "search/depth": curve("Mean plies from the root to a new leaf.", "selfplay.search_depth"),
    "games/length_plies": curve("Mean length of a self-play game.", "selfplay.game_length"),
    "games/first_player_wins": curve("Fraction of the games.", "selfplay.first_player_wins"),
    "games/draws": curve("Fraction of the games that are drawn.", "selfplay.draws"),
    "games/mean_result": curve("Mean result, in a puzzle's own units.", "selfplay.mean_result"),
    "games/distinct_fraction": curve("Distinct games, of all games.", "selfplay.distinct_games"),
    "games/second_player_wins": curve(
        "Fraction won by the second player.",
        "selfplay.first_player_wins",
        "selfplay.draws",
        value=lambda wins, draws: 1 - wins - draws,
    ),
    "learner/steps": curve("Learner steps of the iteration.", "learner.num_steps"),
    "loss/total": curve("Weighted sum of the losses on the replay window.", "learner.loss"),
    "loss/policy": curve("Cross-entropy; at least policy/entropy_search.", "learner.policy_loss"),
    "loss/value": curve("Cross-entropy, or squared error of a scalar value.", "learner.value_loss"),
    "policy/entropy_network": curve("Entropy of the network, in nats.", "learner.policy_entropy"),
    "policy/entropy_search": curve("Entropy of the target, in nats.", "learner.target_entropy"),
    "value/absolute_error": curve("Mean |v - z| of value and result.", "learner.value_error"),
    "value/calibration_error": curve(
        "Mean of |mean v - mean z| over ten bins of the value v.", "learner.calibration_error"
    ),
    "learner/gradient_norm": curve("Norm before clipping.", "learner.gradient_norm"),
    "learner/learning_rate": curve("The learning rate.", "learner.learning_rate"),
    "loss/policy_uninformed": curve("With equal probabilities.", "learner.uninformed_policy_loss"),
    "loss/value_uninformed": curve("Loss of the best constant.", "learner.uninformed_value_loss"),
    "learner/weight_size": curve("Root of the mean squared weight.", "learner.weight_size"),
    "loss/total_held_out": curve("Total loss on games not yet trained on.", "held_out.loss"),
    "loss/policy_held_out": curve("On games not yet trained on.", "held_out.policy_loss"),
    "loss/value_held_out": curve("On games not yet trained on.", "held_out.value_loss"),
    "search/policy_kl_from_float32": curve("Mean KL divergence, in nats.", "engine.policy_kl"),
    "search/value_error_from_float32": curve("Mean difference.", "engine.value_error"),
    "pit/score": curve("Score of the new network; see `pit.counted`.", "pit.score"),
    "pit/accepted": curve("1 if the new network stays, 0 if the old one does.", "pit.accepted"),
    "interval/pit_score_low": curve(_LOW + "pit/score.", "pit.score_low"),
    "interval/pit_score_high": curve(_HIGH + "pit/score.", "pit.score_high"),
    "strength/score": curve("Score against UCT; a draw counts half.", "strength.score"),
    "interval/strength_score_low": curve(_LOW + "strength/score.", "strength.score_low"),
    "interval/strength_score_high": curve(_HIGH + "strength/score.", "strength.score_high"),
    "strength/elo": curve(
        "That score as a rating difference; limited by the number of games.",
        "strength.score",
        "strength.wins",
        "strength.draws",
        "strength.losses",
        value=_elo,
    ),
    "puzzle/mean_result": curve("Mean result.", "puzzle.mean_result"),
    "puzzle/uct_mean_result": curve("UCT's mean result.", "puzzle.uct_mean_result"),
    "puzzle/best_result": curve("Best result of an opening.", "puzzle.best_result"),
    "puzzle/solved": curve("Fraction of openings with the best possible result.", "puzzle.solved"),
    "puzzle/uct_solved": curve("The same fraction of UCT.", "puzzle.uct_solved"),
    "exact/error_network": _error(
        "Fraction of moves, without search, that give away a win or a draw.", "exact.raw_accuracy"
    ),
    "exact/not_best_network": _error("Moves not the best, without search.", "exact.raw_optimal"),
    "exact/error_search": _error(
        "Fraction of moves, with search, that give away a win or a draw.", "exact.accuracy"
    ),
    "exact/not_best_search": _error("Moves not the best, with search.", "exact.optimal"),
    "exact/value_error": curve("Mean |value - exact result|, from 0 to 2.", "exact.value_error"),
    "exact/result_accuracy": curve("Results that the value predicts.", "exact.result_accuracy"),
    "interval/error_network_high": _error(_HIGH + "error_network.", "exact.raw_accuracy_low"),
    "interval/error_network_low": _error(_LOW + "error_network.", "exact.raw_accuracy_high"),
    "interval/error_search_high": _error(_HIGH + "error_search.", "exact.accuracy_low"),
    "interval/error_search_low": _error(_LOW + "error_search.", "exact.accuracy_high"),
    "proof/lost_games": curve("Games that some play of the opponent wins.", "proof.num_losses"),
    "proof/misplayed_positions": curve(
        "Wins or draws given away.", "proof.num_positions", "proof.num_accurate", value=operator.sub
    ),
    "workers/number": curve("Workers in other processes or machines.", "workers.num_workers"),
    "workers/lost": curve("Workers that died or left in the iteration.", "workers.num_lost"),
    "workers/games_per_s": curve("Games per second that counted.", "workers.games_per_s"),
    "workers/staleness_networks": curve("Mean age of the games, in networks.", "workers.staleness"),
    "workers/dropped_fraction": curve("Fraction dropped as too old.", "workers.stale_fraction"),
    "time/elapsed_s": curve("Seconds of the run so far, without measurements.", "elapsed_s"),
    "time/selfplay_s": curve("Seconds of self-play.", "selfplay_s"),
    "time/learner_s": curve("Seconds of learning, with sampling.", "learner_s"),
    "time/measure_s": curve("Seconds for measuring the strength.", "measure_s"),
    "health/alarms": curve("Alarms that are on; the tab TEXT says which.", "num_alarms"),
}


#: Curves with a 95% confidence interval, and the prefix of the tags of its lower and upper ends.
_INTERVALS = {
    "exact/error_search": "interval/error_search",
    "exact/error_network": "interval/error_network",
    "strength/score": "interval/strength_score",
    "pit/score": "interval/pit_score",
}


class Line(NamedTuple):
    """A line in a chart: a curve and, if there is one, the curve's 95% confidence interval."""

    name: str  #: the line's name in the legend
    #: the curve's tag and, if the curve has a confidence interval, the tags of its lower and upper
    #: ends
    tags: tuple[str, ...]
    scale: float  #: factor from the curve's unit to the chart's

    def figures(self, row: Row) -> list[float]:
        """Return the curve's value in one iteration and the ends of its 95% interval, if any.

        Args:
            row: the iteration's row of metrics.jsonl.

        Returns:
            The value, then the lower and the upper end, in the chart's unit; NaN where unknown.
        """
        return [self.scale * CURVES[tag].figure(row) for tag in self.tags]

    def points(
        self, rows: list[Row], x: str = "elapsed_s", unit: float = 60.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the x and y coordinates of the line's points, leaving out missing values.

        Args:
            rows: rows of metrics.jsonl, oldest first.
            x: the metric for the x-axis, such as "elapsed_s" or "iteration".
            unit: divisor of that metric; by default, the x-axis shows minutes of training.
        """
        xs = np.array([number(row, x) / unit for row in rows])
        ys = np.array([self.figures(row)[0] for row in rows])
        is_known = ~np.isnan(xs) & ~np.isnan(ys)
        return xs[is_known], ys[is_known]


class Chart(NamedTuple):
    """A chart with one or more lines on the same axes."""

    title: str
    unit: str  #: the unit of the vertical axis, such as "% of positions"
    lines: tuple[Line, ...]
    from_zero: bool  #: whether the vertical axis begins at 0


def chart(title: str, unit: str, tags: dict[str, str], from_zero: bool = True) -> Chart:
    """Make a chart with a line for each of the given curves.

    Args:
        title: the chart's title.
        unit: the unit of the vertical axis; curves are multiplied by 100 if it begins with "%".
        tags: {name of a line: tag of its curve in `CURVES`}.
        from_zero: whether the vertical axis begins at 0.
    """
    scale = 100.0 if unit.startswith("%") else 1.0
    lines = []
    for name, tag in tags.items():
        line_tags = [tag]
        if tag in _INTERVALS:
            prefix = _INTERVALS[tag]
            line_tags += [f"{prefix}_low", f"{prefix}_high"]
        lines.append(Line(name, tuple(line_tags), scale))
    return Chart(title, unit, tuple(lines), from_zero)


ERRORS = chart(
    "Moves that give away the exact result",
    "% of positions",
    {"with search": "exact/error_search", "network alone": "exact/error_network"},
)
MISPLAYED = chart(
    "Positions misplayed, of all in the game",
    "positions",
    {"misplayed": "proof/misplayed_positions"},
)
SCORE = chart("Score", "%", {"score": "strength/score"}, from_zero=False)
LOSSES = chart(
    "Losses", "loss", {"total": "loss/total", "policy": "loss/policy", "value": "loss/value"}
)
GAMES = chart(
    "Self-play games",
    "% of the games",
    {
        "first player wins": "games/first_player_wins",
        "draws": "games/draws",
        "second player wins": "games/second_player_wins",
        "distinct games": "games/distinct_fraction",
    },
)
SPEED = chart("Self-play", "positions per second", {"positions": "speed/positions_per_s"})
_POLICY = {
    "trained": "loss/policy",
    "held out": "loss/policy_held_out",
    "uninformed": "loss/policy_uninformed",
    "entropy of the target": "policy/entropy_search",
}
_VALUE = {
    "trained": "loss/value",
    "held out": "loss/value_held_out",
    "uninformed": "loss/value_uninformed",
}
_ENTROPY = {"network": "policy/entropy_network", "search": "policy/entropy_search"}
#: The charts on the page.
PAGE_CHARTS = (ERRORS, MISPLAYED, LOSSES, SCORE, SPEED)
#: The charts among TensorBoard's custom scalars, by category.
CHARTS = {
    "Mistakes": (ERRORS, MISPLAYED),
    "Strength": (SCORE, chart("Score in the pit", "score", {"score": "pit/score"})),
    "Losses": (
        LOSSES,
        chart("Policy loss", "nats", _POLICY),
        chart("Value loss", "loss", _VALUE),
        chart("Distance of the values from the results", "", {"value": "value/absolute_error"}),
        chart("Entropy of the policy", "nats", _ENTROPY),
    ),
    "Games": (GAMES,),
    "Speed": (SPEED,),
}
