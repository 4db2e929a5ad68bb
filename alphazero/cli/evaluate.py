"""`alphazero evaluate`: how exactly a player plays on positions whose every move an exact solver has scored."""

import dataclasses
import json
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from alphazero.cli.game_of_players import DEFAULT_GAME, game_of_networks
from alphazero.cli.help_text import print_help
from alphazero.cli.misplayed import print_misplayed
from alphazero.cli.pictures.accuracy import draw_accuracy
from alphazero.cli.warm_up import warm_up
from alphazero.evaluation.exact.accuracy import (
    AccuracyReport,
    Proportion,
    groups_of,
    measure_accuracy,
)
from alphazero.evaluation.exact.sets import EvaluationSet, find_set, game_of_set
from alphazero.games.batched_game import Game
from alphazero.games.registry import make_game, make_stored_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player, network_path, read_spec
from alphazero.runtime.overrides import from_overrides
from alphazero.runtime.settings import check_folder, option
from alphazero.solvers.base import values_of

COMMAND = "alphazero evaluate"
SUMMARY = (
    "Compare a player's moves and values with perfect play, on a set of positions whose every move an exact solver has scored. A network is measured twice: "
    "alone, and with search."
)
EXAMPLES = [
    "alphazero evaluate network=checkpoints/connect_four/RUN",
    "alphazero evaluate network=checkpoints/connect_four/RUN num_simulations=800 show=3 plot=accuracy.png",
    "alphazero evaluate game=connect_four network=uct:1000",
    "alphazero make_evaluation_set seed=7 out=fresh.csv && alphazero evaluate set=fresh.csv",
]


@dataclasses.dataclass
class EvaluateOptions:
    """Who is measured, on what."""

    game: str | None = option(
        None, "which game; without it the network's own, otherwise that of the set, or connect_four"
    )
    network: str = option(
        "network",
        "a network or a run, or any player: uct:1000, random; network is the newest of the game, or else the one that ships",
    )
    set: str | None = option(
        None,
        "file of the positions, see 'alphazero make_evaluation_set'; without it those that ship with the game",
    )
    show: int = option(0, "misplayed positions to print", 0, 10_000)
    plot: str | None = option(None, "picture to write of the figures by ply (.png, .svg, .pdf)")
    json: str | None = option(None, "write the figures to this file")


# Its own options come first in the help: dataclasses collect fields from the last base to the first.
@dataclasses.dataclass
class EvaluateSettings(PlayerSettings, EvaluateOptions):
    """The settings of the command."""


def main(words: list[str], console: Console | None = None) -> int:
    """Measure the player and print the table."""
    if {"-h", "--help"} & set(words):
        print_help("evaluate", SUMMARY, EvaluateSettings(), EXAMPLES)
        return 0
    settings = from_overrides(EvaluateSettings, words, COMMAND)
    check_folder(settings, "plot", "json")
    game = _game(settings)
    evaluation_set = find_set(settings.set, game)
    players = _players(settings, game)
    console = console or Console(highlight=False)
    warm_up(game, players.values(), Console(stderr=True))
    reports = {}
    for name, player in players.items():
        with Console(stderr=True).status(
            f"{name} answers {len(evaluation_set):,} positions of {game.name} ..."
        ):
            reports[name] = measure_accuracy(player.choose, evaluation_set)
    console.print(_title(game, evaluation_set, settings, players), markup=False, soft_wrap=True)
    console.print(report_table(evaluation_set, reports))
    console.print("\n" + "\n".join(value_lines(reports)), soft_wrap=True)
    _show(console, game, list(reports.values())[-1], settings.show)
    if settings.json:
        Path(settings.json).write_text(
            json.dumps(_to_plain(game, settings, evaluation_set, reports)) + "\n"
        )
        console.print(f"Figures: {settings.json}", markup=False, soft_wrap=True)
    if settings.plot:
        draw_accuracy(
            evaluation_set,
            reports,
            f"{game.name}: {list(players.values())[-1].name}",
            Path(settings.plot),
        )
        console.print(f"Picture: {settings.plot}", markup=False, soft_wrap=True)
    return 0


def _game(settings: EvaluateSettings) -> Game:
    """Return the game that the user names, else that of the network, of the set, or the default."""
    if settings.game:
        return make_game(settings.game)
    if game := game_of_networks((settings.network,), settings):
        return game
    if settings.set:
        return make_stored_game(game_of_set(settings.set), f"the evaluation set '{settings.set}'")
    return make_game(DEFAULT_GAME)


def report_table(evaluation_set: EvaluationSet, reports: dict[str, AccuracyReport]) -> Table:
    """Return the shares of moves, in %, that keep the result and that have the best score: two columns for each of ``reports``."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("\n%")
    table.add_column("\npositions", justify="right")
    for name in reports:
        table.add_column(f"{name}\nkeeps the result", justify="right")
        table.add_column("\nbest", justify="right")
    everything = np.ones(len(evaluation_set), bool)
    for heading, groups in ({"": {"all": everything}} | groups_of(evaluation_set)).items():
        if heading:
            table.add_row(f"[dim]by {heading}[/]")
        for label, rows in groups.items():
            figures = [
                (_text(report.accuracy(rows)), f"{100 * report.optimal(rows).fraction:.1f}")
                for report in reports.values()
            ]
            table.add_row(
                label if rows is everything else f"  {label}",
                f"{rows.sum():,}",
                *(text for pair in figures for text in pair),
            )
    return table


def value_lines(reports: dict[str, AccuracyReport]) -> list[str]:
    """Return a line about the best scores and the values of each report."""
    lines = []
    for name, report in reports.items():
        line = f"{name}: the best score in {_text(report.optimal())} %"
        if report.values is not None:
            right = report.values.result_accuracy
            line += f"; value tells the result in {_text(right)} % of {right.total:,}, mean error {report.values.mean_error:.3f}"
        lines.append(line)
    return lines


def _players(settings: EvaluateSettings, game: Game) -> dict:
    """Return the players to measure by the names of their columns: a network alone and with search, any other player as it is."""
    kind, own = read_spec(settings.network, settings)
    player = make_player(settings.network, game, settings)
    if kind in ("random", "uct", "solver") or network_path(kind, game.name) is None:
        return {player.name: player}
    if not own.with_search:
        return {"network alone": player}
    from alphazero.players.network import DEFAULT_SIMULATIONS

    limit = (
        f"{own.num_simulations or DEFAULT_SIMULATIONS:,} simulations"
        if own.time_limit_s is None
        else f"{own.time_limit_s:g} s"
    )
    return {"network alone": player.limited(0, None), limit: player}


def _title(
    game: Game, evaluation_set: EvaluationSet, settings: EvaluateSettings, players: dict
) -> str:
    name = list(players.values())[-1].name
    which = settings.set or f"the set that ships (seed {evaluation_set.notes.get('seed', '?')})"
    return f"{game.name}: {name} on {len(evaluation_set):,} positions of {which}, 95 % intervals in brackets\n"


def _show(console: Console, game: Game, report: AccuracyReport, num_shown: int) -> None:
    """Print the first misplayed positions of a report."""
    evaluation_set = report.evaluation_set
    for row in report.misplayed()[:num_shown]:
        state, best = evaluation_set.states[row], int(evaluation_set.values[row])
        values, action = values_of(evaluation_set.action_scores[row]), int(report.actions[row])
        print_misplayed(
            console,
            game,
            state,
            (action, int(values[action])),
            (np.flatnonzero(values == best).tolist(), best),
        )
        console.print(
            f"moves=[{','.join(map(str, evaluation_set.moves[row]))}]", markup=False, soft_wrap=True
        )


def _to_plain(
    game: Game,
    settings: EvaluateSettings,
    evaluation_set: EvaluationSet,
    reports: dict[str, AccuracyReport],
) -> dict:
    figures = {name: report.to_plain() for name, report in reports.items()}
    return {
        "game": game.name,
        "player": settings.network,
        "set": settings.set or "shipped",
        "notes": evaluation_set.notes,
        "players": figures,
    }


def _text(share: Proportion) -> str:
    """Return a share with its interval, in %."""
    low, high = share.interval
    return f"{100 * share.fraction:.1f} [dim]({100 * low:.1f}-{100 * high:.1f})[/]"
