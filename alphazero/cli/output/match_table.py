"""The table of `alphazero match`.

In: the report of a match. Out: a rich table; nothing is printed.
"""

import math
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from alphazero.evaluation.report import MatchReport
from alphazero.evaluation.sprt import Sprt, SprtResult


def report_table(report: MatchReport, thinking: Sequence[str] = ("", "")) -> Table:
    """Return results by colour, score and Elo with intervals, and how varied the games were.

    Args:
        thinking: how A and B think, "" for players without a network.
    """
    title = f"{report.game}: {len(report.games)} games of A against B"
    table = Table(title=Text(title, "bold"), title_justify="left", show_header=False)
    table.add_column(style="dim")
    table.add_column()
    for side, name, how in zip("AB", (report.player_a, report.player_b), thinking):
        table.add_row(side, Text.assemble(name, (f"  ({how})" if how else "", "dim")))
    table.add_section()
    tallies = {
        "A in all": report.total,
        "A moving first": report.as_first,
        "A moving second": report.as_second,
    }
    for label, tally in tallies.items():
        table.add_row(label, f"{tally.wins} won, {tally.draws} drawn, {tally.losses} lost")
    table.add_section()
    low, high = report.score_interval
    interval = f"95% interval {low:.1%} to {high:.1%}, over {len(report.pair_scores)} pairs"
    table.add_row("A's score", f"[bold]{report.score:.1%}[/bold]  ({interval})")
    low, high = map(_elo_text, report.elo_interval)
    elo = f"{_elo_text(report.elo)} Elo  (95% interval {low} to {high})"
    table.add_row("A's rating minus B's", elo)
    table.add_section()
    table.add_row("Different games", _variety_text(report))
    plies = report.lengths
    mean = sum(plies) / len(plies)
    table.add_row("Length", f"{min(plies)} to {max(plies)} plies, {mean:.1f} on average")
    return table


def add_test(table: Table, sprt: Sprt, result: SprtResult, num_games: int) -> None:
    """Add the result of a sequential test, and what an early end does to the score above it.

    Args:
        num_games: the most games that the match could have had.
    """
    low, high = sprt.bounds
    num_played = 2 * result.num_pairs
    verdict = f"{result.accepted} accepted" if result.accepted else "undecided"
    if result.accepted is None:
        meaning = f"between {sprt.elo0:g} and {sprt.elo1:g} Elo"
    else:
        is_h1 = result.accepted == "H1"
        accepted, other = (sprt.elo1, sprt.elo0) if is_h1 else (sprt.elo0, sprt.elo1)
        meaning = f"A's rating minus B's is {accepted:g} Elo rather than {other:g}"
    table.add_section()
    table.add_row("SPRT", f"[bold]{verdict}[/bold] after {num_played} of at most {num_games} games")
    table.add_row("", meaning)
    table.add_row("LLR", f"{result.llr:+.2f}  (H0 is accepted at {low:.2f}, H1 at {high:+.2f})")
    if num_played < num_games:
        table.add_row("", "[dim]score and rating above: an early end overstates them[/dim]")


def _variety_text(report: MatchReport) -> str:
    games = f"{report.num_distinct_games} of {len(report.games)}"
    openings = f"{report.num_distinct_openings} openings of {report.opening_plies} plies"
    return f"{games}, from {openings}"


def _elo_text(value: float) -> str:
    return f"{value:+.0f}" if math.isfinite(value) else ("+infinite" if value > 0 else "-infinite")
