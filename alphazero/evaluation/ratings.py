"""Read and write a run's ratings.json: all matches played to rate its networks, and the ratings.

    {"format": ..., "game": ..., "rules_digest": ..., "opening_plies": ..., "drawn_openings": ...,
     "networks": {player: {"iteration": ..., "elapsed_s": ...}},
     "ratings": [{"player": ..., "elo": ..., ...}, ...],
     "matches": [
     {...}
     ]}

``networks`` lists the players that are networks of the run. Each match is one line, with the fields
of `alphazero.evaluation.tournament.TournamentMatch`.

The whole file is rewritten after every match, so that an interruption loses only the unfinished
match. The ratings can be recomputed from the matches; they are stored for other programs to read.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alphazero.evaluation.elo import Pairing, Ratings
from alphazero.evaluation.tournament import TournamentMatch
from alphazero.own_games.registry import same_game
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.runtime.files import parse_object, read_text, write_atomically

RATINGS_FORMAT = "alphazero-ratings-1"
_NETWORK_FACTS = {"iteration", "elapsed_s"}


@dataclass
class RatingFile:
    """The contents of a run's ratings.json: its matches, and the settings they were played with."""

    path: Path
    game: str  #: the game's name
    opening_plies: int  #: number of random moves at the start of each game
    #: the iteration and the training time in seconds ("elapsed_s") of the run's networks, by player
    networks: dict[str, dict[str, Any]] = field(default_factory=dict)
    matches: list[TournamentMatch] = field(default_factory=list)
    #: digest of the game's rules (see `alphazero.games.batched_game.Game`); "" if there is none
    rules_digest: str = ""
    drawn_openings: bool | None = None  #: whether all openings are drawn; None before the first

    @classmethod
    def open(
        cls, path: Path, game: str, opening_plies: int, rules_digest: str = ""
    ) -> "RatingFile":
        """Read a run's rating file, or return an empty `RatingFile` if it does not exist yet.

        Args:
            path: the path of ratings.json, which need not exist.
            game: the name of the game that the run's networks play.
            opening_plies: number of random moves at the start of each rated game.
            rules_digest: digest that identifies a user-defined game's rules; "" for other games.

        Raises:
            StoredFileError: if the file cannot be read, or is for another game or other rules.
            ConfigError: if the openings of the stored matches have a different number of moves.
        """
        if not path.exists():
            return cls(path, game, opening_plies, rules_digest=rules_digest)
        stored = cls.read(path)
        digests = {stored.rules_digest, rules_digest} - {""}
        if len(digests) > 1 or not same_game(game, stored.game, rules_digest, stored.rules_digest):
            raise StoredFileError(
                f"'{path}' holds ratings of {stored.game}, whose rules differ from those of "
                f"{game}; move it away to start a new one.",
                path=path,
            )
        if stored.opening_plies != opening_plies:
            reason = f"it differs from the games in '{path}', which you may move away"
            raise ConfigError.of("opening_plies", opening_plies, [stored.opening_plies], reason)
        stored.rules_digest = stored.rules_digest or rules_digest
        return stored

    @classmethod
    def read(cls, path: Path) -> "RatingFile":
        """Read an existing rating file of any game.

        Raises:
            StoredFileError: if the file is missing, damaged or not a rating file.
        """
        try:
            plain = parse_object(read_text(path), path, "its ratings")
            game = plain["game"]
            plies = plain["opening_plies"]
            networks = plain["networks"]
            matches = [TournamentMatch.from_plain(match) for match in plain["matches"]]
            [match.pairing for match in matches]  # fails if scores do not form pairs
            are_known = all(_NETWORK_FACTS <= facts.keys() for facts in networks.values())
            digest = plain.get("rules_digest", "")
            drawn = plain.get("drawn_openings", False)
            if plain["format"] != RATINGS_FORMAT or not are_known:
                raise ValueError
        except (AttributeError, KeyError, TypeError, ValueError, IndexError):
            raise StoredFileError(
                f"'{path}' is damaged, or not a file of ratings; move it away to start a new one.",
                path=path,
            ) from None
        return cls(path, game, plies, networks, matches, digest, drawn)

    @property
    def pairings(self) -> list[Pairing]:
        """A `Pairing` for each match: its players, and how many pairs of games had each score."""
        return [match.pairing for match in self.matches]

    @property
    def num_games(self) -> int:
        """Number of games in all matches together."""
        return sum(len(match.scores) for match in self.matches)

    @property
    def num_distinct_games(self) -> int:
        """Number of different games.

        Games with the same players, moves and first player count once.
        """
        games = {
            (frozenset(match[:2]), match[index % 2], moves)  # both players, and the first to move
            for match in self.matches
            for index, moves in enumerate(match.moves)
        }
        return len(games)

    def write(self, ratings: Ratings | None = None) -> None:
        """Write the matches and ratings to `path`, replacing the file atomically.

        Args:
            ratings: the ratings to store for other programs; if None, an empty list is stored.
        """
        head = {
            "format": RATINGS_FORMAT,
            "game": self.game,
            "rules_digest": self.rules_digest,
            "opening_plies": self.opening_plies,
            "drawn_openings": self.drawn_openings,
            "networks": self.networks,
            "ratings": [_plain_rating(ratings, one) for one in ratings.players] if ratings else [],
        }
        lines = ",\n".join(json.dumps(match._asdict()) for match in self.matches)
        text = f'{json.dumps(head)[:-1]}, "matches": [\n{lines}\n]}}\n'
        write_atomically(self.path, text.encode())


def _plain_rating(ratings: Ratings, player: str) -> dict[str, Any]:
    index = ratings.players.index(player)
    return {
        "player": player,
        "elo": float(ratings.elo[index]),
        "elo_stderr": ratings.stderr(player),
        "is_bound": bool(ratings.is_bound[index]),
        "num_games": int(ratings.num_games[index]),
        "score": float(ratings.scores[index]),
    }


def short_name(player: str) -> str:
    """Shorten the path of a network file in a player's name.

    ``checkpoints/othello/RUN/networks/000012.safetensors,seed=1`` becomes ``RUN/000012,seed=1``.
    Names of other players are returned unchanged.
    """
    path, comma, settings = player.partition(",")
    if not path.endswith(".safetensors"):
        return player
    parts = [part for part in Path(path).with_suffix("").parts if part != "networks"]
    return "/".join(parts[-2:]) + comma + settings


def search_of(player: str) -> str:
    """Return the search settings in a network player's name: the part after the first ", ".

    The result is "" if the name contains no ", ".
    """
    return player.partition(", ")[2]
