"""The file of a run's ratings: every match that was played for them, and the ratings themselves for other programs.

    {"format": ..., "game": ..., "opening_plies": ...,
     "networks": {player: {"iteration": ..., "elapsed_s": ...}},      the players that are networks of the run
     "ratings": [{"player": ..., "elo": ..., ...}, ...],
     "matches": [                                                      a line for each, see `alphazero.evaluation.tournament.TournamentMatch`
     {...}
     ]}

It is written whole after every match, so that an interruption costs the unfinished match alone. Ratings are never read back: they follow
from the matches.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

from alphazero.evaluation.elo import Pairing, Ratings
from alphazero.evaluation.tournament import TournamentMatch
from alphazero.games.registry import same_game
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import write_atomically

RATINGS_FORMAT = "alphazero-ratings-1"


@dataclass
class RatingFile:
    """What the file holds."""

    path: Path
    game: str
    opening_plies: int
    networks: dict[str, dict] = field(default_factory=dict)
    matches: list[TournamentMatch] = field(default_factory=list)

    @classmethod
    def open(cls, path: Path, game: str, opening_plies: int) -> "RatingFile":
        """Read the file, or begin one.

        Raises:
            ConfigError: with one plain sentence if it cannot be read, or its games are of another kind.
        """
        if not path.is_file():
            return cls(path, game, opening_plies)
        try:
            plain = json.loads(path.read_text(encoding="utf-8"))
            if plain["format"] != RATINGS_FORMAT:
                raise ValueError(f"it lacks the mark '{RATINGS_FORMAT}'")
            found = cls(
                path,
                plain["game"],
                plain["opening_plies"],
                plain["networks"],
                [*map(TournamentMatch.from_plain, plain["matches"])],
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"'{path}' cannot be read as ratings ({' '.join(str(error).split())}): move it away to start anew."
            ) from None
        if not same_game(game, found.game):
            raise ConfigError(
                f"'{path}' holds games of {found.game}, not of {game}: move it away to start anew."
            )
        if found.opening_plies != opening_plies:
            raise ConfigError(
                f"opening_plies={opening_plies} does not go with the games in '{path}', which have {found.opening_plies}: "
                f"take opening_plies={found.opening_plies}, or move the file away to start anew."
            )
        return found

    @property
    def pairings(self) -> list[Pairing]:
        """What the ratings need of the matches."""
        return [match.pairing for match in self.matches]

    @property
    def num_games(self) -> int:
        return sum(len(match.scores) for match in self.matches)

    @property
    def num_distinct_games(self) -> int:
        """How many games differ in their moves or in who played which colour."""
        return len(
            {
                (frozenset(match[:2]), match[index % 2], moves)
                for match in self.matches
                for index, moves in enumerate(match.moves)
            }
        )

    def write(self, ratings: Ratings | None = None) -> None:
        """Store everything; without ``ratings`` there are none yet."""
        head = {
            "format": RATINGS_FORMAT,
            "game": self.game,
            "opening_plies": self.opening_plies,
            "networks": self.networks,
        }
        head["ratings"] = (
            []
            if ratings is None
            else [_plain_rating(ratings, player) for player in ratings.players]
        )
        lines = ",\n".join(json.dumps(match.to_plain()) for match in self.matches)
        write_atomically(
            self.path, f'{json.dumps(head)[:-1]}, "matches": [\n{lines}\n]}}\n'.encode()
        )


def _plain_rating(ratings: Ratings, player: str) -> dict:
    index = ratings.players.index(player)
    return {
        "player": player,
        "elo": float(ratings.elo[index]),
        "elo_stderr": ratings.stderr(player),
        "is_bound": bool(ratings.is_bound[index]),
        "num_games": int(ratings.num_games[index]),
        "score": float(ratings.scores[index]),
    }
