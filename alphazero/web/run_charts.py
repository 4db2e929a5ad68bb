"""The Runs view: the runs found on this machine, and their curves.

In: the folders of runs. Out: the answers of `api/runs` and `api/run`. An accuracy is the fraction
of moves that keep the exact result.
"""

import functools
import json
from pathlib import Path
from typing import Any

from alphazero.play.requests import UNKNOWN, Refusal, quoted
from alphazero.plots.curves import RATING, RUN_CHARTS, SCORE, Chart, Row, is_number, newest
from alphazero.runtime.errors import StoredFileError
from alphazero.runtime.files import read_text
from alphazero.storage.run_folder import RunFolder
from alphazero.web.catalogue import Catalogue
from alphazero.web.found_runs import FoundRun

MAX_POINTS = 500


def list_runs(catalogue: Catalogue) -> dict[str, Any]:
    """Return the answer of `api/runs`, the newest run first."""
    damaged = [{"id": run_id, "error": why} for run_id, why in catalogue.damaged_runs().items()]
    runs = [_summary(run, catalogue) for run in catalogue.runs().values()]
    for run in catalogue.runs().values():
        if not _read_rows(run.folder.path, run.updated) and run.folder.metrics.exists():
            damaged.append({"id": run.id, "error": "its metrics cannot be read."})
    return {"runs": runs, "damaged": damaged}


def show_run(catalogue: Catalogue, run_id: str | None) -> dict[str, Any]:
    """Return the answer of `api/run`.

    Raises:
        Refusal: if there is no such run.
    """
    if not run_id:
        raise Refusal("the request names no run: add ?id=RUN.", UNKNOWN)
    run = catalogue.runs().get(run_id)
    if run is None:
        raise Refusal(f"there is no run {quoted(run_id)} here.", UNKNOWN)
    rows = _read_rows(run.folder.path, run.updated)
    charts = [_drawn(chart, rows) for chart in RUN_CHARTS]
    charts.append(_drawn(RATING, _read_ratings(run)))
    charts = [chart for chart in charts if chart["curves"]]
    return {"id": run.id, "game": run.game, "charts": charts}


def _summary(run: FoundRun, catalogue: Catalogue) -> dict[str, Any]:
    rows = _read_rows(run.folder.path, run.updated)
    game = catalogue.named_run_game(run)
    accuracy = newest(rows, "exact.accuracy")
    if accuracy is None and (proven := newest(rows, "proof.num_accurate")) is not None:
        accuracy = proven / max(newest(rows, "proof.num_positions") or 1, 1)
    ratings = _read_ratings(run)
    return {
        "id": run.id,
        "game": game or run.game,
        "name": run.id.partition("/")[2],
        "playable": game is not None and bool(run.networks),
        "iterations": int(rows[-1]["iteration"]) if rows else 0,
        "hours": round((newest(rows, "elapsed_s") or 0.0) / 3600, 4),
        "updated": int(run.updated),
        "accuracy": accuracy,
        "elo": ratings[-1]["elo"] if ratings else None,
        "networks": [
            {"player": run.player_id(iteration), "iteration": iteration}
            for iteration in reversed(run.networks)
        ],
    }


@functools.lru_cache(64)
def _read_rows(path: Path, updated: float) -> list[Row]:
    """Return the metrics in a folder; none if there are none yet, or they cannot be read.

    Args:
        updated: when the run last grew.
    """
    try:
        return RunFolder(path).read_metrics()
    except StoredFileError:
        return []


# --- curves ---------------------------------------------------------------------------------------


def _drawn(chart: Chart, rows: list[Row]) -> dict[str, Any]:
    """Return a chart over the time of training, as the page draws it."""
    unit, seconds = _unit(rows)
    curves = []
    for curve in chart.curves:
        points = [[round(x / seconds, 3), round(y, 6)] for x, y in curve.points(rows)]
        if points:
            curves.append({"name": curve.name, "points": thinned(points)})
    return {
        "title": _title(chart, rows),
        "x_label": f"{unit} of training",
        "y_label": chart.y_label,
        "from_zero": chart.from_zero,
        "curves": curves,
    }


def _title(chart: Chart, rows: list[Row]) -> str:
    opponents = [row.get("strength.opponent") for row in rows if chart is SCORE]
    named = [opponent for opponent in opponents if isinstance(opponent, str)]
    return f"{chart.title} against {named[-1]}" if named else chart.title


def _unit(rows: list[Row]) -> tuple[str, float]:
    """Return the unit of time that suits a run, and its seconds."""
    elapsed = newest(rows, "elapsed_s") or 0.0
    if elapsed < 180:
        return "seconds", 1.0
    return ("minutes", 60.0) if elapsed < 4 * 3600 else ("hours", 3600.0)


def thinned(points: list, most: int = MAX_POINTS) -> list:
    """Return at most ``most`` of the points, evenly spread, the first and the last among them."""
    if len(points) <= most:
        return points
    step = (len(points) - 1) / (most - 1)
    return [points[round(k * step)] for k in range(most)]


# --- ratings --------------------------------------------------------------------------------------


def _read_ratings(run: FoundRun) -> list[Row]:
    """Return the Elo of the run's networks, oldest first; none if they were not rated."""
    try:
        plain = json.loads(read_text(run.folder.path / "ratings.json"))
        networks = plain["networks"]
        rows = [
            {"elo": one["elo"], "elapsed_s": networks[one["player"]]["elapsed_s"]}
            for one in plain["ratings"]
            if one["player"] in networks
        ]
        rows = [row for row in rows if all(map(is_number, row.values()))]
        return sorted(rows, key=lambda row: row["elapsed_s"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
