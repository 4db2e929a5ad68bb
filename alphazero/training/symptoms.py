"""The symptoms of a training run that goes wrong, each with its likely cause and what to change.

In: the newest rows of metrics.jsonl, and the settings. Out: a `Finding` for each symptom that is
present. Every limit is a pair, so that a figure that fluctuates does not switch an alarm on and
off. "Healthy" below means the runs of docs/HEALTH.md: tic-tac-toe, Connect Four and Othello with
the shipped configs, and small networks for the first two.
`alphazero.training.health` keeps the rows between iterations; nothing here has a memory.
"""

import math
from typing import Any, NamedTuple

from alphazero.training.settings import TrainSettings


class Finding(NamedTuple):
    """A symptom that is present, as texts without a full stop."""

    seen: str  #: what is wrong, with the figures
    cause: str  #: the likely cause
    key: str  #: the setting to change
    advice: str  #: what to change it to, or what else to do


class Limit(NamedTuple):
    """Where an alarm begins and where it ends: above its limit, or below if ``ends`` is higher."""

    begins: float
    ends: float


class Run(NamedTuple):
    """What a check knows of a run."""

    rows: list[dict[str, Any]]  #: of metrics.jsonl, the newest last
    settings: TrainSettings
    is_on: bool  #: whether the alarm that is checked is on

    def figures(self, key: str, newest: int = 0) -> list[float]:
        """Return a figure of the newest rows, 0 is all of them; it is NaN where there is none."""
        return [figure(row, key) for row in self.rows[-newest:]]

    def mean(self, key: str, newest: int) -> float:
        """Return the mean of a figure over the newest rows."""
        return mean(self.figures(key, newest))

    def fraction(self, key: str, num_games: int) -> float:
        """Return a figure that is a fraction of the games, over the newest games.

        Args:
            num_games: the newest rows that together have at least this many games count.

        Returns:
            The fraction, NaN if there are fewer games.
        """
        games = total = 0.0
        for row in reversed(self.rows):
            num_in_row = figure(row, "selfplay.num_games")
            games += num_in_row
            total += num_in_row * figure(row, key)
            if games >= num_games:
                return total / games
        return math.nan

    def is_beyond(self, limit: Limit, value: float, scale: float = 1.0) -> bool:
        """Return whether a figure is beyond a limit, which depends on whether the alarm is on."""
        bound = scale * (limit.ends if self.is_on else limit.begins)
        return value < bound if limit.begins < limit.ends else value > bound


def figure(row: dict[str, Any], key: str) -> float:
    """Return a figure of a row, NaN if it has none."""
    value = row.get(key)
    return math.nan if value is None else float(value)


def mean(figures: list[float]) -> float:
    """Return the mean, NaN of no figures."""
    return sum(figures) / len(figures) if figures else math.nan


# Below this fraction of distinct games, half of self-play's time is wasted. Healthy: 0.74 and more.
DISTINCT = Limit(0.5, 0.6)
# Entropy over that of the uniform policy. Healthy: 0.4 and more, 0.1 in a game won in three plies.
CERTAIN = Limit(0.05, 0.08)
# Value loss over that of a constant. Healthy: 0.94 after the first iteration, then falling.
USELESS_VALUE = Limit(0.98, 0.95)
ONE_SIDED = Limit(0.97, 0.9)  # fraction of the games. Healthy: at most 0.6
ALL_DRAWN = Limit(0.99, 0.95)  # fraction of the games. Perfect tic-tac-toe without sampling: 0.97
SHORT_WINDOW = Limit(2.0, 2.5)  # iterations whose samples fit in the window. Healthy: at least 3.3
OVERFITTED = Limit(1.25, 1.15)  # held-out loss over the loss on the window. Healthy: 0.9 to 1.06
# Loss over that of an uninformed predictor. Healthy: 0.97 in the first iteration, then falling.
WORSE_THAN_UNINFORMED = Limit(1.2, 1.1)
RISEN = Limit(1.25, 1.15)  # loss over the lowest of the last 20 iterations. Healthy: at most 1.05
STEEP = Limit(4.0, 3.0)  # mean gradient norm over its limit. Healthy: at most 0.5
LARGE_WEIGHTS = Limit(1.0, 0.8)  # root mean square of the weights. Healthy: 0.06 to 0.5
DISK_GB = Limit(1.0, 2.0)  # a run of the shipped configs writes up to 0.2 GB

WORKERS_LOST = Limit(0.5, 0.25)  # in an iteration, over those that are there
TOO_OLD = Limit(0.2, 0.1)  # fraction of the games

MIN_GAMES = 30  # for a fraction of distinct games
MIN_RESULTS = 100  # for a fraction of results: 97 of 100 fair games are alike in one of 1e24 cases
MIN_STEPS = 500  # before the value head is judged
MIN_VALUE_LOSS = 0.05  # of a constant prediction; below, nearly all games end alike
UNCLIPPED_NORM = 5.0  # stands in for learner.max_gradient_norm=0
NUM_PITS = 5  # rejections in a row; a network as strong as the old one fails at 0.55 in 2 of 3 pits
NUM_UNDECIDED = 3  # pits in a row with nothing but ties
TIED = Limit(0.9, 0.8)  # fraction of the pairs of games in the pits
NUM_STRENGTHS = 4  # measurements in each of the two halves that are compared
MIN_STRENGTH_GAMES = 100  # in each half; the standard error of its score is then at most 0.05
NUM_WORKER_ITERATIONS = 5  # over which losses of workers and of old games are averaged
GOOD_SCORE = 0.9  # against UCT: little is left to gain
MIN_LEARNING_RATE = 1e-5  # nothing is learned below it
USUAL_RATE = {"muon": 2e-3, "adamw": 2e-3, "adam": 2e-3, "sgd": 5e-2}

_WRONG_VIEWPOINT = "in a game of your own, results from the viewpoint of the wrong player"
_UNFAIR = f"a game that favours one side that much; or, {_WRONG_VIEWPOINT}"


# --- the games ------------------------------------------------------------------------------------


def games_repeat(run: Run) -> Finding | None:
    """Most games have the moves of another game of the iteration: too little is random."""
    distinct = run.fraction("selfplay.distinct_games", MIN_GAMES)
    if not run.is_beyond(DISTINCT, distinct):
        return None
    seen = f"only {distinct:.0%} of the newest games differ from each other"
    selfplay = run.settings.selfplay
    never_sampled = selfplay.num_sampled_plies == 0 and selfplay.temperature_half_life == 0
    if selfplay.temperature == 0 or never_sampled and selfplay.final_temperature == 0:
        key = "selfplay.num_sampled_plies" if selfplay.temperature else "selfplay.temperature"
        advice = "a temperature of 1 for 15 plies is usual"
        return Finding(seen, "moves are not sampled: the most visited one is played", key, advice)
    if run.settings.search.dirichlet_fraction == 0:
        cause = "the search has no root noise"
        return Finding(seen, cause, "search.dirichlet_fraction", "0.25 is usual")
    cause = "the network is nearly certain of its moves, or the game has few lines of play"
    return Finding(seen, cause, *_more_openings(run.settings))


def first_player_always_wins(run: Run) -> Finding | None:
    """Nearly all games have the same winner: the results teach nothing."""
    wins = run.fraction("selfplay.first_player_wins", MIN_RESULTS)
    return _one_result(run, ONE_SIDED, wins, "the first player wins {:.0%} of the newest games")


def second_player_always_wins(run: Run) -> Finding | None:
    """The same for the other player."""
    wins = run.fraction("selfplay.first_player_wins", MIN_RESULTS)
    wins = 1 - wins - run.fraction("selfplay.draws", MIN_RESULTS)
    return _one_result(run, ONE_SIDED, wins, "the second player wins {:.0%} of the newest games")


def only_draws(run: Run) -> Finding | None:
    """Nearly all games are draws: the results teach nothing."""
    draws = run.fraction("selfplay.draws", MIN_RESULTS)
    cause = (
        "perfect play, where the game is a draw; or, in a game of your own, rules that call a win "
        "a draw"
    )
    return _one_result(run, ALL_DRAWN, draws, "{:.0%} of the newest games are draws", cause)


def _one_result(
    run: Run, limit: Limit, fraction: float, seen: str, cause: str = _UNFAIR
) -> Finding | None:
    """Return a finding if the fraction of the games with one result is beyond its limit."""
    if not run.is_beyond(limit, fraction):
        return None
    return Finding(seen.format(fraction), cause, *_more_openings(run.settings))


def _more_openings(settings: TrainSettings) -> tuple[str, str]:
    """Return the key and the advice that make games differ."""
    selfplay = settings.selfplay
    if selfplay.random_opening_fraction < 0.5:
        return "selfplay.random_opening_fraction", "0.5 begins half of the games with random moves"
    plies = 2 * selfplay.random_opening_plies
    return "selfplay.random_opening_plies", f"{plies} allows openings of up to {plies} random moves"


# --- what is learned ------------------------------------------------------------------------------


def entropy_collapsed(run: Run) -> Finding | None:
    """The network's policy, or the policy target, puts everything on one move almost everywhere."""
    uniform = max(run.mean("learner.uninformed_policy_loss", 2), 1e-9)
    of_network = run.mean("learner.policy_entropy", 2) / uniform, "the network's policy"
    of_search = run.mean("learner.target_entropy", 2) / uniform, "the search"
    low = [one for one in (of_network, of_search) if run.is_beyond(CERTAIN, one[0])]
    if not low:
        return None
    fraction, who = min(low)
    seen = (
        f"{who} is almost certain of one move everywhere: its entropy is {fraction:.0%} of that of "
        "the uniform policy"
    )
    search = run.settings.search
    if search.pb_c_init < 0.2:
        return Finding(seen, "the search hardly explores", "search.pb_c_init", "1.25 is usual")
    if search.dirichlet_fraction == 0:
        cause = "without root noise the search only confirms the network"
        return Finding(seen, cause, "search.dirichlet_fraction", "0.25 is usual")
    if search.root_prior_temperature < 1:
        advice = "1 leaves the priors as they are, 1.25 flattens them a little"
        cause = "the root's priors are sharpened"
        return Finding(seen, cause, "search.root_prior_temperature", advice)
    cause = "steps so large that the network follows its own first opinions"
    return Finding(seen, cause, *_lower_rate(run))


def value_head_learns_nothing(run: Run) -> Finding | None:
    """The value head is no better than a constant prediction."""
    constant = run.mean("learner.uninformed_value_loss", 3)
    fraction = run.mean("learner.value_loss", 3) / max(constant, 1e-9)
    num_steps = sum(run.figures("learner.num_steps"))
    can_be_judged = len(run.rows) > 3 and num_steps >= MIN_STEPS and constant >= MIN_VALUE_LOSS
    if not can_be_judged or not run.is_beyond(USELESS_VALUE, fraction):
        return None
    seen = (
        f"the value head is no better than a constant: its loss is {fraction:.0%} of a constant's"
    )
    learner = run.settings.learner
    if learner.value_weight < 0.1:
        return Finding(seen, "the value loss hardly counts", "learner.value_weight", "1 is usual")
    if learner.learning_rate < MIN_LEARNING_RATE:
        return _steps_too_small(seen, run.settings)
    key, advice = _lower_rate(run)
    cause = f"steps too large; or, {_WRONG_VIEWPOINT}"
    return Finding(seen, cause, key, f"{advice}; docs/ADD_A_GAME.md says how rules are tested")


def window_too_small(run: Run) -> Finding | None:
    """The replay window forgets within a few iterations."""
    num_samples, window = run.mean("selfplay.num_samples", 3), run.rows[-1]["window"]
    iterations = window / max(num_samples, 1)
    is_full = sum(run.figures("selfplay.num_samples")) > window
    if len(run.rows) < 3 or not is_full or not run.is_beyond(SHORT_WINDOW, iterations):
        return None
    key, advice = "replay.window_start", f"{round(10 * num_samples, -2):,.0f} holds those of ten"
    if window >= run.settings.replay.window_max:
        key = "replay.window_max"
    elif run.settings.replay.window_iterations:
        key, advice = "replay.window_iterations", "10, or 0 for a window that grows with the run"
    seen = f"the window holds the samples of the last {iterations:.1f} iterations only"
    cause = "it is smaller than what a few iterations produce, so the network forgets"
    return Finding(seen, cause, key, advice)


def overfitting(run: Run) -> Finding | None:
    """The held-out loss is far above the loss on the replay window.

    An iteration's held-out loss is compared with the loss of the iteration before: both are of the
    same network. The first iteration is left out, since its loss is that of an untrained network.
    """
    pairs = [pair for pair in zip(run.rows, run.rows[1:]) if pair[0]["iteration"] >= 2][-3:]
    held_out = mean([figure(after, "held_out.loss") for _, after in pairs])
    on_window = mean([figure(before, "learner.loss") for before, _ in pairs])
    if len(pairs) < 3 or not run.is_beyond(OVERFITTED, held_out, on_window):
        return None
    seen = (
        f"the held-out loss is {held_out:.2f}, the loss on the window {on_window:.2f}: the network "
        "memorizes its samples"
    )
    learner, num_samples = run.settings.learner, run.rows[-1]["selfplay.num_samples"]
    cause = "each sample is trained on too often"
    if learner.epochs:
        advice = f"fewer than {learner.epochs}; 0 lets learner.replay_ratio decide"
        return Finding(seen, cause, "learner.epochs", advice)
    if learner.replay_ratio > 10:
        return Finding(seen, cause, "learner.replay_ratio", "4 to 8 is usual")
    if run.rows[-1]["window"] < 4 * num_samples:
        advice = f"{10 * num_samples:,.0f} holds the samples of ten iterations"
        return Finding(seen, "the window holds too few games", "replay.window_start", advice)
    cause = "too few games for a network of this size"
    advice = "more games, or a smaller network"
    return Finding(seen, cause, "selfplay.games_per_iteration", advice)


def learning_rate_too_high(run: Run) -> Finding | None:
    """Steps destroy more than they teach; any of four signs is enough."""
    if len(run.rows) < 3:
        return None
    signs, learner = [], run.settings.learner
    losses = run.figures("learner.loss")
    loss = mean(losses[-3:])
    uninformed = run.mean("learner.uninformed_policy_loss", 3)
    uninformed += learner.value_weight * run.mean("learner.uninformed_value_loss", 3)
    if run.is_beyond(WORSE_THAN_UNINFORMED, loss, uninformed):
        signs.append(
            f"the loss is {loss:.3g}, worse than {uninformed:.3g} of an uninformed predictor"
        )
    ends = range(max(len(losses) - 20, 4), len(losses) + 1)
    lowest = min((mean(losses[end - 3 : end]) for end in ends), default=math.nan)
    if run.is_beyond(RISEN, loss, lowest):
        signs.append(f"the loss has risen from {lowest:.3g} to {loss:.3g}")
    gradient, size = run.mean("learner.gradient_norm", 3), run.mean("learner.weight_size", 3)
    limit = learner.max_gradient_norm or UNCLIPPED_NORM
    if run.is_beyond(STEEP, gradient, limit):
        what = "its limit" if learner.max_gradient_norm else "the usual value"
        signs.append(f"the gradient norm is {gradient:.3g}, far above {what} of {limit:g}")
    if run.is_beyond(LARGE_WEIGHTS, size):
        signs.append(f"the weights have grown to {size:.2g} on average, where 0.1 is usual")
    return Finding("; ".join(signs), "steps too large", *_lower_rate(run)) if signs else None


# --- the gate, the strength, the disk -------------------------------------------------------------


def pit_cannot_decide(run: Run) -> Finding | None:
    """Nearly all pairs of games in the pits end even, so the gate rejects whatever is learned."""
    pits = [row for row in run.rows if "pit.ties" in row][-NUM_UNDECIDED:]
    ties = mean([2 * pit["pit.ties"] / _num_games(pit, "pit") for pit in pits])
    are_accepted = run.settings.pit.tie_score >= run.settings.pit.acceptance
    if len(pits) < NUM_UNDECIDED or ties < TIED[run.is_on] or are_accepted:
        return None
    return Finding(
        f"{ties:.0%} of the pairs of games in the newest {len(pits)} pits ended even",
        "the networks play alike: both have learned all that their searches show, or nothing",
        "pit.tie_score",
        "1 accepts a network that is as good as the old one; fewer pit.num_simulations tell "
        "networks apart that a deep search makes equal",
    )


def pit_always_rejects(run: Run) -> Finding | None:
    """The gate accepts no network."""
    pits = [row["pit.accepted"] for row in run.rows if "pit.accepted" in row][-NUM_PITS:]
    if not pits or any(pits) or len(pits) < NUM_PITS and not run.is_on:
        return None
    if pit_cannot_decide(run) is not None:
        return None  # that is the cause
    return Finding(
        f"the newest {len(pits)} networks were all rejected, and what they learned is lost",
        "the training between two pits is too little to show in so few games, or does harm",
        "pit.acceptance",
        "0.5 accepts equal networks, and pit.num_games=100 measures better; pit=off leaves the "
        "gate out, as AlphaZero did",
    )


def strength_stalled(run: Run) -> Finding | None:
    """The score against UCT does not rise although there is much to gain."""
    measured = [row for row in run.rows if "strength.score" in row][-2 * NUM_STRENGTHS :]
    halves = measured[:NUM_STRENGTHS], measured[NUM_STRENGTHS:]
    fewest_games = min(sum(_num_games(row, "strength") for row in half) for half in halves)
    if len(measured) < 2 * NUM_STRENGTHS or fewest_games < MIN_STRENGTH_GAMES:
        return None
    before, now = (mean([row["strength.score"] for row in half]) for half in halves)
    if now > before or now >= GOOD_SCORE:
        return None
    seen = (
        f"the score against UCT was {before:.0%} and is {now:.0%}, {NUM_STRENGTHS} measurements "
        "later"
    )
    if run.settings.learner.learning_rate < MIN_LEARNING_RATE:
        return _steps_too_small(seen, run.settings)
    cause = "searches too short to be better than the network, or a network too small for the game"
    advice = f"{2 * run.settings.selfplay.num_simulations}, or a larger network"
    return Finding(seen, cause, "selfplay.num_simulations", advice)


def _num_games(row: dict[str, Any], match: str) -> int:
    """Return the number of games of a match that was played in a row's iteration."""
    return row[f"{match}.wins"] + row[f"{match}.draws"] + row[f"{match}.losses"]


def disk_nearly_full(run: Run) -> Finding | None:
    """Little space is left for the files of the run."""
    free = figure(run.rows[-1], "free_disk_gb")
    if not run.is_beyond(DISK_GB, free):
        return None
    return Finding(
        f"{free:.2f} GB are left on the disk of this run",
        "other files, or many runs",
        "run.root",
        "a folder on another disk, or free some space; run.keep_networks is the number of networks "
        "that are kept",
    )


def workers_die(run: Run) -> Finding | None:
    """Workers are lost about as fast as they come."""
    lost = run.mean("workers.num_lost", NUM_WORKER_ITERATIONS)
    present = run.mean("workers.num_workers", NUM_WORKER_ITERATIONS)
    if not run.is_beyond(WORKERS_LOST, lost, max(present, 1)):
        return None
    return Finding(
        f"{lost:.1f} workers are lost in an iteration, and {present:.1f} are there",
        "machines that are taken away, too little memory, or an error that the console names",
        "workers.memory_gb",
        "what a worker needs, so that it is placed where there is room; or fewer "
        "selfplay.num_parallel_games",
    )


def games_too_old(run: Run) -> Finding | None:
    """Many games are dropped, because the network has learned too often meanwhile."""
    dropped = run.mean("workers.stale_fraction", NUM_WORKER_ITERATIONS)
    if not run.is_beyond(TOO_OLD, dropped):
        return None
    return Finding(
        f"{dropped:.0%} of the games are dropped as too old",
        "iterations that are short beside the time of a game on a worker",
        "selfplay.games_per_iteration",
        f"{2 * run.settings.selfplay.games_per_iteration}, or a larger workers.max_staleness",
    )


CHECKS = (
    games_repeat,
    entropy_collapsed,
    value_head_learns_nothing,
    first_player_always_wins,
    second_player_always_wins,
    only_draws,
    window_too_small,
    overfitting,
    learning_rate_too_high,
    pit_cannot_decide,
    pit_always_rejects,
    strength_stalled,
    disk_nearly_full,
    workers_die,
    games_too_old,
)


# --- learning rates -------------------------------------------------------------------------------


def _lower_rate(run: Run) -> tuple[str, str]:
    """Return the key and the advice if steps are too large."""
    key, rate = lower_rate(run.settings)
    return key, f"try {rate}"


def lower_rate(settings: TrainSettings) -> tuple[str, str]:
    """Return the key and a value to try if steps are too large.

    That is the usual rate of the optimizer, or a fifth of a rate that is not far above the usual.
    """
    learner = settings.learner
    usual = USUAL_RATE[learner.optimizer]
    rises = learner.schedule != "constant" and learner.final_learning_rate > learner.learning_rate
    name = "final_learning_rate" if rises else "learning_rate"
    rate = getattr(learner, name)
    return f"learner.{name}", f"{usual if rate > 5 * usual else rate / 5:.2g}"


def _steps_too_small(seen: str, settings: TrainSettings) -> Finding:
    optimizer = settings.learner.optimizer
    advice = f"{USUAL_RATE[optimizer]:g} is usual with {optimizer}"
    return Finding(seen, "steps too small to learn anything", "learner.learning_rate", advice)
