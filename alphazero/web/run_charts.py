"""The Runs view: the runs found on this machine, and their curves.

In: the folders of runs. Out: the answers of `api/runs` and `api/run`. An accuracy is the fraction
of moves that keep the exact result.
"""

import functools
import json
from collections.abc import Callable
from typing import Any

from alphazero.play.requests import UNKNOWN, Refusal, quoted
from alphazero.runtime.errors import StoredFileError
from alphazero.web.catalogue import Catalogue
from alphazero.web.found_runs import FoundRun

MAX_POINTS = 500
_CACHED = 64

Row = dict[str, Any]


def list_runs(catalogue: Catalogue) -> dict[str, Any]:
    """Return the answer of `api/runs`, the newest run first."""
    return {"runs": [_summary(run, catalogue) for run in catalogue.runs.all().values()]}


def show_run(catalogue: Catalogue, run_id: str | None) -> dict[str, Any]:
    """Return the answer of `api/run`.

    Raises:
        Refusal: if there is no such run.
    """
    if not run_id:
        raise Refusal("the request names no run: add ?id=RUN.", UNKNOWN)
    run = catalogue.runs.all().get(run_id)
    if run is None:
        raise Refusal(f"there is no run {quoted(run_id)} here.", UNKNOWN)
    rows = _rows(run)
    charts = [chart for chart in map(lambda make: make(rows), _CHARTS) if chart["curves"]]
    if (ratings := _ratings_chart(run)) is not None:
        charts.append(ratings)
    return {"id": run.id, "game": run.game, "charts": charts}


def _summary(run: FoundRun, catalogue: Catalogue) -> dict[str, Any]:
    rows = _rows(run)
    game = catalogue.named_run_game(run.game)
    accuracy = _newest(rows, "exact.accuracy")
    if accuracy is None and (proven := _newest(rows, "proof.num_accurate")) is not None:
        accuracy = proven / max(_newest(rows, "proof.num_positions") or 1, 1)
    ratings = _read_ratings(run)
    return {
        "id": run.id,
        "game": game or run.game,
        "name": run.id.partition("/")[2],
        "playable": game is not None and bool(run.networks),
        "iterations": int(rows[-1]["iteration"]) if rows else 0,
        "hours": round((_newest(rows, "elapsed_s") or 0.0) / 3600, 4),
        "updated": int(run.updated),
        "accuracy": accuracy,
        "elo": ratings[-1]["elo"] if ratings else None,
        "networks": [
            {"player": run.player_id(iteration), "iteration": iteration}
            for iteration in reversed(run.networks)
        ],
    }


def _newest(rows: list[Row], key: str) -> float | None:
    """Return the newest number under a key."""
    return next((row[key] for row in reversed(rows) if _is_number(row.get(key))), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _rows(run: FoundRun) -> list[Row]:
    """Return the metrics of a run; none if there are none yet, or they cannot be read."""
    try:
        return _read_rows(run.id, run.updated, lambda: run.folder.read_metrics())
    except (StoredFileError, OSError, ValueError):
        return []


_remembered: dict[tuple[str, float], list[Row]] = {}


def _read_rows(run_id: str, updated: float, read: Callable[[], list[Row]]) -> list[Row]:
    """Return what was read when the run last grew."""
    key = (run_id, updated)
    if key not in _remembered:
        while len(_remembered) >= _CACHED:
            _remembered.pop(next(iter(_remembered)))
        _remembered[key] = read()
    return _remembered[key]


# --- curves ---------------------------------------------------------------------------------------


def _chart(
    rows: list[Row],
    title: str,
    y_label: str,
    curves: dict[str, tuple[str, float]],
    from_zero: bool = True,
) -> dict[str, Any]:
    """Return a chart over the time of training.

    Args:
        curves: for each name the key of the metrics, and a factor.
        from_zero: whether its upright axis begins at 0.
    """
    unit, seconds = _unit(rows)
    found = []
    for name, (key, factor) in curves.items():
        points = [
            [round(row["elapsed_s"] / seconds, 3), round(row[key] * factor, 6)]
            for row in rows
            if _is_number(row.get(key)) and _is_number(row.get("elapsed_s"))
        ]
        if points:
            found.append({"name": name, "points": thinned(points)})
    return {
        "title": title,
        "x_label": f"{unit} of training",
        "y_label": y_label,
        "log_y": False,
        "from_zero": from_zero,
        "curves": found,
        "notes": [],
    }


def _unit(rows: list[Row]) -> tuple[str, float]:
    """Return the unit of time that suits a run, and its seconds."""
    elapsed = _newest(rows, "elapsed_s") or 0.0
    if elapsed < 180:
        return "seconds", 1.0
    return ("minutes", 60.0) if elapsed < 4 * 3600 else ("hours", 3600.0)


def thinned(points: list, most: int = MAX_POINTS) -> list:
    """Return at most ``most`` of the points, evenly spread, the first and the last among them."""
    if len(points) <= most:
        return points
    step = (len(points) - 1) / (most - 1)
    return [points[round(k * step)] for k in range(most)]


def _errors(rows: list[Row]) -> dict[str, Any]:
    """Moves that give the exact result away: what is left to learn."""
    percent = [
        row | {f"{key}_error": 1.0 - row[f"exact.{key}"] for key in keys}
        for row in rows
        if (keys := [key for key in ("accuracy", "raw_accuracy") if f"exact.{key}" in row])
    ]
    curves = {"with search": ("accuracy_error", 100), "network alone": ("raw_accuracy_error", 100)}
    return _chart(percent, "Moves that give away the exact result", "% of positions", curves)


def _proof(rows: list[Row]) -> dict[str, Any]:
    wrong = [
        row | {"misplayed": row["proof.num_positions"] - row["proof.num_accurate"]}
        for row in rows
        if "proof.num_accurate" in row
    ]
    curves = {"misplayed": ("misplayed", 1)}
    return _chart(wrong, "Positions misplayed, of all in the game", "positions", curves)


def _losses(rows: list[Row]) -> dict[str, Any]:
    curves = {
        "total": ("learner.loss", 1),
        "policy": ("learner.policy_loss", 1),
        "value": ("learner.value_loss", 1),
    }
    return _chart(rows, "Losses", "loss", curves)


def _score(rows: list[Row]) -> dict[str, Any]:
    newest = next((row["strength.opponent"] for row in reversed(rows) if _has_match(row)), "")
    curves = {
        "score": ("strength.score", 100),
        "95% low": ("strength.score_low", 100),
        "95% high": ("strength.score_high", 100),
    }
    return _chart(rows, f"Score against {newest}" if newest else "Score", "%", curves, False)


def _has_match(row: Row) -> bool:
    return isinstance(row.get("strength.opponent"), str)


def _speed(rows: list[Row]) -> dict[str, Any]:
    curves = {"positions": ("selfplay.positions_per_s", 1)}
    return _chart(rows, "Self-play", "positions per second", curves)


_CHARTS: tuple[Callable[[list[Row]], dict[str, Any]], ...] = (
    _errors,
    _proof,
    _losses,
    _score,
    _speed,
)


# --- ratings --------------------------------------------------------------------------------------


def _ratings_chart(run: FoundRun) -> dict[str, Any] | None:
    """Return the Elo of the run's networks, if `alphazero rate` has measured them."""
    ratings = _read_ratings(run)
    if not ratings:
        return None
    return _chart(ratings, "Rating", "Elo", {"Elo": ("elo", 1.0)}, from_zero=False)


@functools.lru_cache(_CACHED)
def _ratings_in(text: str) -> list[Row]:
    try:
        plain = json.loads(text)
        networks = plain["networks"]
        found = [
            {"elo": float(one["elo"]), "elapsed_s": float(networks[one["player"]]["elapsed_s"])}
            for one in plain["ratings"]
            if one["player"] in networks and networks[one["player"]]["elapsed_s"] is not None
        ]
    except (ValueError, KeyError, TypeError):
        return []
    return sorted(found, key=lambda one: one["elapsed_s"])


def _read_ratings(run: FoundRun) -> list[Row]:
    """Return the Elo of the run's networks, oldest first; none if they were not rated."""
    path = run.folder.path / "ratings.json"
    try:
        return _ratings_in(path.read_text(encoding="utf-8")) if path.is_file() else []
    except (OSError, UnicodeDecodeError):
        return []
