"""The game and the players of a command.

In: what the user names. Out: a game, players with different random numbers, ready to move; the
moves that a game starts after.
"""

import contextlib
import dataclasses
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
    is_path,
    make_player,
    network_path,
    read_spec,
)
from alphazero.players.solver import SolverPlayer
from alphazero.runtime import jit
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.solvers.registry import solver_advice
from alphazero.storage.run_folder import find_network

DEFAULT_GAME = OFFERED[0]
GAME_HELP = f"the game; by default that of a network below, otherwise {DEFAULT_GAME}"
PLAYER_HELP = (
    "random, uct:1000, solver, best, latest, network (latest, otherwise best), or the path of a "
    "network or a run"
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
    """Return the game of a command: the one the user names, else that of its first network.

    Args:
        named: the game that the user names, None if they name none. Possible mistakes in its
            rules are printed.
        specs: players as `alphazero.players.registry.make_player` reads them; None is skipped.
        settings: defaults for what the specs leave open.
        default: the game if there is no network either.

    Raises:
        ConfigError: if the network plays a game from a file, which only the user may name.
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
    """Return the actions of the setting ``moves``.

    Raises:
        ConfigError: if they are not legal; the message names Othello's other set-up if it helps.
    """
    try:
        return read_moves(game, skin.notation, moves)
    except ValueError as error:
        other, hint = SETUPS[skin.setup == SETUPS[0]], ""
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
    """Return two players with different random numbers; None takes the default of its side.

    Both are checked before the first one is made, which may take a while.

    Args:
        make: makes a player from its specification, the game and its settings.
        make_person: makes the player for ``human``; None refuses people.
    """
    named = [spec or default for spec, default in zip(specs, default_match(game.name))]
    kinds = [read_spec(spec, settings).kind for spec in named]
    for spec, kind in zip(named, kinds):
        if kind != "human" or make_person is None:
            _check_plays(spec, game, settings)
    sides = settings, dataclasses.replace(settings, seed=settings.seed + 1)
    first, second = (
        make_person() if kind == "human" and make_person else make(spec, game, own)
        for spec, kind, own in zip(named, kinds, sides)
    )
    return first, second


def _check_plays(spec: str, game: Game, settings: PlayerSettings) -> None:
    """Raise an error if there is no such player, or its network plays another game."""
    check_player(spec, game.name, settings, game.rules_digest)
    kind = read_spec(spec, settings).kind
    if path := network_path(kind, game.name, game.rules_digest):
        from alphazero.players.network import check_game

        check_game(game, find_network(path))


def check_second(game: Game, second: str | None) -> None:
    """Raise ConfigError if a second player is named for a puzzle."""
    if second is not None and game.num_players == 1:
        reason = f"{game.name} has one player; first= says who"
        raise ConfigError.of("second", second, reason=reason)


def warm_up(
    game: Game,
    players: Iterable[Any],
    console: Console | None = None,
) -> None:
    """Ask each player for a move at the start of the game; print a notice if a solver will be slow.

    Compiling or loading a kernel would otherwise count as thinking time. Solvers are not asked:
    they may need minutes at the start, or refuse it. GTP engines are told of real games only.

    Args:
        console: by default standard error.
    """
    console = console or Console(stderr=True, emoji=False)
    jit.announce_first_compilation()
    players = list(players)
    if any(isinstance(player, SolverPlayer) for player in players):
        if advice := solver_advice(game):
            console.print(advice, markup=False)
    with getting_ready(console):
        for player in players:
            if not isinstance(player, (HumanPlayer, SolverPlayer, GtpPlayer)):
                player.limited(WARM_UP_SIMULATIONS, None).analyse(game.initial_states()[0])
                player.limited(1, None).choose(game.initial_states())


def getting_ready(console: Console) -> contextlib.AbstractContextManager[Any]:
    """Return a context that shows "Getting ready ..." on a terminal."""
    return console.status("Getting ready ...") if console.is_terminal else contextlib.nullcontext()
