"""Play paired games between two players: each opening twice, with colours swapped. A draw is half a
point. In a one-player game, each plays every opening alone, and their results are compared.

    alphazero match
    alphazero match a=uct:1000 b=uct:200 num_games=100
    alphazero match a=checkpoints/connect_four/RUN,num_simulations=64 b=uct:1000
    alphazero match a=uct:1000 b=uct:200 sprt=true elo0=0 elo1=50 num_games=1000
    alphazero match a=best b=solver opening_plies=8
    alphazero match game=examples/peg_solitaire.py a=uct:1000 b=uct:100
    alphazero match game=othello a=uct,rollout=weighted b=uct time_limit_s=0.1

The result is a table with the score, its confidence interval and the Elo difference and, with
``json=``, a file with the report and all games.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from alphazero.cli.command import write_figures
from alphazero.cli.players import GAME_HELP, PLAYER_HELP, choose_game, make_pair, warm_up
from alphazero.cli.progress import progress
from alphazero.config.settings import option
from alphazero.evaluation.match import Match, MatchProgress, MatchReport
from alphazero.evaluation.openings import choose_openings
from alphazero.evaluation.puzzle import PuzzleResults, puzzle_results, small_game_values
from alphazero.evaluation.report import Tally
from alphazero.evaluation.sprt import LLR_BOUND, Sprt
from alphazero.games.batched_game import Game
from alphazero.players.base import Player, PlayerSettings, endgame_option, engine_of, thinking_of
from alphazero.runtime.console import Console, counted


@dataclasses.dataclass
class Settings(PlayerSettings):
    """Settings of the `match` command: the players, the number of games and the openings.

    They also define the sequential test (SPRT) that may end the match early.
    """

    game: str | None = option(None, GAME_HELP)
    a: str | None = option(None, f"player A: {PLAYER_HELP}; by default best, otherwise uct:1000")
    b: str | None = option(None, "player B; by default uct:1000, or random where no network ships")
    num_games: int = option(100, "each opening is played twice", 2, 1_000_000, even=True)
    opening_plies: int = option(4, "random plies at the start of each pair of games", 0, 1000)
    drawn_openings: bool | None = option(
        None, "only openings that perfect play draws; by default if an exact solver is quick"
    )
    sprt: bool = option(False, "stop when a sequential test decides between elo0 and elo1")
    elo0: float = option(0.0, "sprt: A's rating minus B's under H0", -2000.0, 2000.0)
    elo1: float = option(50.0, "sprt: the same under H1, larger than elo0", -2000.0, 2000.0)
    json: str | None = option(None, "file to write the report and all games to")
    seed: int = option(0, "the same seed gives the same match", 0, 2**63 - 4)
    endgame: str = endgame_option("auto")


def run(settings: Settings, console: Console) -> None:
    """Play the match and print a table of the result; with ``json=``, store it with all games.

    If a player fails or Ctrl-C ends the match, this is done with the pairs of games finished so
    far.

    Raises:
        ConfigError: if a setting cannot be used, or there are not enough suitable openings.
        UnsolvableError: with ``drawn_openings``, if no solver can solve the game.
    """
    sprt = None
    if settings.sprt:
        sprt = Sprt(settings.elo0, settings.elo1)
    specs = (settings.a, settings.b)
    game = choose_game(settings.game, specs, settings)
    players = make_pair(specs, game, settings)
    warm_up(game, players)
    drawn = settings.drawn_openings
    openings = choose_openings(game, settings.opening_plies, settings.seed, drawn)
    match = Match(game, *players, settings.num_games, openings)

    def on_progress(so_far: MatchProgress) -> None:
        llr = f", LLR {sprt.test(so_far.pair_counts).llr:+.2f}" if sprt else ""
        show(so_far.num_finished, f"A: {tally_text(so_far)}{llr}")

    try:
        with progress("playing", settings.num_games) as show:
            match.play(on_progress, sprt.is_decided if sprt else None)
    finally:
        if match.num_counted:
            _show(match.report(), game, players, settings, sprt, console)


def _show(
    report: MatchReport,
    game: Game,
    players: tuple[Player, Player],
    settings: Settings,
    sprt: Sprt | None,
    console: Console,
) -> None:
    """Print a table of a match's result; with ``json=``, store the result with all games.

    Args:
        report: the result of the match.
        game: the game that was played.
        players: players A and B.
        settings: the settings of the command.
        sprt: the sequential test; None if there was none.
        console: where to print.
    """
    thinking = [thinking_of(player) for player in players]
    puzzle = None
    if game.num_players == 1:
        puzzle = puzzle_results(game, report, small_game_values(game))
        table = puzzle_table(report, puzzle, thinking)
    else:
        table = report_table(report, thinking=thinking)
    if sprt is not None:
        _add_test(table, report, sprt, settings.num_games)
    console.print(table)
    if settings.json:
        write_figures(settings.json, _figures(report, players, sprt, puzzle), console)


def _figures(
    report: MatchReport,
    players: tuple[Player, Player],
    sprt: Sprt | None,
    puzzle: PuzzleResults | None,
) -> dict[str, Any]:
    """Convert the results of a match to nested dictionaries for a JSON file.

    Args:
        report: the result of the match.
        players: players A and B, whose engines and search methods are included.
        sprt: the sequential test; None if there was none.
        puzzle: both players' results if the game has one player; else None.
    """
    figures = report.to_plain()
    for side, player in zip("ab", players):
        figures[f"engine_{side}"] = engine_of(player)
        figures[f"method_{side}"] = getattr(player, "method", "")
    if puzzle is not None:
        figures["puzzle"] = puzzle.to_plain()
    if sprt is not None:
        result = sprt.test(report.pair_counts)
        figures["sprt"] = dataclasses.asdict(sprt) | result._asdict()
    return figures


# --- the table ------------------------------------------------------------------------------------


def report_table(
    report: MatchReport, sides: tuple[str, str] = ("A", "B"), thinking: Sequence[str] = ("", "")
) -> Table:
    """Make a table of a match's results, from player A's viewpoint.

    It contains the results by colour, the score and the Elo difference with confidence intervals,
    and the number of different games.

    Args:
        report: the result of the match.
        sides: what players A and B are called in the table.
        thinking: how each player chooses moves, such as "openvino int8, search"; "" for a player
            without a network.
    """
    a, b = sides
    title = f"{report.game}: {counted(len(report.games), 'game')} of {a} against {b}"
    table = _table(title, report, sides, thinking)
    table.add_row(f"{a} in all", tally_text(report.total))
    table.add_row(f"{a} moving first", tally_text(report.as_first))
    table.add_row(f"{a} moving second", tally_text(report.as_second))
    table.add_section()
    low, high = report.score_interval
    score = f"[bold]{report.score:.1%}[/bold]  (95% interval {low:.1%} to {high:.1%})"
    table.add_row(f"{a}'s score", score)
    low, high = report.elo_interval
    elo = f"{report.elo:+.0f} Elo  (95% interval {low:+.0f} to {high:+.0f})"
    table.add_row(f"{a}'s rating minus {b}'s", elo)
    table.add_section()
    distinct = f"{report.num_distinct_games} of {len(report.games)}"
    table.add_row("Different games", f"{distinct}, from {report.openings}")
    return table


def puzzle_table(report: MatchReport, puzzle: PuzzleResults, thinking: Sequence[str]) -> Table:
    """Make a table that compares how well two players each play a one-player game.

    Args:
        report: the match, in which the better result from an opening wins.
        puzzle: both players' results from the same openings, on the game's own scoring scale.
        thinking: how each player chooses moves, such as "openvino int8, search"; "" for a player
            without a network.
    """
    num_games = counted(len(puzzle.results_a), "game")
    title = f"{report.game}: {num_games} of A and of B alone, from {report.openings}"
    table = _table(title, report, ("A", "B"), thinking)
    for side, results in zip("AB", (puzzle.results_a, puzzle.results_b)):
        table.add_row(f"{side}'s mean result", f"{results.mean():.2f}, best {results.max():g}")
        if puzzle.best is not None:
            solved = f"{puzzle.solved(results):.1%} of the openings"
            table.add_row(f"{side} reaches the best possible result in", solved)
    table.add_section()
    margin = puzzle.difference_margin
    table.add_row("A's minus B's", f"[bold]{puzzle.difference:+.2f}[/bold]  (95%: ± {margin:.2f})")
    better, same, worse = report.total
    table.add_row("A's compared with B's", f"{better} better, {same} equal, {worse} worse")
    return table


def _table(title: str, report: MatchReport, sides: Sequence[str], thinking: Sequence[str]) -> Table:
    """Make a table for a match, with two rows that name the players and no results yet.

    Args:
        title: printed in bold above the table.
        report: the match, with the names of the players.
        sides: what the players are called in the table, such as "A" and "B".
        thinking: how each player chooses moves, such as "openvino int8, search"; if "", it is left
            out.
    """
    table = Table(title=Text(title, "bold"), title_justify="left", show_header=False)
    table.add_column(style="dim")
    table.add_column()
    for side, name, how in zip(sides, (report.player_a, report.player_b), thinking):
        note = f"  ({how})" if how else ""
        table.add_row(side, Text.assemble(name, (note, "dim")))
    table.add_section()
    return table


def tally_text(tally: Tally | MatchProgress) -> str:
    """Format player A's wins, draws and losses, such as "3 won, 1 drawn, 2 lost".

    Args:
        tally: the numbers of games that player A won, drew and lost.
    """
    return f"{tally.wins} won, {tally.draws} drawn, {tally.losses} lost"


def _add_test(table: Table, report: MatchReport, sprt: Sprt, num_games: int) -> None:
    """Add the result of a sequential test to the table of a match.

    If the test ended the match early, a row warns that the score is overstated.

    Args:
        table: the table to which rows are added.
        report: the result of the match.
        sprt: the hypotheses and error probabilities of the test.
        num_games: number of games that the match would have had without an early end.
    """
    result = sprt.test(report.pair_counts)
    num_played = 2 * result.num_pairs
    table.add_section()
    verdict = f"{result.accepted} accepted" if result.accepted else "undecided"
    table.add_row("SPRT", f"[bold]{verdict}[/bold] after {num_played} of at most {num_games} games")
    table.add_row("", f"H0: {sprt.elo0:g} Elo, H1: {sprt.elo1:g} Elo")
    bounds = f"H0 is accepted at -{LLR_BOUND:.2f}, H1 at +{LLR_BOUND:.2f}"
    table.add_row("LLR", f"{result.llr:+.2f}  ({bounds})")
    if num_played < num_games:
        table.add_row("", "[dim]score and rating above: an early end overstates them[/dim]")
