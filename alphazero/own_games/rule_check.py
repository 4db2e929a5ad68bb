"""Check a game's rules in a separate process, which runs them as plain Python.

Compiled code does not check array bounds, so a mistake in a rule can crash the process; and rules
in plain Python may never return. The program

    python -m alphazero.own_games.rule_check OPTIONS_AS_JSON TIME_LIMIT_S

is therefore started with ``NUMBA_DISABLE_JIT=1`` by `alphazero.own_games.checked_game`. It prints
its report as JSON; whatever the rules print goes to standard error.
"""

import dataclasses
import faulthandler
import json
import sys
from collections.abc import Callable

from alphazero.own_games.checked_game import run_check
from alphazero.own_games.checks.laws import BrokenLaw, Laws, error_text
from alphazero.own_games.checks.report import CheckOptions, RuleReport, examine
from alphazero.own_games.game_file import existing, game_of, is_compiled, load_source
from alphazero.own_games.registry import is_game_file, make_game, runs_own_code
from alphazero.runtime.own_code import GAMES, announced
from alphazero.runtime.process import claim_output

_LOADING_FACTOR = 6  # running the file, which may compute tables, may take 6 times the time limit


def check_rules(options: CheckOptions) -> RuleReport:
    """Check the rules of a game in a separate process, comparing them with a twin if one is given.

    Args:
        options: the names of the game and its twin, and the limits of the check.

    Returns:
        The report. A rule that never returns, or a process that crashes, is reported as a fault.

    Raises:
        ConfigError: if there is no game with one of these names.
    """
    for name in filter(None, (options.game, options.twin)):
        if is_game_file(name):
            existing(name)
        elif _is_of_a_module(name):
            load_source(name)
        else:
            make_game(name)
    return run_check(options)


def _is_of_a_module(name: str) -> bool:
    return runs_own_code(name) or name in announced(GAMES)


# --- the program ----------------------------------------------------------------------------------


def load_laws(name: str) -> Laws:
    """Load a game and return the `Laws` object that checks it.

    Unlike `make_game`, this loads a user's game without checking its rules.

    Raises:
        BrokenLaw: if a user's game cannot be loaded or does not define a game.
        ConfigError: if there is no game of that name in this package or its adapters.
    """
    if not _is_of_a_module(name):
        return Laws(make_game(name))
    try:
        source = load_source(name)
        return Laws(source if is_compiled(source) else game_of(source, name))
    except BrokenLaw:
        raise
    except Exception as error:
        text = error_text(error)
        raise BrokenLaw(text.replace(f"the game file '{name}'", "it", 1)) from error


def _watched(time_limit_s: float) -> Callable[[], None]:
    """Start a timer that ends this process with a traceback if a rule does not return in time.

    Returns:
        A function that restarts the timer with ``time_limit_s`` seconds. Until its first call the
        limit is six times as long, because running the game's file may take longer than checking
        one position.
    """
    faulthandler.dump_traceback_later(_LOADING_FACTOR * time_limit_s, exit=True)
    return lambda: faulthandler.dump_traceback_later(time_limit_s, exit=True)


def main(text: str, time_limit_s: str) -> None:
    """Check a game and print the `RuleReport` to standard output as JSON.

    Args:
        text: the `CheckOptions` as JSON.
        time_limit_s: the time limit in seconds for one position; if it is exceeded, this process
            ends with a traceback and without a report.
    """
    answers = claim_output()
    watch = _watched(float(time_limit_s))
    options = CheckOptions(**json.loads(text))
    try:
        laws = load_laws(options.game)
        twin = load_laws(options.twin) if options.twin else None
        watch()
        report = examine(laws, twin, options, watch)
    except BrokenLaw as error:
        report = RuleReport(str(error))
    faulthandler.cancel_dump_traceback_later()  # the end of this process is no rule
    print(json.dumps(dataclasses.asdict(report)), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
