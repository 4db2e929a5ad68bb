"""A tournament that always plays the most informative match next.

Given the matches played so far, `play_tournament` plays further ones, which can be stored as JSON.
Unlike in a round robin, the next match is between the two players for whom

    p (1 - p) Var(elo_a - elo_b)

is largest, where p is the expected score of one against the other. The factor p (1 - p) is the
information of one game about the rating difference, small if the result is predictable. Together
the two factors determine how much a game shrinks the joint confidence region of all ratings
(D-optimal design: Chaloner and Verdinelli, "Bayesian experimental design: a review", 1995). As a
result, players meet opponents of similar strength, new players play first, and all play about
equally often.

The ratings used for scheduling have a wide normal prior, so that players without games also have a
rating. The reported ratings, from `alphazero.evaluation.elo`, have no prior. The schedule depends
only on the matches, so an interrupted tournament continues with the same pairing.
"""

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from alphazero.evaluation.elo import (
    ELO_PER_UNIT,
    Pairing,
    count_pairs,
    expected_scores,
    fit,
    information,
)
from alphazero.evaluation.match import Match, MatchProgress, Openings
from alphazero.evaluation.report import PAIR_SCORES, count_pair, pair_score
from alphazero.games.batched_game import Game
from alphazero.players.base import Player
from alphazero.runtime.random_generators import child_generator

PRIOR_ELO_STDDEV = 500.0


class TournamentMatch(NamedTuple):
    """One match of a tournament.

    Games 2i and 2i + 1 share an opening; player A moves first in game 2i.
    """

    player_a: str
    player_b: str
    scores: tuple[float, ...]  #: player A's points in each game: 1 for a win, 0.5 for a draw
    moves: tuple[tuple[int, ...], ...]  #: the actions of each game, including the opening

    @property
    def pairing(self) -> Pairing:
        """The two players and how many pairs of games had each score, as input for ratings."""
        counts = [0.0] * len(PAIR_SCORES)
        for pair in zip(self.scores[::2], self.scores[1::2]):
            count_pair(counts, pair_score(pair))
        return Pairing(self.player_a, self.player_b, tuple(counts))

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "TournamentMatch":
        """Make a match from the fields that were read from JSON.

        Args:
            plain: the value of every field by name, with lists in place of tuples.
        """
        moves = tuple(map(tuple, plain["moves"]))
        return cls(plain["player_a"], plain["player_b"], tuple(plain["scores"]), moves)


def play_tournament(
    game: Game,
    players: Mapping[str, Player],
    matches: Iterable[TournamentMatch],
    num_games: int,
    games_per_match: int,
    openings: Openings,
    progress: Callable[[str, str, MatchProgress], None] | None = None,
) -> Iterator[TournamentMatch]:
    """Play the most informative matches of a tournament, yielding each match as it finishes.

    Args:
        players: the players by name; there must be at least two.
        matches: the matches played so far, by these players or others.
        num_games: number of further games to play; must be even.
        games_per_match: number of games in each match; must be even. The last match may be shorter.
        openings: how to sample the openings. Each pair of players has its own seed, derived from
            ``openings.seed``; if they meet again, they continue with the next openings.
        progress: called as ``progress(player_a, player_b, match_progress)`` whenever games have
            finished.

    Yields:
        The matches played, in order. If a player fails or Ctrl-C ends a match, its finished pairs
        of games come first, and then the exception.

    Raises:
        ConfigError: if a match would have an odd number of games, or no openings can be sampled
            because random games end too early.
        ValueError: if a player chooses an illegal move.
    """
    matches = list(matches)
    for start in range(0, num_games, games_per_match):
        a, b = next_pairing([match.pairing for match in matches], players)
        earlier = [match for match in matches if {match.player_a, match.player_b} == {a, b}]
        num_pairs_met = sum(len(match.scores) // 2 for match in earlier)
        match = Match(
            game,
            players[a],
            players[b],
            min(games_per_match, num_games - start),
            _openings_of(openings, a, b, num_pairs_met),
        )
        try:
            match.play(functools.partial(progress, a, b) if progress else None)
        finally:
            if match.num_counted:
                games = match.report().games
                scores = tuple(played.score for played in games)
                matches.append(TournamentMatch(a, b, scores, tuple(one.moves for one in games)))
                yield matches[-1]


def _openings_of(openings: Openings, player_a: str, player_b: str, num_used: int) -> Openings:
    """Return two players' opening settings, with a seed of their own and used openings skipped.

    Args:
        openings: the tournament's settings, from whose seed the players' seed is derived.
        player_a: the name of the first player in alphabetical order.
        player_b: the name of the other player.
        num_used: number of openings to skip, because the two players have already used them.
    """
    generator = child_generator(openings.seed, f"{player_a} against {player_b}")
    return replace(openings, seed=int(generator.integers(2**62)), num_used=num_used)


def next_pairing(pairings: Iterable[Pairing], players: Collection[str]) -> tuple[str, str]:
    """Choose the two of ``players`` whose next game is most informative about the ratings.

    Of equally informative pairings, the first in alphabetical order is chosen.

    Args:
        pairings: the games played so far, by these players or others.
        players: the names of the players to choose from, at least two.

    Returns:
        The names of the two players, in alphabetical order.
    """
    names, counts = count_pairs(pairings, players)
    precision = (ELO_PER_UNIT / PRIOR_ELO_STDDEV) ** 2
    units = fit(counts, precision)
    of_prior = precision * np.eye(len(names))
    covariance = np.linalg.inv(information(counts, units) + of_prior)
    variances = np.diag(covariance)
    of_difference = variances[:, None] + variances[None, :] - 2.0 * covariance
    expected = expected_scores(units)
    takes_part = np.isin(names, list(players))
    gain = np.triu(expected * (1.0 - expected) * of_difference, 1)
    gain *= np.outer(takes_part, takes_part)
    # The tolerance keeps rounding, which depends on the machine, from choosing between equals.
    a, b = np.argwhere(gain >= gain.max() * (1.0 - 1e-9))[0]
    return names[a], names[b]
