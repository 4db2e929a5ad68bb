"""`alphazero match`: paired games between two players, with the score, its interval and the Elo.

In: two players. Out: a table; with ``json=`` also a file of the report and all games.
"""

import dataclasses
import json
from pathlib import Path

from alphazero.cli.game_of_players import choose_game
from alphazero.cli.output.match_bar import MatchBar
from alphazero.cli.output.match_table import add_test, report_table
from alphazero.cli.player_workers import MakePlayer, PlayerWorkers, player_maker
from alphazero.cli.warm_up import warm_up
from alphazero.config.command_line import from_overrides
from alphazero.config.help import print_help
from alphazero.config.settings import option
from alphazero.evaluation.match import MatchReport, Openings, check_num_games, play_match
from alphazero.evaluation.sprt import Sprt
from alphazero.games.batched_game import Game
from alphazero.players.base import ENDGAME_HELP, Player, PlayerSettings, engine_of, thinking_of
from alphazero.players.registry import default_match
from alphazero.runtime.console import Console
from alphazero.runtime.files import check_outputs
from alphazero.solvers.base import values_of
from alphazero.solvers.registry import make_solver

COMMAND = "alphazero match"
SUMMARY = (
    "Play paired games between two players: each opening twice, with colours swapped. A draw is "
    "half a point."
)
EXAMPLES = [
    "alphazero match",
    "alphazero match a=uct:1000 b=uct:200 num_games=100",
    "alphazero match a=checkpoints/connect_four/RUN,num_simulations=64 b=uct:1000",
    "alphazero match a=uct:1000 b=uct:200 sprt=true elo0=0 elo1=50 num_games=1000",
    "alphazero match a=best b=solver drawn_openings=true opening_plies=8",
    "alphazero match a=uct:10000 b=uct:1000 workers=ray",
    "alphazero match game=othello a=uct,rollout=weighted b=uct time_limit_s=0.1",
]


@dataclasses.dataclass
class MatchOptions:
    """Who plays, and how often."""

    game: str | None = option(
        None, "the game; by default that of a network below, otherwise connect_four"
    )
    a: str | None = option(
        None,
        "player A: random, uct:1000, solver, best, network, or the path of a network or a run; by "
        "default best, or uct:1000 where no network ships with the game",
    )
    b: str | None = option(
        None, "player B; by default uct:1000, or random where no network ships with the game"
    )
    num_games: int = option(
        100, "games, an even number: each opening is played twice", 2, 1_000_000
    )
    opening_plies: int = option(4, "random plies at the start of each pair of games", 0, 1000)
    drawn_openings: bool = option(
        False, "only use openings that are drawn with perfect play (needs an exact solver)"
    )
    sprt: bool = option(
        False,
        "stop as soon as a sequential test decides between the hypotheses elo0 and elo1; num_games "
        "is then the maximum",
    )
    elo0: float = option(0.0, "sprt: A's rating minus B's under H0", -2000.0, 2000.0)
    elo1: float = option(50.0, "sprt: the same under H1, larger than elo0", -2000.0, 2000.0)
    alpha: float = option(0.05, "sprt: probability of accepting H1 if H0 is true", 1e-6, 0.49)
    beta: float = option(0.05, "sprt: probability of accepting H0 if H1 is true", 1e-6, 0.49)
    json: str | None = option(None, "file to write the report and all games to")


@dataclasses.dataclass
class MatchSettings(PlayerSettings, MatchOptions, PlayerWorkers):
    """The settings of the command."""

    endgame: str = option("auto", ENDGAME_HELP)
    seed: int = option(
        0, "seed of openings and players; the same seed gives the same match", 0, 2**63 - 4
    )


def main(arguments: list[str], console: Console | None = None) -> int:
    """Play the match and print its result."""
    if {"-h", "--help"} & set(arguments):
        print_help("match", SUMMARY, MatchSettings(), EXAMPLES)
        return 0
    settings = from_overrides(MatchSettings, arguments, COMMAND)
    check_num_games(settings.num_games)
    check_outputs(settings, "json")
    sprt = None
    if settings.sprt:
        sprt = Sprt(settings.elo0, settings.elo1, settings.alpha, settings.beta)
    game = choose_game(settings.game, (settings.a, settings.b), settings)
    console = console or Console(highlight=False, emoji=False)
    with player_maker(settings) as make_player:
        players = _make_players(game, settings, make_player)
        report = _play(game, players, settings, sprt)
    table = report_table(report, [thinking_of(player) for player in players])
    if sprt is not None:
        add_test(table, sprt, sprt.test(report.pair_counts), settings.num_games)
    console.print(table)
    if settings.json:
        _write_json(report, players, sprt, Path(settings.json))
        console.print(f"Report and games: {settings.json}", markup=False, soft_wrap=True)
    return 0


def _play(
    game: Game, players: list[Player], settings: MatchSettings, sprt: Sprt | None
) -> MatchReport:
    """Play the match behind a bar."""
    warm_up(game, players, Console(stderr=True, emoji=False))
    accept = _is_drawn(game) if settings.drawn_openings else None
    openings = Openings(settings.opening_plies, settings.seed, accept=accept)
    with MatchBar(settings.num_games, sprt) as bar:
        stop = None if sprt is None else bar.should_stop
        num_games = settings.num_games
        return play_match(game, *players, num_games, openings, progress=bar, should_stop=stop)


def _make_players(game: Game, settings: MatchSettings, make_player: MakePlayer) -> list[Player]:
    """Return players A and B; they have different seeds."""
    defaults = default_match(game.name)
    specs = [spec or default for spec, default in zip((settings.a, settings.b), defaults)]
    return [
        make_player(spec, game, dataclasses.replace(settings, seed=settings.seed + index))
        for index, spec in enumerate(specs)
    ]


def _is_drawn(game: Game):
    """Return a function from states, [N, K], to bool[N]: whether perfect play draws."""
    solver = make_solver(game)
    return lambda states: values_of(solver.scores(states)).max(axis=1) == 0


def _write_json(report: MatchReport, players: list, sprt: Sprt | None, path: Path) -> None:
    data = report.to_plain()
    for side, player in zip("ab", players):
        data[f"engine_{side}"] = engine_of(player)
        data[f"method_{side}"] = getattr(player, "method", "")
    if sprt is not None:
        data["sprt"] = dataclasses.asdict(sprt) | sprt.test(report.pair_counts)._asdict()
    path.write_text(json.dumps(data, allow_nan=False) + "\n")
