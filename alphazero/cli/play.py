"""Play a game at the terminal. Type a move, or 'help' for the commands: take back, hint
and more.

    alphazero play
    alphazero play game=othello:6
    alphazero play game=othello setup=standard moves=f5d6c3
    alphazero play game=tic_tac_toe first=uct second=human time_limit_s=1
    alphazero play second=checkpoints/connect_four/RUN num_simulations=400
    alphazero play first=uct:100 second=uct:5000,uct_c=0.8 moves=4,4
"""

import dataclasses
import secrets
from collections.abc import Callable

from alphazero.boards.skin import SETUPS, skin_of
from alphazero.cli.players import (
    GAME_HELP,
    MOVES_HELP,
    PLAYER_HELP,
    SETUP_HELP,
    check_second,
    choose_game,
    getting_ready,
    make_pair,
    read_start,
    warm_up,
)
from alphazero.config.settings import option
from alphazero.games.batched_game import Game
from alphazero.play.terminal import HumanPlayer, TerminalGame
from alphazero.players.base import Player, PlayerSettings, endgame_option, thinking_of
from alphazero.players.registry import check_player, default_player, make_player, read_spec
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError


@dataclasses.dataclass
class Settings(PlayerSettings):
    """Settings of the `play` command: the game, its players, and how the board is displayed."""

    game: str | None = option(None, GAME_HELP)
    first: str | None = option(None, f"who moves first: human, {PLAYER_HELP}")
    second: str | None = option(
        None,
        "who moves second; a puzzle has no second side. By default a person plays against best, "
        "the network that ships with the game, or against uct where none ships",
    )
    moves: str = option("", f"moves to start after, {MOVES_HELP}")
    setup: str = option(SETUPS[0], SETUP_HELP, choices=SETUPS)
    hint: str | None = option(None, "who gives hints; by default an engine of this game")
    seed: int | None = option(  # type: ignore[assignment]  # `run` fills it in
        None, "seed of all random numbers; by default every game is different", 0, 2**63 - 4
    )
    endgame: str = endgame_option("auto")


def run(
    settings: Settings, console: Console, read_line: Callable[[str], str] | None = None
) -> None:
    """Play a game between people, engines or both at the terminal.

    Args:
        settings: the game, its players and how the board is displayed; a missing seed is filled in.
        console: where the boards and moves are printed.
        read_line: prints the given prompt and returns the typed line; if None, lines are read from
            the terminal.

    Raises:
        ConfigError: if a setting cannot be used.
    """
    if settings.seed is None:
        settings.seed = secrets.randbelow(2**31)
    game = choose_game(settings.game, (settings.first, settings.second), settings)
    skin = skin_of(game, settings.setup)
    # Before a network is loaded, so that illegal moves are refused at once.
    moves = read_start(settings.moves, game, skin)
    specs = _sides(settings, game)
    adviser = _adviser(settings, game, specs)
    with getting_ready(console):
        first, second = make_pair(specs, game, settings, make_person=HumanPlayer)
        if game.num_players == 1:
            second = first
    warm_up(game, (first, second), console)
    introduction = []
    for player in (first, second)[: game.num_players]:
        how = thinking_of(player)
        if how:
            introduction.append(f"{player.name} thinks here with {how}.")
    TerminalGame(
        game,
        (first, second),
        console,
        read_line,
        adviser,
        moves,
        skin=skin,
        introduction="\n".join(introduction),
    ).run()


def _sides(settings: Settings, game: Game) -> tuple[str, str]:
    """Return the specifications of the player who moves first and of the other player.

    A side for which the user names no player is played by a person or, if a person plays the other
    side, by the game's default player. A one-player game has only one side, whose specification
    is returned twice.

    Raises:
        ConfigError: if a second player is named for a one-player game.
    """
    if game.num_players == 1:
        check_second(game, settings.second)
        first = settings.first or "human"
        return first, first

    def opponent(spec: str) -> str:
        return default_player(game.name) if _kind(spec, settings) == "human" else "human"

    first = settings.first or (opponent(settings.second) if settings.second else "human")
    return first, settings.second or opponent(first)


def _kind(spec: str, settings: PlayerSettings) -> str:
    return read_spec(spec, settings).kind


def _adviser(settings: Settings, game: Game, specs: tuple[str, str]) -> Callable[[], Player]:
    """Choose the player that gives hints, and return a function that makes this player.

    It is the player that the user named with ``hint``, else the first in ``specs`` that is neither
    a person nor random, else the game's default player.

    Args:
        settings: holds ``hint`` and the settings of the player, whose seed is this seed plus 2.
        game: the game in which hints are given.
        specs: the specifications of both sides' players.

    Raises:
        ConfigError: if the player to give hints is a person, or does not exist.
    """
    thinking = [spec for spec in specs if _kind(spec, settings) not in ("human", "random")]
    spec = settings.hint or (thinking[0] if thinking else default_player(game.name))
    if _kind(spec, settings) == "human":
        raise ConfigError.of("hint", spec, "an engine, such as uct:1000")
    check_player(spec, game.name, settings, game.rules_digest)
    own = dataclasses.replace(settings, seed=(settings.seed or 0) + 2)
    return lambda: make_player(spec, game, own)
