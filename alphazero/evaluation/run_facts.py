"""What is known of a network's training and strength, collected from the folder of its run.

In: a run's folder and an iteration. Out: the facts as plain data, which are stored in the network's
file; a summary of them in a few words. `alphazero.evaluation.model_card` makes a page of them.
"""

from typing import Any

from alphazero.runtime.files import parse_object, read_text
from alphazero.storage.run_folder import RunFolder

#: Settings of the run folder and its contents, which do not affect what is learned.
RUN_FOLDER_KEYS = (
    "run.root",
    "run.name",
    "run.retune",
    "run.keep_networks",
    "run.sample_game_every",
    "resume",
)
#: Settings of speed. A run measures those that are left open, and stores the values it has chosen.
AUTOTUNED_KEYS = (
    "evaluator.engine",
    "evaluator.precision",
    "learner.precision",
    "selfplay.num_parallel_games",
)
_SUMS = {  # the metrics that are summed up to the iteration
    "num_games": "selfplay.num_games",
    "num_positions": "selfplay.num_positions",
    "measure_s": "measure_s",
}
_MEASUREMENTS = ("strength", "exact", "proof")


def run_facts(folder: RunFolder, iteration: int) -> dict[str, Any]:
    """Return the facts about an iteration's network that are in the run's folder.

    Returns:
        Plain data; what the folder does not contain is left out. Up to this iteration,
        ``elapsed_s`` is the time of training and ``measure_s`` that of the evaluations;
        ``num_games`` and ``num_positions`` count self-play. ``engine`` is that of the last
        iteration. The figures of ``strength``, ``exact`` and ``proof`` have the names of
        `alphazero.training.events`. ``settings`` are flat; ``versions`` are those of the packages.
    """
    facts: dict[str, Any] = {}
    metrics = folder.read_metrics() if folder.metrics.is_file() else []
    rows = [row for row in metrics if row["iteration"] <= iteration]
    for key, column in _SUMS.items():
        if rows and all(row.get(column) is not None for row in rows):
            facts[key] = round(sum(row[column] for row in rows), 1)
    if rows and rows[-1]["iteration"] == iteration:
        facts |= _iteration_facts(rows[-1])
    if folder.config.is_file():
        settings = flat_settings(folder.read_config())
        facts["settings"] = {
            key: value for key, value in settings.items() if key not in RUN_FOLDER_KEYS
        }
    versions = folder.path / "versions.json"
    if versions.is_file():
        facts["versions"] = parse_object(read_text(versions), versions, "its contents")
    return facts


def flat_settings(settings: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings as one dictionary with keys such as "learner.batch_size"."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        key = f"{prefix}{name}"
        flat |= flat_settings(value, f"{key}.") if isinstance(value, dict) else {key: value}
    return flat


def summary(info: dict[str, Any]) -> str:
    """Return a network's training time and strength in a few words; '' if both are unknown."""
    parts = [f"{duration_text(info['elapsed_s'])} of training"] if info.get("elapsed_s") else []
    if "proof" in info:
        proof = info["proof"]
        accuracy = f"{proof['num_accurate']:,} of {proof['num_positions']:,}"
        parts.append(f"accurate in {accuracy} positions")
    elif "exact" in info:
        parts.append(f"accuracy {info['exact']['accuracy']:.1%}")
    elif "strength" in info:
        parts.append(f"{info['strength']['score']:.1%} against {info['strength']['opponent']}")
    return ", ".join(parts)


def duration_text(seconds: float) -> str:
    """Return a duration as text, such as "9 min 52 s"."""
    hours, rest = divmod(round(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _iteration_facts(row: dict[str, Any]) -> dict[str, Any]:
    """Return the facts in the metrics of an iteration."""
    facts: dict[str, Any] = {"elapsed_s": round(row["elapsed_s"], 1)}
    if row.get("engine.name"):
        facts["engine"] = row["engine.name"]
    for key, value in row.items():
        section, _, name = key.partition(".")
        if section in _MEASUREMENTS:
            facts.setdefault(section, {})[name] = value
    return facts
