"""The symptoms of a training run that goes wrong, each with its likely cause and what to change.

In: the vital figures of the newest iterations, and the settings. Out: a `Finding` for each symptom
that is present. Every limit is a pair, so that a figure that fluctuates does not switch an alarm on
and off. "Healthy" below means the runs of docs/HEALTH.md: tic-tac-toe, Connect Four and Othello
with the shipped configs, and small networks for the first two.
`alphazero.training.health` keeps the figures between iterations; nothing here has a memory.
"""

import math
from typing import NamedTuple

from alphazero.training.settings import TrainSettings
from alphazero.training.vitals import Vitals, fraction_of_games, mean


class Finding(NamedTuple):
    """A symptom that is present, as texts without a full stop."""

    seen: str  #: what is wrong, with the figures
    cause: str  #: the likely cause
    key: str  #: the setting to change
    advice: str  #: what to change it to, or what else to do


class Limit(NamedTuple):
    """Where an alarm begins, and where it ends."""

    begins: float
    ends: float


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


# --- the games ------------------------------------------------------------------------------------


def games_repeat(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """Most games have the moves of another game of the iteration: too little is random."""
    distinct = fraction_of_games(past, "distinct_games", MIN_GAMES)
    if not distinct < DISTINCT[on]:
        return None
    seen = f"only {distinct:.0%} of the newest games differ from each other"
    selfplay = settings.selfplay
    never_sampled = selfplay.num_sampled_plies == 0 and selfplay.temperature_half_life == 0
    if selfplay.temperature == 0 or never_sampled and selfplay.final_temperature == 0:
        key = "selfplay.num_sampled_plies" if selfplay.temperature else "selfplay.temperature"
        advice = "a temperature of 1 for 15 plies is usual"
        return Finding(seen, "moves are not sampled: the most visited one is played", key, advice)
    if settings.search.dirichlet_fraction == 0:
        return Finding(
            seen, "the search has no root noise", "search.dirichlet_fraction", "0.25 is usual"
        )
    cause = "the network is nearly certain of its moves, or the game has few lines of play"
    return Finding(seen, cause, *_more_openings(settings))


def first_player_always_wins(
    past: list[Vitals], settings: TrainSettings, on: bool
) -> Finding | None:
    """Nearly all games have the same winner: the results teach nothing."""
    wins = fraction_of_games(past, "first_player_wins", MIN_RESULTS)
    return _one_sided("first", wins, settings, on)


def second_player_always_wins(
    past: list[Vitals], settings: TrainSettings, on: bool
) -> Finding | None:
    """The same for the other player."""
    wins = fraction_of_games(past, "first_player_wins", MIN_RESULTS)
    draws = fraction_of_games(past, "draws", MIN_RESULTS)
    return _one_sided("second", 1 - wins - draws, settings, on)


def only_draws(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """Nearly all games are draws: the results teach nothing."""
    draws = fraction_of_games(past, "draws", MIN_RESULTS)
    if not draws > ALL_DRAWN[on]:
        return None
    cause = (
        "perfect play, where the game is a draw; or, in a game of your own, rules that call a win "
        "a draw"
    )
    return Finding(f"{draws:.0%} of the newest games are draws", cause, *_more_openings(settings))


def _one_sided(player: str, wins: float, settings: TrainSettings, on: bool) -> Finding | None:
    if not wins > ONE_SIDED[on]:
        return None
    cause = f"a game that favours one side that much; or, {_WRONG_VIEWPOINT}"
    seen = f"the {player} player wins {wins:.0%} of the newest games"
    return Finding(seen, cause, *_more_openings(settings))


def _more_openings(settings: TrainSettings) -> tuple[str, str]:
    """Return the key and the advice that make games differ."""
    selfplay = settings.selfplay
    if selfplay.random_opening_fraction < 0.5:
        return "selfplay.random_opening_fraction", "0.5 begins half of the games with random moves"
    plies = 2 * selfplay.random_opening_plies
    return "selfplay.random_opening_plies", f"{plies} allows openings of up to {plies} random moves"


# --- what is learned ------------------------------------------------------------------------------


def entropy_collapsed(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """The network's policy, or the policy target, puts everything on one move almost everywhere."""
    newest = past[-2:]
    uniform = max(mean(newest, "uninformed_policy_loss"), 1e-9)
    policies = {"policy_entropy": "the network's policy", "target_entropy": "the search"}
    fractions = [(mean(newest, name) / uniform, who) for name, who in policies.items()]
    low = [(fraction, who) for fraction, who in fractions if fraction < CERTAIN[on]]
    if not low:
        return None
    fraction, who = min(low)
    seen = (
        f"{who} is almost certain of one move everywhere: its entropy is {fraction:.0%} of that of "
        "the uniform policy"
    )
    search = settings.search
    if search.pb_c_init < 0.2:
        return Finding(seen, "the search hardly explores", "search.pb_c_init", "1.25 is usual")
    if search.dirichlet_fraction == 0:
        cause = "without root noise the search only confirms the network"
        return Finding(seen, cause, "search.dirichlet_fraction", "0.25 is usual")
    if search.root_prior_temperature < 1:
        advice = "1 leaves the priors as they are, 1.25 flattens them a little"
        cause = "the root's priors are sharpened"
        return Finding(seen, cause, "search.root_prior_temperature", advice)
    key, rate = lower_rate(settings)
    cause = "steps so large that the network follows its own first opinions"
    return Finding(seen, cause, key, f"try {rate}")


def value_head_learns_nothing(
    past: list[Vitals], settings: TrainSettings, on: bool
) -> Finding | None:
    """The value head is no better than a constant prediction."""
    newest = past[-3:]
    constant = mean(newest, "uninformed_value_loss")
    fraction = mean(newest, "value_loss") / max(constant, 1e-9)
    num_steps = sum(vitals.num_steps for vitals in past)
    can_be_judged = len(past) > 3 and num_steps >= MIN_STEPS and constant >= MIN_VALUE_LOSS
    if not can_be_judged or not fraction > USELESS_VALUE[on]:
        return None
    seen = (
        f"the value head is no better than a constant: its loss is {fraction:.0%} of a constant's"
    )
    learner = settings.learner
    if learner.value_weight < 0.1:
        cause = "the value loss hardly counts"
        return Finding(seen, cause, "learner.value_weight", "1 is usual")
    if learner.learning_rate < MIN_LEARNING_RATE:
        return _steps_too_small(seen, settings)
    key, rate = lower_rate(settings)
    cause = f"steps too large; or, {_WRONG_VIEWPOINT}"
    return Finding(seen, cause, key, f"try {rate}; docs/ADD_A_GAME.md says how rules are tested")


def window_too_small(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """The replay window forgets within a few iterations."""
    num_samples = mean(past[-3:], "num_samples")
    window = past[-1].window
    iterations = window / max(num_samples, 1)
    is_full = sum(vitals.num_samples for vitals in past) > window
    if len(past) < 3 or not is_full or not iterations < SHORT_WINDOW[on]:
        return None
    key, advice = "replay.window_start", f"{round(10 * num_samples, -2):,.0f} holds those of ten"
    if window >= settings.replay.window_max:
        key = "replay.window_max"
    elif settings.replay.window_iterations:
        key, advice = "replay.window_iterations", "10, or 0 for a window that grows with the run"
    return Finding(
        f"the window holds the samples of the last {iterations:.1f} iterations only",
        "it is smaller than what a few iterations produce, so the network forgets",
        key,
        advice,
    )


def overfitting(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """The held-out loss is far above the loss on the replay window.

    An iteration's held-out loss is compared with the loss of the iteration before: both are of the
    same network. The first iteration is left out, since its loss is that of an untrained network.
    """
    pairs = [pair for pair in zip(past[:-1], past[1:]) if pair[0].iteration >= 2][-3:]
    if len(pairs) < 3:
        return None
    held_out = sum(after.held_out_loss for _, after in pairs) / 3
    on_window = sum(before.loss for before, _ in pairs) / 3
    if not held_out > OVERFITTED[on] * on_window:
        return None
    seen = (
        f"the held-out loss is {held_out:.2f}, the loss on the window {on_window:.2f}: the network "
        "memorizes its samples"
    )
    learner, num_samples = settings.learner, past[-1].num_samples
    cause = "each sample is trained on too often"
    if learner.epochs:
        advice = f"fewer than {learner.epochs}; 0 lets learner.replay_ratio decide"
        return Finding(seen, cause, "learner.epochs", advice)
    if learner.replay_ratio > 10:
        return Finding(seen, cause, "learner.replay_ratio", "4 to 8 is usual")
    if past[-1].window < 4 * num_samples:
        advice = f"{10 * num_samples:,.0f} holds the samples of ten iterations"
        return Finding(seen, "the window holds too few games", "replay.window_start", advice)
    cause = "too few games for a network of this size"
    advice = "more games, or a smaller network"
    return Finding(seen, cause, "selfplay.games_per_iteration", advice)


def learning_rate_too_high(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """Steps destroy more than they teach; any of four signs is enough."""
    if len(past) < 3:
        return None
    signs = [*_signs_in_the_loss(past, settings, on), *_signs_in_the_steps(past, settings, on)]
    if not signs:
        return None
    key, rate = lower_rate(settings)
    return Finding("; ".join(signs), "steps too large", key, f"try {rate}")


def _signs_in_the_loss(past: list[Vitals], settings: TrainSettings, on: bool) -> list[str]:
    """Return what shows in the loss that the steps are too large."""
    newest, signs = past[-3:], []
    loss = mean(newest, "loss")
    uninformed = mean(newest, "uninformed_policy_loss")
    uninformed += settings.learner.value_weight * mean(newest, "uninformed_value_loss")
    if loss > WORSE_THAN_UNINFORMED[on] * uninformed:
        signs.append(
            f"the loss is {loss:.3g}, worse than {uninformed:.3g} of an uninformed predictor"
        )
    ends = range(max(len(past) - 20, 4), len(past) + 1)
    lowest = min((mean(past[end - 3 : end], "loss") for end in ends), default=math.nan)
    if loss > RISEN[on] * lowest:
        signs.append(f"the loss has risen from {lowest:.3g} to {loss:.3g}")
    return signs


def _signs_in_the_steps(past: list[Vitals], settings: TrainSettings, on: bool) -> list[str]:
    """Return what shows in gradients and weights that the steps are too large."""
    newest, signs = past[-3:], []
    gradient, size = mean(newest, "gradient_norm"), mean(newest, "weight_size")
    limit = settings.learner.max_gradient_norm or UNCLIPPED_NORM
    if gradient > STEEP[on] * limit:
        what = "its limit" if settings.learner.max_gradient_norm else "the usual value"
        signs.append(f"the gradient norm is {gradient:.3g}, far above {what} of {limit:g}")
    if size > LARGE_WEIGHTS[on]:
        signs.append(f"the weights have grown to {size:.2g} on average, where 0.1 is usual")
    return signs


# --- the gate, the strength, the disk -------------------------------------------------------------


def pit_cannot_decide(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """Nearly all pairs of games in the pits end even, so the gate rejects whatever is learned."""
    pits = [vitals for vitals in past if not math.isnan(vitals.pit_ties)][-NUM_UNDECIDED:]
    ties = mean(pits, "pit_ties")
    are_accepted = settings.pit.tie_score >= settings.pit.acceptance
    if len(pits) < NUM_UNDECIDED or ties < TIED[on] or are_accepted:
        return None
    return Finding(
        f"{ties:.0%} of the pairs of games in the newest {len(pits)} pits ended even",
        "the networks play alike: both have learned all that their searches show, or nothing",
        "pit.tie_score",
        "1 accepts a network that is as good as the old one; fewer pit.num_simulations tell "
        "networks apart that a deep search makes equal",
    )


def pit_always_rejects(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """The gate accepts no network."""
    pits = [vitals.pit_accepted for vitals in past if not math.isnan(vitals.pit_accepted)]
    pits = pits[-NUM_PITS:]
    if not pits or any(pits) or len(pits) < NUM_PITS and not on:
        return None
    if pit_cannot_decide(past, settings, on) is not None:
        return None  # that is the cause
    return Finding(
        f"the newest {len(pits)} networks were all rejected, and what they learned is lost",
        "the training between two pits is too little to show in so few games, or does harm",
        "pit.acceptance",
        "0.5 accepts equal networks, and pit.num_games=100 measures better; pit=off leaves the "
        "gate out, as AlphaZero did",
    )


def strength_stalled(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """The score against UCT does not rise although there is much to gain."""
    measured = [vitals for vitals in past if not math.isnan(vitals.strength)]
    measured = measured[-2 * NUM_STRENGTHS :]
    halves = measured[:NUM_STRENGTHS], measured[NUM_STRENGTHS:]
    fewest_games = min(sum(vitals.strength_games for vitals in half) for half in halves)
    if len(measured) < 2 * NUM_STRENGTHS or fewest_games < MIN_STRENGTH_GAMES:
        return None
    before, now = (mean(half, "strength") for half in halves)
    if now > before or now >= GOOD_SCORE:
        return None
    seen = (
        f"the score against UCT was {before:.0%} and is {now:.0%}, {NUM_STRENGTHS} measurements "
        "later"
    )
    if settings.learner.learning_rate < MIN_LEARNING_RATE:
        return _steps_too_small(seen, settings)
    cause = "searches too short to be better than the network, or a network too small for the game"
    advice = f"{2 * settings.selfplay.num_simulations}, or a larger network"
    return Finding(seen, cause, "selfplay.num_simulations", advice)


def disk_nearly_full(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """Little space is left for the files of the run."""
    free = past[-1].free_disk_gb
    if not free < DISK_GB[on]:
        return None
    return Finding(
        f"{free:.2f} GB are left on the disk of this run",
        "other files, or many runs",
        "run.root",
        "a folder on another disk, or free some space; run.keep_networks is the number of networks "
        "that are kept",
    )


def workers_die(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """Workers are lost about as fast as they come."""
    newest = past[-NUM_WORKER_ITERATIONS:]
    lost, present = mean(newest, "workers_lost"), mean(newest, "num_workers")
    if not lost > WORKERS_LOST[on] * max(present, 1):
        return None
    return Finding(
        f"{lost:.1f} workers are lost in an iteration, and {present:.1f} are there",
        "machines that are taken away, too little memory, or an error that the console names",
        "workers.memory_gb",
        "what a worker needs, so that it is placed where there is room; or fewer "
        "selfplay.num_parallel_games",
    )


def games_too_old(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """Many games are dropped, because the network has learned too often meanwhile."""
    dropped = mean(past[-NUM_WORKER_ITERATIONS:], "stale_fraction")
    if not dropped > TOO_OLD[on]:
        return None
    return Finding(
        f"{dropped:.0%} of the games are dropped as too old",
        "iterations that are short beside the time of a game on a worker",
        "selfplay.games_per_iteration",
        f"{2 * settings.selfplay.games_per_iteration}, or a larger workers.max_staleness",
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
