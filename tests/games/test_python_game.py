"""Games of Python objects, and PettingZoo environments compared with our compiled games."""

import os
import pickle

import numpy as np
import pytest

from alphazero.games.python_game import PythonGame
from alphazero.games.registry import make_game
from alphazero.inference.evaluator import UniformEvaluator
from alphazero.search.batched_search import TreeSearch
from alphazero.search.settings import SearchSettings

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")


class Nim:
    """One heap; take one or two; who takes the last wins."""

    num_actions, max_plies = 2, 4

    def __init__(self, heap: int, player: int = 0):
        self.heap, self.player = heap, player

    def clone(self):
        return type(self)(self.heap, self.player)

    def step(self, action):
        self.heap -= action + 1
        self.player = 1 - self.player

    def player_to_move(self):
        return self.player

    def is_over(self):
        return self.heap == 0

    def result(self):
        return -1.0

    def legal_actions(self):
        return list(range(min(self.heap, 2)))

    def observe(self):
        return np.full((1, 1, 1), self.heap, np.float32)

    def cells(self):
        return np.zeros((1, 1), np.int8)


@pytest.fixture
def nim():
    return PythonGame(Nim(4), "nim")


def test_a_batch_of_objects_steps_row_by_row(nim):
    states = nim.initial_states(3)
    assert states.shape == (3, nim.state_size) and states.dtype == nim.state_dtype == np.uint8
    states = nim.step(states, np.array([0, 1, 1])).states
    transition = nim.step(states, np.array([1, 0, 1]))
    assert [nim.position(state).heap for state in states] == [3, 2, 2]
    assert transition.over.tolist() == [False, False, True]
    assert transition.results.tolist() == [0.0, 0.0, -1.0]
    assert transition.players.tolist() == [0, 0, 0]
    assert transition.legal_action_mask.tolist() == [[True, False], [True, False], [False, False]]
    assert nim.observe(transition.states)[:, 0, 0, 0].tolist() == [1.0, 1.0, 0.0]


def test_a_playout_ends_with_the_result_for_the_player_to_move(nim):
    states = nim.step(nim.initial_states(200), np.array([1, 0] * 100)).states
    results = nim.playout(states, np.array([7], np.uint64))
    assert [nim.position(state).heap for state in states] == [2, 3] * 100
    # Heap 2: taking both wins, taking one loses, each with probability 1/2; the mean of 100 such
    # results has a standard deviation of 0.1.
    assert set(results.tolist()) == {1.0, -1.0} and abs(results[::2].mean()) < 0.5


def test_the_search_finds_the_winning_move_of_a_python_game(nim):
    settings, generator = SearchSettings(dirichlet_fraction=0.0), np.random.default_rng(0)
    search = TreeSearch(nim, UniformEvaluator(2), 1, 64, settings, generator)
    search.reset(np.array([0]), nim.initial_states(), 64)
    search.run()
    assert search.output(np.array([0])).actions[0] == 0  # leaves 3, which is lost for who must take


def test_illegal_moves_of_a_list_are_refused_with_their_place(nim):
    for moves, place in (([1, 1, 0], "move 3"), ([0, 1, 1], "move 3"), ([0, 2], "move 2")):
        with pytest.raises(ValueError) as error:
            nim.play_moves(moves)
        assert place in str(error.value)


def test_text_that_is_no_move_or_board_is_refused(nim):
    for text in ("x", "2", "-1", ""):
        with pytest.raises(ValueError) as error:
            nim.text_to_action(text)
        assert text in str(error.value) and "0 to 1" in str(error.value)
    with pytest.raises(ValueError):
        nim.text_to_state("", 0)


# --- PettingZoo environments as games -------------------------------------------------------------

TWINS = [("connect_four_v3", "connect_four"), ("tictactoe_v3", "tic_tac_toe")]


@pytest.fixture(params=TWINS, ids=[name for name, _ in TWINS])
def twins(request):
    """A PettingZoo environment as a game, and our compiled game with the same rules and actions.

    tictactoe_v3 numbers squares column by column in its actions and in its observation, so that the
    two are the same game.
    """
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    pytest.importorskip("pygame", reason="pygame, which PettingZoo draws with, is not installed")
    from alphazero.games.pettingzoo_game import make_pettingzoo_game

    return make_pettingzoo_game(request.param[0]), make_game(request.param[1])


def test_an_environment_and_the_compiled_game_agree_on_random_games(twins):
    wrapped, compiled = twins
    for attribute in ("num_actions", "planes_shape", "max_plies"):
        assert getattr(wrapped, attribute) == getattr(compiled, attribute)
    generator = np.random.default_rng(3)
    states = [game.initial_states(40) for game in twins]
    num_finished = 0
    while len(states[0]):
        answers = [game.inspect(rows) for game, rows in zip(twins, states)]
        for theirs, ours in zip(answers[0][1:], answers[1][1:]):
            assert np.array_equal(theirs, ours) and theirs.dtype == ours.dtype
        assert np.array_equal(*(game.observe(rows) for game, rows in zip(twins, states)))
        assert np.array_equal(wrapped.cells(states[0][0]), compiled.cells(states[1][0]))
        assert np.array_equal(wrapped.over(states[0]), answers[0].over)
        alive = ~answers[0].over
        num_finished += int((~alive).sum())
        mask = answers[0].legal_action_mask[alive]
        actions = np.where(mask, generator.random(mask.shape), -1.0).argmax(axis=1)
        states = [game.step(rows[alive], actions).states for game, rows in zip(twins, states)]
    assert num_finished == 40


def test_symmetries_of_an_environment_commute_with_its_moves(twins):
    wrapped, _ = twins
    generator = np.random.default_rng(4)
    num_symmetries = len(wrapped.cell_symmetries)
    assert num_symmetries in (2, 8)
    for index in range(num_symmetries):
        cells, actions = wrapped.cell_symmetries[index], wrapped.action_symmetries[index]
        state = image = wrapped.initial_states()
        for _ in range(5):
            action = int(generator.choice(np.flatnonzero(wrapped.legal_action_mask(image)[0])))
            image, state = (
                wrapped.step(image, [action]).states,
                wrapped.step(state, [actions[action]]).states,
            )
            if wrapped.over(state)[0]:
                break
            planes = wrapped.observe(state).reshape(wrapped.planes_shape[0], -1)
            assert np.array_equal(planes[:, cells], wrapped.observe(image).reshape(planes.shape))


def test_stepping_leaves_the_parent_as_it_is(twins):
    wrapped, _ = twins
    state = wrapped.initial_states()
    before = wrapped.observe(state)
    children = [wrapped.step(state, [action]).states for action in (0, 1)]
    assert np.array_equal(wrapped.observe(state), before)
    assert not np.array_equal(wrapped.observe(children[0]), wrapped.observe(children[1]))


def test_positions_are_equal_where_the_boards_are(twins):
    wrapped, _ = twins
    lines = [0, 1, 2], [2, 1, 0], [0, 2, 1]
    first, transposed, other = wrapped.identity(np.stack([wrapped.play_moves(m) for m in lines]))
    assert np.array_equal(first, transposed) and not np.array_equal(first, other)


def test_positions_and_games_can_be_sent_to_another_process(twins):
    wrapped, _ = twins
    state = wrapped.play_moves([4, 0, 1])
    game, copied = pickle.loads(pickle.dumps((wrapped, state)))
    assert np.array_equal(copied, state) and game.position(copied).moves == (4, 0, 1)
    assert np.array_equal(game.observe(copied[None]), wrapped.observe(state[None]))


def test_environments_that_are_no_such_game_are_refused(twins):
    from alphazero.games.pettingzoo_game import game_of_environment, make_pettingzoo_game
    from alphazero.runtime.errors import ConfigError

    with pytest.raises(ConfigError) as error:
        make_pettingzoo_game("go_v5")
    assert error.value.value == "pettingzoo:go_v5"
    assert "pettingzoo:connect_four_v3" in error.value.allowed

    class Crowd:
        possible_agents = ["a_0", "a_1", "a_2"]

    with pytest.raises(ConfigError) as error:
        game_of_environment("crowd", Crowd, 9)
    assert error.value.value == 3

    class Box:
        possible_agents = ["a_0", "a_1"]

        def action_space(self, agent):
            return None

    with pytest.raises(ConfigError) as error:
        game_of_environment("box", Box, 9)
    assert error.value.key == "game"
