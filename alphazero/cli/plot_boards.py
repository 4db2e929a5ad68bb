"""The pictures of boards that `alphazero plot` draws: a position, and a whole game.

In: the settings of the command. Out: a picture in a file, whose path is returned.
"""

import dataclasses
import math
from pathlib import Path
from typing import ClassVar

from alphazero.boards.painter import GAME_FORMATS, check_picture_file
from alphazero.boards.session import Session
from alphazero.boards.shapes import has_board
from alphazero.boards.skin import SETUPS, skin_of
from alphazero.cli.game_of_players import choose_game
from alphazero.cli.plot_runs import find_run
from alphazero.cli.start_moves import MOVES_HELP, SETUP_HELP, read_start
from alphazero.cli.warm_up import warm_up
from alphazero.config.settings import option
from alphazero.games.batched_game import Game
from alphazero.games.registry import make_stored_game
from alphazero.players.base import MAX_SIMULATIONS, Player, PlayerSettings
from alphazero.players.registry import (
    check_player,
    default_match,
    default_player,
    make_player,
    read_spec,
)
from alphazero.plots.game import PlayedGame, draw_game
from alphazero.plots.position import Thought, draw_position
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.wording import counted
from alphazero.storage.run_folder import RunFolder


@dataclasses.dataclass
class BoardOptions:
    """Which position or game, and who plays it."""

    HEADING: ClassVar[str] = "of a board: what=position, game"

    game: str | None = option(
        None,
        "the game; by default that of a network below, otherwise connect_four. Your own game's "
        "file also for a run of it",
    )
    setup: str = option(SETUPS[0], SETUP_HELP, choices=SETUPS)
    moves: str = option(
        "",
        f"the moves before the position, or of the game; with players, its opening, {MOVES_HELP}",
    )
    player: str | None = option(
        None, "position: whose view is shown, as in 'alphazero match'; by default best, or uct"
    )
    first: str | None = option(
        None, "game: who moves first, as in 'alphazero match'; by default best, or uct:1000"
    )
    second: str | None = option(
        None, "game: who moves second; by default uct:1000, or random where no network ships"
    )
    number: int = option(
        1, "game with run=: which one of the newest iteration's self-play games", 1, 1_000_000
    )
    num_simulations: int | None = option(
        None, "simulations of a move; also of what=openings", 1, MAX_SIMULATIONS
    )
    seed: int = option(0, "game: seed of the players", 0, 2**63 - 4)


def plot_position(settings) -> Path:
    """Draw a position with a player's policy and value."""
    output = Path(settings.output or "position.png")
    check_picture_file(output, "output")
    limits = PlayerSettings(num_simulations=settings.num_simulations)
    game = _board_game(choose_game(settings.game, [settings.player], limits))
    skin = skin_of(game, settings.setup)
    session = Session(game, read_start(settings.moves, game, skin))
    if session.over:
        message = "the game is over after these moves: a player has nothing to choose."
        raise ConfigError(f"moves={settings.moves}: {message}", key="moves", value=settings.moves)
    spec = settings.player or default_player(game.name)
    if read_spec(spec, limits)[0].startswith("gtp:"):
        reason = "it tells its move alone; take a network, uct or solver"
        raise ConfigError.of("player", spec, reason=reason)
    draw_position(session, skin, _thought(make_player(spec, game, limits), session), output)
    return output


def plot_game(settings) -> Path:
    """Draw a game: of self-play, of a list of moves, or of two players."""
    if settings.run:
        return _plot_selfplay_game(settings)
    output = Path(settings.output or "game.gif")
    check_picture_file(output, "output", GAME_FORMATS)
    limits = PlayerSettings(num_simulations=settings.num_simulations, seed=settings.seed)
    specs = (settings.first, settings.second)
    game = _board_game(choose_game(settings.game, specs, limits))
    skin = skin_of(game, settings.setup)
    session = Session(game, read_start(settings.moves, game, skin))
    if settings.moves and specs == (None, None):
        values = [math.nan] * len(session.actions)
        played = PlayedGame(session, ("", ""), values, first_ply=0)
    else:
        played = _play(session, _make_players(specs, game, limits))
    draw_game(played, skin, output)
    return output


def _board_game(game: Game) -> Game:
    """Return a game whose board can be drawn; refuse others."""
    if not has_board(game):
        message = f"no picture: the rules of {game.name} give no board (the rule `cells`)."
        raise ConfigError(message, key="game", value=game.name)
    return game


def _thought(player: Player, session: Session) -> Thought:
    """Return what a player thinks of the last position, and its network without the search."""
    analysis = player.analyse(session.state)
    if not hasattr(player, "evaluator") or not analysis.visits.any():
        return Thought(player.name, analysis, None, math.nan)
    alone = player.limited(num_simulations=0).choose(session.state[None])
    return Thought(player.name, analysis, alone.action_weights[0], float(alone.values[0]))


def _make_players(specs, game: Game, limits: PlayerSettings) -> list[Player]:
    """Return the players of a game; they have different seeds."""
    specs = [spec or default for spec, default in zip(specs, default_match(game.name))]
    for key, spec in zip(("first", "second"), specs):
        if read_spec(spec, limits)[0] == "human":
            message = f"{key}=human is for 'alphazero play': here both players are programs."
            raise ConfigError(message, key=key, value=spec)
        check_player(spec, game.name, limits)
    return [
        make_player(spec, game, dataclasses.replace(limits, seed=limits.seed + index))
        for index, spec in enumerate(specs)
    ]


def _play(session: Session, players: list[Player]) -> PlayedGame:
    """Play a game to its end; what has been played is its opening."""
    console = Console(stderr=True, emoji=False)
    warm_up(session.game, players, console)
    first_ply = len(session.actions)
    values = [math.nan] * first_ply
    with console.status("Playing ..."):
        while not session.over:
            action, value = _choose(players[session.player], session)
            values.append(value)
            session.play(action)
    return PlayedGame(session, (players[0].name, players[1].name), values, first_ply)


def _choose(player: Player, session: Session) -> tuple[int, float]:
    """Return a player's move and what it expects; nan if it does not say."""
    if hasattr(player, "choose_after"):
        choice = player.choose_after([session.actions], session.state[None])
        return int(choice.actions[0]), float(choice.values[0])
    analysis = player.analyse(session.state)
    return analysis.action, analysis.value


# --- a game of self-play --------------------------------------------------------------------------


def _plot_selfplay_game(settings) -> Path:
    folder = find_run(settings, "config.yaml")
    output = Path(settings.output or folder.path / "game.gif")
    check_picture_file(output, "output", GAME_FORMATS)
    name = folder.read_config()["game"]["name"]
    game = _board_game(make_stored_game(name, f"the run '{folder.path}'", settings.game))
    record = _stored_game(folder, settings.number)
    session = Session(game, record.actions.tolist())
    values = [float(value) for value in record.root_values]
    played = PlayedGame(session, ("", ""), values, first_ply=0)
    draw_game(played, skin_of(game, settings.setup), output)
    return output


def _stored_game(folder: RunFolder, number: int):
    """Return one of the games of the newest iteration that has stored any."""
    iterations = [int(path.stem) for path in (folder.path / "games").glob("*.safetensors")]
    if not iterations:
        message = f"'{folder.path}' holds no games/*.safetensors to draw."
        raise ConfigError(message, key="run", value=str(folder.path))
    games = folder.load_games(max(iterations), 1)
    if number > len(games):
        reason = f"the newest iteration of '{folder.path}' has {counted(len(games), 'game')}"
        raise ConfigError.of("number", number, f"1 to {len(games)}", reason)
    return games[number - 1]
