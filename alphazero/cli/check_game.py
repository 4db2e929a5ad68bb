"""Check the rules of a game against the laws that every game obeys and, if given, against a second
implementation. Propose settings for training. The exit status is 0 if no error is found, else 1.

    alphazero check_game examples/breakthrough.py
    alphazero check_game examples/breakthrough.py twin=examples/breakthrough_python.py
    alphazero check_game my_module:MyGame num_positions=100000 seconds=300

The second implementation is called the game's twin. The output is the first broken law with the
moves that lead to it, or statistics of the games and a command that trains with the proposed
settings.
"""

import dataclasses
import math
import shlex

import numpy as np
from rich.text import Text

from alphazero.config.settings import option
from alphazero.games.batched_game import Game
from alphazero.inference.engines.agreement import sample_positions
from alphazero.network.window_states import are_pieces, suits
from alphazero.own_games.checks.report import CheckOptions, RuleReport
from alphazero.own_games.registry import is_shipped_game, make_game
from alphazero.own_games.rule_check import check_rules
from alphazero.runtime.console import Console, counted
from alphazero.runtime.errors import ConfigError

POSITIONAL = "game"
_LARGEST_SMALL_BOARD = 49  # squares for which the smallest network is proposed
_FIRST_RUN_S = 600


#: Printed before the command for a game that does not ship.
_ADVICE = (
    "A first run of ten minutes at most. More simulations and a longer run.time_limit_s play",
    "better and, if pieces move, a larger network (network=5x64) does:",
)


@dataclasses.dataclass
class Settings:
    """Settings of the `check_game` command: the game, its twin, and limits on the check."""

    game: str = option("", "the game: a name, PATH.py or module:Class; 'game=' may be left out")
    twin: str = option("", "a second implementation of the rules, with the same actions")
    num_positions: int = option(20_000, "positions to check", 100, 1_000_000_000)
    seconds: float = option(30.0, "time limit in seconds", 0.1, 1e6)


def run(settings: Settings, console: Console) -> int:
    """Check the game's rules, print a report and propose settings.

    Returns:
        The exit status: 0 if every law holds and the twin, if given, agrees; otherwise 1.

    Raises:
        ConfigError: if no game is named, the game or its twin does not exist, or a setting cannot
            be used.
    """
    if not settings.game:
        raise ConfigError.of("game", "", "a name, PATH.py or module:Class")
    options = CheckOptions(settings.game, settings.twin, settings.num_positions, settings.seconds)
    with console.status(Text(f"Checking the rules of {settings.game} ...")):
        report = check_rules(options)
    if report.fault is None:
        overrides = starting_values(settings.game, report)
        command = shlex.join(["alphazero", "train", *overrides])
        advice = () if is_shipped_game(settings.game) else (*_ADVICE, "")
        lines = [*_report_lines(options, report), "", *advice, command]
    else:
        lines = _fault_lines(report)
    console.print("\n".join(lines), markup=False)
    return int(report.fault is not None)


# --- the findings ---------------------------------------------------------------------------------


def _fault_lines(report: RuleReport) -> list[str]:
    """Format what is wrong with the rules, and the moves that lead there, as lines of text."""
    lines = [f"The rules are wrong: {report.fault}"]
    if report.actions:
        lines.append(f"after {counted(len(report.actions), 'move')}: {report.moves}")
        lines.append(f"as actions: {' '.join(map(str, report.actions))}")
    return lines


def _report_lines(options: CheckOptions, report: RuleReport) -> list[str]:
    """Format the report on rules without a fault as lines of text.

    They state what was checked, the lengths and results of random games, and what looks suspicious.

    Args:
        options: what was to be checked; its time limit may have ended the check before its number
            of positions was reached.
        report: what was found.
    """
    plies = counted(len(report.perft) - 1, "move")
    which = "the game" if report.is_whole else f"the first {plies}"
    lines = [
        f"All laws hold in {counted(report.num_positions, 'position')}: every position of {which},",
        f"then {counted(sum(report.results.values()), 'game')}, random and steered.",
    ]
    if report.num_positions < options.num_positions:
        wanted = f"num_positions={options.num_positions:,}"
        lines.append(f"Time ran out before {wanted}; a larger seconds= checks more.")
    if options.twin:
        lines.append(f"The twin {options.twin} allows the same moves and gives the same results.")
    least, median, most = report.plies
    results = ", ".join(f"{number:,} x {result}" for result, number in report.results.items())
    perft = ", ".join(f"{number:,}" for number in report.perft)
    return [
        *lines,
        "",
        f"Plies of a game: {least} to {most}, median {median}; max_plies is {report.max_plies}",
        f"Legal moves of a position: {report.mean_legal} on average",
        f"Results for the first player: {results}",
        f"Games by their first plies (perft): {perft}",
        *(f"note: {note}" for note in report.notes),
    ]


# --- settings -------------------------------------------------------------------------------------


def starting_values(name: str, report: RuleReport) -> list[str]:
    """Propose settings for a game's first training run, as arguments of `alphazero train`.

    It takes ten minutes at most. The proposals follow the settings of this package's games
    (`configs/game`), scaled to the size of the board, the number of legal moves and the length of
    games. A game that ships with the program has its own config file, so only the argument
    ``game=NAME`` is returned.

    Args:
        name: the game, as a name, a path of a Python file, or ``module:Class``.
        report: the result of checking the rules, with statistics of random games.
    """
    overrides = [f"game={name}"]
    if is_shipped_game(name):
        return overrides
    game = make_game(name)
    num_squares = math.prod(game.planes_shape[1:])
    median = max(report.plies[1], 1)
    legal = max(report.mean_legal, 1.0)
    small = "2x32" if num_squares <= _LARGEST_SMALL_BOARD else "4x48"
    network = "windows" if _suits_windows(game) else small
    at_least_2_per_move = 2 ** math.ceil(math.log2(2 * legal))
    num_simulations = min(max(at_least_2_per_move, 32), 128)
    overrides += [
        f"run.time_limit_s={_FIRST_RUN_S}",
        f"network={network}",
        f"search.dirichlet_alpha={10 / legal:.2g}",
        f"selfplay.num_simulations={num_simulations}",
    ]
    opening = min(median // 4, 6)
    if opening and game.num_players == 2:
        overrides += [
            "selfplay.random_opening_fraction=0.5",
            f"selfplay.random_opening_plies={opening}",
        ]
    if report.is_whole:
        overrides.append("evaluation.prove=true")
    return overrides


def _suits_windows(game: Game) -> bool:
    """Return whether the fastest network sees all of a game's positions."""
    if game.num_players != 2 or not suits(game.planes_shape, game.num_actions):
        return False
    planes = sample_positions(game, 64, np.random.default_rng(0)).planes
    return are_pieces(planes) and not planes[:, 2:].any()
