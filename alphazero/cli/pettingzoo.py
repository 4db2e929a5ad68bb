"""Play a match between two players inside a PettingZoo environment, by the environment's rules.
Every game starts from the initial position, and the environment decides which moves are legal.

    alphazero pettingzoo env=connect_four_v3 first=uct:1000 second=random
    alphazero pettingzoo env=tictactoe_v3 first=human second=uct num_games=1 render=human
    alphazero pettingzoo first=checkpoints/connect_four/RUN second=uct:1000 num_games=20
"""

import dataclasses
from typing import Any

from alphazero.boards.skin import skin_of
from alphazero.boards.text import Medium, draw_board
from alphazero.cli.match import report_table
from alphazero.cli.players import PLAYER_HELP, make_pair
from alphazero.config.settings import option
from alphazero.evaluation.report import MatchGame, MatchReport
from alphazero.games.batched_game import Game
from alphazero.interop.agents import Agent, HumanAgent, PettingZooAgent, play_match
from alphazero.interop.board_view import ENVIRONMENTS, BoardView, make_environment, view_of
from alphazero.players.base import PlayerSettings, endgame_option
from alphazero.players.registry import make_player
from alphazero.runtime.console import Console, counted
from alphazero.runtime.errors import ConfigError


@dataclasses.dataclass
class Settings(PlayerSettings):
    """Settings of the `pettingzoo` command: the environment, the players and the display."""

    env: str = option("connect_four_v3", "the environment", choices=tuple(ENVIRONMENTS))
    first: str | None = option(None, f"who moves first in games 1, 3, 5, ...: human, {PLAYER_HELP}")
    second: str | None = option(None, "the opponent; by default uct:1000, otherwise random")
    num_games: int = option(10, "games; the players take turns at moving first", 1, 100_000)
    render: str = option("none", "human opens PettingZoo's window", choices=("none", "human"))
    sampled_plies: int = option(1, "plies at the start whose moves are sampled", 0, 1000)
    seed: int = option(0, "the same seed gives the same match", 0, 2**31 - 1)
    endgame: str = endgame_option("auto")


def run(settings: Settings, console: Console) -> None:
    """Play the match, and print the result of each game and finally a table of all results.

    Raises:
        ConfigError: if a setting cannot be used, PettingZoo is not installed, or no window can be
            opened.
    """
    render_mode = "human" if settings.render == "human" else None
    environment = make_environment(settings.env, render_mode)
    view = view_of(environment)

    def make_agent(spec: str, game: Game, own: Settings) -> Agent:
        return PettingZooAgent(make_player(spec, game, own), view, own.sampled_plies, own.seed)

    specs = settings.first, settings.second
    agents = make_pair(specs, view.game, settings, make_agent, lambda: HumanAgent(view))
    if agents[0].name == agents[1].name:
        for number, agent in enumerate(agents, 1):
            agent.name = f"{agent.name} ({number})"
    try:
        report = _play(environment, view, agents, settings, console)
    finally:
        environment.close()
    if report.games:
        console.print(report_table(report, ("first", "second")))


def _play(
    environment: Any,
    view: BoardView,
    agents: tuple[Agent, Agent],
    settings: Settings,
    console: Console,
) -> MatchReport:
    """Play the games of a match, and print the result of each.

    If a person plays, so are each move and the last board.

    Args:
        environment: the PettingZoo environment.
        view: converts the environment's observations to positions of this package's game.
        agents: the two players; the first moves first in games 1, 3, 5 and so on.
        settings: the number of games, the seed and how the games are displayed.
        console: where to print.

    Raises:
        ConfigError: if ``render=human`` cannot open a window.
    """
    has_person = any(isinstance(agent, HumanAgent) for agent in agents)
    skin = skin_of(view.game)

    def on_move(name: str, action: int) -> None:
        if has_person:
            console.print(f"{name} plays {skin.notation.text(view.actions[action])}", markup=False)

    def on_game(game: MatchGame) -> None:
        if has_person:
            last = view.game.play_moves([int(view.actions[action]) for action in game.moves])
            console.print(draw_board(view.game, skin, last, Medium.of(console)))
        console.print(_result_text(game, view, agents), markup=False)

    num_games, seed = settings.num_games, settings.seed
    try:
        return play_match(environment, *agents, num_games, seed, on_move, on_game)
    except Exception as error:
        if type(error).__module__.startswith("pygame") and settings.render == "human":
            message = f"render=human cannot open a window here ({error}): use render=none."
            raise ConfigError(message, key="render", value="human", allowed="none") from None
        raise


def _result_text(game: MatchGame, view: BoardView, agents: tuple[Agent, Agent]) -> str:
    """Format a finished game as one line: who played which side, who won, after how many moves.

    Args:
        game: the game's moves, and its score for the first of the two agents.
        view: names the sides of the environment, such as "player_0".
        agents: the two players of the match.
    """
    names = [agent.name for agent in agents]
    first, second = names if game.a_moves_first else names[::-1]
    results = {1.0: f"{names[0]} wins", 0.5: "a draw", 0.0: f"{names[1]} wins"}
    sides = f"{view.agents[0]} = {first}, {view.agents[1]} = {second}"
    number = game.pair_index + 1
    num_moves = counted(len(game.moves), "move")
    return f"game {number}: {sides}: {results[game.score]} after {num_moves}"
