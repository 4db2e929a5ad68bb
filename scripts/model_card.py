"""The model card of a pretrained network: how it was trained and how strong it is.

In: a stored network with the facts that `ship_network.py` collected, and possibly the hardware and
further measurements that a person added. Out: the template ``model_card.md`` filled in with these
facts. A line of the template is omitted if one of its facts is unknown.
"""

import contextlib
import re
import textwrap
from pathlib import Path
from typing import Any

from alphazero.evaluation.exact.set_file import shipped_path
from alphazero.evaluation.run_facts import duration_text
from alphazero.network.weights import NetworkFile
from alphazero.storage.run_folder import folder_name

_TEMPLATE = Path(__file__).with_suffix(".md")
_NOT_WEIGHTS = ("running_mean", "running_var", "num_batches_tracked")
#: Settings for the run folder and its contents, which do not affect what the network learns.
RUN_FOLDER_KEYS = (
    "run.root",
    "run.name",
    "run.keep_networks",
    "resume",
)
#: Settings that affect speed. A run chooses those left open to suit its device, and stores them.
AUTOTUNED_KEYS = (
    "evaluator.engine",
    "evaluator.precision",
    "learner.precision",
    "selfplay.num_parallel_games",
)


def card_text(network: NetworkFile, num_bytes: int) -> str:
    """Return the card of a network as Markdown, from the facts in ``network.info``.

    Args:
        num_bytes: the size of the network's file.
    """
    info = network.info
    facts = {"run": "?", "num_bytes": num_bytes, **info, **_network_facts(network)}
    facts |= _run_facts(info) | _strength_facts(info) | _recipe_facts(info)
    lines: list[str] = []
    for template in _TEMPLATE.read_text(encoding="utf-8").splitlines():
        with contextlib.suppress(KeyError):  # an unknown fact
            lines += map(_wrapped, template.format(**facts).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def _network_facts(network: NetworkFile) -> dict[str, Any]:
    shape = network.settings
    num_weights = sum(
        array.size for name, array in network.arrays.items() if not name.endswith(_NOT_WEIGHTS)
    )
    parts = [shape.get("kind", "network")]
    if shape.get("kind") == "resnet":
        parts.append(f"{shape['blocks']} blocks of {shape['channels']} channels")
    facts = {
        "game": network.game,
        "file_name": folder_name(network.game),
        "network": ", ".join([*parts, f"{num_weights:,} weights"]),
    }
    return facts | ({"game_with_set": network.game} if shipped_path(network.game) else {})


def _run_facts(info: dict[str, Any]) -> dict[str, str]:
    facts = {"hardware": info.get("hardware") or "unknown"}
    if "elapsed_s" in info:
        facts["wall_time"] = f"{duration_text(info['elapsed_s'])} of training"
        if info.get("measure_s", 0) >= 1:
            facts["wall_time"] += f", {duration_text(info['measure_s'])} of evaluation"
    if "versions" in info:
        facts["version_list"] = ", ".join(map(" ".join, info["versions"].items()))
    return facts


def _strength_facts(info: dict[str, Any]) -> dict[str, Any]:
    """Return the facts about measured strength, with measurements added by a person last."""
    simulations = info.get("settings", {}).get("evaluation.num_simulations")
    facts = {"limit": f", {simulations} simulations per move" if simulations else ""}
    if not info.keys() & {"proof", "exact", "strength", "measured"}:
        return {"definitions": "Not measured."}
    definitions = []
    if "proof" in info or "exact" in info:
        text = "Accuracy is the fraction of positions whose move keeps the exact result."
        definitions.append(text)
    if "exact" in info:
        definitions.append("A move is optimal if its exact score is the best one.")
    if "proof" in info:
        facts["num_simulations_proved"] = str(simulations or 100)
    if "measured" in info:
        facts["further_measurements"] = "\n".join(f"* {line}" for line in info["measured"])
    return facts | {"definitions": " ".join(definitions)}


def _recipe_facts(info: dict[str, Any]) -> dict[str, str]:
    """Return the commands that train the network again, and the settings they do not fix."""
    if not info.get("recipe"):
        return {"commands": "Unknown: the network was shipped without its run."}
    train = f"    alphazero train {' '.join(info['recipe'])}"
    facts = {"commands": f"{train}\n    python scripts/ship_network.py run=latest replace=true"}
    settings = info["settings"]
    if chosen := [f"{key}={settings[key]}" for key in AUTOTUNED_KEYS if key in settings]:
        facts["speed"] = " ".join(chosen)
    if settings.get("run.time_limit_s"):
        facts["limit_key"] = "run.time_limit_s"
    return facts


def _wrapped(line: str) -> str:
    """Wrap a paragraph or list item at 100 columns; return any other line unchanged."""
    if line.startswith(("    ", "|")):
        return line
    indent = "  " if line.startswith("* ") else ""
    return textwrap.fill(
        line, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
