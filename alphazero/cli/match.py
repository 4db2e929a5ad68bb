"""`alphazero match`: paired games between two players, and how sure the result is."""

import dataclasses
import json
import math
from pathlib import Path

from rich.console import Console
from rich.table import Table

from alphazero.cli.counting_bar import counting_bar
from alphazero.cli.game_of_players import choose_game
from alphazero.cli.help_text import print_help
from alphazero.cli.warm_up import warm_up
from alphazero.evaluation.match import MatchProgress, MatchReport, Openings, play_match
from alphazero.evaluation.sprt import Sprt, SprtResult
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import default_match, make_player
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.overrides import from_overrides
from alphazero.runtime.settings import check_folder, option
from alphazero.solvers.base import values_of
from alphazero.solvers.registry import make_solver

COMMAND = "alphazero match"
SUMMARY = "Play paired games between two players: each opening twice, with colours swapped. A draw is half a point."
EXAMPLES = [
    "alphazero match",
    "alphazero match a=uct:1000 b=uct:200 num_games=100",
    "alphazero match a=checkpoints/connect_four/RUN,num_simulations=64 b=uct:1000",
    "alphazero match a=uct:1000 b=uct:200 sprt=true elo0=0 elo1=50 num_games=1000",
    "alphazero match a=checkpoints/connect_four/RUN b=solver drawn_openings=true opening_plies=8",
    "alphazero match game=othello a=uct,rollout=weighted b=uct time_limit_s=0.1 num_games=20 json=match.json",
]


@dataclasses.dataclass
class MatchOptions:
    """Who meets whom, and how often."""

    game: str | None = option(None, "which game; without it the network's own, or connect_four")
    a: str | None = option(
        None,
        "a player: random, uct, uct:1000, solver, best, network, or the path of a network or of a run; "
        "without it best (the network that ships with the game) or, where there is none, uct:1000",
    )
    b: str | None = option(
        None,
        "its opponent; each moves first in half of the games; without it uct:1000 or, where no network ships, random",
    )
    num_games: int = option(
        100,
        "games, an even number: each opening is played twice, with colours swapped",
        2,
        1_000_000,
    )
    opening_plies: int = option(4, "random moves that each pair of games starts with", 0, 1000)
    drawn_openings: bool = option(
        False,
        "take openings alone that perfect play draws, by the exact solver: from there, a perfect opponent is drawn at best",
    )
    sprt: bool = option(
        False,
        "end the match as soon as it is decided whether A's rating minus B's is elo0 or elo1; num_games is then the most",
    )
    elo0: float = option(0.0, "sprt: the rating difference of hypothesis H0", -2000.0, 2000.0)
    elo1: float = option(50.0, "sprt: the larger one of hypothesis H1", -2000.0, 2000.0)
    alpha: float = option(0.05, "sprt: probability of accepting H1 where H0 is true", 1e-6, 0.49)
    beta: float = option(0.05, "sprt: probability of accepting H0 where H1 is true", 1e-6, 0.49)
    json: str | None = option(None, "write the report and every game to this file")


@dataclasses.dataclass
class MatchSettings(PlayerSettings, MatchOptions):
    """The settings of the command; those of the players hold for both, unless a player has its own: ``a=uct:500,uct_c=0.7``."""

    seed: int = option(
        0,
        "seed of the openings and of the players; the same seed gives the same match",
        0,
        2**63 - 4,
    )


def main(words: list[str], console: Console | None = None) -> int:
    """Play the match that the words ask for and print its result."""
    if {"-h", "--help"} & set(words):
        print_help("match", SUMMARY, MatchSettings(), EXAMPLES)
        return 0
    settings = from_overrides(MatchSettings, words, COMMAND)
    if settings.num_games % 2:
        raise ConfigError(
            f"num_games={settings.num_games} is not allowed: num_games takes an even number, since colours alternate."
        )
    check_folder(settings, "json")
    sprt = (
        Sprt(settings.elo0, settings.elo1, settings.alpha, settings.beta) if settings.sprt else None
    )
    game = choose_game(settings.game, (settings.a, settings.b), settings)
    specs = [
        named or default
        for named, default in zip((settings.a, settings.b), default_match(game.name))
    ]
    players = [
        make_player(spec, game, dataclasses.replace(settings, seed=settings.seed + index))
        for index, spec in enumerate(specs)
    ]
    console = console or Console(highlight=False)
    warm_up(game, players, Console(stderr=True))
    with MatchBar(settings.num_games, sprt) as bar:
        stop = None if sprt is None else bar.should_stop
        accept = _is_drawn(game) if settings.drawn_openings else None
        openings = Openings(settings.opening_plies, settings.seed, accept=accept)
        report = play_match(
            game, *players, settings.num_games, openings, progress=bar, should_stop=stop
        )
    table = report_table(report)
    if sprt is not None:
        add_test(table, sprt, sprt.test(report.pair_counts), settings.num_games)
    console.print(table)
    if settings.json:
        tested = (
            {}
            if sprt is None
            else {"sprt": dataclasses.asdict(sprt) | sprt.test(report.pair_counts)._asdict()}
        )
        Path(settings.json).write_text(
            json.dumps(report.to_plain() | tested, allow_nan=False) + "\n"
        )
        console.print(f"Report and games: {settings.json}", markup=False, soft_wrap=True)
    return 0


def _is_drawn(game):
    """Return what tells of positions, [N, K], whether perfect play draws them, bool[N]."""
    solver = make_solver(game)
    return lambda states: values_of(solver.scores(states)).max(axis=1) == 0


def report_table(report: MatchReport) -> Table:
    """Return the result as a table: by colour, the score and the rating with their intervals, and how varied the games were."""
    table = Table(
        title=f"{report.game}: {len(report.games)} games of A against B",
        title_justify="left",
        title_style="bold",
        show_header=False,
    )
    table.add_column(style="dim")
    table.add_column()
    for letter, name in (("A", report.player_a), ("B", report.player_b)):
        table.add_row(letter, name)
    table.add_section()
    for label, tally in (
        ("A in all", report.total),
        ("A moving first", report.as_first),
        ("A moving second", report.as_second),
    ):
        table.add_row(label, f"{tally.wins} won, {tally.draws} drawn, {tally.losses} lost")
    table.add_section()
    low, high = report.score_interval
    table.add_row(
        "A's score",
        f"[bold]{report.score:.1%}[/bold]  (95 % interval {low:.1%} to {high:.1%}, over {len(report.pair_scores)} pairs)",
    )
    table.add_row(
        "A's rating minus B's",
        f"{_elo(report.elo)} Elo  (95 % interval {_elo(report.elo_interval.low)} to {_elo(report.elo_interval.high)})",
    )
    table.add_section()
    plies = report.lengths
    table.add_row(
        "Different games",
        f"{report.num_distinct_games} of {len(report.games)}, from {report.num_distinct_openings} openings of {report.opening_plies} plies",
    )
    table.add_row(
        "Length", f"{min(plies)} to {max(plies)} plies, {sum(plies) / len(plies):.1f} on average"
    )
    return table


def add_test(table: Table, sprt: Sprt, result: SprtResult, num_games: int) -> None:
    """Add to a match's table what the test says, and what an early end does to the figures above."""
    low, high = sprt.bounds
    played = 2 * result.num_pairs
    accepted, other = (sprt.elo1, sprt.elo0) if result.accepted == "H1" else (sprt.elo0, sprt.elo1)
    after = f"after {played} of at most {num_games} games"
    verdict = (
        f"[bold]{result.accepted} accepted[/bold] {after}"
        if result.accepted
        else f"[bold]undecided[/bold] {after}"
    )
    table.add_section()
    table.add_row("SPRT", verdict)
    table.add_row(
        "",
        f"A's rating minus B's is {accepted:g} Elo rather than {other:g}"
        if result.accepted
        else f"between {accepted:g} and {other:g} Elo",
    )
    table.add_row("LLR", f"{result.llr:+.2f}  (H0 is accepted at {low:.2f}, H1 at {high:+.2f})")
    if played < num_games:
        table.add_row("", "[dim]score and rating above: an early end overstates them[/dim]")


class MatchBar:
    """The progress of a match on standard error: a bar with the result so far and the time left; nothing where that is no terminal.

    Args:
        sprt: the test that may end the match early; its LLR is shown.
    """

    def __init__(self, num_games: int, sprt: Sprt | None = None):
        self._sprt, self._llr = sprt, ""
        self._progress = counting_bar()
        self._task = self._progress.add_task("playing", total=num_games)

    def __enter__(self):
        self._progress.start()
        return self

    def __exit__(self, *error) -> None:
        self._progress.stop()

    def __call__(self, progress: MatchProgress) -> None:
        text = f"A: {progress.wins} won, {progress.draws} drawn, {progress.losses} lost"
        self._progress.update(
            self._task, completed=progress.num_finished, description=text + self._llr
        )

    def should_stop(self, pair_counts) -> bool:
        """Return whether the test ends the match, see `alphazero.evaluation.match.play_match`."""
        result = self._sprt.test(pair_counts)
        self._llr = f", LLR {result.llr:+.2f}"
        return result.accepted is not None


def _elo(value: float) -> str:
    return f"{value:+.0f}" if math.isfinite(value) else ("+infinite" if value > 0 else "-infinite")
