"""Write TensorBoard's event file in the calling thread, so that the caller gets any error.

The file holds either all summaries of a `flush` or none of them. The writers of torch and
TensorBoard use a thread of their own, which prints errors as tracebacks and can make a program wait
forever if the disk is full.
"""

import contextlib
import io
import os
import socket
import time
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter


class EventFile:
    """A new TensorBoard event file in a folder; the first `flush` creates it.

    Args:
        folder: the run's folder, in which the file gets a unique name.
        purge_step: TensorBoard ignores the events of this step and later ones in the folder's older
            files; if None, it ignores none.
    """

    def __init__(self, folder: Path, purge_step: int | None = None):
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
