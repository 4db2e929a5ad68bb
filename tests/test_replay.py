"""The replay against a plain list of rows, under random operations; symmetries row by row; what a resume restores."""

import itertools
import math

import numpy as np
import pytest
from game_samples import EXAMPLE
from naive import naive_owners, naive_under_symmetries

from alphazero.games.registry import make_game
from alphazero.replay.augmentation import permuted, under_symmetries
from alphazero.replay.buffer import Replay, ReplaySettings, window_rows
from alphazero.replay.targets import owners
from alphazero.selfplay.game_record import GameRecord


def random_record(game, generator, num_plies=None):
    """Return a game of random moves with random targets. Every row's root value is different: it names the row."""
    state, states, actions, weights = game.initial_states(1), [], [], []
    while len(actions) < (num_plies or game.max_plies):
        here = game.inspect(state)
        if here.over[0]:
            break
        shares = generator.random(game.num_actions).astype(np.float32) * here.legal_action_mask[0]
        states.append(state[0])
        weights.append(shares / shares.sum())
        actions.append(int(shares.argmax()))
        state = game.step(state, np.array(actions[-1:])).states
    num = len(actions)
    return GameRecord(
        states=np.array(states),
        actions=np.array(actions, np.int32),
        action_weights=np.array(weights, np.float32),
        root_values=generator.uniform(-1, 1, num).astype(np.float32),
        outcomes=generator.integers(-1, 2, num).astype(np.int8),
        is_target=generator.random(num) < 0.6,
    )


class NaiveReplay:
    """A list of rows, the newest last."""

    def __init__(self, settings, game=None):
        self.settings, self.game, self.rows = settings, game, []

    def add(self, record):
        owned = naive_owners(record, self.game) if self.game else [None] * len(record.actions)
        columns = zip(
            record.is_target,
            record.states,
            record.action_weights,
            record.outcomes,
            owned,
            record.root_values,
        )
        self.rows += [row for is_target, *row in columns if is_target]

    @property
    def window(self):
        s, n = self.settings, len(self.rows)
        grown = (
            s.window_start
            * (1 + s.window_beta * ((n / s.window_start) ** s.window_alpha - 1) / s.window_alpha)
            if n > s.window_start
            else n
        )
        return min(math.floor(grown), n, s.window_max)

    def in_window(self):
        return {float(row[-1]): row for row in self.rows[len(self.rows) - self.window :]}


def make_replay(game, seed=0, heads=True, **settings):
    values = dict(window_start=20, window_alpha=0.75, window_beta=0.4, window_max=60) | settings
    return Replay(
        game,
        ReplaySettings(**values),
        np.random.default_rng(seed),
        with_owners=heads,
    )


def assert_rows_are(game, batch, twin, symmetries):
    """Hold every row of a batch to the twin's row of the same name under one of the game's symmetries."""
    rows = twin.in_window()
    for planes, weights, mask, outcome, value, *auxiliary in zip(
        *(column for column in batch if column is not None)
    ):
        state, expected_weights, expected_outcome, owned, expected_value = rows[float(value)]
        assert (outcome, value) == (expected_outcome, expected_value)
        raw_planes, raw_mask = (
            game.observe(state[None])[0].reshape(len(planes), -1),
            game.legal_action_mask(state[None])[0],
        )
        seen = [
            (
                raw_planes[:, cells].reshape(planes.shape),
                expected_weights[actions],
                raw_mask[actions],
                owned[cells],
            )
            for cells, actions in symmetries
        ]
        found = (planes, weights, mask, *auxiliary)
        assert any(all(np.array_equal(a, b) for a, b in zip(shown, found)) for shown in seen)


@pytest.mark.parametrize("name", ("tic_tac_toe", "connect_four", "othello:4"))
@pytest.mark.parametrize("symmetric, heads", ((True, False), (True, True), (False, True)))
def test_replay_is_the_naive_list_under_random_operations(name, symmetric, heads):
    game, rng = make_game(name), np.random.default_rng(6)
    replay = make_replay(game, heads=heads, symmetries=symmetric)
    twin = NaiveReplay(replay.settings, game)
    symmetries = list(zip(game.cell_symmetries, game.action_symmetries))[: None if symmetric else 1]
    for _ in range(60):
        record = random_record(game, rng)
        assert replay.add(record) == record.is_target.sum()
        twin.add(record)
        assert replay.num_added == len(twin.rows)
        assert replay.window == twin.window
        if replay.window and rng.random() < 0.5:
            size = int(rng.integers(1, 12))
            batch = replay.sample(size)
            assert all(len(column) == size for column in batch if heads or column is not None)
            assert (batch.owners is None) == (not heads)
            assert_rows_are(game, batch, twin, symmetries)
        if replay.window and rng.random() < 0.2:
            size = int(rng.integers(1, replay.window + 1))
            batches = list(replay.epoch(size))
            assert [len(batch.outcomes) for batch in batches] == [size] * (replay.window // size)
            for batch in batches:
                assert_rows_are(game, batch, twin, symmetries)
            values = np.concatenate([batch.root_values for batch in batches]).tolist()
            assert len(set(values)) == len(values)
    assert replay.window == 60 < replay.num_added


def test_an_epoch_covers_every_row_once_and_a_large_batch_takes_what_there_is():
    game = make_game("tic_tac_toe")
    replay, rng = make_replay(game, window_start=1000, window_max=1000), np.random.default_rng(0)
    twin = NaiveReplay(replay.settings)
    while replay.num_added < 36:
        record = random_record(game, rng)
        replay.add(record)
        twin.add(record)
    for size in (1, 6, replay.num_added, 1000):
        values = [float(value) for batch in replay.epoch(size) for value in batch.root_values]
        whole = replay.num_added // size * size or replay.num_added
        assert len(values) == len(set(values)) == whole
        assert set(values) <= set(twin.in_window())
    orders = [
        tuple(value for batch in replay.epoch(1) for value in batch.root_values.tolist())
        for _ in range(2)
    ]
    assert orders[0] != orders[1]


def test_rows_are_drawn_alike_and_so_are_symmetries():
    game = make_game("tic_tac_toe")
    replay = make_replay(game)
    weights = np.arange(9, dtype=np.float32) / 36  # no two symmetries show it alike
    states, four = np.repeat(game.initial_states(1), 4, axis=0), np.arange(4)
    replay.add(
        GameRecord(
            states,
            four,
            np.array([weights] * 4),
            four.astype(np.float32),
            np.zeros(4, np.int8),
            np.ones(4, bool),
        )
    )
    num = 8000
    batch = replay.sample(num)
    counts = np.bincount(batch.root_values.astype(int), minlength=4)
    assert (np.abs(counts / num - 1 / 4) < 5 * math.sqrt(1 / 4 * 3 / 4 / num)).all()
    images = [weights[actions].tobytes() for actions in game.action_symmetries]
    shown = [row.tobytes() for row in batch.action_weights]
    for image in images:
        assert abs(shown.count(image) / num - 1 / 8) < 5 * math.sqrt(1 / 8 * 7 / 8 / num)


@pytest.mark.parametrize("name", ("connect_x:4x5x3", "othello:6", EXAMPLE))
@pytest.mark.parametrize("num_rows", (1, 7, 100))
def test_rows_under_symmetries_are_those_of_numpy(name, num_rows):
    game, rng = make_game(name), np.random.default_rng(num_rows)
    num_symmetries = len(game.cell_symmetries)
    assert num_symmetries > 1
    planes = rng.random((num_rows, *game.planes_shape), np.float32)
    weights = rng.random((num_rows, game.num_actions), np.float32)
    rows = planes, weights, rng.random(weights.shape) < 0.5
    chosen = rng.integers(num_symmetries, size=num_rows)
    expected = naive_under_symmetries(chosen, game, *rows)
    before = [array.copy() for array in rows]
    for order in "CF":  # planes may come from a game that stacks its own arrays
        found = under_symmetries(chosen, game, np.asarray(planes, order=order), *rows[1:])
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.dtype == theirs.dtype and ours.flags.c_contiguous
            assert np.array_equal(ours, theirs)
    assert all(np.array_equal(array, copy) for array, copy in zip(rows, before))


# --- what the auxiliary heads learn from ------------------------------------------------------------------------------------------------


def test_the_owners_are_those_of_the_last_board_by_hand():
    game = make_game("connect_x:3x3x3")
    actions = [0, 1, 0, 1, 0]  # the first player fills the left column and wins
    states = np.array([game.play_moves(actions[:ply]) for ply in range(5)])
    record = GameRecord(
        states,
        np.array(actions),
        np.zeros((5, 3), np.float32),
        np.zeros(5),
        np.zeros(5, np.int8),
        np.ones(5, bool),
    )
    first = np.array([[1, 0, 0], [1, -1, 0], [1, -1, 0]], np.int8).ravel()
    found = owners(record, game)
    assert found.dtype == np.int8
    assert np.array_equal(found, [first, -first, first, -first, first])


def flat_planes(game, states):
    return game.observe(states).reshape(len(states), game.planes_shape[0], -1)


@pytest.mark.parametrize("name", ("connect_x:4x4x3", "othello:4", "tic_tac_toe", EXAMPLE))
def test_to_turn_a_game_is_to_turn_what_is_learned_from_it(name):
    """A game whose every position and action is shown under a symmetry has the owners of the game as it was, under that symmetry."""
    game, rng = make_game(name), np.random.default_rng(8)
    record = random_record(game, rng)
    players = game.players(record.states)
    for symmetry, (cells, actions) in enumerate(zip(game.cell_symmetries, game.action_symmetries)):
        boards = [
            game.cells(state).ravel()[cells].reshape(game.planes_shape[1:])
            for state in record.states
        ]
        states = np.array(
            [game.cells_to_state(board, int(player)) for board, player in zip(boards, players)]
        )
        turned = record._replace(
            states=states, actions=actions.argsort()[record.actions].astype(np.int32)
        )
        assert np.array_equal(
            flat_planes(game, states), flat_planes(game, record.states)[:, :, cells]
        )
        chosen = np.full(len(states), symmetry)
        assert np.array_equal(
            owners(turned, game), permuted(chosen, game.cell_symmetries, owners(record, game))
        )


def test_the_window_is_katagos():
    settings = ReplaySettings(
        window_start=250_000, window_alpha=0.75, window_beta=0.4, window_max=10_000_000
    )
    assert window_rows(100, settings) == 250_000
    assert window_rows(250_000, settings) == 250_000
    # 250000 * (1 + .4 * (4 ** .75 - 1) / .75): 4 ** .75 = 2.828427
    assert window_rows(1_000_000, settings) == int(250_000 * (1 + 0.4 * 1.8284271 / 0.75))
    slope = (window_rows(251_000, settings) - window_rows(250_000, settings)) / 1000
    assert slope == pytest.approx(0.4, abs=0.002)
    assert window_rows(10**12, settings) == 10_000_000
    assert window_rows(10**6, ReplaySettings(window_start=500, window_beta=0.0)) == 500
    assert window_rows(10**6, ReplaySettings(window_start=500, window_max=400)) == 400


def test_an_empty_replay_refuses_to_sample():
    with pytest.raises(ValueError, match="no row has been added"):
        make_replay(make_game("tic_tac_toe")).sample(3)


def test_rows_that_are_no_targets_are_left_out():
    game = make_game("tic_tac_toe")
    replay = make_replay(game)
    record = random_record(game, np.random.default_rng(1))
    assert replay.add(record._replace(is_target=np.zeros(len(record.actions), bool))) == 0
    assert replay.window == 0


# --- resume -----------------------------------------------------------------------------------------------------------------------------


def batches(replay):
    return [*(replay.sample(7) for _ in range(5)), *itertools.islice(replay.epoch(5), 4)]


def assert_same_batches(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.owners is not None
        assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("num_games", (3, 40))
def test_a_restored_replay_draws_the_same_batches(num_games):
    game, rng = make_game("connect_x:4x4x3"), np.random.default_rng(3)
    records = [random_record(game, rng) for _ in range(num_games)]
    replay, restored = make_replay(game, seed=1), make_replay(game, seed=2)
    for record in records:
        replay.add(record)
    batches(replay)
    state = replay.state_dict()
    stored, rows = [], 0
    for record in reversed(
        records
    ):  # only as many of the newest games as the ring holds are needed
        if rows < replay.settings.window_max:
            stored.insert(0, record)
            rows += record.is_target.sum()
    restored.load_state_dict(state, stored)
    assert restored.num_added == replay.num_added
    assert_same_batches(batches(restored), batches(replay))
    more = random_record(game, rng)
    replay.add(more)
    restored.add(more)
    assert_same_batches(batches(restored), batches(replay))


def test_rows_that_a_resume_did_not_find_are_never_drawn():
    """A larger window than the stored games fill, as after replay.window_max has grown between two parts of a run."""
    game, rng = make_game("tic_tac_toe"), np.random.default_rng(3)
    replay = make_replay(game, window_max=20)
    records = [random_record(game, rng) for _ in range(30)]
    for record in records:
        replay.add(record)
    grown = make_replay(game, window_start=20, window_max=5000)
    twin = NaiveReplay(grown.settings)
    grown.load_state_dict(replay.state_dict(), records[-6:])
    for record in records[-6:]:
        twin.add(record)
    found = {float(row[-1]) for row in twin.rows}
    assert grown.num_added == replay.num_added > len(found)
    assert grown.window <= len(found)
    assert set(grown.sample(200).root_values.tolist()) <= found
    before = grown.window
    grown.add(random_record(game, rng, 1)._replace(is_target=np.ones(1, bool)))
    assert grown.window == before + 1
