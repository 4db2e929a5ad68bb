"""Games of pgx: compared move by move with pgx itself and with our compiled games."""

import functools
import importlib.util
import math
import pickle

import numpy as np
import pytest

from alphazero.own_games.adapters.pgx_game import _FACTS
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError

pytest.importorskip("pgx", reason="pgx is not installed")
#: How long it takes to compile the rules.
QUICK = ["tic_tac_toe"]
SLOW = [name for name in _FACTS if name not in QUICK]
ALL = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]


@functools.cache
def made(name):
    """Return a game of pgx; each one that is made compiles its rules anew."""
    return make_game(f"pgx:{name}")


def random_actions(mask, generator):
    """Return a legal action of each row."""
    return np.where(mask, generator.random(mask.shape), -1.0).argmax(axis=1).astype(np.int32)


def board_size(game):
    """Return the number of squares."""
    return math.prod(game.planes_shape[1:])


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_states_in_rows_are_those_of_pgx(name):
    """Legal actions, players, results, planes and the ends of games, in batches of all sizes."""
    game = made(name)  # first: it configures JAX
    import jax
    import pgx

    num_games = 5  # a batch that is filled up; later ones of one to three are stepped one by one
    num_plies = 40 if name in ("go_19x19", "chess", "shogi") else math.inf
    environment, generator, ply = pgx.make(name), np.random.default_rng(1), 0
    init, step = (jax.jit(jax.vmap(function)) for function in (environment.init, environment.step))
    theirs = init(jax.random.split(jax.random.PRNGKey(5), num_games))
    seats = np.asarray(theirs.current_player)  # who begins, which pgx draws
    rows, ours = np.arange(num_games), game.initial_states(num_games)  # of games in progress
    while len(rows) and ply < num_plies:
        found, players = game.inspect(ours), np.asarray(theirs.current_player)[rows]
        over = np.asarray(theirs.terminated)[rows]
        assert np.array_equal(found.over, over)
        assert np.array_equal(found.players, players ^ seats[rows])
        assert np.array_equal(found.results, np.asarray(theirs.rewards)[rows, players])
        legal = np.asarray(theirs.legal_action_mask)[rows] & ~over[:, None]
        assert np.array_equal(found.legal_action_mask, legal)
        planes = np.moveaxis(np.asarray(theirs.observation, np.float32), 3, 1)[rows]
        assert np.array_equal(game.observe(ours), planes)
        rows, ours = rows[~over], ours[~over]
        actions = random_actions(legal[~over], generator)
        before, following = ours.copy(), game.step(ours, actions).states
        assert np.array_equal(ours, before)
        theirs_actions = np.zeros(num_games, np.int32)
        theirs_actions[rows] = actions
        theirs, ours, ply = step(theirs, theirs_actions), following, ply + 1
    assert 5 < ply <= game.max_plies + 1


@pytest.mark.parametrize("name", ALL)
def test_boards_change_by_the_moves_of_the_player_to_move(name):
    game, generator = made(name), np.random.default_rng(2)
    state, previous, action = game.initial_states()[0], None, -1
    if game.num_actions > board_size(game) + 1:  # pieces move: those of the first player are below
        top, bottom = game.cells(state)[[0, -1]]
        assert set(top) <= {0, 2} and set(bottom) <= {0, 1} and top.any() and bottom.any()
    for _ in range(30):
        found, board = game.inspect(state[None]), game.cells(state)
        assert board.shape == game.planes_shape[1:] and set(np.unique(board)) <= {0, 1, 2}
        if previous is not None and not (name == "hex" and action == game.num_actions - 1):
            moved = 2 - int(found.players[0])  # the pieces of the one who has moved
            assert (board == moved).sum() >= (previous == moved).sum()
            assert (board != previous).sum() <= 4 or name in ("othello", "go_9x9", "go_19x19")
        if found.over[0]:
            break
        action = int(random_actions(found.legal_action_mask, generator)[0])
        assert game.text_to_action(game.action_to_text(action)) == action
        squares = game.action_squares(action)
        assert not squares or board.ravel()[squares[0]] == 0
        previous, state = board, game.step(state[None], np.array([action])).states[0]


@pytest.mark.parametrize("name", ALL)
def test_symmetries_commute_with_the_moves(name):
    game, generator = made(name), np.random.default_rng(4)
    for cells, actions in zip(game.cell_symmetries[1:], game.action_symmetries[1:]):
        # Othello's start is turned into another position: its first move is a symmetry's own.
        states = game.initial_states(2)
        for _ in range(20):
            found = game.inspect(states)
            planes = game.observe(states)
            flat = planes.reshape(*planes.shape[:2], -1)
            same = np.array_equal(flat[0][:, cells], flat[1])
            if name == "othello" and not same:
                break  # the start position has four symmetries of the eight
            assert same
            assert np.array_equal(found.legal_action_mask[0][actions], found.legal_action_mask[1])
            if found.over.any():
                assert found.over.all() and found.results[0] == found.results[1]
                break
            (action,) = random_actions(found.legal_action_mask[:1], generator)
            image = int(np.flatnonzero(actions == action)[0])
            states = game.step(states, np.array([action, image])).states


def test_a_game_is_made_again_from_its_name_in_another_process():
    game = made("tic_tac_toe")
    again = pickle.loads(pickle.dumps(game))
    assert np.array_equal(again.initial_states(3), game.initial_states(3))


# --- what does not qualify ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["backgammon", "2048", "minatar-asterix", "go_7x7", ""])
def test_other_environments_are_refused_with_the_reason(name):
    with pytest.raises(ConfigError) as error:
        make_game(f"pgx:{name}")
    assert error.value.key == "game" and "pgx:go_9x9" in error.value.allowed


@pytest.mark.parametrize("missing", ["jax", "pgx"])
def test_without_pgx_the_extra_is_named(missing, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == missing else find(name, *a)
    )
    with pytest.raises(ConfigError) as error:
        make_game("pgx:tic_tac_toe")
    assert "[pgx]" in str(error.value)
