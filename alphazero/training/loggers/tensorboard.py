"""The logger that writes a run's curves and texts to TensorBoard's event file.

At the start of a run, it also writes the layout of the Custom Scalars tab. TensorBoard merges the
layouts of all runs, so charts have the same names in every run (`alphazero.training.curves`).
"""

import contextlib
import io
import math
import os
import socket
import time
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter
from torch.utils.tensorboard import summary

from alphazero.boards.skin import skin_of
from alphazero.boards.text import ending_text
from alphazero.evaluation.exact.set_file import shipped_path
from alphazero.games.batched_game import Game
from alphazero.selfplay.game_record import GameRecord
from alphazero.training.curves import CHARTS, CURVES, Chart, Line
from alphazero.training.events import IterationReport, flat
from alphazero.training.settings import TrainSettings
from alphazero.training.trainer import Trainer


class TensorBoardLogger:
    """Writes a run's curves, alarms and sample games to a TensorBoard event file.

    In a resumed run, this file replaces the events of iterations that had not been stored.

    Args:
        trainer: the run's trainer, which gives the settings, the folder and the last iteration.

    Raises:
        OSError: if the file cannot be written.
    """

    def __init__(self, trainer: Trainer):
        self._game = trainer.game
        self._described: set[str] = set()
        purge_step = trainer.iteration + 1 if trainer.iteration else None
        self._file = EventFile(trainer.folder.path, purge_step)
        self._file.add(summary.custom_scalars(layout(trainer.settings)))
        self._file.flush()

    def iteration(self, report: IterationReport) -> None:
        """Write an iteration's metrics, alarms and sample game to the event file.

        Raises:
            OSError: if the file cannot be written; it then contains nothing of the iteration.
        """
        step = report.iteration
        row = flat(report) | {"num_alarms": len(report.alarms)}
        for tag, curve in CURVES.items():
            figure = curve.figure(row)
            if not math.isnan(figure):
                self._write(tag, figure, step)
        self._write_alarms(report)
        if report.sample_game is not None:
            text = _game_text(self._game, report.sample_game)
            self._file.add(summary.text("sample_game", f"```\n{text}\n```"), step)
        self._file.flush()

    def _write_alarms(self, report: IterationReport) -> None:
        """Queue a text for each alarm that begins or ends in an iteration, under its own tag."""
        texts = {
            alarm.name: alarm.text for alarm in report.alarms if alarm.since == report.iteration
        }
        for name in report.ended_alarms:
            texts[name] = f"**over**: {name.replace('_', ' ')}"
        for name, text in texts.items():
            self._file.add(summary.text(f"health/{name}", text), report.iteration)

    def _write(self, tag: str, figure: float, step: int) -> None:
        """Queue a curve's value; a curve's first value also carries its description.

        Args:
            tag: the curve's tag in `CURVES`.
            figure: the curve's value in the iteration; must not be NaN.
            step: the iteration, which is the position on the x-axis.
        """
        record = summary.scalar(tag, figure)
        if tag not in self._described:
            self._described.add(tag)
            metadata = record.value[0].metadata
            # TensorBoard's data server keeps the description only if the data class is set too.
            metadata.summary_description = CURVES[tag].description
            metadata.plugin_data.plugin_name = "scalars"
            metadata.data_class = "DATA_CLASS_SCALAR"
        self._file.add(record, step)


class EventFile:
    """A new TensorBoard event file in a folder; the first `flush` creates it.

    It is written in the calling thread, which gets any error, and holds either all summaries of a
    `flush` or none of them. The writers of torch and TensorBoard use a thread of their own, which
    prints errors as tracebacks and can make a program wait forever if the disk is full.

    Args:
        folder: the run's folder, in which the file gets a unique name.
        purge_step: TensorBoard ignores the events of this step and later ones in the folder's older
            files; if None, it ignores none.
    """

    def __init__(self, folder: Path, purge_step: int | None):
        # TensorBoard reads all event files in the order of their names.
        stem = f"events.out.tfevents.{time.time():020.9f}"
        self._path = folder / f"{stem}.{socket.gethostname()}.{os.getpid()}"
        self._size = 0  # bytes written to the file
        self._buffer = io.BytesIO()
        self._add(Event(file_version="brain.Event:2"))
        if purge_step is not None:
            self._add(Event(step=purge_step, session_log=SessionLog(status=SessionLog.START)))

    def add(self, summary: Summary, step: int = 0) -> None:
        """Queue a summary, to be written by the next `flush`.

        Args:
            summary: a value of a curve, a text, or the layout of charts.
            step: the iteration to which the summary belongs; 0 for the whole run.
        """
        self._add(Event(summary=summary, step=step))

    def flush(self) -> None:
        """Append the queued summaries to the file, and empty the queue.

        Raises:
            OSError: if they cannot be written; the file is left as it was, and its path is in the
                error.
        """
        data = self._buffer.getvalue()
        self._buffer = io.BytesIO()
        try:
            with open(self._path, "ab") as file:
                file.write(data)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.truncate(self._path, self._size)
            raise OSError(error.errno, error.strerror, str(self._path)) from None
        self._size += len(data)

    def _add(self, event: Event) -> None:
        event.wall_time = time.time()
        RecordWriter(self._buffer).write(event.SerializeToString())


def _game_text(game: Game, record: GameRecord) -> str:
    """Format a finished game as text: its moves, its result, its length and its last position.

    Moves are in the game's notation; the result is like "the first player wins after 12 plies".
    """
    moves = skin_of(game).notation.list_text(record.actions.tolist())
    board = game.state_to_text(game.play_moves(record.actions))
    sides = "the first player", "the second player"
    ending = ending_text(game, sides, record.first_player_result)
    return f"{moves}\n{ending} after {len(record.actions)} plies\n\n{board}"


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
