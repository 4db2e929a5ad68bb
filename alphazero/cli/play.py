"""`alphazero play`: a game at the terminal, between people, engines or both."""

import contextlib
import dataclasses
import secrets

from rich.console import Console

from alphazero import jit
from alphazero.cli.help_text import print_help
from alphazero.config import ConfigError, from_overrides, option
from alphazero.exact import SolverPlayer
from alphazero.games import make_game
from alphazero.games.game import Game
from alphazero.play.session import Session
from alphazero.play.terminal import HumanPlayer, TerminalGame
from alphazero.player_specs import make_player, network_path, read_spec
from alphazero.players import PlayerSettings

COMMAND = "alphazero play"
DEFAULT_GAME = "connect_four"
SUMMARY = "Play a game at the terminal: type a move, or 'help' for take-back, hint, the engine's view and more."
EXAMPLES = [
    "alphazero play",
    "alphazero play game=othello second=uct:5000",
    "alphazero play game=tic_tac_toe first=uct second=human time_limit_s=1",
    "alphazero play second=checkpoints/connect_four/RUN num_simulations=400",
    "alphazero play first=uct:100 second=uct:5000,uct_c=0.8 moves=[3,3]",
]


@dataclasses.dataclass
class PlayOptions:
    """Who plays what."""

    game: str | None = option(None, "which game; without it the network's own, or connect_four")
    first: str | None = option(None, "who moves first: human, random, uct, uct:1000, solver, network, or the path of a network or of a run")
    second: str | None = option(None, "who moves second; without either of the two a person plays against uct")
    moves: list[int] = option([], "start after these moves, e.g. [3,3,2], numbered as for 'alphazero engine'")
    hint: str | None = option(None, "who gives hints; without it an engine of this game, or uct")
    boards: str = option(
        "auto",
        "draw the board after every move or the last one alone; auto: every one if a person plays",
        choices=("auto", "every", "last"),
    )


# Its own options come first in the help: dataclasses collect fields from the last base to the first.
@dataclasses.dataclass
class PlaySettings(PlayerSettings, PlayOptions):
    """The settings of the command; those of the engines hold for both sides, unless a side has its own: ``second=uct:500,uct_c=0.7``."""

    seed: int | None = option(None, "seed of everything random; without it every game is another", 0, 2**63 - 4)


def main(words: list[str], console: Console | None = None, read_line=None) -> int:
    """Play the game that the words ask for.

    Args:
        console, read_line: where it is printed and read, see `TerminalGame`; the real terminal without them.
    """
    if {"-h", "--help"} & set(words):
        print_help("play", SUMMARY, PlaySettings(), EXAMPLES)
        return 0
    settings = from_overrides(PlaySettings, words, COMMAND)
    if settings.seed is None:
        settings.seed = secrets.randbelow(2**31)
    specs = _sides(settings)
    game = make_game(settings.game or game_of_networks(specs, settings) or DEFAULT_GAME)
    Session(game, settings.moves)  # refuses an impossible list before a network is loaded
    players = tuple(_make_side(spec, game, settings, index) for index, spec in enumerate(specs))
    people = any(isinstance(player, HumanPlayer) for player in players)
    every_board = people if settings.boards == "auto" else settings.boards == "every"
    console = console or Console(highlight=False)
    adviser = _adviser(settings, game, specs)
    warm_up(game, players, console)
    TerminalGame(game, players, console, read_line, adviser, settings.moves, every_board).run()
    return 0


def game_of_networks(specs, settings: PlayerSettings) -> str | None:
    """Return the game of the first network among the players named, None without one."""
    for spec in specs:
        kind, _ = read_spec(spec, settings)
        if kind not in ("human", "random", "uct", "solver", "network") and (path := network_path(kind, "")):
            from alphazero.network_player import network_file_game

            return network_file_game(path)
    return None


def warm_up(game: Game, players, console: Console) -> None:
    """Let each engine look at the start once, so that compiling or loading its kernels does not pass for thinking."""
    jit.announce_first_compilation()
    with console.status("Getting ready ...") if console.is_terminal else contextlib.nullcontext():
        for player in players:
            # A solver may need minutes for the start, or refuse it.
            if not isinstance(player, (HumanPlayer, SolverPlayer)):
                player.limited(1, None).choose(game.initial_states())


def _sides(settings: PlaySettings) -> tuple[str, str]:
    """Return who plays: a person against uct, and a person takes the side that is left open."""
    if settings.first is None and settings.second is None:
        return "human", "uct"
    if settings.second is None:
        return settings.first, "uct" if read_spec(settings.first, settings)[0] == "human" else "human"
    return settings.first or "human", settings.second


def _make_side(spec: str, game, settings: PlaySettings, index: int):
    if read_spec(spec, settings)[0] == "human":
        return HumanPlayer()
    return make_player(spec, game, dataclasses.replace(settings, seed=settings.seed + index))


def _adviser(settings: PlaySettings, game, specs):
    """Return what makes the player that gives hints: the one asked for, an engine of this game that thinks, or uct."""
    thinking = [spec for spec in specs if read_spec(spec, settings)[0] not in ("human", "random")]
    spec = settings.hint or (thinking[0] if thinking else "uct")
    if read_spec(spec, settings)[0] == "human":
        raise ConfigError("hint=human is not allowed: hint takes an engine, such as uct:1000.")
    return lambda: make_player(spec, game, dataclasses.replace(settings, seed=settings.seed + 2))
