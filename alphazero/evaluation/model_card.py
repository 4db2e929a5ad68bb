"""The model card of a pretrained network: how it was trained and how strong it is.

In: a stored network with its facts, see `alphazero.evaluation.run_facts`; a person may have added
the hardware and further measurements. Out: a page of Markdown. Everything on the page comes from
these facts; nothing is written by hand.
"""

import textwrap
from typing import Any

from alphazero.evaluation.exact.set_file import shipped_path
from alphazero.evaluation.run_facts import AUTOTUNED_KEYS, duration_text
from alphazero.network.weights import NetworkFile
from alphazero.storage.run_folder import folder_name

LICENSE = "Apache-2.0"
_NOT_WEIGHTS = ("running_mean", "running_var", "num_batches_tracked")


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
        lines.append(f"alphazero evaluate game={game} player=best")
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
