"""Choose a command's game, make its players, and parse the moves of its opening."""

import contextlib
import dataclasses
import functools
import logging
import sys
from collections.abc import Callable, Iterable
from typing import Any

from alphazero.boards.notation import read_moves
from alphazero.boards.skin import SETUPS, Skin, skin_of
from alphazero.games.batched_game import Game
from alphazero.own_games.registry import OFFERED, make_game
from alphazero.play.terminal import HumanPlayer
from alphazero.players.base import WARM_UP_SIMULATIONS, PlayerSettings
from alphazero.players.gtp import GtpPlayer
from alphazero.players.registry import (
    check_player,
    default_match,
    default_player,
    is_path,
    make_player,
    network_path,
    read_spec,
)
from alphazero.players.solver import SolverPlayer
from alphazero.runtime import jit
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError

_log = logging.getLogger(__name__)

DEFAULT_GAME = OFFERED[0]
GAME_HELP = f"the game; by default that of a network below, otherwise {DEFAULT_GAME}"
PLAYER_HELP = (
    "random, uct:1000, solver, best, latest, network (latest, otherwise best), hf:OWNER/NAME, or "
    "the path of a network or a run"
)
MOVES_HELP = (
    "such as 4,4,3 or 443 in Connect Four, f5d6c3 in Othello; in brackets, [3,3,2], they count "
    "from 0, as in 'alphazero engine'"
)
SETUP_HELP = (
    "of Othello: white_first, as in our rules, or standard, as everywhere else: black moves first"
)


# --- the game -------------------------------------------------------------------------------------


def choose_game(
    named: str | None,
    specs: Iterable[str | None],
    settings: PlayerSettings,
    default: str = DEFAULT_GAME,
) -> Game:
    """Choose a command's game: the one that the user named, else the game of the first network.

    Possible mistakes in the rules of a named game are printed on standard error.

    Args:
        named: the game's name given by the user, or None.
        specs: player specifications, such as "uct:1000" or the path of a network; None entries are
            skipped.
        settings: settings for what the specifications leave open.
        default: the game if the user names none and no player is the path of a network.

    Raises:
        ConfigError: if there is no such game or network, or if the network plays a game from a
            file, which runs only if the user names it.
    """
    if named is not None:
        game = make_game(named)
        for note in game.notes:
            print(f"note: {note}", file=sys.stderr)
        return game
    for spec in filter(None, specs):
        kind, _ = read_spec(spec, settings)
        path = network_path(kind, "") if is_path(kind) else None
        if path is not None:
            from alphazero.players.network import game_of_network

            return game_of_network(path)
    return make_game(default)


def read_start(moves: str, game: Game, skin: Skin) -> list[int]:
    """Convert the text of the setting ``moves`` to actions.

    Args:
        moves: the moves as text, such as "4,4,3"; "" if there are none.
        game: the game in which the moves are played.
        skin: the game's appearance, which determines the notation of moves.

    Raises:
        ConfigError: if the moves are not legal. If they are legal in Othello's other set-up, the
            message says so.
    """
    try:
        return read_moves(game, skin.notation, moves)
    except ValueError as error:
        other = SETUPS[1] if skin.setup == SETUPS[0] else SETUPS[0]
        hint = ""
        with contextlib.suppress(ValueError):
            if read_moves(game, skin_of(game, other).notation, moves):
                hint = f" With setup={other} this is a game."
        raise ConfigError(f"{error}{hint}", key="moves", value=moves) from None


# --- the players ----------------------------------------------------------------------------------


def make_pair(
    specs: Iterable[str | None],
    game: Game,
    settings: PlayerSettings,
    make: Callable[[str, Game, Any], Any] = make_player,
    make_person: Callable[[], Any] | None = None,
) -> tuple[Any, Any]:
    """Make the two players for a game, with different seeds.

    Where the solver cannot solve a position, the game's default player moves in its place.
    That both players exist is checked before the first one is made, which may take a while.

    Args:
        specs: the specifications of the two players; None means the default player for that side.
        game: the game to play.
        settings: settings for what the specifications leave open; the second player gets this seed
            plus 1.
        make: makes a player from its specification, the game and its settings.
        make_person: makes the player for the specification ``human``; if None, ``human`` is
            refused.

    Raises:
        ConfigError: if a player does not exist, or cannot play this game.
    """
    named = [spec or default for spec, default in zip(specs, default_match(game.name))]
    kinds = [read_spec(spec, settings).kind for spec in named]
    for spec, kind in zip(named, kinds):
        if kind != "human" or make_person is None:
            check_player(spec, game.name, settings, game.rules_digest)
    sides = (settings, dataclasses.replace(settings, seed=settings.seed + 1))
    players = []
    for spec, kind, own in zip(named, kinds, sides):
        if kind == "human" and make_person is not None:
            players.append(make_person())
        else:
            players.append(make(spec, game, own))
        if isinstance(players[-1], SolverPlayer):
            other = functools.partial(_stand_in, make, game, own)
            players[-1].stand_in = functools.cache(other)
    first, second = players
    return first, second


def _stand_in(make: Callable[[str, Game, Any], Any], game: Game, settings: PlayerSettings) -> Any:
    spec = default_player(game.name)
    _log.warning("solver: '%s' moves for it until it can solve the position.", spec)
    return make(spec, game, settings)


def check_second(game: Game, second: str | None) -> None:
    """Check that no second player is named for a one-player game.

    Args:
        game: the game to play.
        second: the specification of the second player; None if the user named none.

    Raises:
        ConfigError: if a second player is named and the game has one player.
    """
    if second is not None and game.num_players == 1:
        reason = f"{game.name} has one player; first= says who"
        raise ConfigError.of("second", second, reason=reason)


def warm_up(game: Game, players: Iterable[Any], console: Console | None = None) -> None:
    """Warm up players by asking each of them for a move from the start of the game.

    Otherwise, compiling or loading a kernel would count as thinking time. Solvers are not asked,
    because solving the start may take minutes or exceed their limits, nor are GTP engines, which
    should see only real games.

    Args:
        game: the game that will be played.
        players: the players of both sides; people are skipped.
        console: where notices are printed; None means standard error.
    """
    console = console or Console(stderr=True, emoji=False)
    jit.announce_first_compilation()
    with getting_ready(console):
        for player in players:
            if not isinstance(player, (HumanPlayer, SolverPlayer, GtpPlayer)):
                player.limited(WARM_UP_SIMULATIONS, None).analyse(game.initial_states()[0])
                player.limited(1, None).choose(game.initial_states())


def getting_ready(console: Console) -> contextlib.AbstractContextManager[Any]:
    """Return a context manager that shows "Getting ready ..." while its block runs.

    Nothing is shown if the console is not a terminal.
    """
    if not console.is_terminal:
        return contextlib.nullcontext()
    return console.status("Getting ready ...")
