"""The model card of a pretrained network: how it was trained and how strong it is.

In: a stored network, the folder of its run, and what a person adds (the hardware, further
measurements). Out: the facts, as plain data that is stored in the network's file, and a page of
Markdown. Everything on the page comes from these facts; nothing is written by hand.
"""

import json
import textwrap
from typing import Any

from alphazero.evaluation.exact.sets import shipped_path
from alphazero.network.weights import NetworkFile
from alphazero.runtime.stored_names import current_settings
from alphazero.storage.run_folder import RunFolder, folder_name

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
LICENSE = "Apache-2.0"
_MEASUREMENTS = ("strength", "exact", "proof")
_NOT_WEIGHTS = ("running_mean", "running_var", "num_batches_tracked")


def run_facts(folder: RunFolder, iteration: int) -> dict[str, Any]:
    """Return the facts about an iteration's network that are in the run's folder.

    Returns:
        Plain data; what the folder does not contain is left out. ``elapsed_s`` and ``measure_s``
        are the run's seconds up to this iteration, without and of its evaluation. ``num_games`` and
        ``num_positions`` count self-play. ``engine`` is that of the last iteration. The figures
        of ``strength``, ``exact`` and ``proof`` have the names of `alphazero.training.events`.
        ``settings`` are flat; ``versions`` are those of the packages.
    """
    facts: dict[str, Any] = {}
    metrics = folder.read_metrics() if folder.metrics.is_file() else []
    rows = [row for row in metrics if row["iteration"] <= iteration]
    sums = {
        "num_games": "selfplay.num_games",
        "num_positions": "selfplay.num_positions",
        "measure_s": "measure_s",
    }
    for key, column in sums.items():
        if rows and all(row.get(column) is not None for row in rows):
            facts[key] = round(sum(row[column] for row in rows), 1)
    if rows and rows[-1]["iteration"] == iteration:
        facts |= _iteration_facts(rows[-1])
    if folder.config.is_file():
        settings = flat_settings(current_settings(folder.read_config()))
        facts["settings"] = {
            key: value for key, value in settings.items() if key not in RUN_FOLDER_KEYS
        }
    versions = folder.path / "versions.json"
    if versions.is_file():
        facts["versions"] = json.loads(versions.read_text())
    return facts


def flat_settings(settings: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings as one dictionary with keys such as "learner.batch_size"."""
    flat = {}
    for name, value in settings.items():
        key = prefix + name
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


def card_text(network: NetworkFile, num_bytes: int) -> str:
    """Return the card of a network as Markdown, from the facts in ``network.info``.

    Args:
        num_bytes: the size of the network's file.
    """
    info, game = network.info, network.game
    sections = [
        f"# Pretrained network: {game}",
        _wrapped(
            "The default player (`best`) of this game. `alphazero ship` generates this page from "
            "facts that are stored in the network's file."
        ),
        _table(_overview(network, num_bytes)),
        "## Strength",
        _strength_text(info),
        "## How to reproduce it",
        _recipe_text(info),
        "## Usage",
        "\n".join(f"    {line}" for line in _usage(game, info)),
        _wrapped(
            "The network's file is self-contained: it includes the name of the game, the "
            "architecture and all facts on this page."
        ),
    ]
    return "\n\n".join(sections) + "\n"


def duration_text(seconds: float) -> str:
    """Return a duration as text, such as "9 min 52 s"."""
    hours, rest = divmod(round(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _iteration_facts(row: dict[str, Any]) -> dict[str, Any]:
    """Return the facts in an iteration's row of metrics."""
    facts: dict[str, Any] = {"elapsed_s": round(row["elapsed_s"], 1)}
    if row.get("engine.name"):
        facts["engine"] = row["engine.name"]
    for section in _MEASUREMENTS:
        prefix = section + "."
        figures = {
            key.removeprefix(prefix): value for key, value in row.items() if key.startswith(prefix)
        }
        if figures:
            facts[section] = figures
    return facts


# --- the page ---------------------------------------------------------------------------------


def _overview(network: NetworkFile, num_bytes: int) -> dict[str, str]:
    """Return the rows of the table at the top."""
    info = network.info
    rows = {
        "game": network.game,
        "file": f"`{folder_name(network.game)}.safetensors`, {num_bytes:,} bytes",
        "network": _network_text(network),
    }
    if "iteration" in info:
        rows["trained by"] = f"run {info.get('run', '?')}, iteration {info['iteration']}"
    if "num_games" in info:
        rows["training data"] = (
            f"{info['num_games']:,} games of self-play, {info['num_positions']:,} positions"
        )
    if "elapsed_s" in info:
        rows["wall time"] = f"{duration_text(info['elapsed_s'])} of training"
        if info.get("measure_s", 0) >= 1:
            rows["wall time"] += f", {duration_text(info['measure_s'])} of evaluation"
    rows["hardware"] = info.get("hardware") or "unknown"
    if "engine" in info:
        rows["engine in self-play"] = info["engine"]
    if "versions" in info:
        versions = (f"{name} {version}" for name, version in info["versions"].items())
        rows["versions"] = ", ".join(versions)
    rows["license"] = LICENSE
    return rows


def _network_text(network: NetworkFile) -> str:
    shape = network.settings
    num_weights = sum(
        array.size for name, array in network.arrays.items() if not name.endswith(_NOT_WEIGHTS)
    )
    parts = [shape.get("kind", "network")]
    if shape.get("kind") == "resnet":
        parts.append(f"{shape['blocks']} blocks of {shape['channels']} channels")
    return ", ".join([*parts, f"{num_weights:,} weights"])


def _strength_text(info: dict[str, Any]) -> str:
    """Return a list item for each measurement; those that a person has added come last."""
    lines = []
    if "proof" in info:
        lines.append(_proof_line(info["proof"], info.get("settings", {})))
    if "exact" in info:
        lines.append(_exact_line(info["exact"]))
    if "strength" in info:
        lines.append(_match_line(info["strength"]))
    lines += info.get("measured", [])
    if not lines:
        return "Not measured."
    items = "\n".join(_wrapped(f"* {line}", indent="  ") for line in lines)
    definitions = []
    if "proof" in info or "exact" in info:
        definitions.append(
            "Accuracy is the fraction of positions whose move keeps the exact result."
        )
    if "exact" in info:
        definitions.append("A move is optimal if its exact score is the best one.")
    return f"{_wrapped(' '.join(definitions))}\n\n{items}" if definitions else items


def _proof_line(proof: dict[str, Any], settings: dict[str, Any]) -> str:
    simulations = settings.get("evaluation.num_simulations")
    limit = f", {simulations} simulations per move" if simulations else ""
    return (
        f"All positions of the game{limit}: accuracy {proof['num_accurate']:,} of "
        f"{proof['num_positions']:,} positions that are not final; {proof['num_losses']:,} games "
        "lost against all possible play of the opponent."
    )


def _exact_line(exact: dict[str, Any]) -> str:
    return (
        f"Evaluation set of {exact['num_positions']:,} positions: accuracy "
        f"{exact['accuracy']:.1%} with {exact['num_simulations']} simulations per move "
        f"({exact['optimal']:.1%} optimal), {exact['raw_accuracy']:.1%} without search "
        f"({exact['raw_optimal']:.1%} optimal)."
    )


def _match_line(match: dict[str, Any]) -> str:
    return (
        f"Match against {match['opponent']}, {match['num_simulations']} simulations per move: "
        f"score {match['score']:.1%} (95% interval {match['score_low']:.1%} to "
        f"{match['score_high']:.1%}); {match['wins']} won, {match['draws']} drawn, "
        f"{match['losses']} lost; {match['num_distinct']} different games."
    )


def _recipe_text(info: dict[str, Any]) -> str:
    if not info.get("recipe"):
        return "Unknown: the network was shipped without its run."
    settings = info["settings"]
    paragraphs = [
        f"    alphazero train {' '.join(info['recipe'])}\n"
        "    alphazero ship run=latest replace=true"
    ]
    speed = " ".join(f"{key}={settings[key]}" for key in AUTOTUNED_KEYS if key in settings)
    if speed:
        paragraphs.append(
            f"This run had `{speed}`. Where the command does not set them, these settings are "
            "measured on each machine."
        )
    if settings.get("run.time_limit_s"):
        paragraphs.append(
            "The run ends after a fixed time (`run.time_limit_s`), so that the number of games "
            "depends on the machine."
        )
    return "\n\n".join([paragraphs[0], *map(_wrapped, paragraphs[1:])])


def _usage(game: str, info: dict[str, Any]) -> list[str]:
    """Return the commands that use the network."""
    lines = [
        f"alphazero play game={game}",
        f"alphazero match game={game} a=best b=uct:1000",
        f"""echo '{{"game": "{game}", "moves": []}}' | alphazero engine player=best""",
    ]
    if shipped_path(game):
        lines.append(f"alphazero evaluate game={game} network=best")
    if "proof" in info:
        simulations = info.get("settings", {}).get("evaluation.num_simulations", 100)
        lines.append(f"alphazero prove game={game} player=best num_simulations={simulations}")
    return lines


def _wrapped(text: str, indent: str = "") -> str:
    """Return a paragraph in lines of at most 100 columns."""
    return textwrap.fill(
        text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _table(rows: dict[str, str]) -> str:
    return "\n".join(
        ["| | |", "|---|---|", *(f"| {name} | {text} |" for name, text in rows.items())]
    )
