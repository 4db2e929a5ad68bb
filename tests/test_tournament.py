"""The tournament: games go where they tell most, and it goes on where it was interrupted."""

import itertools

import numpy as np
import pytest
from fixed_player import FixedPlayer

from alphazero.evaluation.elo import Pairing, rate
from alphazero.evaluation.rating_file import RatingFile
from alphazero.evaluation.report import score_from_elo
from alphazero.evaluation.tournament import TournamentMatch, next_pairing, play_tournament
from alphazero.games.registry import make_game
from alphazero.runtime.errors import ConfigError


@pytest.fixture(scope="module")
def game():
    return make_game("tic_tac_toe")


def fixed_players(game, names="abcd"):
    return {name: FixedPlayer(game, salt) for salt, name in enumerate(names)}


def simulated(
    truth: dict[str, float], num_matches: int, choose, num_pairs: int = 10, seed: int = 0
) -> list[Pairing]:
    """Return the results of matches between those that ``choose`` picks, players being as strong as ``truth`` says."""
    generator, pairings = np.random.default_rng(seed), []
    for _ in range(num_matches):
        a, b = choose(pairings)
        x = (generator.random((num_pairs, 2)) < score_from_elo(truth[a] - truth[b])).mean(axis=1)
        pairings.append(
            Pairing(a, b, tuple(np.bincount(np.rint(4 * x).astype(int), minlength=5).tolist()))
        )
    return pairings


# --- who meets whom ---------------------------------------------------------------------------------------------------------------------


def test_newcomers_meet_first_and_soon_everybody_is_joined():
    names = [f"p{index}" for index in range(9)]
    truth = {name: 150.0 * index for index, name in enumerate(names)}
    first = simulated(truth, 4, lambda pairings: next_pairing(pairings, names))
    assert (
        len({name for pairing in first for name in pairing[:2]}) == 8
    )  # nobody plays twice while others wait
    rate(
        simulated(truth, 12, lambda pairings: next_pairing(pairings, names)), "p0"
    )  # raises where somebody is not joined


def test_a_newcomer_plays_next():
    settled = [Pairing(a, b, (50, 0, 100, 0, 50)) for a, b in itertools.combinations("abc", 2)]
    assert "x" in next_pairing(settled, "abcx")


def test_a_foregone_result_is_not_played_for():
    # b and c are level, z loses everything; between a and z little is known, but nothing could be learned.
    pairings = [
        Pairing("a", "z", (0, 0, 0, 0, 50)),
        Pairing("a", "b", (9, 0, 0, 0, 10)),
        Pairing("b", "c", (10, 0, 0, 0, 10)),
    ]
    assert next_pairing(pairings, "abcz") == ("a", "c")


def test_only_those_who_take_part_are_chosen_and_order_does_not_matter():
    pairings = [
        Pairing("a", "b", (3, 0, 0, 0, 1)),
        Pairing("c", "b", (1, 0, 2, 0, 1)),
        Pairing("d", "c", (2, 0, 0, 0, 1)),
    ]
    for players in itertools.permutations("abd", 2):
        assert next_pairing(pairings, players) == tuple(sorted(players))
    turned = [Pairing(b, a, counts[::-1]) for a, b, counts in pairings[::-1]]
    assert next_pairing(pairings, "abcd") == next_pairing(turned, "dcba")


def test_one_player_is_no_tournament():
    with pytest.raises(ValueError, match="two players or more"):
        next_pairing([], ["a"])


def test_the_schedule_beats_everyone_against_everyone():
    names = [f"p{index:02d}" for index in range(12)]
    truth = {name: 150.0 * index for index, name in enumerate(names)}
    everyone = list(itertools.combinations(names, 2))
    variances = {"chosen": 0.0, "everyone": 0.0}
    for seed in range(5):
        chosen = simulated(
            truth, len(everyone), lambda pairings: next_pairing(pairings, names), seed=seed
        )
        in_turn = simulated(
            truth, len(everyone), lambda pairings: everyone[len(pairings)], seed=seed
        )
        for key, pairings in (("chosen", chosen), ("everyone", in_turn)):
            variances[key] += np.trace(rate(pairings, "p05").covariance)
        games = rate(chosen, "p05").num_games
        assert (
            games.max() <= 3 * games.min()
        )  # nobody is forgotten; those at the ends of the scale have half as many neighbours
    # By the design's own figures a factor of about 0.7, since half of the pairings are foregone; sums over five tournaments waver by 5 %.
    assert variances["chosen"] < 0.85 * variances["everyone"]


# --- playing ----------------------------------------------------------------------------------------------------------------------------


def test_as_many_games_as_asked_for_in_pairs_of_the_named_players(game):
    players = fixed_players(game)
    seen = []
    matches = list(play_tournament(game, players, [], 26, 8, 2, 0, lambda *news: seen.append(news)))
    assert [len(match.scores) for match in matches] == [8, 8, 8, 2]
    for match in matches:
        assert all(
            first[:2] == second[:2] for first, second in zip(match.moves[::2], match.moves[1::2])
        )
        for index, (score, moves) in enumerate(zip(match.scores, match.moves)):
            state = game.play_moves(moves)
            assert game.over(state[None])[0]
            result = game.inspect(state[None]).results[
                0
            ]  # of the player to move, who is the first mover after an even number of plies
            first = (1 + result * (1 if len(moves) % 2 == 0 else -1)) / 2
            assert score == (first if index % 2 == 0 else 1 - first)
    assert [news[:2] for news in seen if news[2].num_finished == news[2].num_games] == [
        match[:2] for match in matches
    ]


def test_a_tournament_that_stops_goes_on_as_if_it_had_not(game):
    whole = list(play_tournament(game, fixed_players(game), [], 48, 8, 2))
    for stop in (1, 4):
        start = list(
            itertools.islice(play_tournament(game, fixed_players(game), [], 48, 8, 2), stop)
        )
        assert (
            start + list(play_tournament(game, fixed_players(game), start, 48 - 8 * stop, 8, 2))
            == whole
        )
    assert list(play_tournament(game, fixed_players(game), [], 48, 8, 2, seed=1)) != whole


def test_players_that_meet_again_get_new_openings():
    game = make_game("connect_four")
    matches = list(play_tournament(game, fixed_players(game, "ab"), [], 60, 10, 4))
    assert len({moves for match in matches for moves in match.moves[::2]}) == 30


# --- the file ---------------------------------------------------------------------------------------------------------------------------


def _filled(path, game) -> RatingFile:
    file = RatingFile.open(path, game.name, 2)
    file.networks["a"] = {"iteration": 3, "elapsed_s": 1.5}
    file.matches += play_tournament(game, fixed_players(game), [], 40, 8, 2)
    return file


def test_the_file_gives_back_what_was_stored(tmp_path, game):
    path = tmp_path / "ratings.json"
    file = _filled(path, game)
    file.write()
    assert RatingFile.open(path, game.name, 2) == file
    file.write(rate(file.pairings, "a"))
    assert RatingFile.open(path, game.name, 2) == file
    assert file.num_games == 40
    assert [other.name for other in tmp_path.iterdir()] == ["ratings.json"]


def test_an_interrupted_writing_leaves_the_old_file(tmp_path, game, monkeypatch):
    path = tmp_path / "ratings.json"
    file = _filled(path, game)
    file.write()
    before = path.read_bytes()
    file.matches.append(file.matches[0])
    monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        file.write()
    assert path.read_bytes() == before


def test_distinct_games_are_told_apart_by_moves_and_colours(tmp_path):
    file = RatingFile(tmp_path / "r.json", "tic_tac_toe", 0)
    for match, expected in (
        (TournamentMatch("a", "b", (1.0, 0.0), ((1, 2), (1, 2))), 2),  # a first, then b first
        (TournamentMatch("b", "a", (0.0, 1.0), ((1, 2), (1, 2))), 2),  # the same two
        (TournamentMatch("a", "c", (0.0, 1.0), ((1, 2), (3, 4))), 4),  # another opponent
    ):
        file.matches.append(match)
        assert file.num_distinct_games == expected
    assert file.num_games == 6


def test_a_match_counts_its_pairs():
    scores = (0.0, 0.0, 0.0, 0.5, 0.5, 0.5, 1.0, 0.0, 0.0, 1.0, 1.0, 0.5, 1.0, 1.0, 1.0, 1.0)
    assert TournamentMatch("a", "b", scores, ((),) * 16).pairing == Pairing(
        "a", "b", (1, 1, 3, 1, 2)
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"format": "other"}',
        '{"format": "alphazero-ratings-1", "game": "tic_tac_toe"}',
    ],
)
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "ratings.json"
    path.write_text(text)
    with pytest.raises(
        ConfigError,
        match=r"^'.*ratings.json' cannot be read as ratings \([^\n]*\): move it away to start anew\.$",
    ):
        RatingFile.open(path, "tic_tac_toe", 2)


def test_games_of_another_kind_are_refused(tmp_path, game):
    path = tmp_path / "ratings.json"
    _filled(path, game).write()
    with pytest.raises(ConfigError, match="holds games of tic_tac_toe, not of othello"):
        RatingFile.open(path, "othello", 2)
    with pytest.raises(ConfigError, match="take opening_plies=2"):
        RatingFile.open(path, game.name, 4)
