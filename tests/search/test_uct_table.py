"""The table of a UCT search that is kept from move to move, and the lookup of positions."""

import math

import numpy as np
import pytest
from game_samples import label
from mostly_slow import mostly_slow
from search_samples import make_uct
from test_uct_tree import GAMES, InKernelOrder, assert_same_tree

from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player, read_spec
from alphazero.players.uct import UctPlayer
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import kernel_rng
from alphazero.search.uct import search as uct
from alphazero.textbook.game import PlainGame

KEPT = dict(statistics="position", keep_table=True)


def kept(name, num_simulations=100, **settings):
    """Return a search that keeps its table."""
    return make_uct(make_game(name), num_simulations=num_simulations, **KEPT, **settings)


def visits_after(search, *moves):
    """Search the position after some moves; return its visits before and after the search."""
    state = search.game.play_moves(list(moves))
    before = search.lookup(state)
    search.run(state)
    return (before.visits if before else 0), search.lookup(state).visits


@pytest.mark.parametrize("name", mostly_slow(GAMES, 3), ids=label)
def test_a_kept_table_is_the_textbooks_over_a_whole_game(name):
    settings, num_simulations = dict(uct_c=0.8), 60
    search, generator = kept(name, num_simulations, **settings), np.random.default_rng(4)
    game, plain = search.game, PlainGame(search.game)
    textbook = InKernelOrder(plain, kernel_rng(generator), table={}, **settings)
    states, num_searches = game.initial_states(), 0
    while not game.over(states)[0]:
        if game.players(states)[0] == 0:
            textbook.kernel_rng[0] = search.rng[0]
            root = textbook.search(tuple(states[0].tolist()), num_simulations)
            action, num_searches = search.run(states[0]).action, num_searches + 1
            assert_same_tree(search.tree, root)
            num_nodes, num_edges = search.tree.sizes
            assert num_edges == search.tree.nodes["num_children"][:num_nodes].sum()
            for state, node in list(textbook.table.items())[::7]:
                found, expected = search.lookup(plain.to_array(state)[0]), textbook.lookup(state)
                assert found[:2] == expected[:2]
                assert found.value == pytest.approx(expected.value, abs=1e-12) or node.visits == 0
        else:
            action = generator.choice(plain.legal_actions(tuple(states[0].tolist())))
        states = game.step(states, [action]).states
    assert num_searches > 2


def test_a_new_game_a_move_taken_back_and_another_line_start_with_an_empty_table():
    search = kept("tic_tac_toe", 400)
    assert visits_after(search) == (0, 400)
    first, second = visits_after(search, 4, 0)
    assert 0 < first and second == first + 400
    assert visits_after(search, 4, 0) == (second, second + 400)  # asked again
    assert search.lookup(search.game.initial_states()[0]).visits == 400
    assert visits_after(search, 4, 0, 8)[1] > 400  # the other side's turn
    assert visits_after(search, 4, 0)[1] == 400  # taken back
    assert search.lookup(search.game.initial_states()[0]) is None
    assert visits_after(search, 4, 1)[1] == 400  # another line
    assert visits_after(search)[1] == 400  # a new game


def test_a_position_that_was_met_but_never_visited_is_searched():
    search = kept("tic_tac_toe", 10)
    search.run(search.game.initial_states()[0])
    lines = [search.game.play_moves([a, b]) for a in range(9) for b in range(9) if a != b]
    met = [state for state in lines if (search.lookup(state) or (1,))[0] == 0]
    output = search.run(met[0])
    assert search.lookup(met[0]).visits == 10
    assert output.visits.sum() >= 10  # transpositions could have had some before


def test_a_table_with_too_little_room_starts_empty_and_memory_stays():
    search = kept("connect_four", 300, max_nodes=1500)
    states, restarts = search.game.initial_states(), 0
    for _ in range(8):
        before = search.lookup(states[0])
        output = search.run(states[0])
        found = search.lookup(states[0]).visits
        restarts += before is not None and found == 300
        assert found in (300, 300 + (before.visits if before else 0))
        assert search.tree.sizes.max() <= len(search.tree.nodes) == 1500
        assert output.num_simulations == 300
        states = search.game.step(states, [output.action]).states
    assert restarts > 0


def test_counters_never_overflow(monkeypatch):
    monkeypatch.setattr(uct, "MAX_SIMULATIONS", 250)
    search = kept("tic_tac_toe", 100)
    assert [visits_after(search)[1] for _ in range(4)] == [100, 200, 100, 200]
    timed = make_uct(search.game, num_simulations=None, time_limit_s=100.0, **KEPT)
    timed._max_simulations = 100
    assert visits_after(timed)[1] == 100
    timed._max_simulations = 250
    assert [visits_after(timed)[1] for _ in range(2)] == [250, 250]


def test_a_time_limit_keeps_the_table():
    search = make_uct(make_game("tic_tac_toe"), num_simulations=None, time_limit_s=1e-9, **KEPT)
    first, second = visits_after(search), visits_after(search)
    assert first == (0, uct.FIRST_CHUNK) and second == (uct.FIRST_CHUNK, 2 * uct.FIRST_CHUNK)


def test_an_interrupted_search_leaves_a_whole_table(monkeypatch):
    monkeypatch.setattr(uct, "PROGRESS_S", 0.0)
    search = kept("tic_tac_toe", 20_000)
    state = search.game.initial_states()[0]

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search.run(state, interrupt)
    made = search.lookup(state).visits
    assert 0 < made < 20_000
    assert visits_after(search) == (made, made + 20_000)


def test_a_position_is_looked_up_with_its_count_wins_and_value():
    search = kept("connect_x:4x3x3", 200)
    won = search.game.play_moves([0, 1, 2, 0, 2, 1, 1, 1])
    assert search.lookup(won) is None
    output = search.run(won)
    found = search.lookup(won)
    assert found.visits == 200 and found.value == pytest.approx(output.value)
    assert found.wins == pytest.approx((1 + output.value) / 2 * 200)
    lost = search.lookup(search.game.step(won[None], [2]).states[0])
    assert (lost.visits, lost.wins, lost.value) == (output.visits[2], 0.0, -1.0)
    short = make_uct(search.game, num_simulations=1, statistics="position")
    legal = search.game.legal_action_mask(won[None])[0]
    unvisited = np.flatnonzero(legal & (short.run(won).visits == 0))[:1]
    found = short.lookup(search.game.step(won[None], unvisited).states[0])
    assert (found.visits, found.wins) == (0, 0.0) and math.isnan(found.value)
    assert make_uct(search.game).lookup(won) is None


def test_a_table_of_nodes_cannot_be_kept():
    with pytest.raises(ConfigError) as error:
        make_uct(make_game("tic_tac_toe"), keep_table=True)
    assert error.value.key == "keep_table"


def test_a_player_keeps_its_table_and_names_the_setting():
    game, spec = make_game("tic_tac_toe"), "uct:300,statistics=position,keep_table=true"
    player = make_player(spec, game)
    assert player.name == spec and read_spec(player.name).settings == player.settings
    assert isinstance(player, UctPlayer) and not PlayerSettings().keep_table
    player.choose(game.initial_states())
    state = game.play_moves([4, 0])
    kept_visits = player.lookup(state).visits
    analysis = player.analyse(state)
    assert analysis.num_simulations == 300
    assert player.lookup(state).visits == kept_visits + 300
    assert player.limited().lookup(state) is None
