"""Settings drawn from their schema: a run of them is refused in one line, or ends and resumes.

Every setting that a tiny run can have is drawn, at its borders and beyond them, several at once:
what breaks a run is how settings meet, such as a batch that is larger than the window.
"""

import collections
import json

import hypothesis
import pytest
from harness import GAME, tell, the_zygote
from hypothesis import strategies

from alphazero.config.settings import check, from_plain, rows, types_of
from alphazero.runtime.errors import ConfigError
from alphazero.training.settings import TrainSettings, check_run

pytestmark = pytest.mark.xdist_group("properties")

TYPES = types_of(TrainSettings)
ROWS = {row.key: row for row in rows(TrainSettings())}
#: What a tiny run cannot change: where it is, how long it takes, what is measured, other machines.
FIXED = ["run.", "game.", "device", "resume", "workers.", "evaluator.engine", "evaluator.precision"]
FIXED += ["network.kind", "network.options", "evaluation.prove", "evaluation.exact"]
#: The largest number that a tiny run can have; others are drawn up to `LARGEST`.
LARGEST, SMALLEST = 40, {"selfplay.num_parallel_games": 1}
CAPS = {"selfplay.num_simulations": 4, "pit.num_simulations": 4, "evaluation.num_simulations": 4}
CAPS |= {"network.blocks": 2, "network.channels": 8, "learner.epochs": 3, "learner.replay_ratio": 3}
CAPS |= {"selfplay.initial_num_simulations": 4, "evaluation.uct_simulations": 8}
CAPS |= {"evaluation.num_games": 2, "evaluation.final_num_games": 2, "pit.num_games": 4}
CHOICES = {"learner.precision": ["float32", "bfloat16"], "workers.overlap": [True, False]}
CHOICES |= {"workers.mode": ["free", "ordered"], "learner.step_at": [[], [0], [1, 0.5]]}


def bounds(key):
    """Return the lowest and the highest allowed number of a setting, None if there is none."""
    words = ROWS[key].allowed.split()
    low = high = None
    if "to" in words:
        low, high = words[0], words[2]
    elif words[1:] == ["or", "more"]:
        low = words[0]
    read = TYPES[key] if TYPES[key] in (int, float) else float
    return [None if text is None or "^" in text else read(float(text)) for text in (low, high)]


def values(key):
    """Return a strategy of values of a setting, few of them impossible."""
    row = ROWS[key]
    if key in CHOICES:
        return strategies.sampled_from(CHOICES[key])
    if TYPES[key] is bool:
        return strategies.booleans()
    if row.allowed.startswith("one of "):
        return strategies.sampled_from(row.allowed.removeprefix("one of ").split(", "))
    low, high = bounds(key)
    low = SMALLEST.get(key, low)
    top = min(CAPS.get(key, LARGEST), LARGEST if high is None else high)
    if TYPES[key] is int:
        return strategies.integers(low, top) | strategies.sampled_from([low, low, top, low - 1])
    return strategies.floats(low, top) | strategies.sampled_from([low, low, top, low - 1])


DRAWN = [key for key in ROWS if key in CHOICES or not key.startswith(tuple(FIXED))]
DRAWN = [
    key for key in DRAWN if TYPES[key] in (bool, int, float) or key in CHOICES or ROWS[key].allowed
]


@strategies.composite
def words(draw):
    """Draw settings as the arguments of a command line."""
    keys = draw(
        strategies.lists(strategies.sampled_from(DRAWN), min_size=2, max_size=12, unique=True)
    )
    return [
        f"{key}={json.dumps(draw(values(key)))}".replace('"', "").replace(" ", "") for key in keys
    ]


def test_settings_end_at_their_borders():
    assert len(DRAWN) > 60
    num_checked = 0
    for key in ROWS:
        if TYPES[key] not in (int, float):
            continue
        low, high = bounds(key)
        section, _, name = key.rpartition(".")
        for border, beyond in ((low, -1), (high, 1)):
            if border is None:
                continue
            inside, outside = (
                {section: {name: number}} if section else {name: number}
                for number in (border, border + beyond)
            )
            check(from_plain(TrainSettings, inside))
            with pytest.raises(ConfigError) as refused:
                check_run(from_plain(TrainSettings, outside))
            assert refused.value.key == key
            num_checked += 1
    tell("borders of settings", {"right": num_checked})
    assert num_checked > 100


@pytest.mark.faults
def test_drawn_settings_are_refused_or_train_and_resume(amount, tmp_path_factory):
    kinds = collections.Counter()

    @hypothesis.settings(
        max_examples=amount(3, 60),
        derandomize=True,
        deadline=None,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(words())
    @hypothesis.example(["workers.overlap=true", "selfplay.carry_over=false", "learner.epochs=2"])
    @hypothesis.example(["replay.window_start=1", "replay.window_max=1", "learner.batch_size=40"])
    @hypothesis.example(["learner.replay_ratio=0", "learner.ema_half_life_steps=3", "pit.every=1"])
    def try_settings(drawn):
        root = tmp_path_factory.mktemp("root")
        arguments = [root, *GAME, "run.num_iterations=1", *drawn]
        ended = the_zygote().run(arguments, call="forgery_cases:train_and_resume", timeout_s=120)
        assert ended.status == 0 and not ended.hung, (drawn, ended)
        kind, seen = json.loads(ended.stdout.splitlines()[-1])
        kinds[kind] += 1
        assert kind != "broken", (drawn, seen)

    try_settings()
    tell("drawn settings", kinds)
    assert kinds["ended"] > kinds["refused"] / 4
