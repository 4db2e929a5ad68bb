"""The levels that a person can play against, weakest first, with their Elo where it was measured.

`levels.json` holds what `scripts/measure_levels.py` found, by game: {"uct:10": [elo, standard
error]}. Elo are on the scale of docs/RATINGS.md, where uct:1000 has 1000 points.
"""

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple


class Level(NamedTuple):
    """One opponent. It is weaker than the next one as a rule; the Elo decides where it is known."""

    id: str
    name: str
    player: str  #: the id of a player
    num_simulations: int | None

    @property
    def spec(self) -> str:
        """The player as `alphazero.players.registry.make_player` takes it, and as it is stored."""
        if self.player == "random":
            return "random"
        if self.player == "uct":
            return f"uct:{self.num_simulations}"
        if self.num_simulations == 0:
            return "best,with_search=false"
        return f"best,num_simulations={self.num_simulations},endgame={ENDGAME}"


#: Of networks: nodes that an exact result at a leaf may cost on average.
ENDGAME = "500"

LEVELS = (
    Level("random", "Random moves", "random", None),
    Level("beginner", "Beginner", "uct", 10),
    Level("casual", "Casual player", "uct", 50),
    Level("club", "Club player", "uct", 250),
    Level("advanced", "Advanced", "uct", 1000),
    Level("network", "Network alone", "best", 0),
    Level("expert", "Expert", "best", 50),
    Level("master", "Master", "best", 200),
    Level("best", "Best", "best", 800),
)


def levels_of(game: str, players: set[str]) -> list[dict[str, Any]]:
    """Return the levels of a game, weakest first.

    Args:
        game: its name.
        players: the ids of the players that the game has.
    """
    known = measured().get(game, {})
    found = []
    for place, level in enumerate(LEVELS):
        if level.player not in players:
            continue
        player = {"id": level.player}
        if level.num_simulations is not None:
            player["num_simulations"] = level.num_simulations
        elo, elo_stderr = known.get(level.spec, (None, None))
        entry = {"id": level.id, "name": level.name, "player": player}
        found.append((place, entry | {"elo": elo, "elo_stderr": elo_stderr}))
    if all(entry["elo"] is not None for _, entry in found):
        found.sort(key=lambda pair: (pair[1]["elo"], pair[0]))
    return [entry for _, entry in found]


@functools.cache
def measured() -> dict[str, dict[str, tuple[float, float]]]:
    """Return the measured Elo and its standard error, by game and specification."""
    return json.loads(Path(__file__).with_name("levels.json").read_text(encoding="utf-8"))
