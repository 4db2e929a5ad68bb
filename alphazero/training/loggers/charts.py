"""TensorBoard's overviews: charts of the tab Custom Scalars, tables of HPARAMS and of settings.

In: the settings of a run, and those of its game's recipe. Out: the layout that
`SummaryWriter.add_custom_scalars` takes: categories of charts, each with a kind and tags;
TensorBoard merges the layouts of all runs, so the charts of two runs have equal names. And the
records of HPARAMS: what a run changed of the recipe, beside its newest figures. These are curves
that the run writes anyway, so they are up to date at any time and in any stopped run.
"""

from collections.abc import Mapping

from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
from torch.utils.tensorboard import summary

from alphazero.config.settings import rows
from alphazero.evaluation.exact.set_file import shipped_path
from alphazero.evaluation.run_facts import AUTOTUNED_KEYS, RUN_FOLDER_KEYS
from alphazero.runtime.errors import value_text
from alphazero.training.settings import TrainSettings

_METRICS = (
    "exact/error_search",
    "proof/misplayed_positions",
    "strength/elo",
    "loss/policy",
    "loss/value",
    "loss/total_held_out",
    "strength/score",
    "time/elapsed_s",
)
_LATE_COLUMNS = ("game", "run.", "evaluation.")

Chart = tuple[str, list[str]]  #: "Multiline" with its tags, or "Margin" with value, low and high


def layout(settings: TrainSettings) -> dict[str, dict[str, Chart]]:
    """Return the charts for which a run with these settings has values."""
    categories = {
        category: {title: chart for title, chart in charts.items() if _has(settings, chart[1][0])}
        for category, charts in _CHARTS.items()
    }
    return {category: charts for category, charts in categories.items() if charts}


def _has(settings: TrainSettings, tag: str) -> bool:
    """Return whether a run with these settings makes the measurement of a curve."""
    evaluation = settings.evaluation
    is_measured = {
        "exact": evaluation.exact and shipped_path(settings.game.name) is not None,
        "proof": evaluation.prove,
        "strength": bool(evaluation.num_games or evaluation.final_num_games),
        "pit": bool(settings.pit.every),
    }
    return is_measured.get(tag.partition("/")[0], True)


def _band(tag: str, bounds: str) -> Chart:
    """Return the chart of a curve with its 95% interval."""
    return "Margin", [tag, f"interval/{bounds}_low", f"interval/{bounds}_high"]


def _lines(*tags: str) -> Chart:
    """Return the chart of several curves; TensorBoard reads their tags as regular expressions."""
    return "Multiline", [f"{tag}$" for tag in tags]


_CHARTS = {
    "Mistakes": {
        "Exact error with search": _band("exact/error_search", "error_search"),
        "Exact error of the network alone": _band("exact/error_network", "error_network"),
        "Misplayed positions of the whole game": _lines("proof/misplayed_positions"),
    },
    "Strength": {
        "Score against UCT": _band("strength/score", "strength_score"),
        "Score in the pit": _band("pit/score", "pit_score"),
    },
    "Losses": {
        "Policy: trained, held out, uninformed, entropy of the target": _lines(
            "loss/policy", "loss/policy_held_out", "loss/policy_uninformed", "policy/entropy_search"
        ),
        "Value: trained, held out, uninformed": _lines(
            "loss/value", "loss/value_held_out", "loss/value_uninformed"
        ),
        "Value: distance from the results": _lines("value/absolute_error"),
        "Entropy of the policy: network, search": _lines(
            "policy/entropy_network", "policy/entropy_search"
        ),
    },
    "Games": {
        "Results: first player wins, draws, second player wins": _lines(
            "games/first_player_wins", "games/draws", "games/second_player_wins"
        ),
        "Length of a game in plies": _lines("games/length_plies"),
        "Fraction of distinct games": _lines("games/distinct_fraction"),
    },
    "Speed": {
        "Positions of self-play per second": _lines("speed/positions_per_s"),
        "Seconds of an iteration: self-play, learning, measuring": _lines(
            "time/selfplay_s", "time/learner_s", "time/measure_s"
        ),
    },
}


def hparams(
    settings: TrainSettings, recipe: TrainSettings, varied: Mapping[str, str]
) -> dict[str, float | str]:
    """Return game and seed, and the settings that differ from the recipe or within a sweep.

    Args:
        varied: what tells the run from others of its sweep: settings, or choices of config groups,
            which are returned as they are.
    """
    found: dict[str, float | str] = {"game": settings.game.name, "seed": str(settings.seed)}
    usual = {row.key: row.value for row in rows(recipe)}
    ignored = {"game.name", "seed", *RUN_FOLDER_KEYS}
    found |= {key: text for key, text in varied.items() if key not in usual and key != "game"}
    for row in rows(settings):
        is_changed = row.value != usual[row.key] and row.key not in AUTOTUNED_KEYS
        if row.key not in ignored and (is_changed or row.key in varied):
            is_number = isinstance(row.value, (int, float)) and not isinstance(row.value, bool)
            found[row.key] = row.value if is_number else value_text(row.value)
    return found


def metrics(settings: TrainSettings) -> list[str]:
    """Return the tags of the metrics; TensorBoard shows the first five of them at first."""
    return [tag for tag in _METRICS if _has(settings, tag)]


def start_records(
    settings: TrainSettings, recipe: TrainSettings, varied: Mapping[str, str]
) -> tuple[Summary, Summary]:
    """Return the records for the start of a run: the columns of the table, and the run's row."""
    values = hparams(settings, recipe, varied)
    columns, row, _ = summary.hparams(values, dict.fromkeys(metrics(settings), 0.0))
    first = set(varied) or {key for key in values if not key.startswith(_LATE_COLUMNS)}
    plugin_data = columns.value[0].metadata.plugin_data
    content = HParamsPluginData.FromString(plugin_data.content)
    for column in content.experiment.hparam_infos:
        column.differs = column.name in first  # TensorBoard begins with these
    plugin_data.content = content.SerializeToString()
    return columns, row


def settings_table(settings: TrainSettings, recipe: TrainSettings) -> str:
    """Return all settings as a table in Markdown, those that differ from the recipe first."""
    usual = {row.key: row.value for row in rows(recipe)}
    changed, others = [], []
    for row in rows(settings):
        value, other = value_text(row.value), value_text(usual[row.key])
        if value == other:
            others.append(f"| {row.key} | {value} | |")
        else:
            changed.append(f"| **{row.key}** | **{value}** | {other} |")
    return "\n".join(["| setting | value | recipe |", "|---|---|---|", *changed, *others])
