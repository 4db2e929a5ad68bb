"""The symptoms of a training run that goes wrong, each with its likely cause and the setting to change.

In: the vital figures of the newest iterations, the settings. Out: a `Finding` where a symptom is there. Every limit is a pair, so that a figure
that wavers does not switch an alarm on and off; it stands here with the reason for it. "Healthy" means the runs behind docs/HEALTH.md:
tic-tac-toe, Connect Four and Othello with the shipped configs, and the published notebook's recipe for the first two. `alphazero.training.health` keeps
the figures from iteration to iteration; nothing here remembers anything.
"""

import math
from typing import NamedTuple

from alphazero.training.settings import TrainSettings


class Vitals(NamedTuple):
    """What the symptoms are read from: the figures of one iteration, all of them float, NaN where there is none. See `alphazero.training.events`."""

    iteration: float
    num_games: float
    num_samples: float
    window: float
    distinct_games: float
    first_player_wins: float
    draws: float
    num_steps: float
    loss: float  #: policy loss + value_weight * value loss, without the auxiliary heads'
    policy_entropy: float
    target_entropy: float
    value_loss: float
    uninformed_policy_loss: float
    uninformed_value_loss: float
    gradient_norm: float
    weight_size: float
    held_out_loss: float
    pit_accepted: float
    strength: float
    strength_games: float
    free_disk_gb: float


class Finding(NamedTuple):
    """A symptom that is there; three parts of a text for a person."""

    seen: str  #: what is wrong, with the figures
    cause: str  #: the likely one
    key: str  #: the setting to change
    advice: str  #: what to change it to, or what to do beside


class Limit(NamedTuple):
    """Where an alarm begins, and where it is over."""

    begins: float
    ends: float


DISTINCT = Limit(
    0.5, 0.6
)  # share of the games; below, half of self-play's time buys nothing new. Healthy: 0.74 and more
CERTAIN = Limit(
    0.05, 0.08
)  # entropy as a share of that of equal chances; healthy: 0.4 and more, 0.1 in a game that is won in three plies
USELESS_VALUE = Limit(
    0.98, 0.95
)  # value loss as a share of the constant answer's; healthy: 0.94 after the first iteration, then falling
ONE_SIDED = Limit(0.97, 0.9)  # share of the games; healthy: 0.6 at the most
ALL_DRAWN = Limit(
    0.99, 0.95
)  # share of the games; tic-tac-toe played perfectly and without chance: 0.97
SHORT_WINDOW = Limit(2.0, 2.5)  # iterations whose rows the window holds; healthy: 3.3 and more
OVERFITTED = Limit(
    1.25, 1.15
)  # loss on games not yet learned from over that on the window; healthy: 0.9 to 1.06
WORSE_THAN_NOTHING = Limit(
    1.2, 1.1
)  # loss over that of a network that knows nothing; healthy: 0.97 in the first iteration, then falling
RISEN = Limit(1.25, 1.15)  # loss over the lowest of late; healthy: 1.05 at the most
STEEP = Limit(
    4.0, 3.0
)  # mean gradient norm over the norm it is clipped to; healthy: 0.5 at the most
LARGE_WEIGHTS = Limit(1.0, 0.8)  # root of the weights' mean square; healthy: 0.06 to 0.5
DISK_GB = Limit(1.0, 2.0)  # a run of the shipped configs writes up to 0.2 GB
MIN_GAMES = 30  # for a share of distinct games
MIN_RESULTS = (
    100  # for a share of results: of 100 fair games 97 are alike with a chance below 1e-24
)
MIN_STEPS = 500  # before the value head is judged
MIN_VALUE_LOSS = 0.05  # of the constant answer; below, nearly all games end alike, and there is nothing to tell apart
UNCLIPPED_NORM = 5.0  # stands in for learner.max_gradient_norm=0
NUM_PITS = 5  # rejected one after the other; of two equal networks, the new one fails at 0.55 about two times in three
NUM_STRENGTHS = 4  # measurements in each of the two halves that are compared
MIN_STRENGTH_GAMES = 100  # in each half; a score's standard error is then 0.05 at the most
USUAL_RATE = {"muon": 2e-3, "adamw": 2e-3, "adam": 2e-3, "sgd": 5e-2}  # of learning
GOOD_SCORE = 0.9  # against UCT: there is not much left to gain


def games_repeat(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """Games whose moves another game of the iteration has too: nothing is drawn by chance."""
    share = _share_of_games(past, "distinct_games", MIN_GAMES)
    if not share < DISTINCT[on]:
        return None
    selfplay, noise = settings.selfplay, settings.search.dirichlet_fraction
    if (
        selfplay.temperature == 0
        or selfplay.num_sampled_plies == 0
        and selfplay.temperature_half_life == 0
        and selfplay.final_temperature == 0
    ):
        key = "selfplay.num_sampled_plies" if selfplay.temperature else "selfplay.temperature"
        cause, advice = (
            "moves are not drawn by chance: the most visited one is always played",
            "1 is usual for the temperature, 15 for its plies",
        )
    elif noise == 0:
        cause, key, advice = (
            "the search has no noise at its root",
            "search.dirichlet_fraction",
            "0.25 is usual",
        )
    else:
        cause = "the network is nearly certain of its moves, or the game has few lines of play"
        key, advice = _openings(settings)
    return Finding(
        f"only {share:.0%} of the newest games differ from each other", cause, key, advice
    )


def entropy_collapsed(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """A policy, or a target for it, that puts everything on one move almost everywhere."""
    equal = max(_mean(past[-2:], "uninformed_policy_loss"), 1e-9)
    shares = [
        (_mean(past[-2:], name) / equal, name) for name in ("policy_entropy", "target_entropy")
    ]
    low = [(share, name) for share, name in shares if share < CERTAIN[on]]
    if not low:
        return None
    share, name = min(low)
    who = {"policy_entropy": "the network's policy", "target_entropy": "the search"}[name]
    seen = f"{who} is almost certain of one move everywhere: its entropy is {share:.0%} of that of equal chances"
    search = settings.search
    if search.pb_c_init < 0.2:
        return Finding(seen, "the search hardly explores", "search.pb_c_init", "1.25 is usual")
    if search.dirichlet_fraction == 0:
        return Finding(
            seen,
            "without noise at the root the search only confirms the network",
            "search.dirichlet_fraction",
            "0.25 is usual",
        )
    if search.root_prior_temperature < 1:
        return Finding(
            seen,
            "the root's priors are sharpened",
            "search.root_prior_temperature",
            "1 leaves them, 1.25 flattens them a little",
        )
    key, rate = lower_rate(settings)
    return Finding(
        seen, "steps so large that the network follows its own first opinions", key, f"try {rate}"
    )


def value_head_learns_nothing(
    past: list[Vitals], settings: TrainSettings, on: bool
) -> Finding | None:
    """A value head that is no better than one answer for all positions."""
    newest = past[-3:]
    baseline = _mean(newest, "uninformed_value_loss")
    share = _mean(newest, "value_loss") / max(baseline, 1e-9)
    judged = (
        len(past) > 3
        and sum(vitals.num_steps for vitals in past) >= MIN_STEPS
        and baseline >= MIN_VALUE_LOSS
    )
    if not judged or not share > USELESS_VALUE[on]:
        return None
    seen = f"the value head is no better than one answer for all positions: its loss is {share:.0%} of that answer's"
    learner = settings.learner
    if learner.value_weight < 0.1:
        return Finding(seen, "the value loss hardly counts", "learner.value_weight", "1 is usual")
    if learner.learning_rate < 1e-5:
        return Finding(
            seen,
            "steps too small to learn anything",
            "learner.learning_rate",
            _usual_rate(settings),
        )
    cause = (
        "steps too large; or, in a game of your own, results from the viewpoint of the wrong player"
    )
    key, rate = lower_rate(settings)
    return Finding(seen, cause, key, f"try {rate}; docs/ADD_A_GAME.md says how rules are tested")


def first_player_always_wins(
    past: list[Vitals], settings: TrainSettings, on: bool
) -> Finding | None:
    """Results that are known before the first move."""
    return _one_sided(
        "first", _share_of_games(past, "first_player_wins", MIN_RESULTS), settings, on
    )


def second_player_always_wins(
    past: list[Vitals], settings: TrainSettings, on: bool
) -> Finding | None:
    """The same for the other side."""
    lost = (
        1
        - _share_of_games(past, "first_player_wins", MIN_RESULTS)
        - _share_of_games(past, "draws", MIN_RESULTS)
    )
    return _one_sided("second", lost, settings, on)


def only_draws(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """Draws alone: results that teach nothing."""
    share = _share_of_games(past, "draws", MIN_RESULTS)
    if not share > ALL_DRAWN[on]:
        return None
    cause = "play without mistakes, where the game is a draw; or, in a game of your own, rules that call a win a draw"
    return Finding(f"{share:.0%} of the newest games are draws", cause, *_openings(settings))


def window_too_small(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """A window that forgets within a few iterations."""
    made = sum(vitals.num_samples for vitals in past)
    iterations = past[-1].window / max(_mean(past[-3:], "num_samples"), 1)
    if len(past) < 3 or not made > past[-1].window or not iterations < SHORT_WINDOW[on]:
        return None
    key = (
        "replay.window_max"
        if past[-1].window >= settings.replay.window_max
        else "replay.window_start"
    )
    seen = f"the window holds the rows of the last {iterations:.1f} iterations only"
    wanted = round(10 * _mean(past[-3:], "num_samples"), -2)
    return Finding(
        seen,
        "it is smaller than what a few iterations make, so the network forgets",
        key,
        f"{wanted:,.0f} would hold ten of them",
    )


def overfitting(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """A loss on new games that is far above the one on games that were learned from."""
    pairs = [
        (before, after) for before, after in zip(past[:-1], past[1:]) if before.iteration >= 2
    ][-3:]
    if len(pairs) < 3:
        return None
    held_out, learned = (
        sum(losses) / 3
        for losses in zip(*((after.held_out_loss, before.loss) for before, after in pairs))
    )
    if not held_out > OVERFITTED[on] * learned:
        return None
    seen = f"the loss is {held_out:.2f} on new games, but {learned:.2f} on those that were learned from: the network learns them by heart"
    learner, rows = settings.learner, past[-1].num_samples
    if learner.epochs:
        return Finding(
            seen,
            "each row is shown too often",
            "learner.epochs",
            f"fewer than {learner.epochs}; 0 lets learner.replay_ratio decide",
        )
    if learner.replay_ratio > 10:
        return Finding(
            seen, "each row is shown too often", "learner.replay_ratio", "4 to 8 is usual"
        )
    if past[-1].window < 4 * rows:
        return Finding(
            seen,
            "the window holds too few games",
            "replay.window_start",
            f"{10 * rows:,.0f} would hold ten iterations",
        )
    return Finding(
        seen,
        "too few games for a network of this size",
        "selfplay.games_per_iteration",
        "more games, or a smaller network",
    )


def learning_rate_too_high(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """Steps that destroy more than they teach; any of four signs."""
    if len(past) < 3:
        return None
    learner, newest = settings.learner, past[-3:]
    loss, gradient, size = (
        _mean(newest, name) for name in ("loss", "gradient_norm", "weight_size")
    )
    ignorance = _mean(newest, "uninformed_policy_loss") + learner.value_weight * _mean(
        newest, "uninformed_value_loss"
    )
    lowest = min(
        (
            _mean(past[end - 3 : end], "loss")
            for end in range(max(len(past) - 20, 4), len(past) + 1)
        ),
        default=math.nan,
    )
    clip = learner.max_gradient_norm or UNCLIPPED_NORM
    signs = []
    if loss > WORSE_THAN_NOTHING[on] * ignorance:
        signs.append(
            f"the loss of {loss:.3g} is worse than that of knowing nothing, {ignorance:.3g}"
        )
    if loss > RISEN[on] * lowest:
        signs.append(f"the loss has risen from {lowest:.3g} to {loss:.3g}")
    if gradient > STEEP[on] * clip:
        signs.append(
            f"the gradients' norm is {gradient:.3g}, far above {'the usual' if not learner.max_gradient_norm else 'its limit,'} {clip:g}"
        )
    if size > LARGE_WEIGHTS[on]:
        signs.append(f"the weights have grown to {size:.2g} on average, where 0.1 is usual")
    key, rate = lower_rate(settings)
    return Finding("; ".join(signs), "steps too large", key, f"try {rate}") if signs else None


def pit_always_rejects(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """A gate that never opens."""
    pits = [vitals.pit_accepted for vitals in past if not math.isnan(vitals.pit_accepted)][
        -NUM_PITS:
    ]
    if not pits or any(pits) or len(pits) < NUM_PITS and not on:
        return None
    cause = "the learning between two pits is too little to show in so few games, or does harm"
    advice = "0.5 lets equal networks pass, and pit.num_games=100 measures better; pit=off does without, as AlphaZero did"
    return Finding(
        f"the newest {len(pits)} networks were all rejected, and what they learned is lost",
        cause,
        "pit.acceptance",
        advice,
    )


def strength_stalled(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """No progress against UCT although there is much to gain."""
    measured = [vitals for vitals in past if not math.isnan(vitals.strength)][-2 * NUM_STRENGTHS :]
    halves = measured[:NUM_STRENGTHS], measured[NUM_STRENGTHS:]
    if (
        len(measured) < 2 * NUM_STRENGTHS
        or min(sum(vitals.strength_games for vitals in half) for half in halves)
        < MIN_STRENGTH_GAMES
    ):
        return None
    before, now = (_mean(half, "strength") for half in halves)
    if now > before or now >= GOOD_SCORE:
        return None
    seen = f"the score against UCT was {before:.0%} and is {now:.0%}, {NUM_STRENGTHS} measurements later"
    if settings.learner.learning_rate < 1e-5:
        return Finding(
            seen,
            "steps too small to learn anything",
            "learner.learning_rate",
            _usual_rate(settings),
        )
    cause = "searches that are too short to be better than the network, or a network too small for the game"
    return Finding(
        seen,
        cause,
        "selfplay.num_simulations",
        f"{2 * settings.selfplay.num_simulations}, or a larger network",
    )


def disk_nearly_full(past: list[Vitals], settings: TrainSettings, on: bool) -> Finding | None:
    """Little room for what a run leaves behind."""
    free = past[-1].free_disk_gb
    if not free < DISK_GB[on]:
        return None
    advice = "a folder on another disk, or free some room; run.keep_networks says how many networks are kept"
    return Finding(
        f"{free:.2f} GB are left on the disk of this run",
        "other files, or many runs",
        "run.root",
        advice,
    )


def lower_rate(settings: TrainSettings) -> tuple[str, str]:
    """Return a key and a value worth trying where steps are too large: the optimiser's usual size, or a fifth of one that is not far above it."""
    learner = settings.learner
    usual = USUAL_RATE[learner.optimizer]
    name = (
        "final_learning_rate"
        if learner.schedule != "constant" and learner.final_learning_rate > learner.learning_rate
        else "learning_rate"
    )
    rate = getattr(learner, name)
    return f"learner.{name}", f"{usual if rate > 5 * usual else rate / 5:.2g}"


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
    pit_always_rejects,
    strength_stalled,
    disk_nearly_full,
)


def _mean(past: list[Vitals], name: str) -> float:
    return sum(getattr(vitals, name) for vitals in past) / len(past) if past else math.nan


def _share_of_games(past: list[Vitals], name: str, num_games: int) -> float:
    """Return a share over the newest iterations that together have so many games, NaN if there are not so many."""
    games = total = 0.0
    for vitals in reversed(past):
        games += vitals.num_games
        total += vitals.num_games * getattr(vitals, name)
        if games >= num_games:
            return total / games
    return math.nan


def _one_sided(player: str, share: float, settings: TrainSettings, on: bool) -> Finding | None:
    if not share > ONE_SIDED[on]:
        return None
    cause = "the game favours one side that much; or, in a game of your own, results from the viewpoint of the wrong player"
    return Finding(
        f"the {player} player wins {share:.0%} of the newest games", cause, *_openings(settings)
    )


def _openings(settings: TrainSettings) -> tuple[str, str]:
    """Return the key and the advice that make games differ."""
    selfplay = settings.selfplay
    if selfplay.random_opening_fraction < 0.5:
        return "selfplay.random_opening_fraction", "0.5 begins half of the games with random moves"
    return (
        "selfplay.random_opening_plies",
        f"up to {2 * selfplay.random_opening_plies} random moves at the beginning",
    )


def _usual_rate(settings: TrainSettings) -> str:
    optimizer = settings.learner.optimizer
    return f"{USUAL_RATE[optimizer]:g} is usual with {optimizer}"
