"""Check the rules of a game against the laws that every game obeys and, if given, against a second
implementation. Propose settings for training. The exit status is 0 if no error is found, else 1.

    alphazero check_game examples/breakthrough.py
    alphazero check_game examples/breakthrough.py twin=examples/breakthrough_python.py
    alphazero check_game my_module:MyGame num_positions=100000 seconds=300

In: a game and, optionally, a second implementation of its rules (its twin). Out: the first broken
law with the moves that lead to it, or statistics of the games and a command that trains with the
proposed settings.
"""

import dataclasses
import math
import shlex
from typing import NamedTuple

from rich.text import Text

from alphazero.cli.command import figures_table, write_figures
from alphazero.config.settings import option
from alphazero.games.batched_game import Game
from alphazero.own_games.checks.report import CheckOptions, Fault, RuleReport
from alphazero.own_games.registry import is_shipped_game, make_game
from alphazero.own_games.rule_check import check_rules
from alphazero.runtime.console import Console, counted
from alphazero.runtime.errors import ConfigError

POSITIONAL = "game"
_GAMES_PER_ITERATION = 200
_MIN_WINDOW = 5_000  # minimum size of the proposed replay window, in samples
#: Presets in configs/network, keyed by the largest board (in squares) that each is proposed for.
_NETWORKS = {25: "2x32", 49: "4x48", 100: "5x64", math.inf: "6x128"}
_MANY_MOVES = 40  # average number of legal moves above which the next larger preset is proposed


@dataclasses.dataclass
class Settings:
    """The game to check, and how thoroughly to check it."""

    game: str = option("", "the game: a name, PATH.py or module:Class; 'game=' may be left out")
    twin: str = option("", "a second implementation of the rules, with the same actions")
    num_positions: int = option(20_000, "positions to check", 100, 1_000_000_000)
    seconds: float = option(30.0, "time limit in seconds", 0.1, 1e6)
    seed: int = option(0, "seed of the random games", 0)
    json: str = option("", "JSON file for the results and the proposed settings")


def run(settings: Settings, console: Console) -> int:
    """Check the game, print a report and propose settings.

    Returns:
        The exit status: 0 if every law holds and the twin, if given, agrees; otherwise 1.
    """
    if not settings.game:
        raise ConfigError.of("game", "", "a name, PATH.py or module:Class")
    names = [field.name for field in dataclasses.fields(CheckOptions)]
    options = CheckOptions(**{name: getattr(settings, name) for name in names})
    with console.status(Text(f"Checking the rules of {settings.game} ...")):
        report = check_rules(options)
    _print_report(console, options, report)
    figures = dataclasses.asdict(report) | {"holds": report.holds}
    if report.holds:
        figures["starting_values"] = _propose(console, settings, report)
    if settings.json:
        write_figures(settings.json, figures, console)
    return 0 if report.holds else 1


# --- the findings ---------------------------------------------------------------------------------


def _print_report(console: Console, options: CheckOptions, report: RuleReport) -> None:
    if report.broken is not None:
        _print_lines(console, fault_lines("A law is broken", report.broken))
    elif report.difference is not None:
        _print_lines(console, fault_lines("Game and twin differ", report.difference))
    else:
        _print_lines(console, [*_verdict_lines(options, report), *_games_lines(report)])
        if len(report.perft) > 1:
            _print_perft(console, report)
        if report.notes:
            _print_lines(console, ["", *(f"note: {note}" for note in report.notes)])


def _print_lines(console: Console, lines: list[str]) -> None:
    console.print("\n".join(lines), markup=False)


def fault_lines(heading: str, fault: Fault) -> list[str]:
    """Format a fault as lines: what is wrong, the moves that lead to it, and the board."""
    lines = [f"{heading}: {fault.text}"]
    if fault.actions:
        lines.append(f"after {counted(len(fault.actions), 'move')}: {fault.moves}")
        actions = " ".join(map(str, fault.actions))
        if fault.moves != actions:
            lines.append(f"as actions: {actions}")
    return [*lines, *fault.board.splitlines()]


def _verdict_lines(options: CheckOptions, report: RuleReport) -> list[str]:
    which = "the game" if report.is_whole else f"the first {counted(report.full_plies, 'move')}"
    lines = [
        f"All laws hold in {counted(report.num_positions, 'position')}: every position of {which},",
        f"then {counted(report.num_games, 'game')}, random and steered.",
    ]
    if report.num_positions < options.num_positions:
        wanted = f"num_positions={options.num_positions:,}"
        lines.append(f"Time ran out before {wanted}; a larger seconds= checks more.")
    if options.twin:
        lines.append(f"The twin {options.twin} allows the same moves and gives the same results.")
    return lines


def _games_lines(report: RuleReport) -> list[str]:
    least, median, most = report.plies
    return [
        "",
        f"Plies of a game: {least} to {most}, median {median}; max_plies is {report.max_plies}",
        f"Legal moves of a position: {report.mean_legal} on average",
        "Ends of games:",
        *(f"{number:>10,}  {name}" for name, number in report.ends.items()),
    ]


def _print_perft(console: Console, report: RuleReport) -> None:
    table = figures_table("plies", "games", "new positions")
    for ply, games in enumerate(report.perft):
        known = ply < len(report.num_by_ply)
        table.add_row(str(ply), f"{games:,}", f"{report.num_by_ply[ply]:,}" if known else "")
    console.print("\nGames by their first plies (perft), and positions:", markup=False)
    console.print(table)


# --- settings -------------------------------------------------------------------------------------


class Proposal(NamedTuple):
    """A proposed setting of `alphazero train`, and the reason for its value."""

    override: str
    reason: str


def starting_values(game: Game, report: RuleReport) -> list[Proposal]:
    """Propose settings for the first training run of a new game.

    They follow those of our own games (`configs/game`), scaled to the size of the board, the number
    of legal moves, and the length of games.
    """
    num_squares = math.prod(game.planes_shape[1:])
    median, legal = max(report.plies[1], 1), max(report.mean_legal, 1.0)
    found = [
        Proposal(f"network={_network(num_squares, legal)}", f"for {num_squares} squares"),
        Proposal(f"search.dirichlet_alpha={10 / legal:.2g}", f"10 / {legal:g} legal moves"),
        Proposal(
            f"selfplay.num_simulations={_num_simulations(num_squares, legal)}",
            f"at least 5 for each of {legal:g} legal moves",
        ),
        Proposal(f"selfplay.games_per_iteration={_GAMES_PER_ITERATION}", "as for other games"),
    ]
    opening = min(median // 4, 6)
    if opening and game.num_players == 2:
        found += [
            Proposal("selfplay.random_opening_fraction=0.5", "half of the games begin at random"),
            Proposal(f"selfplay.random_opening_plies={opening}", f"a quarter of {median} plies"),
        ]
    samples = _GAMES_PER_ITERATION * median
    window = max(_MIN_WINDOW, round(4 * samples, -3))
    found += [
        Proposal(f"replay.window_start={window}", f"4 iterations of {samples:,} samples"),
        Proposal(
            f"evaluation.opening_plies={min(max(median // 8, 1), 4)}",
            "random moves of a match, so that its games differ",
        ),
    ]
    if report.is_whole:
        reason = f"the game has {sum(report.num_by_ply):,} positions"
        found.append(Proposal("evaluation.prove=true", reason))
    return found


def _network(num_squares: int, legal: float) -> str:
    sizes = [preset for limit, preset in _NETWORKS.items() if num_squares <= limit]
    return sizes[min(int(legal > _MANY_MOVES), len(sizes) - 1)]


def _num_simulations(num_squares: int, legal: float) -> int:
    """Propose a number of simulations: a power of two, 5 or more per legal move, up to 256."""
    least = 32 if num_squares <= 16 else 64
    return int(min(max(2 ** math.ceil(math.log2(5 * legal)), least), 256))


def _propose(console: Console, settings: Settings, report: RuleReport) -> list[str]:
    """Print settings for a first training run; return them as arguments, the game first."""
    # Shipped games have settings files of their own, so nothing is proposed for them.
    if is_shipped_game(settings.game):
        proposals = []
    else:
        proposals = starting_values(make_game(settings.game), report)
    overrides = [f"game={settings.game}", *(one.override for one in proposals)]
    if proposals:
        table = figures_table("why", left="setting")
        table.columns[1].justify = "left"
        for one in proposals:
            table.add_row(*one)
        console.print("\nStarting values for a run:")
        console.print(table)
    command = " ".join(map(shlex.quote, ["alphazero", "train", *overrides]))
    console.print(f"\n{command}", markup=False)
    return overrides
