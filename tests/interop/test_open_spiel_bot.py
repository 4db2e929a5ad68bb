"""Our players as bots of OpenSpiel, played by OpenSpiel's own functions."""

import pytest

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

from alphazero.interop.open_spiel_bot import PlayerBot, make_bot  # noqa: E402
from alphazero.own_games.registry import make_game  # noqa: E402
from alphazero.players.without_search import RandomPlayer  # noqa: E402
from alphazero.runtime.errors import ConfigError  # noqa: E402


def points_against_random(game, bot, num_games):
    """Return the sum of the bot's returns against OpenSpiel's random bot; both begin in turn."""
    total = 0.0
    for seed in range(num_games):
        own = seed % 2
        bots = [bot, pyspiel.make_uniform_random_bot(1 - own, seed)][:: 1 if own == 0 else -1]
        returns = pyspiel.evaluate_bots(game.new_initial_state(), bots, seed)
        assert sum(returns) == 0 and set(returns) <= {-1.0, 0.0, 1.0}
        total += returns[own]
    return total


@pytest.mark.parametrize(
    ("text", "rules", "num_games"),
    [
        ("tic_tac_toe", None, 20),
        ("hex(board_size=4)", None, 10),
        ("breakthrough(rows=5,columns=5)", None, 6),
        pytest.param("connect_four", "connect_four", 10, marks=pytest.mark.slow),
        pytest.param("othello", "othello", 4, marks=pytest.mark.slow),
    ],
)
def test_a_bot_beats_a_random_one(text, rules, num_games):
    game = pyspiel.load_game(text)
    # In tic-tac-toe a random bot holds some draws; elsewhere it loses nearly always.
    assert points_against_random(game, make_bot(game, "uct:50", rules=rules), num_games) > (
        0.6 * num_games
    )


@pytest.mark.slow
def test_the_network_that_ships_plays_as_a_bot():
    game = pyspiel.load_game("connect_four")
    bot = make_bot(game, "best,num_simulations=16", rules="connect_four")
    assert points_against_random(game, bot, 4) == 4


def test_nothing_is_remembered_so_that_a_bot_begins_anywhere():
    game = pyspiel.load_game("connect_four")
    bot, state = make_bot(game, "uct:50", rules="connect_four"), game.new_initial_state()
    for action in (3, 3, 2, 2, 4):
        state.apply_action(action)
    bot.restart_at(state)
    assert bot.step(state) in (1, 5)  # all else loses at once
    bot.restart()
    assert bot.step(game.new_initial_state()) in range(7)


def test_states_of_another_game_are_refused():
    ours = make_game("connect_four")
    bot = PlayerBot(RandomPlayer(ours, 0), ours)
    with pytest.raises(ValueError, match="connect_four"):
        bot.step(pyspiel.load_game("tic_tac_toe").new_initial_state())
    with pytest.raises(ConfigError):
        make_bot(pyspiel.load_game("kuhn_poker"), "random")
