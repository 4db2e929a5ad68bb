"""The logger that writes TensorBoard's event file.

In: the reports of a run. Out: curves, pictures and histograms, each with a description, and texts.
At the start of a run, its settings and the layout of the charts.
"""

from collections.abc import Mapping
from pathlib import Path

from tensorboard.compat.proto.summary_pb2 import Summary
from torch.utils.tensorboard import SummaryWriter, summary

from alphazero.runtime.figures import curves
from alphazero.training.events import IterationReport, StageProgress
from alphazero.training.illustrations import Histogram, Illustrations
from alphazero.training.loggers.boards import BoardPictures
from alphazero.training.loggers.charts import end_record, layout, start_records
from alphazero.training.loggers.tables import settings_table, workers_table
from alphazero.training.settings import TrainSettings
from alphazero.training.strength import NUM_MISPLAYED

#: By the kind of a value: the plugin that shows it, and TensorBoard's class of its data.
_KINDS = {
    "simple_value": ("scalars", "DATA_CLASS_SCALAR"),
    "image": ("images", "DATA_CLASS_BLOB_SEQUENCE"),
    "histo": ("histograms", "DATA_CLASS_TENSOR"),
}
_SAMPLE_GAME = (
    "The first game of the iteration: its last position. Numbers are the plies at which the "
    "squares were taken. The moves are in the tab TEXT."
)
_MISPLAYED = (
    "The first positions in which the move, chosen with search, gives away a win or a draw "
    "according to the exact solver. Red: the move. Green: the moves that keep the result."
)
_ENTROPY = (
    "Entropy of the policy target in each position of the iteration, in nats: 0 is certainty."
)
_WEIGHTS = "The weights of this layer in the network that plays."


class TensorBoardLogger:
    """Writes an event file.

    Args:
        folder: of the run.
        settings: of the run.
        recipe: the settings of the game's recipe, unchanged.
        first_iteration: the first one that will be reported. Events of it and of later iterations,
            written before a resumed run was stopped, are replaced.
        pictures: draws boards; None leaves them out.
        varied: what tells the run from others of its sweep: settings or choices of config groups.
    """

    def __init__(
        self,
        folder: Path,
        settings: TrainSettings,
        recipe: TrainSettings,
        first_iteration: int,
        pictures: BoardPictures | None = None,
        varied: Mapping[str, str] | None = None,
    ):
        self._pictures = pictures
        self._described: set[str] = set()
        purge_step = first_iteration if first_iteration > 1 else None
        self._writer = SummaryWriter(str(folder), purge_step=purge_step)
        self._writer.add_custom_scalars(layout(settings))
        table = settings_table(settings, recipe)
        self._writer.add_text("settings", table, first_iteration - 1)
        for record in start_records(settings, recipe, varied or {}):
            self._writer.file_writer.add_summary(record)

    def progress(self, event: StageProgress) -> None:
        """Ignore it."""

    def iteration(self, report: IterationReport) -> None:
        """Write everything that the report has."""
        step = report.iteration
        for curve, value in curves(report):
            self._write(summary.scalar(curve.tag, value), curve.description, step)
        if report.selfplay.sample_game:
            text = f"```\n{report.selfplay.sample_game}\n```"
            self._writer.add_text("sample_game", text, step)
        if report.workers is not None:
            self._writer.add_text("workers/table", workers_table(report.workers.each), step)
        self._write_alarms(report)
        self._write_misplayed(report)
        if report.illustrations is not None:
            self._write_illustrations(report.illustrations, step)
        if report.last:
            self._writer.file_writer.add_summary(end_record())
        self._writer.flush()

    def close(self) -> None:
        """Write what is left and close the file."""
        self._writer.close()

    def _write_illustrations(self, illustrations: Illustrations, step: int) -> None:
        """Write the sample game and the histograms."""
        if self._pictures is not None:
            pixels = self._pictures.sample_game(illustrations.sample_game)
            record = summary.image("boards/sample_game", pixels, dataformats="HWC")
            self._write(record, _SAMPLE_GAME, step)
        if illustrations.search_entropy is not None:
            record = _histogram("policy/entropy_by_position", illustrations.search_entropy)
            self._write(record, _ENTROPY, step)
        for name, values in illustrations.layer_weights.items():
            self._write(_histogram(f"weights/{name}", values), _WEIGHTS, step)

    def _write_misplayed(self, report: IterationReport) -> None:
        """Write the picture of misplayed positions if they were searched for."""
        failures = None if report.exact is None else report.exact.misplayed
        if report.proof is not None:
            failures = report.proof.report.failures[:NUM_MISPLAYED]
        if self._pictures is not None and failures is not None:
            pixels = self._pictures.misplayed(failures)
            record = summary.image("boards/misplayed", pixels, dataformats="HWC")
            self._write(record, _MISPLAYED, report.iteration)

    def _write_alarms(self, report: IterationReport) -> None:
        """Write the alarms that begin and those that end, each under its own tag."""
        for alarm in report.alarms:
            if alarm.since == report.iteration:
                text = (
                    f"**{alarm.title}**: {alarm.seen}.\n\nLikely cause: {alarm.cause}.\n\n"
                    f"Change `{alarm.key}`: {alarm.advice}."
                )
                self._writer.add_text(f"health/{alarm.name}", text, report.iteration)
        for name in report.ended_alarms:
            text = f"**over**: {name.replace('_', ' ')}"
            self._writer.add_text(f"health/{name}", text, report.iteration)

    def _write(self, record: Summary, description: str, step: int) -> None:
        """Write a record; TensorBoard reads the description from the first one of a tag."""
        (value,) = record.value
        if value.tag not in self._described:
            self._described.add(value.tag)
            # TensorBoard's data server keeps the description only if the data class is set too.
            plugin, data_class = _KINDS[value.WhichOneof("value")]
            value.metadata.summary_description = description
            value.metadata.plugin_data.plugin_name = plugin
            value.metadata.data_class = data_class
        self._writer.file_writer.add_summary(record, step)


def _histogram(tag: str, values: Histogram) -> Summary:
    """Return TensorBoard's record of a histogram."""
    edges = values.edges.tolist()
    return summary.histogram_raw(
        tag,
        min=edges[0],
        max=edges[-1],
        num=int(values.counts.sum()),
        sum=values.sum,
        sum_squares=values.sum_squares,
        # Each bin ends at its limit and begins at the limit before it.
        bucket_limits=edges,
        bucket_counts=[0, *values.counts.tolist()],
    )
