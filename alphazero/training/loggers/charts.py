"""Define what TensorBoard's Custom Scalars and HPARAMS tabs show for a run.

TensorBoard merges the layouts of all runs, so charts have the same names in every run
(`alphazero.training.curves`). The HPARAMS tab shows, for each run, its newest metrics and the
settings that differ from the recipe: the settings that the config files propose for the game. The
metrics are existing curves, so they are always up to date, even in a stopped run.
"""

from collections.abc import Mapping

from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
from torch.utils.tensorboard import summary

from alphazero.config.settings import rows
from alphazero.evaluation.exact.set_file import shipped_path
from alphazero.evaluation.run_facts import AUTOTUNED_KEYS, RUN_FOLDER_KEYS
from alphazero.runtime.errors import value_text
from alphazero.training.curves import CHARTS, Chart, Line
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


def layout(settings: TrainSettings) -> dict[str, dict[str, tuple[str, list[str]]]]:
    """Return the layout of the Custom Scalars tab: the charts for which the run has values.

    Args:
        settings: the run's settings, which decide which curves it writes.

    Returns:
        {category: {title: chart}}. A chart is a pair: "Multiline" and regular expressions of tags,
        or "Margin" and the tags of a curve and of the lower and upper ends of its confidence
        interval.
    """
    result = {}
    for category, charts in CHARTS.items():
        shown = {}
        for chart in charts:
            lines = [line for line in chart.lines if _has(settings, line.tags[0])]
            for line in lines:
                if len(line.tags) > 1:
                    shown[_title(chart, [line])] = "Margin", list(line.tags)
            others = [line for line in lines if len(line.tags) == 1]
            if others:
                shown[_title(chart, others)] = "Multiline", [f"{line.tags[0]}$" for line in others]
        if shown:
            result[category] = shown
    return result


def _title(chart: Chart, lines: list[Line]) -> str:
    if len(chart.lines) == 1:
        return chart.title
    names = ", ".join(line.name for line in lines)
    return f"{chart.title}: {names}"


def _has(settings: TrainSettings, tag: str) -> bool:
    """Return whether a run with these settings has values for the curve called ``tag``."""
    evaluation = settings.evaluation
    is_measured = {
        "exact": evaluation.exact and shipped_path(settings.game.name) is not None,
        "proof": evaluation.prove,
        "strength": bool(evaluation.num_games or evaluation.final_num_games),
        "pit": bool(settings.pit.every),
    }
    return is_measured.get(tag.partition("/")[0], True)


def hparams(
    settings: TrainSettings, recipe: TrainSettings, varied: Mapping[str, str]
) -> dict[str, float | str]:
    """Return a run's hyperparameters: game, seed, and the settings that differ from the recipe.

    Args:
        settings: the run's settings.
        recipe: the settings that the config files propose for the game.
        varied: {key: text} of the settings and config-group choices that distinguish the run within
            its sweep. They are always included.

    Returns:
        {key: value}; a value that is not a number is given as text.
    """
    values: dict[str, float | str] = {"game": settings.game.name, "seed": str(settings.seed)}
    usual = {row.key: row.value for row in rows(recipe)}
    ignored = {"game.name", "seed", *RUN_FOLDER_KEYS}
    for key, text in varied.items():
        if key not in usual and key != "game":
            values[key] = text
    for row in rows(settings):
        is_changed = row.value != usual[row.key] and row.key not in AUTOTUNED_KEYS
        if row.key not in ignored and (is_changed or row.key in varied):
            is_number = isinstance(row.value, (int, float)) and not isinstance(row.value, bool)
            values[row.key] = row.value if is_number else value_text(row.value)
    return values


def metrics(settings: TrainSettings) -> list[str]:
    """Return the tags of the metrics in the HPARAMS tab, most important first.

    Metrics that a run with these settings does not measure are left out. TensorBoard shows only the
    first five until the user selects more.
    """
    return [tag for tag in _METRICS if _has(settings, tag)]


def start_records(
    settings: TrainSettings, recipe: TrainSettings, varied: Mapping[str, str]
) -> tuple[Summary, Summary]:
    """Make the two records that a run writes at its start for TensorBoard's HPARAMS tab.

    Args:
        settings: the run's settings.
        recipe: the settings that the config files propose for the game; only settings that differ
            from them get a column.
        varied: {key: text} of the settings and config-group choices that distinguish the run within
            its sweep, which always get a column.

    Returns:
        The record with the table's columns, and the record with the run's row.
    """
    values = hparams(settings, recipe, varied)
    columns, row, _ = summary.hparams(values, dict.fromkeys(metrics(settings), 0.0))
    first = set(varied) or {key for key in values if not key.startswith(_LATE_COLUMNS)}
    plugin_data = columns.value[0].metadata.plugin_data
    content = HParamsPluginData.FromString(plugin_data.content)
    for column in content.experiment.hparam_infos:
        column.differs = column.name in first  # TensorBoard shows these columns at first
    plugin_data.content = content.SerializeToString()
    return columns, row
