"""The catalogue: which games, players and runs a request may name, and how the page shows them.

In: what ships, what was found on this machine, and the game that the user named. Out: descriptions
for the page, and games by name. A request that names anything else is refused.
"""

import functools
import importlib.metadata
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from alphazero.boards.skin import Skin, setups_of, skin_of
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.own_games.registry import OFFERED, is_shipped_game, make_game, same_game
from alphazero.play.requests import Refusal, quoted
from alphazero.runtime.errors import ConfigError
from alphazero.storage.pretrained import shipped_network
from alphazero.web.found_runs import Found, FoundRun, RunFinder

MAX_NETWORK_SIMULATIONS = 10_000
#: UCT takes some seconds for so many simulations times the plies and actions of the game; at least
#: the first number of simulations are allowed, and at most the second.
_UCT_WORK, _UCT_SIMULATIONS = 60_000_000, (20_000, 200_000)
#: Of games in plain Python, on whose objects UCT is a hundred times slower.
_MAX_PYTHON_UCT_SIMULATIONS = 5_000
_ANALYST_SIMULATIONS = {"network": 2_000, "uct": 20_000}


class PlayerChoice(NamedTuple):
    """A player that a game has."""

    id: str
    name: str
    kind: str  #: network, uct, solver, random or own
    max_simulations: int = 0  #: that a request may ask for
    note: str = ""
    network: Path | None = None  #: its file

    def describe(self) -> dict[str, Any]:
        """Return the entry in the answer of `api/games`, which names no files."""
        plain = self._asdict()
        del plain["network"]
        return plain


class Catalogue:
    """What a request may name. Threads may use it at the same time.

    Args:
        runs: the folder of all training runs.
        named_games: games that the user named. Runs of a game file are shown always, and can be
            played if it is one of these.
        own_players: specifications of players without a network that the user named.
    """

    def __init__(
        self, runs: str | Path, named_games: Sequence[str] = (), own_players: Sequence[str] = ()
    ):
        self._finder = RunFinder(Path(runs))
        self._named = named_games
        self._own = [PlayerChoice(spec, spec, "own") for spec in own_players]
        self._make_game = functools.cache(make_game)

    @property
    def default_game(self) -> str:
        """The game that the page begins with."""
        return [*self._named, *OFFERED][0]

    def runs(self) -> dict[str, FoundRun]:
        """Return the runs by id, the newest first."""
        return self._finder.found().runs

    def look_for_runs(self) -> Found:
        """Look what runs there are now, also for those who ask next."""
        return self._finder.found(within_s=0)

    def describe(self) -> dict[str, Any]:
        """Return the answer of `api/games`."""
        games = map(self.game, self.game_names())
        return {
            "games": [describe_game(game, self.players(game)) for game in games],
            "default_game": self.default_game,
            "version": importlib.metadata.version("alphazero-selfplay"),
        }

    def game_names(self) -> list[str]:
        """Return the names of the games: the user's, ours, and those that runs here have learned.

        A file that a run names is never run: only the user's word runs a file.
        """
        trained = [run.game for run in self.runs().values() if _is_ours(run.game)]
        return list(dict.fromkeys([*self._named, *OFFERED, *trained]))

    def game(self, name: str | None) -> Game:
        """Return a game of the catalogue.

        Raises:
            Refusal: if there is none of this name.
        """
        if name not in (known := self.game_names()):
            message = f"there is no game {quoted(name)} here; the games are {', '.join(known)}."
            raise Refusal(message, key="game", value=name)
        return self._make_game(name)

    def skin(self, game: Game, setup: str | None) -> Skin:
        """Return how a game looks in one of its set-ups; None is the usual one.

        Raises:
            Refusal: if the game has no such set-up.
        """
        setups = _setups(game)
        if setup is not None and setup not in setups:
            message = f"{game.name} has no set-up {quoted(setup)}; it has {', '.join(setups)}."
            raise Refusal(message, key="setup", value=setup)
        return skin_of(game, setup or setups[0])

    def player(self, game: Game, player_id: str | None) -> PlayerChoice:
        """Return a player of a game.

        Raises:
            Refusal: if it has none of this id.
        """
        for player in self.players(game):
            if player.id == player_id:
                return player
        message = f"there is no player {quoted(player_id)} for {game.name} here."
        raise Refusal(message, key="id", value=player_id)

    def players(self, game: Game) -> list[PlayerChoice]:
        """Return the players of a game: those that every machine has, and the networks of runs."""
        found = [*players_of(game), *self._own]
        for run in self.runs().values():
            if same_game(game.name, run.game, game.rules_digest, run.rules_digest):
                for iteration, path in reversed(run.networks.items()):
                    name = f"{run.id.partition('/')[2]}, iteration {iteration}"
                    found.append(_network(run.player_id(iteration), name, path))
        return found

    def analyst(self, game: Game) -> dict[str, Any]:
        """Return who analyses positions of a game unless a request names someone.

        Raises:
            Refusal: if nobody can.
        """
        if (analyst := _analyst(self.players(game))) is None:
            raise Refusal(f"nobody here can analyse {game.name}: train a network first.")
        return analyst

    def named_run_game(self, run: FoundRun, names: list[str]) -> str | None:
        """Return which of the names here a run's game has; None if it cannot be played."""
        for name in names:
            digest = self.game(name).rules_digest if run.rules_digest else ""
            if same_game(name, run.game, digest, run.rules_digest):
                return name
        return None


@functools.cache
def _is_ours(name: str) -> bool:
    """Return whether a name in a stored file is that of a game of this package."""
    try:
        return is_shipped_game(name) and bool(make_game(name))
    except ConfigError:
        return False


def players_of(game: Game) -> list[PlayerChoice]:
    """Return the players of a game that every machine has."""
    found = []
    if (shipped := shipped_network(game.name)) is not None:
        found.append(_network("best", "Network", shipped))
    found.append(PlayerChoice("uct", "UCT (random games, no network)", "uct", _most_uct(game)))
    if isinstance(game, CompiledGame):
        note = "Perfect where the result can be computed; another player moves until then."
        found.append(PlayerChoice("solver", "Solver", "solver", note=note))
    return [*found, PlayerChoice("random", "Random moves", "random")]


def _network(player_id: str, name: str, path: Path) -> PlayerChoice:
    return PlayerChoice(player_id, name, "network", MAX_NETWORK_SIMULATIONS, network=path)


def _most_uct(game: Game) -> int:
    if not isinstance(game, CompiledGame):
        return _MAX_PYTHON_UCT_SIMULATIONS
    least, most = _UCT_SIMULATIONS
    return min(max(_UCT_WORK // (game.max_plies * game.num_actions), least), most)


def _setups(game: Game) -> tuple[str, ...]:
    """Return the set-ups of a game, the usual one first."""
    return setups_of(game)[::-1]


def describe_game(game: Game, players: list[PlayerChoice]) -> dict[str, Any]:
    """Return a game's entry in the answer of `api/games`."""
    rows, columns = game.planes_shape[1:]
    skins = [skin_of(game, setup) for setup in _setups(game)]
    notation = skins[0].notation
    actions = range(game.num_actions)
    return {
        "name": game.name,
        "title": skins[0].title,
        "rows": rows,
        "columns": columns,
        "num_actions": game.num_actions,
        "action_kind": notation.kind,
        "action_squares": list(map(notation.squares, actions)) if notation.kind == "move" else None,
        "style": game.appearance.board,
        "has_lines": skins[0].line_length > 0,
        "counts_pieces": skins[0].counts_pieces,
        "setups": [_describe_setup(game, skin) for skin in skins],
        "players": [player.describe() for player in players],
        "levels": levels_of(game.name, {player.id for player in players}),
        "analyst": _analyst(players),
    }


def _analyst(players: list[PlayerChoice]) -> dict[str, Any] | None:
    """Return who analyses: the network that ships, else the newest trained one, else UCT, or None.

    Args:
        players: the network that ships comes before those of runs, of which the newest come first.
    """
    for kind, num_simulations in _ANALYST_SIMULATIONS.items():
        for player in players:
            if player.kind == kind:
                num_simulations = min(num_simulations, player.max_simulations)
                return {"id": player.id, "num_simulations": num_simulations}
    return None


def _describe_setup(game: Game, skin: Skin) -> dict[str, Any]:
    notation, colors = skin.notation, game.appearance.colors
    return {
        "id": skin.setup,
        "label": f"{skin.sides[0]} moves first",
        "sides": list(skin.sides),
        "colors": [*(colors[::-1] if notation.mirrored else colors), "wall"],  # of blocked squares
        "action_texts": [notation.text(action) for action in range(game.num_actions)],
        "separator": notation.separator,
        "column_names": list(notation.column_names),
        "row_names": list(notation.row_names),
        "letters": skin.letters,
        "mirrored": notation.mirrored,
    }


# --- levels ---------------------------------------------------------------------------------------


class Level(NamedTuple):
    """One opponent, which is weaker than the next one."""

    id: str
    name: str
    player: dict[str, Any]  #: as a request names it


#: Of networks: nodes that an exact result at a leaf may cost on average.
ENDGAME = "500"

LEVELS = (
    Level("random", "Random moves", {"id": "random"}),
    Level("beginner", "Beginner", {"id": "uct", "num_simulations": 10}),
    Level("casual", "Casual player", {"id": "uct", "num_simulations": 50}),
    Level("club", "Club player", {"id": "uct", "num_simulations": 250}),
    Level("advanced", "Advanced", {"id": "uct", "num_simulations": 1000}),
    Level("network", "Network alone", {"id": "best", "num_simulations": 0}),
    Level("expert", "Expert", {"id": "best", "num_simulations": 50}),
    Level("master", "Master", {"id": "best", "num_simulations": 200}),
    Level("best", "Best", {"id": "best", "num_simulations": 800}),
)


def levels_of(game: str, players: set[str]) -> list[dict[str, Any]]:
    """Return the levels of a game, weakest first.

    Args:
        game: its name.
        players: the ids of the players that the game has.
    """
    known = measured().get(game, {})
    found = []
    for level in LEVELS:
        if level.player["id"] in players:
            elo, elo_stderr = known.get(level.id, (None, None))
            found.append(level._asdict() | {"elo": elo, "elo_stderr": elo_stderr})
    return found


@functools.cache
def measured() -> dict[str, dict[str, tuple[float, float]]]:
    """Return the measured Elo and its standard error, by game and level.

    `levels.json` holds what `scripts/measure_levels.py` found. Elo are on the scale of
    docs/RATINGS.md, where uct:1000 has 1000 points.
    """
    return json.loads(Path(__file__).with_name("levels.json").read_text(encoding="utf-8"))
