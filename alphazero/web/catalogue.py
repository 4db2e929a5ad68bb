"""The catalogue: which games, players and runs a request may name, and how the page shows them.

In: what ships, what was found on this machine, and the game that the user named. Out: descriptions
for the page, and games by name. A request that names anything else is refused.
"""

import importlib.metadata
import threading
from pathlib import Path
from typing import Any, NamedTuple

from alphazero.boards.skin import SETUPS, Skin, skin_of
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.games.registry import is_game_file, make_game, same_game
from alphazero.runtime.errors import ConfigError
from alphazero.storage.pretrained import shipped_network
from alphazero.web.fields import quoted, text_field
from alphazero.web.found_runs import FoundRuns
from alphazero.web.levels import levels_of
from alphazero.web.refusal import Refusal

GAMES = ("connect_four", "othello", "tic_tac_toe", "othello:6", "othello:4", "connect_x:5x5x4")
MAX_NETWORK_SIMULATIONS = 10_000
#: By the speed of rollouts: so many take some seconds.
_MAX_UCT_SIMULATIONS, _MAX_UCT_SIMULATIONS_OTHELLO = 200_000, 20_000
_ANALYST_SIMULATIONS, _ANALYST_UCT_SIMULATIONS = 2_000, 20_000
_COLORS = {"Yellow": "yellow", "Red": "red", "White": "light", "Black": "dark", "X": "x", "O": "o"}
_SETUP_NOTES = {SETUPS[0]: "White moves first, as in the stored games of this package."}
_PLAIN_COLORS = ("first", "second")


class PlayerChoice(NamedTuple):
    """A player that a game has."""

    id: str
    name: str
    kind: str  #: network, uct, solver or random
    max_simulations: int = 0  #: that a request may ask for
    note: str = ""


class Catalogue:
    """What a request may name.

    Args:
        runs: found on this machine.
        named_game: a game that the user named, None if they named none. Runs of a game file are
            shown always, and can be played if it is this file.
    """

    def __init__(self, runs: FoundRuns, named_game: str | None = None):
        self.runs = runs
        self._named = named_game
        self._games: dict[str, Game] = {}
        self._lock = threading.Lock()

    @property
    def default_game(self) -> str:
        """The game that the page begins with."""
        return self._named or GAMES[0]

    def describe(self) -> dict[str, Any]:
        """Return the answer of `api/games`."""
        return {
            "games": [self._describe(self.game(name)) for name in self.game_names()],
            "default_game": self.default_game,
            "version": importlib.metadata.version("alphazero-selfplay"),
        }

    def game_names(self) -> list[str]:
        """Return the names of the games: the user's, ours, and those that runs here have learned.

        A file that a run names is never run: only the user's word runs a file.
        """
        named = [self._named] if self._named else []
        trained = [run.game for run in self.runs.all().values() if _is_ours(run.game)]
        return list(dict.fromkeys([*named, *GAMES, *trained]))

    def game(self, name: Any) -> Game:
        """Return a game of the catalogue.

        Raises:
            Refusal: if there is none of this name.
        """
        if isinstance(name, str) and name in self._games:
            return self._games[name]
        if not isinstance(name, str) or name not in self.game_names():
            known = ", ".join(self.game_names())
            raise Refusal(f"there is no game {quoted(name)} here; the games are {known}.")
        with self._lock:
            if name not in self._games:
                self._games[name] = make_game(name)
            return self._games[name]

    def skin(self, game: Game, request: dict[str, Any]) -> Skin:
        """Return how the game of a request looks, in the set-up that it names.

        Raises:
            Refusal: if the game has no such set-up.
        """
        setup = text_field(request, "setup", 40)
        setups = setups_of(game)
        if setup is not None and setup not in setups:
            raise Refusal(f"{game.name} has no set-up {quoted(setup)}; it has {', '.join(setups)}.")
        return skin_of(game, setup or setups[0])

    def player(self, game: Game, player_id: Any) -> PlayerChoice:
        """Return a player of a game.

        Raises:
            Refusal: if it has none of this id.
        """
        for player in self.players(game):
            if player.id == player_id:
                return player
        raise Refusal(f"there is no player {quoted(player_id)} for {game.name} here.")

    def players(self, game: Game) -> list[PlayerChoice]:
        """Return the players of a game."""
        return [*players_of(game), *self._trained(game)]

    def analyst(self, game: Game) -> dict[str, Any]:
        """Return who analyses positions of a game unless a request names someone.

        Raises:
            Refusal: if nobody can.
        """
        if (analyst := _analyst(self.players(game))) is None:
            raise Refusal(f"nobody here can analyse {game.name}: train a network first.")
        return analyst

    def named_run_game(self, run_game: str) -> str | None:
        """Return the name here of a run's game; None if it cannot be played."""
        return next((name for name in self.game_names() if same_game(name, run_game)), None)

    def network_path(self, game: Game, player_id: str) -> Path | None:
        """Return where a network of a run lies, None if there is none any more."""
        for run in self.runs.all().values():
            if same_game(game.name, run.game):
                for iteration, path in run.networks.items():
                    if run.player_id(iteration) == player_id:
                        return path
        return None

    def _trained(self, game: Game) -> list[PlayerChoice]:
        found = []
        for run in self.runs.all().values():
            if same_game(game.name, run.game):
                for iteration in reversed(run.networks):
                    name = f"{run.id.partition('/')[2]}, iteration {iteration}"
                    player_id = run.player_id(iteration)
                    choice = PlayerChoice(player_id, name, "network", MAX_NETWORK_SIMULATIONS)
                    found.append(choice)
        return found

    def _describe(self, game: Game) -> dict[str, Any]:
        return describe_game(game, self.players(game))


def _is_ours(name: str) -> bool:
    """Return whether a name in a stored file is that of a game of this package."""
    if is_game_file(name) or name.startswith("pettingzoo:"):
        return False
    try:
        make_game(name)
    except ConfigError:
        return False
    return True


def players_of(game: Game) -> list[PlayerChoice]:
    """Return the players of a game that every machine has."""
    found = []
    if shipped_network(game.name) is not None:
        found.append(PlayerChoice("best", "Network", "network", MAX_NETWORK_SIMULATIONS))
    if isinstance(game, CompiledGame):
        is_slow = game.name.startswith("othello")
        most = _MAX_UCT_SIMULATIONS_OTHELLO if is_slow else _MAX_UCT_SIMULATIONS
        found.append(PlayerChoice("uct", "UCT (random games, no network)", "uct", most))
        note = "Perfect where the result can be computed; another player moves until then."
        found.append(PlayerChoice("solver", "Solver", "solver", note=note))
    return [*found, PlayerChoice("random", "Random moves", "random")]


def setups_of(game: Game) -> tuple[str, ...]:
    """Return the set-ups of a game, the usual one first."""
    return SETUPS[::-1] if game.name.startswith("othello") else SETUPS[:1]


def describe_game(game: Game, players: list[PlayerChoice]) -> dict[str, Any]:
    """Return a game's entry in the answer of `api/games`."""
    rows, columns = game.planes_shape[1:]
    skins = [skin_of(game, setup) for setup in setups_of(game)]
    return {
        "name": game.name,
        "title": skins[0].title,
        "rows": rows,
        "columns": columns,
        "num_actions": game.num_actions,
        "action_kind": _action_kind(game.num_actions, rows, columns),
        "style": _style(game.name),
        "letters": skins[0].letters,
        "counts_pieces": skins[0].counts_pieces,
        "setups": [_describe_setup(game, skin) for skin in skins],
        "players": [player._asdict() for player in players],
        "levels": levels_of(game.name, {player.id for player in players}),
        "analyst": _analyst(players),
    }


def _analyst(players: list[PlayerChoice]) -> dict[str, Any] | None:
    """Return who analyses: the network that ships, UCT, or a trained one; None if there is none."""
    ids = [player.id for player in players if player.kind in ("network", "uct")]
    if not ids:
        return None
    chosen = next((name for name in ("best", "uct") if name in ids), ids[0])
    num = _ANALYST_UCT_SIMULATIONS if chosen == "uct" else _ANALYST_SIMULATIONS
    return {"id": chosen, "num_simulations": num}


def _action_kind(num_actions: int, rows: int, columns: int) -> str:
    if num_actions == columns:
        return "column"
    return "square" if num_actions - rows * columns in (0, 1) else "other"


def _style(name: str) -> str:
    kind = name.partition(":")[0].replace("connect_four", "connect_x")
    return kind if kind in ("connect_x", "othello", "tic_tac_toe") else "plain"


def _describe_setup(game: Game, skin: Skin) -> dict[str, Any]:
    notation = skin.notation
    is_plain = _style(game.name) == "plain"
    return {
        "id": skin.setup,
        "label": f"{skin.sides[0]} moves first",
        "sides": list(skin.sides),
        "colors": list(_PLAIN_COLORS) if is_plain else [_COLORS[side] for side in skin.sides],
        "action_texts": [notation.text(action) for action in range(game.num_actions)],
        "column_names": list(notation.column_names),
        "row_names": list(notation.row_names),
        "letters": skin.letters,
        "mirrored": notation.mirrored,
        "note": _SETUP_NOTES.get(skin.setup, "") if len(setups_of(game)) > 1 else "",
    }
