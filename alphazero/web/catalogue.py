"""List the games, players and training runs that a request may name.

The catalogue contains this package's games and networks, the training runs on this machine, and the
games that the user named on the command line. Requests for anything else are refused.
"""

import functools
import inspect
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from alphazero.boards.skin import Skin, setups_of, skin_of
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.own_games.registry import (
    OFFERED,
    is_game_file,
    is_shipped_game,
    make_game,
    same_game,
)
from alphazero.play.requests import Refusal, quoted
from alphazero.runtime.errors import ConfigError
from alphazero.storage.pretrained import knows_board, shipped_network
from alphazero.web.found_runs import FoundRun, FoundRuns, search_runs

#: Maximum numbers of simulations per move.
MAX_NETWORK_SIMULATIONS = 10_000
_MAX_UCT_SIMULATIONS = 200_000
_MAX_PYTHON_SIMULATIONS = 5_000  # of UCT in a game in plain Python, which is 100 times slower
#: Age, in seconds, at which the list of runs is read again.
_FRESH_S = 2.0
_ANALYST_SIMULATIONS = {"network": 2_000, "uct": 20_000}


class PlayerChoice(NamedTuple):
    """A player that the page offers for a game, such as a network or UCT."""

    id: str  #: the player's name in requests
    name: str  #: the player's name on the page
    kind: str  #: "network", "uct", "solver", "random" or "own" (a user-supplied player)
    #: largest number of simulations that a request may ask for; 0 if the player does not search
    max_simulations: int = 0
    note: str = ""  #: explanation of the player, shown on the page
    network: Path | None = None  #: the network's file; None for a player without a network

    def describe(self) -> dict[str, Any]:
        """Return the player's entry in the `api/games` response: all fields except ``network``."""
        plain = self._asdict()
        del plain["network"]
        return plain


class Catalogue:
    """The games, players and training runs that a request may name; it is thread-safe.

    Args:
        runs: the folder of all training runs; it need not exist.
        named_games: games that the user named on the command line. Runs of a game file are always
            shown, but their networks can be played only if the file is among these games.
        own_players: user-supplied players that use no network, each given as ``module:Class`` or as
            the name of an entry point.
    """

    def __init__(
        self, runs: str | Path, named_games: Sequence[str], own_players: Sequence[str] = ()
    ):
        self._root = Path(runs)
        self._found = FoundRuns({}, {})
        self._searched_at = -math.inf
        # A game file goes by its name, so that links do not show where it is; of two files of one
        # name, the second goes by its path.
        files = [game for game in reversed(named_games) if is_game_file(game)]
        self._paths = {Path(path).name: path for path in files}
        shown = {path: name for name, path in self._paths.items()}
        self._named = [shown.get(game, game) for game in named_games]
        self._own = [PlayerChoice(spec, spec, "own") for spec in own_players]
        self._make_game = functools.cache(make_game)

    @property
    def default_game(self) -> str:
        """The name of the game that the page shows first."""
        return self._named[0] if self._named else OFFERED[0]

    def runs(self) -> dict[str, FoundRun]:
        """Return the training runs by id, the newest first.

        The list can be up to two seconds old; `find_runs` searches the folder again.
        """
        if time.monotonic() - self._searched_at >= _FRESH_S:
            self.find_runs()
        return self._found.runs

    def find_runs(self) -> FoundRuns:
        """Search the folder of training runs now; return the readable and the damaged runs."""
        self._found = search_runs(self._root)
        self._searched_at = time.monotonic()
        return self._found

    def describe(self) -> dict[str, Any]:
        """Return the `api/games` response: every game with its players, and the default game."""
        described = []
        for name in self.game_names():
            made = self.game(name)
            described.append(describe_game(made, self.players(made)) | {"name": name})
        titles = [game["title"] for game in described]
        for game in described:
            if titles.count(game["title"]) > 1:
                game["title"] += f" ({Path(game['name']).name})"
        return {"games": described, "default_game": self.default_game}

    def game_names(self) -> list[str]:
        """List the names of all games that a request may name.

        The games that the user named on the command line come first, then the standard ones, then
        other games of this package that have training runs here.

        A game file named by a stored run is never executed: only the user may name a file to run.
        """
        trained = [run.game for run in self.runs().values() if _is_ours(run.game)]
        return list(dict.fromkeys([*self._named, *OFFERED, *trained]))

    def game(self, name: str | None) -> Game:
        """Look up a game by its name.

        Raises:
            Refusal: if the catalogue contains no game of this name.
        """
        known = self.game_names()
        if name is None or name not in [*known, *self._paths.values()]:
            message = f"there is no game {quoted(name)} here; the games are {', '.join(known)}."
            raise Refusal(message, key="game")
        return self._make_game(self._paths.get(name, name))

    def skin(self, game: Game, setup: str | None) -> Skin:
        """Return the appearance of a game in one of its set-ups, which differ in who moves first.

        Args:
            setup: "white_first" or, in games such as Othello, "standard"; None means the standard
                set-up if the game has one, otherwise its only set-up.

        Raises:
            Refusal: if the game has no such set-up.
        """
        setups = setups_of(game)[::-1]  # the default one first
        if setup is not None and setup not in setups:
            message = f"{game.name} has no set-up {quoted(setup)}; it has {', '.join(setups)}."
            raise Refusal(message, key="setup")
        return skin_of(game, setup or setups[0])

    def player(self, game: Game, player_id: str | None) -> PlayerChoice:
        """Look up a player of a game by its id.

        Raises:
            Refusal: if the game has no player with this id.
        """
        for player in self.players(game):
            if player.id == player_id:
                return player
        message = f"there is no player {quoted(player_id)} for {game.name} here."
        raise Refusal(message, key="id")

    def players(self, game: Game) -> list[PlayerChoice]:
        """List a game's players: built-in, then user-supplied, then networks of training runs.

        The networks of newer runs come before those of older ones, and later iterations of a run
        before earlier ones.
        """
        players = [*players_of(game), *self._own]
        for run in self.runs().values():
            is_played = same_game(game.name, run.game, game.rules_digest, run.rules_digest)
            if is_played or run.all_sizes and knows_board([run.game], game.name):
                for iteration, path in reversed(run.networks.items()):
                    name = f"{run.id.partition('/')[2]}, iteration {iteration}"
                    players.append(_network(run.player_id(iteration), name, path))
        return players

    def analyst(self, game: Game) -> dict[str, Any]:
        """Return the player that analyses a game by default, as the fields of a `PlayerRequest`.

        Raises:
            Refusal: if no player can analyse the game.
        """
        analyst = _analyst(self.players(game))
        if analyst is None:
            raise Refusal(f"no player here can analyse {game.name}: train a network first.")
        return analyst

    def named_run_game(self, game: str, rules_digest: str, names: list[str]) -> str | None:
        """Return which of ``names`` is the game of a training run, or None if none of them is.

        Args:
            game: the game's name in the run.
            rules_digest: the digest of the game's rules in the run.
            names: names of games in this catalogue. A game with user-defined rules matches only if
                its rules are still those with which the run was trained.
        """
        for name in names:
            digest = self.game(name).rules_digest if rules_digest else ""
            if same_game(self._paths.get(name, name), game, digest, rules_digest):
                return name
        return None


@functools.cache
def _is_ours(name: str) -> bool:
    """Return whether a name that was read from a stored file belongs to a game of this package."""
    try:
        return is_shipped_game(name) and bool(make_game(name))
    except ConfigError:
        return False


def players_of(game: Game) -> list[PlayerChoice]:
    """List a game's built-in players: its shipped network, UCT, the solver and random moves.

    The network is omitted if none ships with the game, the solver if the rules are not compiled.
    """
    choices = []
    shipped = shipped_network(game.name)
    if shipped is not None:
        choices.append(_network("best", "Network", shipped))
    is_compiled = isinstance(game, CompiledGame)
    limit = _MAX_UCT_SIMULATIONS if is_compiled else _MAX_PYTHON_SIMULATIONS
    note = "A tree search that judges positions by playing random games from them."
    choices.append(PlayerChoice("uct", "UCT (random games, no network)", "uct", limit, note))
    if is_compiled:
        note = "Perfect where the result can be computed; another player moves until then."
        choices.append(PlayerChoice("solver", "Solver", "solver", note=note))
    return [*choices, PlayerChoice("random", "Random moves", "random")]


def _network(player_id: str, name: str, path: Path) -> PlayerChoice:
    return PlayerChoice(player_id, name, "network", MAX_NETWORK_SIMULATIONS, network=path)


def describe_game(game: Game, players: list[PlayerChoice]) -> dict[str, Any]:
    """Return a game's entry in the `api/games` response.

    Args:
        players: all players of the game, as listed by `Catalogue.players`.
    """
    rows, columns = game.planes_shape[1:]
    skins = [skin_of(game, setup) for setup in setups_of(game)[::-1]]
    default_skin = skins[0]
    notation = default_skin.notation
    action_squares = None
    if notation.kind == "move":
        action_squares = [notation.squares(action) for action in range(game.num_actions)]
    return {
        "name": game.name,
        "title": default_skin.title,
        "rules": _rules_of(game),
        "rows": rows,
        "columns": columns,
        "action_kind": notation.kind,
        "action_squares": action_squares,
        "style": game.appearance.board,
        "has_lines": default_skin.line_length > 0,
        "counts_pieces": default_skin.counts_pieces,
        "setups": [_describe_setup(game, skin) for skin in skins],
        "players": [player.describe() for player in players],
        "levels": levels_of(game.name, {player.id for player in players}),
        "analyst": _analyst(players),
    }


def _rules_of(game: Game) -> str:
    """Return a game's rules in one or two sentences, "" if neither the game nor its file has any.

    A user's game may state them in the first paragraph of its file's docstring.
    """
    if game.appearance.rules or not game.rules_digest:
        return game.appearance.rules
    module = sys.modules.get(type(game.rules_object).__module__)
    paragraph, *_ = (inspect.getdoc(module) or "").split("\n\n")
    return " ".join(paragraph.split())


def _analyst(players: list[PlayerChoice]) -> dict[str, Any] | None:
    """Choose the default player for analyses: the first network, otherwise UCT, otherwise None.

    Args:
        players: a game's players. The shipped network must come first, and newer runs before older
            ones, so that the shipped network is chosen, or else the newest one.

    Returns:
        The fields of a `PlayerRequest`, or None if the game has neither a network nor UCT.
    """
    for kind, num_simulations in _ANALYST_SIMULATIONS.items():
        for player in players:
            if player.kind == kind:
                num_simulations = min(num_simulations, player.max_simulations)
                return {"id": player.id, "num_simulations": num_simulations}
    return None


def _describe_setup(game: Game, skin: Skin) -> dict[str, Any]:
    notation = skin.notation
    colors = game.appearance.colors
    if notation.mirrored:
        colors = colors[::-1]
    return {
        "id": skin.setup,
        "label": f"{skin.sides[0]} moves first",
        "sides": list(skin.sides),
        "colors": [*colors, "wall"],  # the last one is that of blocked squares
        "action_texts": [notation.text(action) for action in range(game.num_actions)],
        "separator": notation.separator,
        "column_names": list(notation.column_names),
        "row_names": list(notation.row_names),
        "letters": skin.letters,
        "mirrored": notation.mirrored,
    }


# --- levels ---------------------------------------------------------------------------------------


class Level(NamedTuple):
    """A level of play that the page offers: a player with a number of simulations."""

    id: str  #: the level's name in levels.json
    name: str  #: the level's name on the page
    player: dict[str, Any]  #: the fields of a `PlayerRequest`


#: All levels, weakest first.
LEVELS = (
    Level("random", "Random moves", {"id": "random"}),
    Level("beginner", "Beginner", {"id": "uct", "num_simulations": 10}),
    Level("casual", "Casual player", {"id": "uct", "num_simulations": 50}),
    Level("club", "Club player", {"id": "uct", "num_simulations": 250}),
    Level("advanced", "Advanced", {"id": "uct", "num_simulations": 1000}),
    Level("network", "Network alone", {"id": "best", "num_simulations": 0}),
    Level("expert", "Expert", {"id": "best", "num_simulations": 100}),
    Level("master", "Master", {"id": "best", "num_simulations": 800}),
    Level("best", "Best", {"id": "best", "num_simulations": 6400}),
)


def levels_of(game: str, players: set[str]) -> list[dict[str, Any]]:
    """List the levels of play that a game offers, weakest first, with their measured strength.

    Args:
        game: the game's name.
        players: the ids of the game's players; levels that need any other player are omitted.

    Returns:
        For each level the fields of `Level`, and "elo" and "elo_stderr", which are None if the
        strength was not measured.
    """
    ratings = measured().get(game, {})
    levels = []
    for level in LEVELS:
        if level.player["id"] in players:
            elo, elo_stderr = ratings.get(level.id, (None, None))
            levels.append(level._asdict() | {"elo": elo, "elo_stderr": elo_stderr})
    return levels


@functools.cache
def measured() -> dict[str, dict[str, tuple[float, float]]]:
    """Read the measured strength of each level as {game: {level id: (Elo, standard error)}}.

    The file, levels.json, is written by `scripts/measure_levels.py`. On its scale, that of
    docs/RATINGS.md, UCT with 1000 simulations per move has 1000 Elo.
    """
    path = Path(__file__).with_name("levels.json")
    return json.loads(path.read_text(encoding="utf-8"))
