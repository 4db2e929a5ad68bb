"""The tab HPARAMS: what a run changed of the recipe of its game, beside its newest figures.

In: the settings of a run and those of the recipe. Out: TensorBoard's records. The metrics are
curves that the run writes anyway, so they are up to date at any time and in any stopped run.
"""

from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
from torch.utils.tensorboard import summary

from alphazero.config.settings import rows
from alphazero.evaluation.run_facts import AUTOTUNED_KEYS, RUN_FOLDER_KEYS
from alphazero.runtime.errors import value_text
from alphazero.training.loggers.tensorboard.charts import has_exact_error
from alphazero.training.settings import TrainSettings

_LATE_COLUMNS = ("game", "run.", "evaluation.")


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
            found[row.key] = _plain(row.value)
    return found


def metrics(settings: TrainSettings) -> list[str]:
    """Return the tags of the metrics; TensorBoard shows the first five of them at first."""
    evaluation = settings.evaluation
    plays_uct = bool(evaluation.num_games or evaluation.final_num_games)
    return [
        *["exact/error_search"] * has_exact_error(settings),
        *["proof/misplayed_positions"] * evaluation.prove,
        *["strength/elo"] * plays_uct,
        "loss/policy",
        "loss/value",
        "loss/total_held_out",
        *["strength/score"] * plays_uct,
        "time/elapsed_s",
    ]


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


def end_record() -> Summary:
    """Return the record for the end of a finished run."""
    return summary.hparams({}, {})[2]


def settings_table(settings: TrainSettings, recipe: TrainSettings) -> str:
    """Return all settings as a Markdown table, those that differ from the recipe first."""
    usual = {row.key: row.value for row in rows(recipe)}
    changed, others = [], []
    for row in rows(settings):
        value, other = value_text(row.value), value_text(usual[row.key])
        if value == other:
            others.append(f"| {row.key} | {value} | |")
        else:
            changed.append(f"| **{row.key}** | **{value}** | {other} |")
    return "\n".join(["| setting | value | recipe |", "|---|---|---|", *changed, *others])


def _plain(value: Any) -> float | str:
    """Return a number as it is, anything else as text."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number else value_text(value)
