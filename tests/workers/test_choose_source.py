"""Who plays the games: whether these workers share the learner's cores."""

from python_games import SMALL

from alphazero.own_games.registry import make_game
from alphazero.training.run_config import compose
from alphazero.workers.choose_source import plays_on_here


def test_the_learner_leaves_cores_to_the_players():
    game, small = make_game("connect_four"), make_game(SMALL)
    for words, shares in (
        ([], False),
        (["workers=processes"], True),
        (["workers=processes", "workers.mode=ordered"], False),
    ):
        assert plays_on_here(compose(words).workers, game, 4) == shares
    assert plays_on_here(compose([]).workers, small, 4)  # in processes
    assert not plays_on_here(compose([]).workers, small, 1)
