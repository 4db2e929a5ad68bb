"""Compute the data of the page's Runs view: the training runs on this machine, and their metrics.

This module makes the `api/live` messages and the `api/run` responses. Accuracy is the fraction of
positions in which the network's move keeps the best possible result.
"""

import functools
import json
from pathlib import Path
from typing import Any

from alphazero.evaluation.report import Z_95
from alphazero.evaluation.run_facts import flat_settings
from alphazero.play.requests import UNKNOWN, Refusal, quoted
from alphazero.runtime.errors import InputError
from alphazero.runtime.files import read_text
from alphazero.storage.run_folder import RunFolder
from alphazero.training.curves import PAGE_CHARTS, SCORE, Chart, Line, Row, number
from alphazero.web.catalogue import Catalogue
from alphazero.web.found_runs import FoundRun
from alphazero.web.run_rows import Column, RunRows, rounded

_ELO = Line("Elo", ("elo", "low", "high"), 1.0)
_RATING = Chart("Rating", "Elo", (_ELO,), from_zero=False)


class RunCharts:
    """Makes summaries and charts of a catalogue's training runs; it is thread-safe."""

    def __init__(self, catalogue: Catalogue):
        self._catalogue = catalogue
        self._rows: dict[str, RunRows] = {}

    def list_runs(self) -> dict[str, Any]:
        """Return an `api/live` message, {"runs": [...], "damaged": [...]}.

        It holds a summary of every readable run, newest first, and the id and the error of every
        damaged one.
        """
        found = self._catalogue.find_runs()
        names = self._catalogue.game_names()
        self._rows = {run_id: rows for run_id, rows in self._rows.items() if run_id in found.runs}

        @functools.cache  # many runs are of the same game
        def shown_game(name: str, rules_digest: str) -> str | None:
            return self._catalogue.named_run_game(name, rules_digest, names)

        runs = found.runs.values()
        return {
            "runs": [_summary(run, shown_game(run.game, run.rules_digest)) for run in runs],
            "damaged": [{"id": run_id, "error": text} for run_id, text in found.damaged.items()],
        }

    def show_run(self, run_id: str) -> dict[str, Any]:
        """Return the `api/run` response: the curves, the alarms and the settings of a training run.

        Args:
            run_id: path of the run's folder relative to the folder of all runs.

        Raises:
            Refusal: if there is no run with this id.
        """
        run = self._catalogue.runs().get(run_id)
        if run is None:
            message = f"there is no run {quoted(run_id)} here; ?id=RUN names one."
            raise Refusal(message, UNKNOWN)
        rows = self._rows.setdefault(run_id, RunRows(run.folder))
        with rows.lock:
            rows.read()
            return _describe_rows(run, rows)


def _summary(run: FoundRun, game: str | None) -> dict[str, Any]:
    """Return a run's entry in the `api/live` message.

    Args:
        run: the run.
        game: the name of its game in the catalogue; None if the catalogue does not have it.
    """
    ratings = _ratings_of(run.folder)
    return run.figures | {
        "id": run.id,
        "game": game or run.game,
        "name": run.id.partition("/")[2],
        "playable": bool(game and run.networks),
        "updated": int(run.updated),
        "training": run.folder.is_training,
        "elo": rounded(number(ratings[-1], "elo")) if ratings else None,
        "networks": [
            {"player": run.player_id(iteration), "iteration": iteration}
            for iteration in reversed(run.networks)
        ],
    }


def _describe_rows(run: FoundRun, rows: RunRows) -> dict[str, Any]:
    columns_of = {chart: [rows.columns[line] for line in chart.lines] for chart in PAGE_CHARTS}
    columns_of[_RATING] = [_rating_column(rows, _ratings_of(run.folder))]
    charts = []
    for chart, columns in columns_of.items():
        if any(value is not None for column in columns for value in column.y):
            charts.append(_chart_data(chart, columns, rows.opponent))
    settings = _settings(run.folder)
    return {
        "id": run.id,
        "x": {"iterations": rows.iterations[:], "games": rows.games[:], "hours": rows.hours[:]},
        "charts": charts,
        "alarms": [change._asdict() for change in rows.alarm_changes],
        "settings": settings,
        "resume": _resume_command(run, settings),
    }


def _chart_data(chart: Chart, columns: list[Column], opponent: str | None) -> dict[str, Any]:
    """Return a chart's entry in the `api/run` response: its title, its y-axis and its curves.

    Args:
        chart: the declared chart, with its title, unit and lines.
        columns: the values of the chart's lines, in the same order.
        opponent: the opponent in the run's newest match, for the title of the score's chart; None
            if there was no match.
    """
    curves = []
    for line, column in zip(chart.lines, columns):
        plain: dict[str, Any] = {"name": line.name, "y": column.y[:]}
        if len(line.tags) > 1:
            plain |= {"low": column.low[:], "high": column.high[:]}
        curves.append(plain)
    against = f" against {opponent}" if chart is SCORE and opponent else ""
    return {
        "title": chart.title + against,
        "y_label": chart.unit,
        "from_zero": chart.from_zero,
        "curves": curves,
    }


def _settings(folder: RunFolder) -> dict[str, Any]:
    """Read a run's settings as {dotted name: value}; values that JSON lacks are written as text.

    The dict is empty if the settings cannot be read, for example because the run is being deleted.
    """
    try:
        settings = flat_settings(folder.read_config())
    except (InputError, OSError):
        return {}  # the run is being deleted
    return json.loads(json.dumps(settings, default=str), parse_constant=str)


def _resume_command(run: FoundRun, settings: dict[str, Any]) -> str | None:
    """Return the command that trains a run further; None if no finished iteration is stored."""
    if not run.folder.states:
        return None
    words = run.folder.resume_words(run.game, str(settings.get("network.kind", "")))
    return f"alphazero train {words}"


# --- ratings --------------------------------------------------------------------------------------


def _rating_column(rows: RunRows, ratings: list[Row]) -> Column:
    """Return the run's Elo ratings as a column, with None for iterations without a rated network.

    Args:
        rows: the run's metrics, one row per iteration.
        ratings: the ratings read by `_ratings_of`.
    """
    column = Column([], [], [])
    rated = {rating["iteration"]: rating for rating in ratings}
    for iteration in rows.iterations:
        rating = rated.get(iteration, {})
        elo = number(rating, "elo")
        margin = Z_95 * number(rating, "elo_stderr")
        for values, value in zip(column, (elo, elo - margin, elo + margin)):
            values.append(rounded(value))
    return column


def _ratings_of(folder: RunFolder) -> list[Row]:
    """Return the Elo ratings of a run's networks, oldest network first; [] if there are none."""
    path = folder.path / "ratings.json"
    try:
        return _read_ratings(path, path.stat().st_mtime_ns)
    except OSError:
        return []


@functools.lru_cache(5_000)
def _read_ratings(path: Path, _changed: int) -> list[Row]:
    """Read the Elo ratings of a run's networks from ratings.json, the oldest network first.

    Args:
        path: the path of ratings.json.
        _changed: the file's modification time, which is part of the cache key.

    Returns:
        For each rated network what the file has on it, such as "iteration", "elo" and
        "elo_stderr"; [] if the file is not valid.
    """
    try:
        plain = json.loads(read_text(path))
        networks = plain["networks"]
        rated = [rating for rating in plain["ratings"] if rating["player"] in networks]
        rows = [networks[rating["player"]] | rating for rating in rated]
        return sorted(rows, key=lambda row: row["iteration"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []
