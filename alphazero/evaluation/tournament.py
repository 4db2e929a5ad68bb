"""A tournament whose games go where they tell most.

In: a game, players by name, and the matches played so far. Out: further matches, one after another; they can be stored as plain data. Nobody has
to meet everybody: the next match is between the two players whose

    p (1 - p) Var(elo_a - elo_b)

is the largest. p (1 - p) is the information of a game about the difference of the two ratings: none where the result is foregone. Together
the two factors decide by how much a game shrinks the volume of what is still possible for all ratings (D-optimal design: Chaloner and
Verdinelli, "Bayesian experimental design: a review", 1995). So players meet neighbours on the scale, newcomers first, and everybody plays
about equally often. The ratings that it goes by have a wide normal prior, for which nobody needs to have played; those that are reported
have none, see `alphazero.evaluation.elo`. The schedule depends on the matches alone: a tournament that is interrupted goes on with the same pairing.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from alphazero.evaluation.elo import (
    ELO_PER_UNIT,
    Pairing,
    count_pairs,
    expected_scores,
    fit,
    information,
)
from alphazero.evaluation.match import MatchProgress, Openings, play_match
from alphazero.games.batched_game import Game
from alphazero.players.base import Player
from alphazero.runtime.random_generators import child_generator

PRIOR_ELO_STDDEV = 500.0

#: ``progress(player_a, player_b, match_progress)``: called whenever games have finished.
Progress = Callable[[str, str, MatchProgress], None]


class TournamentMatch(NamedTuple):
    """Some games between two players; game 2i and game 2i + 1 share an opening, and player A moves first in the former."""

    player_a: str
    player_b: str
    scores: tuple[float, ...]  #: player A's points of each game
    moves: tuple[tuple[int, ...], ...]  #: of each game, the opening's included

    @property
    def pairing(self) -> Pairing:
        """What the ratings need of it."""
        counts = [0] * 5
        for first, second in zip(self.scores[::2], self.scores[1::2]):
            counts[round(2 * (first + second))] += 1
        return Pairing(self.player_a, self.player_b, tuple(counts))

    def to_plain(self) -> dict:
        """Return it as plain data for JSON."""
        return {
            "player_a": self.player_a,
            "player_b": self.player_b,
            "scores": list(self.scores),
            "moves": [list(moves) for moves in self.moves],
        }

    @classmethod
    def from_plain(cls, plain: dict) -> "TournamentMatch":
        """Read what `to_plain` returned."""
        return cls(
            plain["player_a"],
            plain["player_b"],
            tuple(plain["scores"]),
            tuple(map(tuple, plain["moves"])),
        )


def play_tournament(
    game: Game,
    players: Mapping[str, Player],
    matches: Iterable[TournamentMatch],
    num_games: int,
    games_per_match: int = 20,
    opening_plies: int = 4,
    seed: int = 0,
    progress: Progress | None = None,
) -> Iterator[TournamentMatch]:
    """Play ``num_games`` further games and yield each match when it has ended.

    Args:
        matches: those played so far, of these players and of others.
        num_games, games_per_match: even numbers; the last match may be shorter.
        seed: of the openings. Two players never get an opening twice from one seed before all others have served, whatever the number of matches.

    Raises:
        ValueError: as `alphazero.evaluation.match.play_match`.
    """
    matches = list(matches)
    for start in range(0, num_games, games_per_match):
        names = next_pairing([match.pairing for match in matches], players)
        num_met = sum(len(match.scores) // 2 for match in matches if {*match[:2]} == {*names})
        opening_seed = int(child_generator(seed, " against ".join(names)).integers(2**62))
        report = play_match(
            game,
            *(players[name] for name in names),
            min(games_per_match, num_games - start),
            Openings(opening_plies, opening_seed, num_used=num_met),
            progress=None if progress is None else lambda news, names=names: progress(*names, news),
        )
        matches.append(
            TournamentMatch(
                *names,
                tuple(played.score for played in report.games),
                tuple(played.moves for played in report.games),
            )
        )
        yield matches[-1]


def next_pairing(pairings: Iterable[Pairing], players: Collection[str]) -> tuple[str, str]:
    """Return the two of ``players``, in alphabetical order, whose next game tells most; of equals the first in alphabetical order.

    Args:
        pairings: what has been played, by these players and by others.
    """
    if len(players) < 2:
        raise ValueError("a tournament needs two players or more.")
    names, counts = count_pairs(pairings, players)
    precision = (ELO_PER_UNIT / PRIOR_ELO_STDDEV) ** 2
    units = fit(counts, precision)
    covariance = np.linalg.inv(information(counts, units) + precision * np.eye(len(names)))
    variances = np.diag(covariance)
    of_difference = variances[:, None] + variances[None, :] - 2.0 * covariance
    expected = expected_scores(units)
    taking_part = np.isin(names, list(players))
    gain = np.triu(expected * (1.0 - expected) * of_difference, 1) * np.outer(
        taking_part, taking_part
    )
    # Rounding must not decide between equals: it may differ from one machine to the next.
    a, b = np.argwhere(gain >= gain.max() * (1.0 - 1e-9))[0]
    return names[a], names[b]
