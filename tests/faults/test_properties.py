"""Settings drawn from their schema: a run of them is refused in one line, or ends and resumes.

Every setting that a tiny run can have is drawn, at its borders and beyond them, several at once:
what breaks a run is how settings meet, such as a batch that is larger than the window.
"""

import json

import hypothesis
import pytest
from harness import amount, run
from hypothesis import strategies
from run_samples import TINY

from alphazero.config.settings import rows, types_of
from alphazero.network.weights import load_network
from alphazero.training.settings import TrainSettings

TYPES = types_of(TrainSettings)
ROWS = {row.key: row for row in rows(TrainSettings())}
#: What a tiny run cannot change: where it is, how long it takes, what is measured, other machines.
FIXED = ("run.", "game.", "device", "resume", "workers.", "evaluator.engine", "evaluator.precision")
FIXED += ("network.kind", "network.options", "evaluation.prove", "evaluation.exact")
#: The largest numbers that a tiny run can have, by the last word of their keys.
CAPS = {"num_simulations": 4, "uct_simulations": 8, "blocks": 2, "channels": 8, "epochs": 3}
CAPS |= {"num_games": 4, "replay_ratio": 3, "initial_num_simulations": 4}
DRAWN = [key for key in ROWS if not key.startswith(FIXED)]
DRAWN = [key for key in DRAWN if ROWS[key].allowed or TYPES[key] is bool]


def bounds(key):
    """Return the lowest and the highest allowed number of a setting, None if there is none."""
    words = ROWS[key].allowed.removeprefix("an even number, ").split()
    low = high = None
    if "to" in words:
        low, high = words[0], words[2]
    elif words[1:] == ["or", "more"]:
        low = words[0]
    read = TYPES[key] if TYPES[key] in (int, float) else float
    return [None if text is None or "^" in text else read(float(text)) for text in (low, high)]


def values(key):
    """Return a strategy of values of a setting, few of them impossible."""
    if TYPES[key] is bool:
        return strategies.booleans()
    if ROWS[key].allowed.startswith("one of "):
        return strategies.sampled_from(ROWS[key].allowed.removeprefix("one of ").split(", "))
    low, high = bounds(key)
    low = 1 if key == "selfplay.num_parallel_games" else low  # 0 measures what is fastest
    top = min(CAPS.get(key.rpartition(".")[2], 40), 40 if high is None else high)
    numbers = strategies.integers if TYPES[key] is int else strategies.floats
    return numbers(low, top) | strategies.sampled_from([low, low, top, low - 1])


@strategies.composite
def words(draw):
    """Draw settings as the arguments of a command line."""
    keys = strategies.lists(strategies.sampled_from(DRAWN), min_size=2, max_size=12, unique=True)
    texts = [f"{key}={json.dumps(draw(values(key)))}" for key in draw(keys)]
    return [text.replace('"', "").replace(" ", "") for text in texts]


@pytest.mark.slow
def test_drawn_settings_are_refused_or_train_and_resume(tmp_path_factory):
    num_ended = []

    @hypothesis.settings(
        max_examples=amount(10, 60),
        derandomize=True,
        deadline=None,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(words())
    @hypothesis.example(["replay.window_start=1", "replay.window_max=1", "learner.batch_size=40"])
    @hypothesis.example(["learner.replay_ratio=0", "learner.ema_half_life_steps=3", "pit.every=1"])
    def try_settings(drawn):
        root = tmp_path_factory.mktemp("root")
        first = ["game=tic_tac_toe", *TINY, "run.num_iterations=1", *drawn]
        for more in (first, ["resume=latest", "run.num_iterations=2", "game=tic_tac_toe"]):
            ended = run(["train", f"run.root={root}", *more])
            if ended.status:
                ended.assert_refused()
                has_played = bool(list(root.rglob("networks")))
                assert not has_played or "diverged" in ended.stderr, (drawn, ended)
                return
            for path in root.rglob("networks/*.safetensors"):
                load_network(path)  # its weights are finite
        num_ended.append(drawn)

    try_settings()
    assert len(num_ended) > amount(2, 12)
