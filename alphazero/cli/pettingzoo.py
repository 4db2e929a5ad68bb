"""`alphazero pettingzoo`: a match between two players inside a PettingZoo environment, by its own rules."""

import dataclasses

import numpy as np
from rich.console import Console
from rich.table import Table

from alphazero.config import ConfigError, from_overrides, option
from alphazero.games.pettingzoo_package import require_pettingzoo
from alphazero.match_report import MatchReport
from alphazero.players import PlayerSettings, make_player, read_spec

COMMAND = "alphazero pettingzoo"


@dataclasses.dataclass
class PettingZooSettings(PlayerSettings):
    """The settings of the command; those of the players hold for both of them."""

    env: str = option("connect_four_v3", "connect_four_v3 or tictactoe_v3 of PettingZoo, or a game of ours as an environment")
    first: str = option("uct:1000", "who moves first in games 1, 3, 5, ...: human, random, uct, uct:1000, network, or the path of one")
    second: str = option("random", "who moves second in games 1, 3, 5, ...")
    num_games: int = option(10, "games; the two take turns at moving first", 1, 100_000)
    render: str = option("none", "none; human: the environment shows every position; ansi: as text", choices=("none", "human", "ansi"))
    sampled_plies: int = option(2, "in so many plies from the start of a game actions are drawn by weight, so that games differ", 0, 1000)


def main(words: list[str]) -> int:
    """Play the match that the words ask for and print its result."""
    settings = from_overrides(PettingZooSettings, words, COMMAND)
    require_pettingzoo()
    from alphazero.interop.board_view import view_of
    from alphazero.interop.environments import make_environment

    environment = make_environment(settings.env, "human" if settings.render == "human" else None)
    view = view_of(environment)
    agents = [_make_agent(spec, view, settings, index) for index, spec in enumerate((settings.first, settings.second))]
    if agents[0].name == agents[1].name:
        for index, agent in enumerate(agents):
            agent.name = f"{agent.name} ({index + 1})"
    console = Console(highlight=False, markup=False)
    try:
        report = _play(environment, view, agents, settings, console)
    finally:
        environment.close()
    if report.games:
        console.print(result_table(report))
        console.print(_summary(report), soft_wrap=True)
    return 0


def result_table(report: MatchReport) -> Table:
    """Return the result as a table of both players' wins, draws and losses, all games and by colour."""
    table = Table(title=f"{report.player_a} against {report.player_b} in {report.game}", title_justify="left")
    table.add_column("games of " + report.player_a)
    for heading in ("wins", "draws", "losses"):
        table.add_column(heading, justify="right")
    for row, tally in (("moving first", report.as_first), ("moving second", report.as_second), ("all", report.total)):
        table.add_row(row, *map(str, tally))
    return table


def _summary(report: MatchReport) -> str:
    low, high = report.score_interval
    return (
        f"score of {report.player_a}: {report.score:.1%} (95 % interval {low:.1%} to {high:.1%}); "
        f"{report.num_distinct_games} of {len(report.games)} games are distinct."
    )


def _make_agent(spec: str, view, settings: PettingZooSettings, index: int):
    """Return the agent that a person named; ``index`` is 0 for the first, 1 for the second, whose seeds differ."""
    from alphazero.interop.agents import HumanAgent, PettingZooAgent

    kind, _ = read_spec(spec, settings)
    if kind == "human":
        return HumanAgent(view)
    player = make_player(spec, view.game, dataclasses.replace(settings, seed=settings.seed + index))
    return PettingZooAgent(player, view, settings.sampled_plies, settings.seed + index)


def _play(environment, view, agents, settings: PettingZooSettings, console: Console) -> MatchReport:
    from alphazero.interop.agents import HumanAgent
    from alphazero.interop.episode import play_match

    with_human = any(isinstance(agent, HumanAgent) for agent in agents)

    def on_move(name: str, action: int) -> None:
        console.print(f"{name} plays {action}")
        if not with_human or all(environment.terminations.values()):  # a person sees the board when asked for a move
            console.print(_position_text(environment, view))

    def on_game(game, episode) -> None:
        first, second = (agents[0], agents[1]) if game.a_moves_first else (agents[1], agents[0])
        result = {1.0: f"{agents[0].name} wins", 0.5: "a draw", 0.0: f"{agents[1].name} wins"}[game.score]
        players = f"{view.agents[0]} = {first.name}, {view.agents[1]} = {second.name}"
        console.print(f"game {game.pair_index + 1}: {players}: {result} after {len(game.moves)} moves", soft_wrap=True)

    shown = settings.render == "ansi" or with_human
    try:
        return play_match(environment, *agents, settings.num_games, settings.seed, on_move if shown else None, on_game)
    except Exception as error:
        if type(error).__module__.startswith("pygame") and settings.render == "human":
            raise ConfigError(f"render=human cannot open a window here ({error}): take render=ansi.") from None
        raise


def _position_text(environment, view) -> str:
    """Return as text what the environment shows to the agent that is to move."""
    from alphazero.interop.agents import observed_text

    agent = environment.agent_selection
    observation = environment.observe(agent)
    mask = observation["action_mask"]
    if environment.terminations[agent]:  # PettingZoo's own masks go on at the end of a game
        mask = np.zeros_like(mask)
    return observed_text(view, observation["observation"], view.agents.index(agent), mask)
