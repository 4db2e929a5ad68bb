"""`alphazero pettingzoo`: a match between two players inside a PettingZoo environment, by its own rules."""

import dataclasses

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from alphazero.cli.help_text import print_help
from alphazero.evaluation.report import MatchReport
from alphazero.games.pettingzoo_package import require_pettingzoo
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import default_match, make_player, read_spec
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.overrides import from_overrides
from alphazero.runtime.settings import option

COMMAND = "alphazero pettingzoo"
SUMMARY = "Play a match between two players inside a PettingZoo environment, by its own rules. Every game begins at the start."
EXAMPLES = [
    "alphazero pettingzoo env=connect_four_v3 first=uct:1000 second=random num_games=10",
    "alphazero pettingzoo env=tictactoe_v3 first=human second=uct num_games=1 render=human",
    "alphazero pettingzoo env=connect_four_v3 first=checkpoints/connect_four/RUN second=uct:1000 num_games=20",
]


@dataclasses.dataclass
class PettingZooOptions:
    """Who meets whom, where, and how it is shown."""

    env: str = option(
        "connect_four_v3",
        "connect_four_v3 or tictactoe_v3 of PettingZoo, or a game of ours as an environment",
    )
    first: str | None = option(
        None,
        "who moves first in games 1, 3, 5, ...: human, random, uct, uct:1000, solver, best, network, or the path of one; "
        "without it best (the network that ships with the game) or, where there is none, uct:1000",
    )
    second: str | None = option(
        None,
        "who moves second in games 1, 3, 5, ...; without it uct:1000 or, where no network ships, random",
    )
    num_games: int = option(10, "games; the two take turns at moving first", 1, 100_000)
    render: str = option(
        "none",
        "none; human: the environment shows every position; ansi: as text",
        choices=("none", "human", "ansi"),
    )
    sampled_plies: int = option(
        1,
        "in so many plies from the start actions are drawn by visit shares, so that games differ",
        0,
        1000,
    )


@dataclasses.dataclass
class PettingZooSettings(PlayerSettings, PettingZooOptions):
    """The settings of the command; those of the players hold for both, unless a player has its own: ``first=uct:500,uct_c=0.7``."""

    seed: int = option(
        0,
        "seed of the players and of the environment; the same seed gives the same match",
        0,
        2**31 - 1,
    )


def main(words: list[str], console: Console | None = None) -> int:
    """Play the match that the words ask for and print its result."""
    if {"-h", "--help"} & set(words):
        print_help("pettingzoo", SUMMARY, PettingZooSettings(), EXAMPLES)
        return 0
    settings = from_overrides(PettingZooSettings, words, COMMAND)
    require_pettingzoo()
    from alphazero.interop.board_view import view_of
    from alphazero.interop.environments import make_environment

    environment = make_environment(settings.env, "human" if settings.render == "human" else None)
    view = view_of(environment)
    specs = [
        named or default
        for named, default in zip((settings.first, settings.second), default_match(view.game.name))
    ]
    agents = [_make_agent(spec, view, settings, index) for index, spec in enumerate(specs)]
    if agents[0].name == agents[1].name:
        agents[0].name, agents[1].name = (
            f"{agent.name} ({number})" for number, agent in enumerate(agents, 1)
        )
    console = console or Console(highlight=False, markup=False)
    try:
        report = _play(environment, view, agents, settings, console)
    finally:
        environment.close()
    if report.games:
        console.print(result_table(report))
    return 0


def result_table(report: MatchReport) -> Table:
    """Return the result as a table, from the viewpoint of the player named first."""
    table = Table(
        title=f"{report.game}: {len(report.games)} games",
        title_justify="left",
        title_style="bold",
        show_header=False,
    )
    table.add_column(style="dim")
    table.add_column()
    table.add_row("first", Text(report.player_a))
    table.add_row("second", Text(report.player_b))
    table.add_section()
    for turn, tally in (
        ("in all", report.total),
        ("moving first", report.as_first),
        ("moving second", report.as_second),
    ):
        table.add_row(
            f"first {turn}", f"{tally.wins} won, {tally.draws} drawn, {tally.losses} lost"
        )
    low, high = report.score_interval
    table.add_row("first's score", f"{report.score:.1%}  (95 % interval {low:.1%} to {high:.1%})")
    table.add_section()
    table.add_row(
        "different games", f"{len({game.moves for game in report.games})} of {len(report.games)}"
    )
    lengths = report.lengths
    table.add_row(
        "length",
        f"{min(lengths)} to {max(lengths)} moves, {sum(lengths) / len(lengths):.1f} on average",
    )
    return table


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
        if not with_human or all(
            environment.terminations.values()
        ):  # a person sees the board when asked for a move
            console.print(_position_text(environment, view))

    def on_game(game, episode) -> None:
        first, second = (agents[0], agents[1]) if game.a_moves_first else (agents[1], agents[0])
        result = {1.0: f"{agents[0].name} wins", 0.5: "a draw", 0.0: f"{agents[1].name} wins"}[
            game.score
        ]
        players = f"{view.agents[0]} = {first.name}, {view.agents[1]} = {second.name}"
        console.print(
            f"game {game.pair_index + 1}: {players}: {result} after {len(game.moves)} moves",
            soft_wrap=True,
        )

    shown = settings.render == "ansi" or with_human
    try:
        return play_match(
            environment,
            *agents,
            settings.num_games,
            settings.seed,
            on_move if shown else None,
            on_game,
        )
    except Exception as error:
        if type(error).__module__.startswith("pygame") and settings.render == "human":
            raise ConfigError(
                f"render=human cannot open a window here ({error}): take render=ansi."
            ) from None
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
