"""The card of a network that ships: what it is, how it was made, how strong it is, as facts and as a page of Markdown.

In: a stored network, the folder of the run that made it, and what a person adds (the hardware, further measurements). Out: the facts, as plain data
that is stored inside the network's file, and the page. Every figure of the page is one of these facts; nothing of it is written by hand.
"""

import json

from alphazero.evaluation.exact.sets import shipped_path
from alphazero.network.weights import NetworkFile
from alphazero.storage.run_folder import RunFolder, folder_name

#: Settings that say where a run lies and what it keeps; they change nothing of what is learned.
PLACE_KEYS = (
    "run.root",
    "run.name",
    "run.retune",
    "run.keep_networks",
    "run.sample_game_every",
    "resume",
)
#: Settings of the speed, which a run that leaves them open measures on its machine and stores as it found them.
MEASURED_KEYS = (
    "evaluator.engine",
    "evaluator.precision",
    "learner.precision",
    "selfplay.num_parallel_games",
)
_MEASUREMENTS = ("strength", "exact", "proof")
_NOT_WEIGHTS = ("running_mean", "running_var", "num_batches_tracked")


def run_facts(folder: RunFolder, iteration: int) -> dict:
    """Return what a run's folder says of the network of an iteration.

    Returns:
        Plain data, without what the folder does not hold: ``elapsed_s`` and ``measure_s`` (seconds of the run up to then, without and of its
        measurements), ``num_games`` and ``num_positions`` of self-play, ``engine`` of the last iteration, the figures of ``strength``,
        ``exact`` and ``proof`` as `alphazero.training.events` names them, ``settings`` by their keys, and ``versions``.
    """
    facts: dict = {}
    rows = [
        row
        for row in (folder.read_metrics() if folder.metrics.is_file() else [])
        if row["iteration"] <= iteration
    ]
    for key, column in (
        ("num_games", "selfplay.num_games"),
        ("num_positions", "selfplay.num_positions"),
        ("measure_s", "measure_s"),
    ):
        if rows and all(row.get(column) is not None for row in rows):
            facts[key] = round(sum(row[column] for row in rows), 1)
    if rows and rows[-1]["iteration"] == iteration:
        facts |= _figures(rows[-1])
    if folder.config.is_file():
        facts["settings"] = {
            key: value
            for key, value in flat_settings(folder.read_config()).items()
            if key not in PLACE_KEYS
        }
    versions = folder.path / "versions.json"
    if versions.is_file():
        facts["versions"] = json.loads(versions.read_text())
    return facts


def flat_settings(settings: dict, prefix: str = "") -> dict:
    """Return nested settings by their keys, such as "learner.batch_size"."""
    flat = {}
    for name, value in settings.items():
        flat |= (
            flat_settings(value, f"{prefix}{name}.")
            if isinstance(value, dict)
            else {prefix + name: value}
        )
    return flat


def summary(info: dict) -> str:
    """Return in a few words how a network was made and how strong it is; '' if its file does not say."""
    words = [f"{duration_text(info['elapsed_s'])} of training"] if info.get("elapsed_s") else []
    if "proof" in info:
        words.append(
            f"the best possible result kept in {info['proof']['num_accurate']:,} of {info['proof']['num_positions']:,} positions"
        )
    elif "exact" in info:
        words.append(f"{info['exact']['accuracy']:.1%} of its moves keep the exact result")
    elif "strength" in info:
        words.append(f"{info['strength']['score']:.1%} against {info['strength']['opponent']}")
    return ", ".join(words)


def card_text(network: NetworkFile, num_bytes: int) -> str:
    """Return the card of a network as Markdown; its facts are those of ``network.info``."""
    info, game = network.info, network.game
    parts = [
        f"# best of {game}\n",
        "The network that plays this game where no other player is named. This page was written by `alphazero ship` from the files of the run.\n",
        _table(_what_it_is(network, num_bytes)),
        "## How strong it is\n",
        "\n".join(f"* {line}" for line in _measured_lines(info)) or "Not measured.",
        "\n## How to make it again\n",
        _recipe_text(info),
        "## How to use it\n",
        "".join(f"    {line}\n" for line in _usage(game, info)),
        "The file alone is enough: it holds the game's name, the network's shape and all of the facts on this page. The licence is this project's.",
    ]
    return "\n".join(parts) + "\n"


def duration_text(seconds: float) -> str:
    """Return a time in words, such as 9 min 52 s."""
    hours, rest = divmod(round(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


# --- facts ------------------------------------------------------------------------------------------------------------------------------


def _figures(row: dict) -> dict:
    """Return what the line of one iteration tells of its network."""
    facts = {"elapsed_s": round(row["elapsed_s"], 1)}
    if row.get("engine.name"):
        facts["engine"] = row["engine.name"]
    for section in _MEASUREMENTS:
        figures = {
            key.removeprefix(section + "."): value
            for key, value in row.items()
            if key.startswith(section + ".")
        }
        if figures:
            facts[section] = figures
    return facts


# --- the page ---------------------------------------------------------------------------------------------------------------------------


def _what_it_is(network: NetworkFile, num_bytes: int) -> dict[str, str]:
    """Return the rows of the first table."""
    info, shape = network.info, network.settings
    num_weights = sum(
        array.size for name, array in network.arrays.items() if not name.endswith(_NOT_WEIGHTS)
    )
    tower = (
        f"{shape['blocks']} blocks of {shape['channels']} channels, "
        if shape.get("kind") == "resnet"
        else ""
    )
    rows = {
        "game": network.game,
        "file": f"`{folder_name(network.game)}.safetensors`, {num_bytes:,} bytes",
        "network": f"{shape.get('kind', 'network')}, {tower}{num_weights:,} weights",
    }
    if "iteration" in info:
        rows["made by"] = f"run {info.get('run', '?')}, iteration {info['iteration']}"
    if "num_games" in info:
        rows["learned from"] = (
            f"{info['num_games']:,} games of self-play, {info['num_positions']:,} positions"
        )
    if "elapsed_s" in info:
        besides = (
            f", and {duration_text(info['measure_s'])} of measuring its strength"
            if info.get("measure_s", 0) >= 1
            else ""
        )
        rows["wall time"] = f"{duration_text(info['elapsed_s'])} of training{besides}"
    rows["hardware"] = info.get("hardware") or "not noted"
    if "engine" in info:
        rows["engine in self-play"] = info["engine"]
    if "versions" in info:
        rows["versions"] = ", ".join(
            f"{name} {version}" for name, version in info["versions"].items()
        )
    return rows


def _measured_lines(info: dict) -> list[str]:
    """Return a line for each measurement, those that a person added last."""
    lines = []
    if "proof" in info:
        p = info["proof"]
        simulations = info.get("settings", {}).get("evaluation.num_simulations")
        against = "no game lost" if p["num_losses"] == 0 else f"{p['num_losses']:,} games lost"
        lines.append(
            f"Every position looked at{f', with {simulations} simulations for a move' if simulations else ''}: best possible result kept "
            f"in {p['num_accurate']:,} of {p['num_positions']:,} that are not final; {against} against every possible play of the other side."
        )
    if "exact" in info:
        e = info["exact"]
        lines.append(
            f"Of the {e['num_positions']:,} positions with exact scores that ship with the game: {e['accuracy']:.1%} of its moves keep the exact result with "
            f"{e['num_simulations']} simulations ({e['optimal']:.1%} have the best score), {e['raw_accuracy']:.1%} without search ({e['raw_optimal']:.1%})."
        )
    if "strength" in info:
        s = info["strength"]
        lines.append(
            f"{s['score']:.1%} against {s['opponent']}, with {s['num_simulations']} simulations for a move: {s['wins']} won, {s['draws']} drawn, "
            f"{s['losses']} lost; 95 % interval {s['score_low']:.1%} to {s['score_high']:.1%}; {s['num_distinct']} different games."
        )
    return lines + list(info.get("measured", []))


def _recipe_text(info: dict) -> str:
    if not info.get("recipe"):
        return "The folder of its run did not say how it was made.\n"
    settings = info["settings"]
    lines = f"    alphazero train {' '.join(info['recipe'])}\n    alphazero ship run=latest replace=true\n"
    speed = " ".join(f"{key}={settings[key]}" for key in MEASURED_KEYS if key in settings)
    if speed:
        lines += f"\nOf what changes the speed it had `{speed}`; where the command leaves these open, each machine measures its own.\n"
    if settings.get("run.time_limit_s"):
        lines += "\nThe run ends by the clock (`run.time_limit_s`), so that another machine makes another number of games in it.\n"
    return lines


def _usage(game: str, info: dict) -> list[str]:
    lines = [
        f"alphazero play game={game}",
        f"alphazero match game={game} a=best b=uct:1000",
        f"""echo '{{"game": "{game}", "moves": []}}' | alphazero engine player=best""",
    ]
    if shipped_path(game):
        lines.append(f"alphazero evaluate game={game} network=best")
    if "proof" in info:
        lines.append(
            f"alphazero prove game={game} player=best num_simulations={info.get('settings', {}).get('evaluation.num_simulations', 100)}"
        )
    return lines


def _table(rows: dict[str, str]) -> str:
    return "| | |\n|---|---|\n" + "".join(f"| {name} | {text} |\n" for name, text in rows.items())
