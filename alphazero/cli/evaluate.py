"""`alphazero evaluate`: a player's accuracy on positions whose moves an exact solver has scored.

In: a player and an evaluation set. Out: a table; if asked for, misplayed positions, the figures as
JSON, and a picture.
"""

import dataclasses
import json
from pathlib import Path

from alphazero.boards.skin import skin_of
from alphazero.cli.game_of_players import DEFAULT_GAME, game_of_networks
from alphazero.cli.output.counted_choice import counted_choice
from alphazero.cli.output.evaluate_table import report_table, value_lines
from alphazero.cli.output.help_text import print_help
from alphazero.cli.output.misplayed import print_misplayed
from alphazero.cli.player_workers import MakePlayer, PlayerWorkers, player_maker
from alphazero.cli.warm_up import warm_up
from alphazero.config.command_line import from_overrides
from alphazero.config.settings import option
from alphazero.evaluation.exact.accuracy import AccuracyReport, measure_accuracy
from alphazero.evaluation.exact.set_file import find_set, game_of_set
from alphazero.evaluation.exact.sets import EvaluationSet
from alphazero.games.batched_game import Game
from alphazero.games.registry import make_game, make_stored_game
from alphazero.players.base import Player, PlayerSettings, engine_of, thinking_of
from alphazero.players.registry import network_path, read_spec
from alphazero.plots.accuracy import draw_accuracy
from alphazero.plots.figure import check_picture
from alphazero.runtime.console import Console
from alphazero.runtime.files import check_outputs

COMMAND = "alphazero evaluate"
SUMMARY = (
    "Compare a player's moves and values with perfect play, on positions whose moves an exact "
    "solver has scored. A network is measured twice: alone, and with search."
)
EXAMPLES = [
    "alphazero evaluate player=checkpoints/connect_four/RUN",
    "alphazero evaluate player=best num_simulations=800 show=3 plot=accuracy.png",
    "alphazero evaluate game=connect_four player=uct:1000 workers=ray",
    "alphazero make_evaluation_set seed=7 out=fresh.csv && alphazero evaluate set=fresh.csv",
]


@dataclasses.dataclass
class EvaluateOptions:
    """Who is measured, on what."""

    game: str | None = option(
        None, "the game; by default that of the network or of the set, otherwise connect_four"
    )
    player: str = option(
        "network",
        "best, latest, uct:1000, random, solver, or the path of a network or a run; network is the "
        "newest trained one, otherwise best",
        alias="network",
    )
    set: str | None = option(
        None,
        "file of positions made by 'alphazero make_evaluation_set'; by default those that ship "
        "with the game",
    )
    show: int = option(0, "misplayed positions to print", 0, 10_000)
    plot: str | None = option(None, "picture of the figures by ply to write (.png, .svg, .pdf)")
    json: str | None = option(None, "file to write the figures to")


@dataclasses.dataclass
class EvaluateSettings(PlayerSettings, EvaluateOptions, PlayerWorkers):
    """The settings of the command."""


def main(arguments: list[str], console: Console | None = None) -> int:
    """Measure the player and print the table."""
    if {"-h", "--help"} & set(arguments):
        print_help("evaluate", SUMMARY, EvaluateSettings(), EXAMPLES)
        return 0
    settings = from_overrides(EvaluateSettings, arguments, COMMAND)
    check_outputs(settings, "json")
    if settings.plot:
        check_picture(settings.plot, "plot")
    game = _game(settings)
    evaluation_set = find_set(settings.set, game)
    console = console or Console(highlight=False, emoji=False)
    with player_maker(settings) as make_player:
        players = _players(settings, game, make_player)
        warm_up(game, players.values(), Console(stderr=True, emoji=False))
        reports = {label: _measure(label, players[label], evaluation_set) for label in players}
    player = list(players.values())[-1]
    name, thinking = player.name, thinking_of(player)
    title = _title(game, f"{name}{thinking and f' ({thinking})'}", evaluation_set, settings.set)
    console.print(title, markup=False, soft_wrap=True)
    console.print(report_table(evaluation_set, reports))
    console.print("\n" + "\n".join(value_lines(reports)), soft_wrap=True)
    _print_misplayed(console, game, list(reports.values())[-1], settings.show)
    if settings.json:
        figures = _to_plain(game, settings, evaluation_set, reports)
        figures |= {"engine": engine_of(player), "method": getattr(player, "method", "")}
        Path(settings.json).write_text(json.dumps(figures) + "\n")
        console.print(f"Figures: {settings.json}", markup=False, soft_wrap=True)
    if settings.plot:
        draw_accuracy(evaluation_set, reports, f"{game.name}: {name}", Path(settings.plot))
        console.print(f"Picture: {settings.plot}", markup=False, soft_wrap=True)
    return 0


def _game(settings: EvaluateSettings) -> Game:
    """Return the game that the user names, else that of the network, of the set, or the default."""
    if settings.game:
        return make_game(settings.game)
    if game := game_of_networks((settings.player,), settings):
        return game
    if settings.set:
        return make_stored_game(game_of_set(settings.set), f"the evaluation set '{settings.set}'")
    return make_game(DEFAULT_GAME)


def _players(settings: EvaluateSettings, game: Game, make_player: MakePlayer) -> dict[str, Player]:
    """Return the players to measure by their column headings: a network also without its search."""
    kind, own = read_spec(settings.player, settings)
    player = make_player(settings.player, game, settings)
    if network_path(kind, game.name) is None:
        return {player.name: player}
    if not own.with_search:
        return {"network alone": player}
    from alphazero.players.evaluator_player import DEFAULT_SIMULATIONS

    limits = []
    if own.num_simulations or own.time_limit_s is None:
        limits.append(f"{own.num_simulations or DEFAULT_SIMULATIONS:,} simulations")
    if own.time_limit_s is not None:
        limits.append(f"{own.time_limit_s:g} s")
    return {"network alone": player.limited(0, None), ", ".join(limits): player}


def _measure(label: str, player: Player, evaluation_set: EvaluationSet) -> AccuracyReport:
    """Measure one player; a bar shows how far it is."""
    num_positions = len(evaluation_set) + len(evaluation_set.replies)
    with counted_choice(player, f"{label} on {evaluation_set.game_name}", num_positions) as choose:
        return measure_accuracy(choose, evaluation_set)


def _title(game: Game, name: str, evaluation_set: EvaluationSet, file: str | None) -> str:
    seed = evaluation_set.notes.get("seed", "?")
    which = file or f"the set that ships (seed {seed})"
    return (
        f"{game.name}: {name} on {len(evaluation_set):,} positions of {which}, "
        "95% intervals in brackets\n"
    )


def _print_misplayed(console: Console, game: Game, report: AccuracyReport, num_shown: int) -> None:
    """Print the first misplayed positions of a report."""
    rows = report.misplayed()
    for row, failure in zip(rows, report.failures(num_shown)):
        print_misplayed(console, game, failure)
        moves = skin_of(game).notation.list_text(report.evaluation_set.moves[row])
        console.print(f"moves={moves}", markup=False, soft_wrap=True)


def _to_plain(
    game: Game,
    settings: EvaluateSettings,
    evaluation_set: EvaluationSet,
    reports: dict[str, AccuracyReport],
) -> dict:
    """Return the figures as plain data for JSON."""
    return {
        "game": game.name,
        "player": settings.player,
        "set": settings.set or "shipped",
        "notes": evaluation_set.notes,
        "players": {name: report.to_plain() for name, report in reports.items()},
    }
