"""The replay buffer against a plain list of samples under random operations; symmetries; resume."""

import copy
import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
from game_samples import EXAMPLE
from naive import naive_apply_symmetries

from alphazero.own_games.registry import make_game
from alphazero.replay.augmentation import apply_symmetries
from alphazero.replay.buffer import ReplayBuffer
from alphazero.replay.settings import ReplaySettings, check_memory, window_size
from alphazero.runtime.errors import ConfigError
from alphazero.selfplay.game_record import GameRecord


def random_record(game, generator, num_plies=None):
    """Return a game of random moves with random targets.

    No two root values are equal, so a root value identifies its sample.
    """
    state, states, actions, weights = game.initial_states(1), [], [], []
    while len(actions) < (num_plies or game.max_plies):
        here = game.inspect(state)
        if here.over[0]:
            break
        scores = generator.random(game.num_actions).astype(np.float32) * here.legal_action_mask[0]
        states.append(game.identity(state)[0])
        weights.append(scores / scores.sum())
        actions.append(int(scores.argmax()))
        state = game.step(state, np.array(actions[-1:])).states
    num = len(actions)
    return GameRecord(
        states=np.array(states),
        actions=np.array(actions, np.int32),
        action_weights=np.array(weights, np.float32),
        root_values=generator.uniform(-1, 1, num).astype(np.float32),
        outcomes=generator.integers(-1, 2, num).astype(np.float32),
        is_target=generator.random(num) < 0.6,
        surprises=np.zeros(num, np.float32),
    )


class Sample(NamedTuple):
    state: np.ndarray
    action_weights: np.ndarray
    outcome: int
    root_value: float


class NaiveReplay:
    """A list of samples, the newest last."""

    def __init__(self, settings, game):
        self.settings, self.game, self.samples = settings, game, []

    def add(self, record):
        for ply in np.flatnonzero(record.is_target):
            columns = (record.states, record.action_weights, record.outcomes, record.root_values)
            self.samples.append(Sample(*(column[ply] for column in columns)))

    @property
    def window(self):
        s, num_added = self.settings, len(self.samples)
        size = num_added
        if num_added > s.window_start:
            growth = ((num_added / s.window_start) ** 0.75 - 1) / 0.75
            size = math.floor(s.window_start * (1 + 0.4 * growth))
        return min(size, num_added, s.window_max)

    def in_window(self):
        """Return the samples of the window by root value."""
        start = len(self.samples) - self.window
        return {float(sample.root_value): sample for sample in self.samples[start:]}


def make_replay(game, seed=0, **settings):
    window = dict(window_start=20, window_max=60)
    settings = ReplaySettings(**(window | settings))
    return ReplayBuffer(game, settings, np.random.default_rng(seed))


def assert_samples_are_in(twin, game, batch, symmetries):
    """Assert that each sample is the twin's under one of the symmetries, all its arrays alike."""
    expected_samples = twin.in_window()
    for planes, weights, mask, outcome, root_value in zip(*batch):
        sample = expected_samples[float(root_value)]
        assert (outcome, root_value) == (sample.outcome, sample.root_value)
        raw_planes = game.observe(sample.state[None])[0].reshape(len(planes), -1)
        raw_mask = game.legal_action_mask(sample.state[None])[0]
        images = [
            (
                raw_planes[:, cells].reshape(planes.shape),
                sample.action_weights[actions],
                raw_mask[actions],
            )
            for cells, actions in symmetries
        ]
        found = (planes, weights, mask)
        assert any(all(map(np.array_equal, image, found)) for image in images)


@pytest.mark.parametrize("name", ("tic_tac_toe", "connect_four", "othello:4"))
@pytest.mark.parametrize("symmetric", (True, False))
def test_the_buffer_is_the_naive_list_under_random_operations(name, symmetric):
    game, rng = make_game(name), np.random.default_rng(6)
    symmetries = "random" if symmetric else "none"
    replay = make_replay(game, symmetries=symmetries)
    twin = NaiveReplay(replay.settings, game)
    symmetries = list(zip(game.cell_symmetries, game.action_symmetries))[: None if symmetric else 1]
    for _ in range(60):
        record = random_record(game, rng)
        assert replay.add(record) == record.is_target.sum()
        twin.add(record)
        assert replay.num_added == len(twin.samples)
        assert replay.window == twin.window
        if replay.window and rng.random() < 0.5:
            size = int(rng.integers(1, 12))
            batch = replay.sample(size)
            assert all(len(column) == size for column in batch)
            assert_samples_are_in(twin, game, batch, symmetries)
        if replay.window and rng.random() < 0.2:
            size = int(rng.integers(1, replay.window + 1))
            batches = list(replay.epochs(size, 1))
            assert [len(batch.outcomes) for batch in batches] == [size] * (replay.window // size)
            for batch in batches:
                assert_samples_are_in(twin, game, batch, symmetries)
            root_values = np.concatenate([batch.root_values for batch in batches]).tolist()
            assert len(set(root_values)) == len(root_values)
    assert replay.window == 60 < replay.num_added


def test_an_epoch_has_every_sample_once_and_a_large_batch_has_all_there_are():
    game = make_game("tic_tac_toe")
    replay, rng = make_replay(game, window_start=1000, window_max=1000), np.random.default_rng(0)
    twin = NaiveReplay(replay.settings, game)
    while replay.num_added < 36:
        record = random_record(game, rng)
        replay.add(record)
        twin.add(record)
    for size in (1, 6, replay.num_added, 1000):
        values = [float(value) for batch in replay.epochs(size, 1) for value in batch.root_values]
        expected = replay.num_added // size * size or replay.num_added
        assert len(values) == len(set(values)) == expected
        assert set(values) <= set(twin.in_window())
    for reshuffle in (True, False):
        values = [float(b.root_values[0]) for b in replay.epochs(1, 2, reshuffle)]
        first, second = values[: len(values) // 2], values[len(values) // 2 :]
        assert set(first) == set(second) and (first == second) != reshuffle
    last = [float(batch.root_values[0]) for batch in replay.epochs(1, 1, False)]
    assert last != second  # each call has an order of its own


@pytest.mark.parametrize("name", ("tic_tac_toe", "connect_four", "othello:4"))
def test_every_distinct_image_of_a_position_is_a_sample(name):
    """Against sets of images, made one by one."""
    game, rng = make_game(name), np.random.default_rng(2)
    replay = make_replay(game, symmetries="all", window_start=9000, window_max=9000)
    symmetries, expected = list(zip(game.cell_symmetries, game.action_symmetries)), []
    record = random_record(game, rng)
    plies = np.flatnonzero(record.is_target)
    for state, weights in zip(record.states[plies], record.action_weights[plies]):
        planes = game.observe(state[None])[0].reshape(game.planes_shape[0], -1)
        images = {planes[:, cells].tobytes(): weights[actions] for cells, actions in symmetries}
        assert len(images) <= len(symmetries)
        expected += images
    assert replay.add(record) == replay.window == replay.num_added == len(expected)
    found = [
        (planes.tobytes(), weights, mask)
        for batch in replay.epochs(1, 1)
        for planes, weights, mask in zip(*batch[:3])
    ]
    assert sorted(image for image, *_ in found) == sorted(expected)
    assert all((weights[~mask] == 0).all() for _, weights, mask in found)
    start = record._replace(
        **{key: value[:1] for key, value in record._asdict().items() if value is not None}
    )
    start = start._replace(is_target=np.ones(1, bool))
    num_images = {"tic_tac_toe": 1, "connect_four": 1, "othello:4": 2}[name]
    assert replay.add(start) == num_images


def test_samples_and_symmetries_are_uniformly_distributed():
    """The tolerance is five standard errors of a proportion."""
    game = make_game("tic_tac_toe")
    replay = make_replay(game)
    weights = np.arange(9, dtype=np.float32) / 36  # different under every symmetry
    states, plies = np.repeat(game.initial_states(1), 4, axis=0), np.arange(4)
    outcomes, is_target = np.zeros(4, np.float32), np.ones(4, bool)
    root_values = plies.astype(np.float32)
    targets, surprises = np.array([weights] * 4), np.zeros(4, np.float32)
    replay.add(GameRecord(states, plies, targets, root_values, outcomes, is_target, surprises))
    num_samples = 8000
    batch = replay.sample(num_samples)
    fractions = np.bincount(batch.root_values.astype(int), minlength=4) / num_samples
    assert (np.abs(fractions - 1 / 4) < 5 * math.sqrt(1 / 4 * 3 / 4 / num_samples)).all()
    images = [weights[actions].tobytes() for actions in game.action_symmetries]
    found = [row.tobytes() for row in batch.action_weights]
    for image in images:
        fraction = found.count(image) / num_samples
        assert abs(fraction - 1 / 8) < 5 * math.sqrt(1 / 8 * 7 / 8 / num_samples)


@pytest.mark.parametrize("name", ("connect_x:4x5x3", "othello:6", EXAMPLE))
@pytest.mark.parametrize("num_samples", (1, 7, 100))
def test_symmetries_are_applied_as_numpy_does(name, num_samples):
    game, rng = make_game(name), np.random.default_rng(num_samples)
    num_symmetries = len(game.cell_symmetries)
    assert num_symmetries > 1
    planes = rng.random((num_samples, *game.planes_shape), np.float32)
    weights = rng.random((num_samples, game.num_actions), np.float32)
    inputs = planes, weights, rng.random(weights.shape) < 0.5
    symmetries = rng.integers(num_symmetries, size=num_samples)
    expected = naive_apply_symmetries(symmetries, game, *inputs)
    before = [array.copy() for array in inputs]
    for order in "CF":  # a game may stack its planes in any memory order
        found = apply_symmetries(symmetries, game, np.asarray(planes, order=order), *inputs[1:])
        for ours, naive in zip(found, expected, strict=True):
            assert ours.dtype == naive.dtype and ours.flags.c_contiguous
            assert np.array_equal(ours, naive)
    assert all(map(np.array_equal, inputs, before))


def test_evenly_spaced_samples_are_the_newest_untransformed_and_use_no_random_numbers():
    game, rng = make_game("tic_tac_toe"), np.random.default_rng(1)
    replay = make_replay(game, window_start=50, window_max=50)
    assert replay.evenly_spaced(10, 5) is None
    records = [random_record(game, rng) for _ in range(30)]
    for record in records:
        replay.add(record)
    root_values = np.concatenate([record.root_values[record.is_target] for record in records])
    states = np.concatenate([record.states[record.is_target] for record in records])
    before = copy.deepcopy(replay.state_dict())
    batch = replay.evenly_spaced(41, 5)
    newest = [-1, -11, -21, -31, -41]
    np.testing.assert_array_equal(batch.root_values, root_values[newest])
    np.testing.assert_array_equal(batch.planes, game.observe(states[newest]))
    assert len(replay.evenly_spaced(8, 512).outcomes) == 8
    np.testing.assert_array_equal(replay.evenly_spaced(5, 5).root_values, root_values[:-6:-1])
    assert len(replay.evenly_spaced(4000, 512).outcomes) == 50
    assert replay.state_dict() == before


def test_the_window_must_fit_into_memory():
    """Positions of 64 planes of 512 x 512 numbers take 64 MB, and 500,000 of them 32 TB."""
    game = make_game("tic_tac_toe")
    check_memory(ReplaySettings(), game)
    game.identity_size, game.state_dtype = 64 * 512 * 512, np.dtype(np.float32)
    with pytest.raises(ConfigError) as error:
        check_memory(ReplaySettings(), game)
    assert error.value.key == "replay.window_max" and error.value.value == 500_000
    most = int(error.value.allowed.rpartition(" ")[2])
    check_memory(ReplaySettings(window_start=1, window_max=most), game)


# --- the window -----------------------------------------------------------------------------------


def test_the_window_is_katagos():
    window = dict(window_start=250_000, window_max=10_000_000)
    settings = ReplaySettings(**window)
    assert window_size(100, settings) == 250_000
    assert window_size(250_000, settings) == 250_000
    # 250000 * (1 + 0.4 * (4^0.75 - 1) / 0.75), where 4^0.75 = 2.828427
    assert window_size(1_000_000, settings) == int(250_000 * (1 + 0.4 * 1.8284271 / 0.75))
    slope = (window_size(251_000, settings) - window_size(250_000, settings)) / 1000
    assert slope == pytest.approx(0.4, abs=0.002)
    assert window_size(10**12, settings) == 10_000_000
    assert window_size(10**6, ReplaySettings(window_start=500, window_max=400)) == 400


# --- resume ---------------------------------------------------------------------------------------


def some_batches(replay):
    return [*(replay.sample(7) for _ in range(5)), *itertools.islice(replay.epochs(5, 1), 4)]


def assert_same_batches(found, expected):
    for ours, others in zip(found, expected, strict=True):
        assert all(map(np.array_equal, ours, others))


@pytest.mark.parametrize("num_games", (3, 40))
@pytest.mark.parametrize("settings", ({}, dict(symmetries="all", window_iterations=1)), ids=str)
def test_a_restored_buffer_samples_the_same_batches(num_games, settings):
    game, rng = make_game("connect_x:4x4x3"), np.random.default_rng(3)
    records = [random_record(game, rng) for _ in range(num_games)]
    replay, restored = (make_replay(game, seed=seed, **settings) for seed in (1, 2))
    for number, record in enumerate(records):
        if number % 4 == 2:
            replay.begin_iteration()
        replay.add(record)
    some_batches(replay)
    # Only as many of the newest games are stored as fill the buffer.
    stored, num_samples = [], 0
    for record in reversed(records):
        if num_samples < replay.settings.window_max:
            stored.insert(0, record)
            num_samples += record.is_target.sum()
    restored.load_state_dict(replay.state_dict(), stored)
    assert restored.num_added == replay.num_added
    assert_same_batches(some_batches(restored), some_batches(replay))
    new_record = random_record(game, rng)
    replay.add(new_record)
    restored.add(new_record)
    assert_same_batches(some_batches(restored), some_batches(replay))


def test_samples_that_a_resume_did_not_find_are_never_sampled():
    """The window is larger than the stored games, as if replay.window_max grew before a resume."""
    game, rng = make_game("tic_tac_toe"), np.random.default_rng(3)
    replay = make_replay(game, window_max=20)
    records = [random_record(game, rng) for _ in range(30)]
    for record in records:
        replay.add(record)
    grown = make_replay(game, window_start=20, window_max=5000)
    grown.load_state_dict(replay.state_dict(), records[-6:])
    stored = np.concatenate([record.root_values[record.is_target] for record in records[-6:]])
    assert grown.num_added == replay.num_added > len(stored)
    assert grown.window <= len(stored)
    assert set(grown.sample(200).root_values.tolist()) <= set(stored.tolist())
    window = grown.window
    grown.add(random_record(game, rng, 1)._replace(is_target=np.ones(1, bool)))
    assert grown.window == window + 1
