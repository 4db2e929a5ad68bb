"""Self-play: records agree with rules and search, moves are sampled as set, stops lose nothing."""

import itertools
import math

import numpy as np
import pytest
from search_samples import HashEvaluator, named_game

from alphazero.own_games.registry import make_game
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.lockstep import SelfPlay, sample_actions
from alphazero.selfplay.settings import (
    SelfPlaySettings,
    games_in,
    games_until,
    ply_temperatures,
)
from alphazero.storage.checkpoint import load_state, save_state

GAMES = ("tic_tac_toe", "connect_x:4x4x3", "othello:4", "twice")


def make_selfplay(game, seed=0, search=None, **settings):
    values = dict(num_parallel_games=6, num_simulations=12, num_sampled_plies=4) | settings
    evaluator = HashEvaluator(game.num_actions)
    return SelfPlay(
        game,
        evaluator,
        SelfPlaySettings(**values),
        SearchSettings(**(search or {})),
        np.random.default_rng(seed),
    )


def assert_same_records(found, expected):
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected):
        for name, a, b in zip(ours._fields, ours, theirs):
            assert a.dtype == b.dtype and np.array_equal(a, b), name


# --- records --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "search"),
    [
        *((name, {}) for name in GAMES[:2]),
        *(pytest.param(name, {}, marks=pytest.mark.slow) for name in GAMES[2:]),
        ("connect_x:4x4x3", dict(root="gumbel")),
        ("othello:4", dict(forced_playouts_k=2.0)),
    ],
    ids=str,
)
def test_records_are_whole_games_of_the_rules(name, search):
    game = named_game(name)
    results = set()
    for record in make_selfplay(game, search=search).play(60):
        state = game.initial_states(1)[0]
        for ply, action in enumerate(record.actions):
            here = game.inspect(state[None])
            assert np.array_equal(record.states[ply], state)
            assert not here.over[0] and here.legal_action_mask[0, action]
            assert (record.action_weights[ply, ~here.legal_action_mask[0]] == 0).all()
            state = game.step(state[None], np.array([action])).states[0]
        last = game.inspect(state[None])
        assert last.over[0]
        is_last_player = game.players(record.states) == last.players[0]
        outcomes = np.where(is_last_player, last.results[0], -last.results[0])
        assert np.array_equal(record.outcomes, outcomes)
        assert record.first_player_result == outcomes[0]
        np.testing.assert_allclose(record.action_weights.sum(axis=1), 1.0, atol=1e-6)
        assert (record.action_weights >= 0).all()
        played = record.action_weights[np.arange(len(record.actions)), record.actions]
        assert (played > 0).all() or search  # a forced visit may be played, and is no target
        assert (np.abs(record.root_values) <= 1).all()
        assert len({len(column) for column in record}) == 1
        types = [np.int32, np.float32, np.float32, np.float32, np.bool_, np.float32]
        assert [column.dtype for column in record] == [game.state_dtype, *types]
        results.add(record.first_player_result)
    assert {1, -1} <= results


# --- how moves are sampled ------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", (1.0, 0.5, 2.0))
def test_sampled_actions_follow_the_sharpened_weights(temperature):
    weights, num = np.array([0.0, 0.5, 0.2, 0.0, 0.3, 0.0], np.float32), 20_000
    actions = sample_actions(
        np.repeat(weights[None], num, axis=0), np.full(num, temperature), np.random.default_rng(4)
    )
    expected = weights.astype(float) ** (1 / temperature)
    expected /= expected.sum()
    fractions = np.bincount(actions, minlength=6) / num
    assert actions.dtype == np.int32
    assert (fractions[expected == 0] == 0).all()
    assert (np.abs(fractions - expected) <= 5 * np.sqrt(expected * (1 - expected) / num)).all()


def test_an_action_of_weight_zero_is_never_sampled_even_by_a_random_zero():
    class Zero:
        def random(self, num):
            return np.zeros(num)

    weights = np.array([[0.0, 0.0, 0.4, 0.6]], np.float32)
    assert sample_actions(weights, np.ones(1), Zero()).tolist() == [2]


def test_each_row_has_its_own_temperature_and_zero_takes_the_largest():
    weights = np.tile(np.array([0.24, 0.26, 0.25, 0.25], np.float32), (4000, 1))
    temperatures = np.where(np.arange(4000) % 2, 0.0, 1.0)
    actions = sample_actions(weights, temperatures, np.random.default_rng(4))
    assert (actions[1::2] == 1).all()
    assert len(set(actions[::2])) == 4
    tiny = np.array([[1e-30, 3e-30]], np.float32)
    assert sample_actions(tiny, np.array([1e-9]), np.random.default_rng(0)).tolist() == [1]


@pytest.mark.slow
def test_early_moves_are_sampled_from_the_visits_and_later_ones_are_the_most_visited():
    game = make_game("connect_x:4x4x3")
    settings = dict(num_parallel_games=32, num_sampled_plies=3, final_temperature=0.0)
    records = list(make_selfplay(game, **settings).play(400))
    excess, variance = 0.0, 0.0
    for record in records:
        for ply, (action, weights) in enumerate(
            zip(record.actions, record.action_weights.astype(float))
        ):
            if ply >= 3:
                assert action == weights.argmax()
            else:  # the mean weight of a sampled move is the sum of the squared weights
                excess += weights[action] - (weights**2).sum()
                variance += (weights**3).sum() - (weights**2).sum() ** 2
    assert variance > 1
    assert abs(excess) < 5 * math.sqrt(variance)


def test_the_temperature_halves_its_distance_to_the_final_one():
    settings = SelfPlaySettings(
        num_sampled_plies=3, temperature=1.2, final_temperature=0.2, temperature_half_life=2.0
    )
    # Ply 2 is the last at 1.2, 1.0 above the final 0.2; half of that is left at ply 4.
    found = ply_temperatures(settings, np.array([0, 2, 4, 6]))
    np.testing.assert_allclose(found, (1.2, 1.2, 0.7, 0.45))
    settings.temperature_half_life = 0.0
    np.testing.assert_array_equal(ply_temperatures(settings, np.array([0, 2, 3])), (1.2, 1.2, 0.2))


# --- Gumbel roots and forced playouts -------------------------------------------------------------


@pytest.mark.parametrize("root", ("gumbel", "puct"))
def test_the_action_of_a_gumbel_search_is_played_and_that_of_another_is_sampled(root):
    selfplay = make_selfplay(make_game("connect_four"), search=dict(root=root))
    of_search, played = [], []
    output_of, move = selfplay.search.output, selfplay.games.move

    def output_and_note(rows, temperatures):
        output = output_of(rows, temperatures)
        of_search.extend(output.actions)
        return output

    def move_and_note(rows, moves, states):
        played.extend(moves.actions)
        move(rows, moves, states)

    selfplay.search.output, selfplay.games.move = output_and_note, move_and_note
    list(selfplay.play(20))
    assert len(played) == len(of_search) > 100
    assert np.array_equal(played, of_search) == (root == "gumbel")


# --- how many searches and games ------------------------------------------------------------------


def test_every_search_has_its_simulations_and_noise_and_is_trained_on():
    selfplay = make_selfplay(make_game("connect_four"), num_parallel_games=32, num_simulations=13)
    records = list(selfplay.play(64))
    assert all(record.is_target.all() for record in records)
    first = np.array([record.action_weights[0] for record in records])
    # Nothing is reused at the first ply, and nothing is proven.
    np.testing.assert_allclose(13 * first, (13 * first).round(), atol=1e-4)
    assert len(np.unique(first, axis=0)) > 10


@pytest.mark.parametrize("num_parallel_games", (3, 7, 20))
def test_without_carry_over_exactly_the_games_asked_for_are_played_to_their_end(num_parallel_games):
    settings = dict(num_parallel_games=num_parallel_games, carry_over=False)
    selfplay = make_selfplay(make_game("tic_tac_toe"), **settings)
    for num_games in (7, 1, 12):
        assert len(list(selfplay.play(num_games))) == num_games
        assert len(selfplay.state_dict()["rows"]) == 0


def test_as_many_games_are_in_progress_as_were_asked_for_and_have_finished():
    """Otherwise the first game of a thousand would take as long as most of them."""
    selfplay = make_selfplay(make_game("connect_four"), num_parallel_games=16)
    finished = most = 0
    for num_games in (2, 1, 4, 20):
        for _ in selfplay.play(num_games):
            in_progress = len(selfplay.state_dict()["rows"])
            assert in_progress <= num_games + finished
            most = max(most, in_progress)
        finished = selfplay.games.num_finished
    assert most >= 15 and finished >= 27


def test_the_games_of_an_iteration_double_until_there_are_enough():
    settings = SelfPlaySettings(games_per_iteration=200, initial_games_per_iteration=8)
    games = [games_in(settings, iteration) for iteration in range(1, 12)]
    assert games == [8, 16, 32, 64, 128, 200, 200, 200, 200, 200, 200]
    for initial, most in itertools.product((0, 1, 8, 300), (1, 8, 100)):
        settings = SelfPlaySettings(games_per_iteration=most, initial_games_per_iteration=initial)
        expected = 0
        for iteration in range(1, 20):
            assert games_until(settings, iteration - 1) == expected
            expected += games_in(settings, iteration)


# --- stop and continue ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ("connect_x:4x4x3", "twice"))
@pytest.mark.parametrize(
    ("search", "settings"),
    [
        ({}, dict(num_parallel_games=9)),
        ({}, dict(num_parallel_games=9, carry_over=False)),
        (dict(root="gumbel"), {}),
        (dict(forced_playouts_k=2.0), {}),
    ],
    ids=str,
)
def test_restored_games_continue_as_if_never_stopped(tmp_path, name, search, settings):
    game = named_game(name)
    original, restored = (make_selfplay(game, seed, search, **settings) for seed in (1, 2))
    list(restored.play(4))  # whatever was there before is gone
    list(original.play(5))
    save_state(tmp_path / "state.safetensors", original.state_dict())
    expected = list(original.play(11)) + list(original.play(3))
    restored.load_state_dict(load_state(tmp_path / "state.safetensors"))
    assert_same_records(list(restored.play(11)) + list(restored.play(3)), expected)


def test_new_weights_are_used_from_the_next_call_on():
    """Trees of games in progress are discarded: no answer of an old network stays in them."""
    game = make_game("connect_four")
    selfplay = make_selfplay(game, num_parallel_games=4)
    list(selfplay.play(4))
    evaluator = selfplay.search.evaluator
    evaluator.num_rows.clear()
    next(iter(selfplay.play(1)))
    assert evaluator.num_rows[0] == 4  # all four roots are evaluated again


def test_random_openings_are_recorded_but_not_trained_on():
    game = make_game("connect_four")
    settings = dict(random_opening_fraction=1.0, random_opening_plies=3)
    records = list(make_selfplay(game, **settings).play(40))
    lengths = []
    for record in records:
        assert np.array_equal(record.states[0], game.initial_states(1)[0])
        length = int(np.argmax(record.is_target))
        assert record.is_target[length:].all()
        before, after = record.surprises[:length], record.surprises[length:]
        assert not before.any() and (after >= 0).all() and after.any()
        chosen = np.eye(game.num_actions)[record.actions[:length]]
        assert np.array_equal(record.action_weights[:length], chosen)
        lengths.append(length)
    assert set(lengths) == {1, 2, 3}
    # Each of 7 first moves is missing among 40 with probability (6/7)^40 = 0.002; one may be.
    assert len({int(record.actions[0]) for record in records}) >= 6


@pytest.mark.parametrize("name", GAMES)
def test_a_random_opening_never_ends_a_game(name):
    game = named_game(name)
    settings = dict(random_opening_fraction=1.0, random_opening_plies=1000)
    for record in make_selfplay(game, **settings).play(10):
        assert record.is_target[-1]
        state = game.initial_states(1)[0]
        for action in record.actions:
            assert game.legal_action_mask(state[None])[0, action]
            state = game.step(state[None], np.array([action])).states[0]
        assert game.over(state[None])[0]


@pytest.mark.parametrize("initial, at_start", ((0, 40), (10, 10), (64, 40)))
def test_searches_have_the_simulations_of_that_point_of_the_run(initial, at_start):
    settings = dict(num_simulations=40, initial_num_simulations=initial)
    selfplay = make_selfplay(make_game("connect_four"), search={"reuse_tree": False}, **settings)
    visits = {}
    for progress in (0.0, 1.0):
        selfplay.begin(6, progress)
        while not len(selfplay.search.finished_rows()):
            selfplay.search.step() if selfplay.games.playing.any() else selfplay.advance(1)
        row = selfplay.search.finished_rows()[0]
        visits[progress] = int(selfplay.search.tree.node_visits[row, 0]) - 1
    assert visits == {0.0: at_start, 1.0: 40}
