"""Tournaments: an informative schedule that continues after an interruption, and their file."""

import itertools

import numpy as np
import pytest
from fixed_player import FixedPlayer

from alphazero.evaluation.elo import Pairing, rate
from alphazero.evaluation.match import Openings
from alphazero.evaluation.ratings import RatingFile
from alphazero.evaluation.report import score_from_elo
from alphazero.evaluation.tournament import next_pairing, play_tournament
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError, StoredFileError


@pytest.fixture(scope="module")
def game():
    return make_game("tic_tac_toe")


def fixed_players(game, names="abcd"):
    return {name: FixedPlayer(game, salt) for salt, name in enumerate(names)}


def simulated(
    truth: dict[str, float], num_matches: int, choose, num_pairs: int = 10, seed: int = 0
) -> list[Pairing]:
    """Return random results of matches that ``choose`` schedules, at the ratings ``truth``."""
    generator, pairings = np.random.default_rng(seed), []
    for _ in range(num_matches):
        a, b = choose(pairings)
        x = (generator.random((num_pairs, 2)) < score_from_elo(truth[a] - truth[b])).mean(axis=1)
        pairings.append(
            Pairing(a, b, tuple(np.bincount(np.rint(4 * x).astype(int), minlength=5).tolist()))
        )
    return pairings


# --- the schedule -----------------------------------------------------------------------------


def test_new_players_meet_first_and_all_are_soon_connected():
    names = [f"p{index}" for index in range(9)]
    truth = {name: 150.0 * index for index, name in enumerate(names)}
    first = simulated(truth, 4, lambda pairings: next_pairing(pairings, names))
    assert len({name for pairing in first for name in pairing[:2]}) == 8  # none plays twice
    pairings = simulated(truth, 12, lambda pairings: next_pairing(pairings, names))
    assert rate(pairings, "p0").players == tuple(names)


def test_a_new_player_plays_next():
    settled = [Pairing(a, b, (50, 0, 100, 0, 50)) for a, b in itertools.combinations("abc", 2)]
    assert "x" in next_pairing(settled, "abcx")


# --- playing ------------------------------------------------------------------------------------


def test_the_wanted_number_of_games_is_played_in_pairs(game):
    players = fixed_players(game)
    seen = []
    matches = list(
        play_tournament(game, players, [], 26, 8, Openings(2), lambda *news: seen.append(news))
    )
    assert [len(match.scores) for match in matches] == [8, 8, 8, 2]
    for match in matches:
        assert all(
            first[:2] == second[:2] for first, second in zip(match.moves[::2], match.moves[1::2])
        )
        for index, (score, moves) in enumerate(zip(match.scores, match.moves)):
            state = game.play_moves(moves)
            assert game.over(state[None])[0]
            # The result of the player to move: who moves first, after an even number of plies.
            result = game.inspect(state[None]).results[0]
            first = (1 + result * (1 if len(moves) % 2 == 0 else -1)) / 2
            assert score == (first if index % 2 == 0 else 1 - first)
    assert [news[:2] for news in seen if news[2].num_finished == news[2].num_games] == [
        match[:2] for match in matches
    ]


def test_an_interrupted_tournament_continues_with_the_same_games(game):
    def played(matches, num_games, seed=0):
        openings = Openings(2, seed=seed)
        return play_tournament(game, fixed_players(game), matches, num_games, 8, openings)

    whole = list(played([], 48))
    for stop in (1, 4):
        start = list(itertools.islice(played([], 48), stop))
        assert start + list(played(start, 48 - 8 * stop)) == whole
    assert list(played([], 48, seed=1)) != whole


def test_a_player_that_fails_ends_the_tournament_after_the_finished_pairs(game):
    whole = list(play_tournament(game, fixed_players(game, "ab"), [], 16, 8, Openings(2)))
    players = fixed_players(game, "ab")
    choose, calls = players["a"].choose, itertools.count()

    def fail(states):
        if next(calls) == 25:
            raise KeyError("no more")
        return choose(states)

    players["a"].choose = fail
    matches = []
    with pytest.raises(KeyError):
        matches += play_tournament(game, players, [], 16, 8, Openings(2))
    assert matches[0] == whole[0] and len(matches) == 2
    num_games = len(matches[1].scores)
    assert num_games in (2, 4, 6) and matches[1].scores == whole[1].scores[:num_games]


def test_players_who_meet_again_get_new_openings():
    game = make_game("connect_four")
    matches = list(play_tournament(game, fixed_players(game, "ab"), [], 60, 10, Openings(4)))
    assert len({moves for match in matches for moves in match.moves[::2]}) == 30


# --- the file -----------------------------------------------------------------------------------


def _filled(path, game) -> RatingFile:
    file = RatingFile.open(path, game.name, 2)
    file.networks["a"] = {"iteration": 3, "elapsed_s": 1.5}
    file.matches += play_tournament(game, fixed_players(game), [], 40, 8, Openings(2))
    return file


def test_the_file_is_read_as_it_was_written(tmp_path, game):
    path = tmp_path / "ratings.json"
    file = _filled(path, game)
    file.write()
    assert RatingFile.open(path, game.name, 2) == file
    file.write(rate(file.pairings, "a"))
    assert RatingFile.open(path, game.name, 2) == file
    assert file.num_games == 40
    assert [other.name for other in tmp_path.iterdir()] == ["ratings.json"]


def test_ratings_of_another_game_or_other_openings_are_an_error(tmp_path, game):
    path = tmp_path / "ratings.json"
    _filled(path, game).write()
    with pytest.raises(StoredFileError) as error:
        RatingFile.open(path, "othello", 2)
    assert error.value.path == path
    with pytest.raises(ConfigError) as error:
        RatingFile.open(path, game.name, 4)
    assert (error.value.key, error.value.value) == ("opening_plies", 4)
    assert error.value.allowed == [2]
