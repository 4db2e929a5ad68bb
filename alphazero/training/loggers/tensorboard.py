"""The logger that writes TensorBoard's event file.

In: the reports of a run. Out: curves, pictures and histograms, each with a description; texts; and,
at the start of a run, its settings and the layout of the charts.
"""

import math
from collections.abc import Mapping

from tensorboard.compat.proto.summary_pb2 import Summary
from torch.utils.tensorboard import summary

from alphazero.training.curves import CURVES
from alphazero.training.events import IterationReport, flat
from alphazero.training.illustrations import Illustrations, game_text
from alphazero.training.loggers.boards import BoardPictures
from alphazero.training.loggers.charts import layout, settings_table, start_records
from alphazero.training.loggers.event_file import EventFile
from alphazero.training.run_config import recipe_of
from alphazero.training.strength import NUM_MISPLAYED
from alphazero.training.trainer import Trainer

#: TensorBoard's plugin and data class for each type of value.
_KINDS = {
    "simple_value": ("scalars", "DATA_CLASS_SCALAR"),
    "image": ("images", "DATA_CLASS_BLOB_SEQUENCE"),
    "histo": ("histograms", "DATA_CLASS_TENSOR"),
}
#: Descriptions of pictures and histograms, by tag or by group of tags.
_DESCRIPTIONS = {
    "boards/sample_game": "The last position of the iteration's first game, with the plies at "
    "which the squares were taken. The moves are in the tab TEXT.",
    "boards/misplayed": "The first positions in which the move, chosen with search, gives away a "
    "win or a draw. Red: the move. Green: the moves that keep the result.",
    "policy": "Entropy of the policy target in each position, in nats: 0 is certainty.",
    "weights": "The weights of this layer in the network that plays.",
}


class TensorBoardLogger:
    """Writes an event file; a resumed run replaces events after its last stored iteration.

    Args:
        trainer: the run's trainer.
        varied: the settings and config-group choices that distinguish the run within its sweep.
    """

    def __init__(self, trainer: Trainer, varied: Mapping[str, str] | None = None):
        self._game = trainer.game
        settings = trainer.settings
        self._pictures = BoardPictures(self._game)
        self._described: set[str] = set()
        purge_step = trainer.iteration + 1 if trainer.iteration else None
        self._file = EventFile(trainer.folder.path, purge_step)
        self._file.add(summary.custom_scalars(layout(settings)))
        recipe = recipe_of(settings.game.name)
        self._add_text("settings", settings_table(settings, recipe), trainer.iteration)
        for record in start_records(settings, recipe, varied or {}):
            self._file.add(record)
        self._file.flush()

    def iteration(self, report: IterationReport) -> None:
        """Write an iteration's curves, texts, pictures and histograms.

        Raises:
            OSError: if the file cannot be written; it then contains nothing of the iteration.
        """
        step = report.iteration
        row = flat(report) | {"num_alarms": len(report.alarms)}
        for tag, curve in CURVES.items():
            figure = curve.figure(row)
            if not math.isnan(figure):
                self._write(summary.scalar(tag, figure), curve.description, step)
        self._write_alarms(report)
        self._write_misplayed(report)
        if report.illustrations is not None:
            self._write_illustrations(report.illustrations, step)
        if report.last:
            self._file.add(summary.hparams({}, {})[2])  # the run has ended
        self._file.flush()

    def _write_illustrations(self, illustrations: Illustrations, step: int) -> None:
        """Write the sample game and the histograms."""
        text = game_text(self._game, illustrations.sample_game)
        self._add_text("sample_game", f"```\n{text}\n```", step)
        pixels = self._pictures.sample_game(illustrations.sample_game)
        record = summary.image("boards/sample_game", pixels, dataformats="HWC")
        self._write(record, _DESCRIPTIONS["boards/sample_game"], step)
        for tag, histogram in illustrations.histograms.items():
            record = Summary(value=[Summary.Value(tag=tag, histo=histogram)])
            self._write(record, _DESCRIPTIONS[tag.partition("/")[0]], step)

    def _write_misplayed(self, report: IterationReport) -> None:
        """Draw and write the misplayed positions, if the iteration looked for any."""
        failures = None if report.exact is None else report.exact.misplayed
        if report.proof is not None:
            failures = report.proof.report.failures[:NUM_MISPLAYED]
        if failures is not None:
            pixels = self._pictures.misplayed(failures)
            record = summary.image("boards/misplayed", pixels, dataformats="HWC")
            self._write(record, _DESCRIPTIONS["boards/misplayed"], report.iteration)

    def _write_alarms(self, report: IterationReport) -> None:
        """Write the alarms that begin or end in this iteration, each under its own tag."""
        for alarm in report.alarms:
            if alarm.since == report.iteration:
                self._add_text(f"health/{alarm.name}", alarm.text, report.iteration)
        for name in report.ended_alarms:
            text = f"**over**: {name.replace('_', ' ')}"
            self._add_text(f"health/{name}", text, report.iteration)

    def _add_text(self, tag: str, text: str, step: int) -> None:
        """Queue a Markdown text."""
        self._file.add(summary.text(tag, text), step)

    def _write(self, record: Summary, description: str, step: int) -> None:
        """Queue a record; the first of each tag has the description, where TensorBoard reads it."""
        (value,) = record.value
        if value.tag not in self._described:
            self._described.add(value.tag)
            # TensorBoard's data server keeps the description only if the data class is set too.
            plugin, data_class = _KINDS[value.WhichOneof("value")]
            value.metadata.summary_description = description
            value.metadata.plugin_data.plugin_name = plugin
            value.metadata.data_class = data_class
        self._file.add(record, step)
