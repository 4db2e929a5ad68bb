"""Matches: paired openings, correct points, and intervals with the stated coverage."""

from pathlib import Path

import numpy as np
import pytest
from fixed_player import FixedPlayer
from game_samples import EXAMPLE

from alphazero.evaluation.match import Match, Openings, play_match
from alphazero.evaluation.openings import choose_openings
from alphazero.evaluation.report import MatchGame, MatchReport
from alphazero.games.batched_game import CompiledGame
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError
from alphazero.solvers.base import UnsolvableError
from alphazero.solvers.enumeration import ExactValues

GAMES = ["tic_tac_toe", "connect_four", "othello:4"]
PEGS = Path(__file__).parents[2] / "examples/peg_solitaire.py"


def _report(pair_scores) -> MatchReport:
    """Return a report of pairs of games with these points."""
    games = [
        MatchGame((index,), index % 2 == 0, score, index // 2)
        for index, score in enumerate(sum(pair_scores, ()))
    ]
    return MatchReport("tic_tac_toe", "a", "b", 0, 0, tuple(games))


# --- openings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_each_opening_occurs_with_both_colours_and_pairs_differ(name):
    game = make_game(name)
    report = play_match(game, FixedPlayer(game, 1), FixedPlayer(game, 2), 40, Openings(4, seed=5))
    assert [played.pair_index for played in report.games] == [index // 2 for index in range(40)]
    openings = []
    for first, second in zip(report.games[::2], report.games[1::2]):
        assert first.moves[:4] == second.moves[:4]
        assert first.a_moves_first
        assert not second.a_moves_first
        openings.append(game.play_moves(first.moves[:4]).tobytes())
    assert len(set(openings)) == 20  # of the hundreds that these games have after 4 plies
    assert report.num_distinct_games == 40  # of players without any randomness


def test_openings_are_legal_and_unfinished_and_depend_on_the_seed():
    game = make_game("tic_tac_toe")
    openings = Openings(6, seed=2).sample(game, 30)
    assert all(len(opening) == 6 for opening in openings)
    assert not game.over(np.stack([game.play_moves(opening) for opening in openings])).any()
    assert openings == Openings(6, seed=2).sample(game, 30)
    assert openings != Openings(6, seed=3).sample(game, 30)


def test_openings_are_drawn_by_default_where_a_solver_is_quick():
    game = make_game("tic_tac_toe")
    values = ExactValues(game).values

    def positions(drawn, num=50):
        openings = choose_openings(game, 4, seed=3, drawn=drawn)
        assert (openings.solver is None) == (drawn is False)
        return np.stack([game.play_moves(moves) for moves in openings.sample(game, num)])

    assert (values(positions(None)) == 0).all() and len(np.unique(positions(None), axis=0)) == 50
    assert (positions(None) == positions(True)).all()
    assert (values(positions(False)) != 0).any()
    # There are 136 drawn positions: a match may need more, and then uses them again.
    _, counts = np.unique(positions(None, 300), axis=0, return_counts=True)
    assert len(counts) > 130 and counts.max() <= 4


@pytest.mark.parametrize(
    ("name", "plies"),
    [
        ("othello:6", 4),  # too large to solve
        ("connect_x:5x6x4", 4),  # solved in seconds, not at once
        ("tic_tac_toe", 0),
        (str(PEGS), 2),  # one player
    ],
)
def test_openings_are_random_by_default_where_none_can_be_known_to_be_drawn(name, plies):
    game = make_game(name)
    openings = choose_openings(game, plies, seed=3)
    assert openings == choose_openings(game, plies, seed=3, drawn=False) == Openings(plies, 3)


def test_drawn_openings_that_do_not_exist_are_an_error():
    snort = CompiledGame("snort", type(make_game(EXAMPLE).rules)(3))
    assert choose_openings(snort, 2, seed=3) == Openings(2, 3)  # solved, and has no draws
    for game, plies in ((make_game("connect_four"), 0), (snort, 2)):
        with pytest.raises(ConfigError) as error:
            choose_openings(game, plies, drawn=True).sample(game, 1)
        assert (error.value.key, error.value.value) == ("opening_plies", plies)
    with pytest.raises(UnsolvableError):
        choose_openings(make_game("othello"), 4, drawn=True).sample(make_game("othello"), 1)


def test_openings_longer_than_the_game_are_an_error():
    game = make_game("tic_tac_toe")
    with pytest.raises(ConfigError) as error:
        play_match(game, FixedPlayer(game, 1), FixedPlayer(game, 2), 2, Openings(9))
    assert (error.value.key, error.value.value) == ("opening_plies", 9)


# --- games --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_moves_and_points_follow_the_rules(name):
    game = make_game(name)
    players = {True: FixedPlayer(game, 1), False: FixedPlayer(game, 2)}
    report = play_match(game, players[True], players[False], 20, Openings(3, seed=1))
    for played in report.games:
        state = game.play_moves(played.moves[:3])
        for action in played.moves[3:]:
            a_to_move = (game.players(state[None])[0] == 0) == played.a_moves_first
            assert action == players[bool(a_to_move)].choose(state[None]).actions[0]
            state = game.step(state[None], [action]).states[0]
        final = game.inspect(state[None])
        assert final.over[0]
        board = game.cells(state)
        if name == "othello:4":
            first_minus_second = int((board == 1).sum()) - int((board == 2).sum())
            first_points = 0.5 + 0.5 * np.sign(first_minus_second)
        else:  # the last move made a line, unless the game is a draw
            last_by_first = len(played.moves) % 2 == 1
            first_points = 0.5 if final.results[0] == 0 else float(last_by_first)
        assert played.score == (first_points if played.a_moves_first else 1 - first_points)


def test_the_batch_size_does_not_change_the_games():
    game = make_game("connect_four")
    reports = []
    for batch_size in (1, 7, 256):
        players = FixedPlayer(game, 1, batch_size), FixedPlayer(game, 2)
        reports.append(play_match(game, *players, 30, Openings(4, seed=0)))
        assert max(players[0].batch_sizes) <= batch_size
    # All 30 games run in parallel; A is to move in one game of each pair.
    assert max(players[0].batch_sizes) == 15
    assert reports[0].games == reports[1].games == reports[2].games


@pytest.mark.parametrize("num_games", [0, 7])
def test_an_odd_number_of_games_is_an_error(num_games):
    game = make_game("tic_tac_toe")
    with pytest.raises(ConfigError) as error:
        play_match(game, FixedPlayer(game, 1), FixedPlayer(game, 2), num_games, Openings())
    assert (error.value.key, error.value.value) == ("num_games", num_games)


@pytest.mark.parametrize("action", [-1, 0, 7])
def test_an_illegal_move_is_an_error_that_names_the_player(action):
    game = make_game("connect_x:1x7x4")  # one row, so that columns of the opening are full
    player = FixedPlayer(game, 1)
    choose = player.choose
    player.choose = lambda states: choose(states)._replace(actions=np.full(len(states), action))
    player.name = "the rogue"
    with pytest.raises(ValueError, match="the rogue"):
        play_match(game, player, FixedPlayer(game, 2), 10, Openings(2))


class FailingPlayer(FixedPlayer):
    """Raises an error when it is asked for the n-th time."""

    def __init__(self, game, seed, num_calls, error=KeyError):
        super().__init__(game, seed)
        self.num_calls, self.error = num_calls, error

    def choose(self, states):
        self.num_calls -= 1
        if not self.num_calls:
            raise self.error("no more")
        return super().choose(states)


@pytest.mark.parametrize("error", (KeyError, KeyboardInterrupt))
def test_a_match_that_ends_in_an_error_reports_the_pairs_before(error):
    game = make_game("tic_tac_toe")
    whole = play_match(game, FixedPlayer(game, 1), FixedPlayer(game, 2), 12, Openings(2))
    match = Match(game, FailingPlayer(game, 1, 15, error), FixedPlayer(game, 2), 12, Openings(2))
    with pytest.raises(error):
        match.play()
    games = match.report().games
    assert 2 <= len(games) < 12 and games == whole.games[: len(games)]


# --- the report ---------------------------------------------------------------------------------


def test_interval_of_an_example_by_hand():
    # Pairs 1, 1/2, 3/4, 1/4 and the pseudo-pairs 0, 0, 1, 1: centre 4.5/8 = 0.5625. Squared
    # distances: .19140625 + .00390625 + .03515625 + .09765625 + 2 * .31640625 + 2 * .19140625
    # = 1.34375. Standard error sqrt(1.34375) / 8 = 0.144900; times 1.959964 = 0.283999.
    report = _report([(1.0, 1.0), (0.0, 1.0), (1.0, 0.5), (0.5, 0.0)])
    assert report.pair_scores == (1.0, 0.5, 0.75, 0.25)
    assert report.score == 0.625
    np.testing.assert_allclose(report.score_interval, (0.278501, 0.846499), atol=1e-6)
    # The slope of Elo at the centre is 400 / (ln 10 * 0.5625 * 0.4375) = 705.899; times 0.144900.
    assert report.elo_stderr == pytest.approx(102.2856, abs=1e-3)


@pytest.mark.parametrize(
    "chances",
    [(0.5, 0, 0, 0, 0.5), (0.1, 0.1, 0.6, 0.1, 0.1), (0, 0, 0.1, 0, 0.9), (0, 0, 0.97, 0.02, 0.01)],
)
@pytest.mark.parametrize("num_pairs", [10, 50])
def test_interval_covers_the_true_score_with_its_stated_probability(chances, num_pairs):
    generator, rounds = np.random.default_rng(0), 400
    points = [(0.0, 0.0), (0.0, 0.5), (0.5, 0.5), (0.5, 1.0), (1.0, 1.0)]
    truth = np.dot(chances, [0, 0.25, 0.5, 0.75, 1])
    covered = 0
    for _ in range(rounds):
        low, high = _report(
            [points[i] for i in generator.choice(5, size=num_pairs, p=chances)]
        ).score_interval
        covered += low <= truth <= high
    # 95% of 400 rounds has a standard deviation of 1.1%; the exact coverage of such intervals
    # varies by about 2%. 90% is far outside both.
    assert covered / rounds > 0.9
