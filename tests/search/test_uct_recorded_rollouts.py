"""UCT that records rollouts: every position of a simulated game is in the table and counted."""

import numpy as np
import pytest
from game_samples import label
from search_samples import make_uct
from test_uct_tree import GAMES, expanded

from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player, read_spec
from alphazero.runtime.errors import ConfigError
from alphazero.search.uct.tree import ROOT_INDEX, children_of

RECORDED = dict(statistics="position", record_rollouts=True)


def recorded(name, num_simulations, seed=0, **settings):
    """Return a search that has just searched the start position and recorded its rollouts."""
    game = make_game(name)
    search = make_uct(game, seed, num_simulations=num_simulations, **RECORDED | settings)
    search.run(game.initial_states()[0])
    return search


def visits_of_all(search):
    """Return the sum of the visits of the positions in the table."""
    return search.tree.nodes["visits"][: search.tree.sizes[0]].sum()


def visits_of_finished(search):
    """Return the sum of the visits of the finished positions in the table."""
    num_nodes = search.tree.sizes[0]
    over = search.game.over(search.tree.positions[:num_nodes])
    return search.tree.nodes["visits"][:num_nodes][over].sum()


def recorded_line(search):
    """Return the positions of the only game that a search has simulated, [T + 1, K]."""
    game = search.game
    line = [game.initial_states()[0]]
    while not game.over(line[-1][None])[0]:
        actions = np.flatnonzero(game.legal_action_mask(line[-1][None])[0])
        after = game.step(np.repeat(line[-1][None], len(actions), axis=0), actions).states
        found = [search.lookup(state) for state in after]
        visited = [row for row, known in enumerate(found) if known and known.visits]
        assert len(visited) == 1
        line.append(after[visited[0]])
    return np.array(line)


# --- what is counted ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rollout"),
    [
        *((name, "random") for name in GAMES[:1]),
        *(pytest.param(name, "random", marks=pytest.mark.slow) for name in GAMES[1:]),
        ("othello:4", "weighted"),
        pytest.param("othello", "weighted", marks=pytest.mark.slow),
    ],
    ids=label,
)
def test_after_one_simulation_every_position_of_its_game_has_one_visit(name, rollout):
    search = recorded(name, 1, rollout=rollout)
    line, game = recorded_line(search), search.game
    result = game.results(line[-1:])[0]
    for state, player in zip(line, game.players(line)):
        own = result if player == game.players(line[-1:])[0] else -result
        assert search.lookup(state) == (1, (1 + own) / 2, own)
    assert visits_of_all(search) == len(line)
    # The root's children are added when the search starts; rollouts add no children.
    assert expanded(search.tree).tolist() == [ROOT_INDEX]


@pytest.mark.parametrize("rollout", ["random", "weighted"])
def test_recorded_games_are_those_that_are_played_without(rollout):
    for seed in range(10):
        usual, recording = (
            recorded("othello:6", 1, seed, rollout=rollout, record_rollouts=record)
            for record in (False, True)
        )
        start = usual.game.initial_states()[0]
        assert recording.lookup(start) == usual.lookup(start)
        assert recording.rng == usual.rng
        assert visits_of_all(usual) == 2
        assert visits_of_all(recording) == len(recorded_line(recording))


def test_a_position_is_counted_once_per_simulation():
    search = recorded("tic_tac_toe", 3000)
    positions = search.tree.positions[: search.tree.sizes[0]]
    plies = np.array([(stones[0] | stones[1]).item().bit_count() for stones in positions])
    visits = search.tree.nodes["visits"][: len(positions)]
    by_ply = [int(visits[plies == ply].sum()) for ply in range(10)]
    # No game ends before the fifth move, and each passes every ply up to its end once.
    assert by_ply[:6] == [3000] * 6
    assert by_ply == sorted(by_ply, reverse=True)
    assert visits_of_finished(search) == 3000
    assert len(positions) <= 5478


# --- room -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "othello:6"])
def test_a_search_of_few_simulations_has_room_for_all_its_games(name):
    search = recorded(name, 30)
    assert visits_of_finished(search) == 30
    assert search.tree.sizes.max() < len(search.tree.nodes) < 30 * 200


def test_a_full_table_stops_growing_and_still_counts_what_it_has():
    few, many = (recorded("tic_tac_toe", number, max_nodes=100) for number in (30, 3000))
    for search in (few, many):
        assert search.tree.sizes[0] == len(search.tree.nodes) == 100
    assert many.tree.nodes[ROOT_INDEX]["visits"] == 3000
    assert many.tree.nodes[children_of(many.tree, ROOT_INDEX)[1]]["visits"].sum() == 3000
    assert visits_of_finished(few) < visits_of_finished(many) < 3000


def test_a_full_table_starts_empty_at_the_next_move():
    game = make_game("connect_four")
    search = make_uct(game, num_simulations=100, max_nodes=300, keep_table=True, **RECORDED)
    states = game.initial_states()
    while not game.over(states)[0]:
        output = search.run(states[0])
        assert search.tree.sizes.max() <= 300 and output.num_simulations == 100
        assert search.lookup(states[0]).visits == 100
        states = game.step(states, [output.action]).states


# --- the setting ----------------------------------------------------------------------------------


def test_statistics_by_node_have_no_table_to_record_rollouts_in():
    with pytest.raises(ConfigError) as error:
        make_uct(make_game("tic_tac_toe"), record_rollouts=True)
    assert (error.value.key, error.value.value) == ("record_rollouts", True)


def test_a_player_records_rollouts_and_names_the_setting():
    game, spec = make_game("tic_tac_toe"), "uct:50,statistics=position,record_rollouts=true"
    player = make_player(spec, game)
    assert player.name == spec and read_spec(player.name).settings == player.settings
    assert not PlayerSettings().record_rollouts
    usual = make_player("uct:50,statistics=position", game)
    for one in (player, usual):
        one.choose(game.initial_states())
    assert visits_of_finished(player._search) == 50 > visits_of_finished(usual._search)
