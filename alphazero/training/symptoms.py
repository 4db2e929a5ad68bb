"""Detect symptoms of a training run that goes wrong, and name a likely cause and a remedy for each.

Each check in `CHECKS` reads the newest rows of metrics.jsonl and the run's settings. It returns a
`Finding` if its symptom is present, otherwise None. An alarm begins and ends at different limits,
so that a fluctuating number does not switch it on and off. "Healthy" in the comments refers to runs
of tic-tac-toe, Connect Four and Othello with the shipped configs (see docs/HEALTH.md).
The checks have no state; `alphazero.training.health` keeps the rows between iterations.
"""

import math
from typing import NamedTuple

from alphazero.training.curves import Row, number
from alphazero.training.settings import TrainSettings


class Finding(NamedTuple):
    """A symptom found in a run, described by clauses of text without a full stop."""

    seen: str  #: the problem, with its numbers
    cause: str  #: the likely cause
    key: str  #: the setting to change
    advice: str  #: the value to change it to, or what else to do


class Observed(NamedTuple):
    """The metrics and settings of a run, as the input of a check in `CHECKS`."""

    rows: list[Row]  #: rows of metrics.jsonl, newest last
    settings: TrainSettings
    is_on: bool  #: whether the check's alarm was on after the previous iteration

    def figures(self, key: str, newest: int = 0) -> list[float]:
        """Return a metric's values in the newest iterations, oldest first; NaN where missing.

        Args:
            key: the metric, such as "learner.loss".
            newest: number of iterations; 0, or more than there are, means all.
        """
        return [number(row, key) for row in self.rows[-newest:]]

    def mean(self, key: str, newest: int) -> float:
        """Return a metric's mean over the newest iterations; NaN if a value is missing.

        Args:
            key: the metric, such as "learner.loss".
            newest: number of iterations, at least 1; more than there are means all.
        """
        return mean(self.figures(key, newest))

    def fraction(self, key: str, num_games: int) -> float:
        """Return the fraction of the newest games that have a property, such as being drawn.

        Args:
            key: the metric that holds this fraction for each iteration, such as "selfplay.draws".
            num_games: average over the smallest number of newest iterations with at least this many
                games.

        Returns:
            The fraction, in [0, 1]; NaN if there are not enough games.
        """
        games = total = 0.0
        for row in reversed(self.rows):
            num_in_row = number(row, "selfplay.num_games")
            games += num_in_row
            total += num_in_row * number(row, key)
            if games >= num_games:
                return total / games
        return math.nan

    def is_above(self, value: float, begins: float, ends: float) -> bool:
        """Return whether a metric is so high that the alarm should be on; False if it is NaN.

        Args:
            value: the metric's current value.
            begins: the alarm begins when the value rises above this limit.
            ends: a lower limit; the alarm stays on until the value is at or below this limit.
        """
        return value > (ends if self.is_on else begins)

    def is_below(self, value: float, begins: float, ends: float) -> bool:
        """Return whether a metric is so low that the alarm should be on; False if it is NaN.

        Args:
            value: the metric's current value.
            begins: the alarm begins when the value falls below this limit.
            ends: a higher limit; the alarm stays on until the value is at or above this limit.
        """
        return value < (ends if self.is_on else begins)


def mean(figures: list[float]) -> float:
    """Return the mean of a list of numbers, which must not be empty."""
    return sum(figures) / len(figures)


MIN_RESULTS = 100  # games per fraction: of 100 fair games, 97 end alike with a chance of 1e-24
NUM_WORKER_ITERATIONS = 5  # iterations over which dropped games are averaged
USUAL_RATE = {"muon": 2e-3, "adamw": 2e-3, "adam": 2e-3, "sgd": 5e-2}

_ROOT_NOISE = "search.dirichlet_fraction", "0.25 is usual"
_MORE_OPENINGS = "selfplay.random_opening_fraction", "higher, or more selfplay.random_opening_plies"
_WRONG_VIEWPOINT = "in a game of your own, results from the viewpoint of the wrong player"


# --- the games ------------------------------------------------------------------------------------


def games_repeat(run: Observed) -> Finding | None:
    """Return a finding if fewer than half of an iteration's games are distinct; else None.

    The usual cause is that too few moves are random.
    """
    distinct = run.fraction("selfplay.distinct_games", num_games=30)
    # Below one half, half of self-play's time is wasted. Healthy: 0.74 and more.
    if not run.is_below(distinct, 0.5, ends=0.6):
        return None
    seen = f"only {distinct:.0%} of the newest games differ from each other"
    if run.settings.selfplay.temperature == 0:
        cause = "moves are not sampled: the most visited one is played"
        return Finding(seen, cause, "selfplay.temperature", "1 for the first 15 plies is usual")
    if run.settings.search.dirichlet_fraction == 0:
        cause = "the search has no root noise"
        return Finding(seen, cause, *_ROOT_NOISE)
    cause = "the network is nearly certain of its moves, or the game has few lines of play"
    return Finding(seen, cause, *_MORE_OPENINGS)


def games_end_alike(run: Observed) -> Finding | None:
    """Return a finding if more than 99% of the newest games have the same result; else None.

    The value head can then learn nothing from the results.
    """
    wins = run.fraction("selfplay.first_player_wins", MIN_RESULTS)
    draws = run.fraction("selfplay.draws", MIN_RESULTS)
    ends = {"won by the first player": wins, "drawn": draws}
    ends["won by the second player"] = 1 - wins - draws
    end = max(ends, key=lambda end: ends[end])
    # Healthy: at most 0.6 are won by one player; perfect tic-tac-toe without sampling: 0.97 draws.
    if not run.is_above(ends[end], 0.99, ends=0.95):
        return None
    cause = f"perfect play, or a game that favours one side; or, {_WRONG_VIEWPOINT}"
    seen = f"{ends[end]:.0%} of the newest games are {end}"
    return Finding(seen, cause, *_MORE_OPENINGS)


# --- what is learned ------------------------------------------------------------------------------


def entropy_collapsed(run: Observed) -> Finding | None:
    """Return a finding if a policy's mean entropy is below 5% of the uniform policy's; else None.

    This applies to the network's policy and to the policy target, which the search produces.
    """
    entropy, who = min(
        (run.mean("learner.policy_entropy", 2), "network"),
        (run.mean("learner.target_entropy", 2), "search"),
    )
    uniform_entropy = run.mean("learner.uninformed_policy_loss", 2)
    fraction = entropy / max(uniform_entropy, 1e-9)
    # The limits are fractions of the uniform policy's entropy. Healthy: 0.4 and more, 0.1 in a game
    # won in three plies.
    if not run.is_below(fraction, 0.05, ends=0.08):
        return None
    seen = f"the {who}'s policy has {fraction:.0%} of the entropy of a uniform one"
    if run.settings.search.dirichlet_fraction == 0:
        cause = "without root noise the search only confirms the network"
        return Finding(seen, cause, *_ROOT_NOISE)
    cause = "steps so large that the network follows its own first opinions"
    return Finding(seen, cause, *lower_rate(run.settings))


def value_head_learns_nothing(run: Observed) -> Finding | None:
    """Return a finding if the value loss is over 98% of a constant prediction's; else None.

    The check begins after three iterations and 500 learner steps. It is skipped if nearly all games
    have the same result, because a constant is then a good prediction.
    """
    constant = run.mean("learner.uninformed_value_loss", 3)
    fraction = run.mean("learner.value_loss", 3) / max(constant, 1e-9)
    has_learned = len(run.rows) > 3 and sum(run.figures("learner.num_steps")) >= 500
    nearly_all_end_alike = constant < 0.05
    # Healthy: 0.94 after the first iteration, then falling.
    is_useless = run.is_above(fraction, 0.98, ends=0.95)
    if not has_learned or nearly_all_end_alike or not is_useless:
        return None
    seen = f"the value loss is {fraction:.0%} of that of a constant prediction"
    cause = f"steps too large; or, {_WRONG_VIEWPOINT}"
    return Finding(seen, cause, *lower_rate(run.settings))


def overfitting(run: Observed) -> Finding | None:
    """Return a finding if the held-out loss is over 1.25 times the replay window's; else None.

    An iteration's held-out loss is compared with the loss of the previous iteration, because both
    belong to the same network. The first iteration is left out, since its network was untrained.
    """
    rows = [row for row in run.rows if row["iteration"] >= 2][-4:]
    if len(rows) < 4:
        return None
    held_out = mean([number(row, "held_out.loss") for row in rows[1:]])
    loss = mean([number(row, "learner.loss") for row in rows[:-1]])
    # Healthy: 0.97 to 1.15 of the loss on the window.
    if not run.is_above(held_out, 1.25 * loss, ends=1.15 * loss):
        return None
    seen = f"the loss is {held_out:.2f} on new games and {loss:.2f} on the window"
    learner = run.settings.learner
    key, value = "learner.replay_ratio", learner.replay_ratio
    if learner.epochs:
        key, value = "learner.epochs", learner.epochs
    cause = "each sample is trained on too often, or the games are too few for the network"
    advice = f"below {value:g}; or a larger replay.window_start or selfplay.games_per_iteration"
    return Finding(seen, cause, key, advice)


def learning_rate_too_high(run: Observed) -> Finding | None:
    """Return a finding if the learning rate appears too high; else None.

    Any of four signs is enough: a loss above that of an uninformed predictor, a rising loss, large
    gradients, or large weights.
    """
    if len(run.rows) < 3:
        return None
    signs = []
    learner = run.settings.learner
    losses = run.figures("learner.loss")
    loss = mean(losses[-3:])
    uninformed = run.mean("learner.uninformed_policy_loss", 3)
    uninformed += learner.value_weight * run.mean("learner.uninformed_value_loss", 3)
    # Healthy: 0.97 of the uninformed loss in the first iteration, then falling.
    if run.is_above(loss, 1.2 * uninformed, ends=1.1 * uninformed):
        expected = f"{_text(uninformed)} for an uninformed predictor"
        signs.append(f"the loss is {_text(loss)}, and {expected}")
    ends = range(max(len(losses) - 20, 4), len(losses) + 1)
    rolling_means = [mean(losses[end - 3 : end]) for end in ends]
    lowest = min(rolling_means, default=math.nan)
    if run.is_above(loss, 1.25 * lowest, ends=1.15 * lowest):  # healthy: at most 1.05
        signs.append(f"the loss has risen from {_text(lowest)} to {_text(loss)}")
    gradient = run.mean("learner.gradient_norm", 3)
    size = run.mean("learner.weight_size", 3)
    limit = learner.max_gradient_norm or 5.0
    if run.is_above(gradient, 4 * limit, ends=3 * limit):  # healthy: at most half the limit
        signs.append(f"the gradient norm is {_text(gradient)}, where less than {limit:g} is usual")
    if run.is_above(size, 1.0, ends=0.8):  # healthy: 0.06 to 0.5
        signs.append(f"the weights have grown to {size:.2g} on average, where 0.1 is usual")
    if not signs:
        return None
    return Finding("; ".join(signs), "steps too large", *lower_rate(run.settings))


def _text(number: float) -> str:
    """Format a number such as "2.26", a large one as a person writes it: "2,262,981"."""
    return f"{number:,.0f}" if 1e3 <= number < 1e12 else f"{number:.3g}"


# --- the gate and the workers ---------------------------------------------------------------------


def pit_always_rejects(run: Observed) -> Finding | None:
    """Return a finding if the gate has rejected the last five networks; else None.

    At an acceptance score of 0.55, networks of equal strength fail in 2 of 3 pits.
    """
    pits = [row["pit.accepted"] for row in run.rows if "pit.accepted" in row][-5:]
    if len(pits) < 5 or any(pits):
        return None
    seen = f"the newest {len(pits)} networks were all rejected, and what they learned is lost"
    cause = "too little is learned between two pits to show in so few games, or learning does harm"
    advice = "0.5 accepts equal networks; or more pit.num_games, or pit=off as in AlphaZero"
    return Finding(seen, cause, "pit.acceptance", advice)


def games_too_old(run: Observed) -> Finding | None:
    """Return a finding if over 20% of games are dropped for an outdated network; else None."""
    dropped = run.mean("workers.stale_fraction", NUM_WORKER_ITERATIONS)
    if not run.is_above(dropped, 0.2, ends=0.1):
        return None
    seen = f"{dropped:.0%} of the games are dropped as too old"
    cause = "iterations shorter than one worker's game"
    num_games = 2 * run.settings.selfplay.games_per_iteration
    advice = f"{num_games}, or a larger workers.max_staleness"
    return Finding(seen, cause, "selfplay.games_per_iteration", advice)


CHECKS = (
    games_repeat,
    entropy_collapsed,
    value_head_learns_nothing,
    games_end_alike,
    overfitting,
    learning_rate_too_high,
    pit_always_rejects,
    games_too_old,
)


# --- learning rates -------------------------------------------------------------------------------


def lower_rate(settings: TrainSettings) -> tuple[str, str]:
    """Return the learning-rate setting to lower, and a value to try, both as text.

    The value is a fifth of the current rate if that lies between 1/100 and 5 times the optimizer's
    usual rate; otherwise it is the usual rate.
    """
    learner = settings.learner
    usual = USUAL_RATE[learner.optimizer]
    rises = learner.schedule != "constant" and learner.final_learning_rate > learner.learning_rate
    name = "final_learning_rate" if rises else "learning_rate"
    rate = learner.final_learning_rate if rises else learner.learning_rate
    advised = rate / 5 if usual / 100 < rate < 5 * usual else usual
    return f"learner.{name}", f"{advised:.2g}"
