"""Laws that hold for every game, checked on the positions of random games."""

import pickle

import numpy as np
import pytest
from game_samples import GAME_NAMES, label, random_games, random_states
from mostly_slow import mostly_slow

from alphazero.games import rules
from alphazero.own_games.registry import make_game
from alphazero.runtime.random_generators import kernel_rng


@pytest.fixture(params=mostly_slow(GAME_NAMES), ids=label, scope="module")
def sample(request):
    """A game and the positions of 15 random games of it."""
    return make_game(request.param), random_states(request.param, num_games=15)


def some(states, num):
    """Return about ``num`` of the states, evenly spaced, as a contiguous array.

    For a strided array, each kernel would be compiled once more.
    """
    return states[:: max(1, len(states) // num)].copy()


def test_exactly_one_of_over_and_has_a_legal_action(sample):
    game, states = sample
    inspected = game.inspect(states)
    assert (inspected.over != inspected.legal_action_mask.any(axis=1)).all()


def test_the_start_is_not_over_and_the_first_player_moves(sample):
    game, _ = sample
    start = game.inspect(game.initial_states(3))
    assert not start.over.any()
    assert (start.players == 0).all()


def test_players_alternate(sample):
    game, states = sample
    open_states = states[~game.over(states)]
    actions = game.legal_action_mask(open_states).argmax(axis=1)
    following = game.step(open_states, actions)
    others = 1 - game.players(open_states) if game.num_players == 2 else 0
    assert (following.players == others).all()


def test_step_leaves_its_input_unchanged_and_agrees_with_inspect(sample):
    game, states = sample
    open_states = states[~game.over(states)]
    before = open_states.copy()
    following = game.step(open_states, game.legal_action_mask(open_states).argmax(axis=1))
    assert (open_states == before).all()
    again = game.inspect(following.states)
    for stepped, inspected in zip(following, again):
        assert (stepped == inspected).all()


def test_results_are_whole_numbers_of_the_rules_and_belong_to_finished_games(sample):
    game, states = sample
    inspected = game.inspect(states)
    own = [game.own_result(float(result)) for result in inspected.results[inspected.over]]
    assert np.allclose(own, np.round(own), atol=1e-5)
    assert game.result_range[0] <= min(own) and max(own) <= game.result_range[1]
    assert (inspected.results[~inspected.over] == 0).all()
    assert (inspected.results[inspected.over] != 0).any()


def test_no_game_is_longer_than_max_plies(sample):
    game, _ = sample
    plies, _ = random_games(game, 30, seed=11)
    assert 0 < len(plies) <= game.max_plies


def test_positions_do_not_depend_on_their_neighbours_in_the_batch(sample):
    game, states = sample
    states = some(states, 20)
    together, planes = game.inspect(states), game.observe(states)
    for row in range(len(states)):
        alone = game.inspect(states[row : row + 1])
        assert all((whole[row] == part[0]).all() for whole, part in zip(together, alone))
        assert (planes[row] == game.observe(states[row : row + 1])[0]).all()


def test_first_planes_show_the_pieces_of_the_player_to_move_and_of_the_other(sample):
    game, states = sample
    planes, players = game.observe(states), game.players(states)
    for state, shown, player in zip(states, planes, players):
        board = game.cells(state)
        assert (shown[0] == (board == 1 + player)).all()
        other = 2 - player if game.num_players == 2 else 0  # the empty squares of a puzzle
        assert (shown[1] == (board == other)).all()


def test_a_state_is_its_board_as_text_and_the_player_to_move(sample):
    game, states = sample
    states = some(states, 100)
    for state, player in zip(states, game.players(states)):
        text = game.state_to_text(state)
        assert (game.text_to_state(text, int(player)) == state).all()
        assert (game.text_to_state(text.replace("\n", "\r\n") + "\n", int(player)) == state).all()


def test_actions_round_trip_through_text_and_differ(sample):
    game, _ = sample
    texts = [game.action_to_text(action) for action in range(game.num_actions)]
    assert [game.text_to_action(f" {text} ") for text in texts] == list(range(game.num_actions))
    assert len(set(texts)) == game.num_actions


# --- symmetries -----------------------------------------------------------------------------------


def test_symmetries_are_a_group_of_permutations_with_the_identity_first(sample):
    game, _ = sample
    for tables in (game.cell_symmetries, game.action_symmetries):
        assert (np.sort(tables, axis=1) == np.arange(tables.shape[1])).all()
        assert (tables[0] == np.arange(tables.shape[1])).all()
    both = np.concatenate(
        [game.cell_symmetries, game.action_symmetries + game.cell_symmetries.shape[1]], axis=1
    )
    known = {row.tobytes() for row in both}
    assert len(known) == len(both)
    assert all(first[second].tobytes() in known for first in both for second in both)


def test_symmetries_commute_with_step_legal_actions_and_planes(sample):
    game, states = sample
    states = some(states, 60)
    for cells, actions in zip(game.cell_symmetries, game.action_symmetries):
        turned = turn(game, states, cells)
        plain, other = game.inspect(states), game.inspect(turned)
        assert (other.legal_action_mask == plain.legal_action_mask[:, actions]).all()
        assert (other.over == plain.over).all()
        assert (other.results == plain.results).all()
        shape = (len(states), game.planes_shape[0], -1)
        assert (
            game.observe(turned).reshape(shape) == game.observe(states).reshape(shape)[:, :, cells]
        ).all()
        rows = np.flatnonzero(~plain.over)
        chosen = np.where(
            other.legal_action_mask[rows],
            np.random.default_rng(1).random((len(rows), game.num_actions)),
            -1,
        ).argmax(axis=1)
        after = game.step(states[rows], actions[chosen]).states
        assert (game.step(turned[rows], chosen).states == turn(game, after, cells)).all()


def turn(game, states, cells):
    """Return the states with their boards under one symmetry."""
    boards = [game.cells(state) for state in states]
    turned = [
        game.cells_to_state(board.ravel()[cells].reshape(board.shape), int(p))
        for board, p in zip(boards, game.players(states))
    ]
    return np.array(turned)


# --- random play ----------------------------------------------------------------------------------


def test_random_action_returns_every_legal_action_equally_often(sample):
    game, states = sample
    states = states[~game.over(states)]
    rng = kernel_rng(np.random.default_rng(2))
    for state in some(states, 2):
        legal = np.flatnonzero(game.legal_action_mask(state[None])[0])
        draws = 100 * len(legal)
        scratch = np.zeros(game.num_actions, np.bool_)
        counts = np.bincount(
            [rules.random_action(game.rules, state.copy(), rng, scratch) for _ in range(draws)],
            minlength=game.num_actions,
        )
        assert counts.sum() == counts[legal].sum()
        # Each count is binomial with mean 100 and a standard deviation below sqrt(100) = 10;
        # within 5 deviations there is one false alarm in 10**6.
        assert (np.abs(counts[legal] - 100) < 50).all()


def test_playouts_are_reproducible_and_end_with_a_result(sample):
    game, states = sample
    first = game.playout(states, kernel_rng(np.random.default_rng(5)))
    again = game.playout(states, kernel_rng(np.random.default_rng(5)))
    assert (first == again).all()
    assert (np.abs(first) <= 1).all()
    over = game.over(states)
    assert (first[over] == game.results(states)[over]).all()


def test_playout_results_are_from_the_viewpoint_of_the_player_to_move(sample):
    game, states = sample
    mask = game.legal_action_mask(states)
    forced = mask.sum(axis=1) == 1
    following = game.step(states[forced], mask[forced].argmax(axis=1))
    ending = following.over
    results = game.playout(states[forced][ending], kernel_rng(np.random.default_rng(5)))
    sign = -1 if game.num_players == 2 else 1
    assert (results == sign * following.results[ending]).all()


def test_action_scores_have_a_weight_and_a_name_for_each_feature(sample):
    game, states = sample
    weights, names = rules.rollout_weights(game.rules), rules.feature_names(game.rules)
    assert weights.shape == (len(names),)
    for state in states[~game.over(states)][:20]:
        scores = np.full(game.num_actions, np.nan)
        rules.action_scores(game.rules, state, weights, scores)
        assert np.isfinite(scores[game.legal_action_mask(state[None])[0]]).all()


def test_a_game_survives_pickling(sample):
    game, states = sample
    copy = pickle.loads(pickle.dumps(game))
    assert copy.name == game.name
    assert (copy.observe(states[:5]) == game.observe(states[:5])).all()
