"""Compare a player's moves and values with perfect play, on positions whose moves an exact solver
has scored. A network is measured twice: alone, and with search. With baseline= a second player
answers the same positions, and the difference is printed.

    alphazero evaluate player=checkpoints/connect_four/RUN
    alphazero evaluate player=best num_simulations=800 show=3
    alphazero evaluate player=checkpoints/connect_four/B baseline=checkpoints/connect_four/A
    alphazero evaluate player=best set=fresh.csv baseline=uct:1000

The result is a table and, on request, a list of misplayed positions and a JSON file.
"""

import dataclasses
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from rich.markup import escape
from rich.table import Table

from alphazero.boards.skin import skin_of
from alphazero.cli.command import figures_table, write_figures
from alphazero.cli.players import PLAYER_HELP, choose_game, warm_up
from alphazero.cli.progress import counted_choice
from alphazero.cli.prove import print_misplayed
from alphazero.config.settings import option
from alphazero.evaluation.exact.accuracy import (
    AccuracyReport,
    Difference,
    Proportion,
    difference,
    measure_accuracy,
    ply_bins,
)
from alphazero.evaluation.exact.set_file import find_set, game_of_set
from alphazero.evaluation.exact.sets import EvaluationSet
from alphazero.games.batched_game import Game
from alphazero.own_games.registry import make_stored_game
from alphazero.players.base import Player, PlayerSettings, engine_of, thinking_of
from alphazero.players.registry import make_player, network_path, read_spec
from alphazero.runtime.console import Console


@dataclasses.dataclass
class Settings(PlayerSettings):
    """Settings of the `evaluate` command: the game, one or two players, and the positions."""

    game: str | None = option(None, "the game; by default that of the network or of the set")
    player: str = option("network", PLAYER_HELP)
    baseline: str | None = option(None, "another player, compared position by position")
    set: str | None = option(None, "file of positions; by default the set that ships with the game")
    show: int = option(0, "misplayed positions to print", 0, 10_000)
    json: str | None = option(None, "file to write the figures to")


def run(settings: Settings, console: Console) -> None:
    """Measure the accuracy of the player and of the baseline, if there is one, and print both.

    With ``json=``, the results are also written to a JSON file.

    Raises:
        ConfigError: if a setting cannot be used, or no evaluation set ships with the game.
        StoredFileError: if the file of positions is not an evaluation set of this game.
    """
    game = _game(settings)
    evaluation_set = find_set(settings.set, game)
    players = _players(settings.player, settings, game)
    others = _players(settings.baseline, settings, game) if settings.baseline else {}
    warm_up(game, [*players.values(), *others.values()])
    reports = {label: _measure(label, players[label], evaluation_set) for label in players}
    baseline = {label: _measure(label, others[label], evaluation_set) for label in others}
    player = list(players.values())[-1]
    console.print(_title(game, player, evaluation_set, settings.set), markup=False)
    console.print(report_table(evaluation_set, reports))
    console.print("\n" + "\n".join(value_lines(reports)))
    pairs = _pairs(reports, baseline) if baseline else []
    if pairs:
        other = list(others.values())[-1]
        title = f"\nCompared with {other.name}, position by position:\n"
        console.print(title, markup=False)
        console.print(paired_table(pairs))
    _print_misplayed(console, game, list(reports.values())[-1], settings.show)
    if settings.json:
        figures = {
            "game": game.name,
            "player": settings.player,
            "set": settings.set or "shipped",
            "notes": evaluation_set.notes,
            "players": {name: report.to_plain() for name, report in reports.items()},
            "engine": engine_of(player),
            "method": getattr(player, "method", ""),
        }
        if pairs:
            figures["baseline"] = {
                "player": settings.baseline,
                "players": {name: report.to_plain() for name, report in baseline.items()},
                "differences": {pair.label: pair.difference._asdict() for pair in pairs},
            }
        write_figures(settings.json, figures, console)


def _game(settings: Settings) -> Game:
    """Choose the game to measure on.

    It is the game that the user named, else the game of the user's evaluation set, else that of the
    first network, else the default game.

    Raises:
        ConfigError: if there is no such game, or the set or network is for a user-defined game that
            the user has not named.
        StoredFileError: if the file of the evaluation set cannot be read.
    """
    if settings.set and not settings.game:
        return make_stored_game(game_of_set(settings.set), f"the evaluation set '{settings.set}'")
    return choose_game(settings.game, (settings.player, settings.baseline), settings)


def _players(spec: str, settings: Settings, game: Game) -> dict[str, Player]:
    """Make the players to measure from one player specification.

    A network becomes two players: one without search, then one with search.

    Args:
        spec: the player's specification.
        settings: search limits and other settings for what ``spec`` leaves open.
        game: the game to play.

    Returns:
        {column heading: player}.

    Raises:
        ConfigError: if the player does not exist or cannot play the game.
    """
    kind, own = read_spec(spec, settings)
    player = make_player(spec, game, settings)
    if network_path(kind, game.name, game.rules_digest) is None:
        return {player.name: player}
    if not own.with_search:
        return {"network alone": player}
    from alphazero.players.search_player import DEFAULT_SIMULATIONS

    limits = []
    if own.num_simulations or own.time_limit_s is None:
        limits.append(f"{own.num_simulations or DEFAULT_SIMULATIONS:,} simulations")
    if own.time_limit_s is not None:
        limits.append(f"{own.time_limit_s:g} s")
    return {"network alone": player.limited(0, None), ", ".join(limits): player}


def _measure(label: str, player: Player, evaluation_set: EvaluationSet) -> AccuracyReport:
    """Measure a player's accuracy on an evaluation set, and show a progress bar.

    Args:
        label: the player's column heading, shown beside the bar.
        player: the player to measure.
        evaluation_set: the positions, in which an exact solver has scored every move.
    """
    num_positions = len(evaluation_set) + len(evaluation_set.replies)
    with counted_choice(player, f"{label} on {evaluation_set.game_name}", num_positions) as choose:
        return measure_accuracy(choose, evaluation_set)


def _title(game: Game, player: Player, evaluation_set: EvaluationSet, file: str | None) -> str:
    how = thinking_of(player)
    thinking = f" ({how})" if how else ""
    seed = evaluation_set.notes.get("seed", "?")
    which = file or f"the set that ships (seed {seed})"
    return (
        f"{game.name}: {player.name}{thinking} on {len(evaluation_set):,} positions "
        f"of {which}, 95% intervals in brackets\n"
    )


def _print_misplayed(console: Console, game: Game, report: AccuracyReport, num_shown: int) -> None:
    """Print the first ``num_shown`` positions that the player of a report misplays.

    Each is printed with the player's move, the better moves, the board, and the moves that lead to
    the position.
    """
    rows = report.misplayed()
    for row, failure in zip(rows, report.failures(num_shown)):
        print_misplayed(console, game, failure)
        moves = skin_of(game).notation.list_text(report.evaluation_set.moves[row])
        console.print(f"moves={moves}", markup=False)


# --- the comparison -------------------------------------------------------------------------------


class Pair(NamedTuple):
    """The accuracy reports of the player and the baseline for the same positions."""

    label: str  #: heading of the pair's row in the table of differences
    player: AccuracyReport
    baseline: AccuracyReport

    @property
    def difference(self) -> Difference:
        """The player's accuracy minus the baseline's, with a 95% confidence interval."""
        return difference(self.player.keeps_result, self.baseline.keeps_result)


def _pairs(reports: dict[str, AccuracyReport], baseline: dict[str, AccuracyReport]) -> list[Pair]:
    """Pair each of the player's reports with the comparable report of the baseline.

    Reports with the same heading, such as "network alone", are paired. So are the last reports of
    both players, in which each plays with its own search limits.

    Args:
        reports: the player's reports, by heading.
        baseline: the baseline's reports, by heading.
    """
    labels = [label for label in reports if label in baseline]
    pairs = [Pair(label, reports[label], baseline[label]) for label in labels]
    label = list(reports)[-1]
    other = list(baseline)[-1]
    if label != other:
        pairs.append(Pair(f"{label} against {other}", reports[label], baseline[other]))
    return pairs


def paired_table(pairs: Iterable[Pair]) -> Table:
    """Make a table that compares the player's accuracy with the baseline's.

    Each row has both accuracies and their difference, player minus baseline, in % and with 95%
    confidence intervals.

    Args:
        pairs: the reports to compare, of the player and the baseline.
    """
    table = figures_table("accuracy", "baseline", "difference", left="%")
    for pair in pairs:
        mean, low, high = (100 * value for value in pair.difference)
        text = f"{mean:+.1f} [dim]({low:+.1f} to {high:+.1f})[/]"
        accuracy = _text(pair.player.accuracy())
        baseline = _text(pair.baseline.accuracy())
        table.add_row(escape(pair.label), accuracy, baseline, text)
    return table


# --- the table ------------------------------------------------------------------------------------


def report_table(evaluation_set: EvaluationSet, reports: dict[str, AccuracyReport]) -> Table:
    """Make a table of each player's accuracy and fraction of best moves, both in %.

    The first row is for all positions, the others are for ranges of plies.

    Args:
        evaluation_set: the measured positions.
        reports: {column heading: the player's report}.
    """
    headings = ["\npositions"]
    for name in reports:
        headings += [f"{escape(name)}\naccuracy", "\nbest"]
    table = figures_table(*headings, left="\n%")
    everything = np.ones(len(evaluation_set), bool)
    table.add_row(*_cells("all", everything, reports))
    table.add_row("[dim]by ply[/]")
    for label, rows in ply_bins(evaluation_set.plies).items():
        table.add_row(*_cells(f"  {label}", rows, reports))
    return table


def value_lines(reports: dict[str, AccuracyReport]) -> list[str]:
    """Format, for each player, a line about its moves and values in all positions.

    It states how often the move has the best exact score and, if the player gives values, how often
    and how closely these predict the exact result.

    Args:
        reports: {the player's name in the line: its report}.
    """
    lines = []
    for name, report in reports.items():
        line = (
            f"{escape(name)}: plays the best score in {_text(report.optimal())}% of the positions"
        )
        if report.values is not None:
            right = report.values.result_accuracy
            error = report.values.mean_error
            line += (
                f"; its value predicts the result in {_text(right)}% of the {right.total:,} "
                f"for which it gives one, mean error {error:.3f}"
            )
        lines.append(line)
    return lines


def _cells(label: str, rows: np.ndarray, reports: dict[str, AccuracyReport]) -> list[str]:
    """Format the table's row for some of the positions.

    Args:
        label: their name, for the first cell.
        rows: bool[N], True for these positions.
        reports: {column heading: the player's report}.
    """
    cells = [label, f"{rows.sum():,}"]
    for report in reports.values():
        optimal = report.optimal(rows).fraction
        cells += [_text(report.accuracy(rows)), f"{100 * optimal:.1f}"]
    return cells


def _text(proportion: Proportion) -> str:
    """Format a proportion and its 95% confidence interval in %, such as "93.1 (91.2-94.6)"."""
    low, high = proportion.interval
    return f"{100 * proportion.fraction:.1f} [dim]({100 * low:.1f}-{100 * high:.1f})[/]"
