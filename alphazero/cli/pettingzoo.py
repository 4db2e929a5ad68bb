"""`alphazero pettingzoo`: a match between two players inside a PettingZoo environment.

In: the name of an environment and two players. Out: the moves and the result; the environment's own
rules decide what is legal and who wins.
"""

import dataclasses

import numpy as np
from rich.table import Table
from rich.text import Text

from alphazero.config.command_line import from_overrides
from alphazero.config.help import print_help
from alphazero.config.settings import option
from alphazero.evaluation.report import MatchReport
from alphazero.games.pettingzoo_package import require_pettingzoo
from alphazero.players.base import ENDGAME_HELP, PlayerSettings
from alphazero.players.registry import default_match, make_player, read_spec
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.wording import counted

COMMAND = "alphazero pettingzoo"
SUMMARY = (
    "Play a match between two players inside a PettingZoo environment, by the environment's rules. "
    "Every game starts from the initial position."
)
EXAMPLES = [
    "alphazero pettingzoo env=connect_four_v3 first=uct:1000 second=random",
    "alphazero pettingzoo env=tictactoe_v3 first=human second=uct num_games=1 render=human",
    "alphazero pettingzoo first=checkpoints/connect_four/RUN second=uct:1000 num_games=20",
]


@dataclasses.dataclass
class PettingZooOptions:
    """Who plays where, and what is shown."""

    env: str = option(
        "connect_four_v3", "connect_four_v3, tictactoe_v3, or a game of ours as an environment"
    )
    first: str | None = option(
        None,
        "who moves first in games 1, 3, 5, ...: human, random, uct:1000, solver, best, network, or "
        "the path of a network or a run; by default best, or uct:1000 where no network ships",
    )
    second: str | None = option(
        None, "the opponent; by default uct:1000, or random where no network ships"
    )
    num_games: int = option(10, "games; the players take turns at moving first", 1, 100_000)
    render: str = option(
        "none",
        "what is shown of a game: nothing, the environment's window (human), or text (ansi)",
        choices=("none", "human", "ansi"),
    )
    sampled_plies: int = option(
        1, "plies at the start whose moves are sampled, so that games differ", 0, 1000
    )


@dataclasses.dataclass
class PettingZooSettings(PlayerSettings, PettingZooOptions):
    """The settings of the command."""

    endgame: str = option("auto", ENDGAME_HELP)
    seed: int = option(
        0, "seed of players and environment; the same seed gives the same match", 0, 2**31 - 1
    )


def main(arguments: list[str], console: Console | None = None) -> int:
    """Play the match and print its result."""
    if {"-h", "--help"} & set(arguments):
        print_help("pettingzoo", SUMMARY, PettingZooSettings(), EXAMPLES)
        return 0
    settings = from_overrides(PettingZooSettings, arguments, COMMAND)
    require_pettingzoo()
    from alphazero.interop.board_view import view_of
    from alphazero.interop.environments import make_environment

    environment = make_environment(settings.env, "human" if settings.render == "human" else None)
    view = view_of(environment)
    defaults = default_match(view.game.name)
    specs = [spec or default for spec, default in zip((settings.first, settings.second), defaults)]
    agents = [_make_agent(spec, view, settings, index) for index, spec in enumerate(specs)]
    if agents[0].name == agents[1].name:
        for number, agent in enumerate(agents, 1):
            agent.name = f"{agent.name} ({number})"
    console = console or Console(highlight=False, emoji=False, markup=False)
    try:
        report = _play(environment, view, agents, settings, console)
    finally:
        environment.close()
    if report.games:
        console.print(result_table(report))
    return 0


def result_table(report: MatchReport) -> Table:
    """Return the result as a table, from the viewpoint of the player given as ``first``."""
    title = f"{report.game}: {counted(len(report.games), 'game')}"
    table = Table(title=Text(title, "bold"), title_justify="left", show_header=False)
    table.add_column(style="dim")
    table.add_column()
    table.add_row("first", Text(report.player_a))
    table.add_row("second", Text(report.player_b))
    table.add_section()
    tallies = {
        "in all": report.total,
        "moving first": report.as_first,
        "moving second": report.as_second,
    }
    for turn, tally in tallies.items():
        results = f"{tally.wins} won, {tally.draws} drawn, {tally.losses} lost"
        table.add_row(f"first {turn}", results)
    low, high = report.score_interval
    table.add_row("first's score", f"{report.score:.1%}  (95% interval {low:.1%} to {high:.1%})")
    table.add_section()
    num_distinct = len({game.moves for game in report.games})
    table.add_row("different games", f"{num_distinct} of {len(report.games)}")
    lengths = report.lengths
    mean = sum(lengths) / len(lengths)
    table.add_row("length", f"{min(lengths)} to {max(lengths)} moves, {mean:.1f} on average")
    return table


def _make_agent(spec: str, view, settings: PettingZooSettings, index: int):
    """Return the agent ``spec``; the two players have different seeds."""
    from alphazero.interop.agents import HumanAgent, PettingZooAgent

    kind, _ = read_spec(spec, settings)
    if kind == "human":
        return HumanAgent(view)
    seed = settings.seed + index
    player = make_player(spec, view.game, dataclasses.replace(settings, seed=seed))
    return PettingZooAgent(player, view, settings.sampled_plies, seed)


def _play(environment, view, agents, settings: PettingZooSettings, console: Console) -> MatchReport:
    """Play the games; print each result, and the moves and boards where asked for."""
    from alphazero.interop.agents import HumanAgent
    from alphazero.interop.episode import play_match

    has_person = any(isinstance(agent, HumanAgent) for agent in agents)

    def on_move(name: str, action: int) -> None:
        console.print(f"{name} plays {action}")
        is_over = all(environment.terminations.values())
        if not has_person or is_over:  # a person sees the board when asked for a move
            console.print(_position_text(environment, view))

    def on_game(game, episode) -> None:
        console.print(_result_text(game, view, agents), soft_wrap=True)

    moves = on_move if settings.render == "ansi" or has_person else None
    try:
        return play_match(environment, *agents, settings.num_games, settings.seed, moves, on_game)
    except Exception as error:
        if type(error).__module__.startswith("pygame") and settings.render == "human":
            message = f"render=human cannot open a window here ({error}): use render=ansi."
            raise ConfigError(message, key="render", value="human", allowed="ansi") from None
        raise


def _result_text(game, view, agents) -> str:
    """Return who played which side, who won, and after how many moves."""
    names = [agent.name for agent in agents]
    first, second = names if game.a_moves_first else names[::-1]
    results = {1.0: f"{names[0]} wins", 0.5: "a draw", 0.0: f"{names[1]} wins"}
    sides = f"{view.agents[0]} = {first}, {view.agents[1]} = {second}"
    number, num_moves = game.pair_index + 1, len(game.moves)
    return f"game {number}: {sides}: {results[game.score]} after {counted(num_moves, 'move')}"


def _position_text(environment, view) -> str:
    """Return as text what the environment shows to the agent that is to move."""
    from alphazero.interop.agents import observed_text

    agent = environment.agent_selection
    observation = environment.observe(agent)
    mask = observation["action_mask"]
    if environment.terminations[agent]:  # PettingZoo's own masks go on when a game is over
        mask = np.zeros_like(mask)
    return observed_text(view, observation["observation"], view.agents.index(agent), mask)
