"""Streams: the messages of a job as lines of JSON, while it works.

In: a job, which runs in a thread of its own. Out: an HTTP response of type application/x-ndjson.
When the connection is closed the job is stopped. While a message waits to be sent, those about
progress are left out, so that no queue grows.
"""

import asyncio
import contextlib
import json
import logging
import threading
from collections.abc import AsyncIterator
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from alphazero.play.requests import BUSY, Refusal
from alphazero.web.turns import Job, Stopped

KEEP_ALIVE_S = 10.0
MAX_STREAMS = 100
HEADERS = {"x-accel-buffering": "no"}  # no proxy may hold lines back
FAILED = "this request failed here; the terminal of the server says why."
_places = threading.Semaphore(MAX_STREAMS)
_log = logging.getLogger("alphazero.web")


class JsonLines(StreamingResponse):
    """The response to a request: what its job emits, see `alphazero.web.turns.Stream`.

    Raises:
        Refusal: if there are too many streams.
    """

    media_type = "application/x-ndjson"

    def __init__(self, job: Job):
        if not _places.acquire(blocking=False):
            raise Refusal("too many people are here at the same time: try again soon.", BUSY)
        super().__init__(self._lines(), headers=HEADERS)
        self._loop = asyncio.get_running_loop()
        self._pending: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._is_stopped = False
        threading.Thread(target=self._run, args=(job,), name="stream").start()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._is_stopped = True

    def emit(self, message: dict[str, Any] | None) -> None:
        """See `alphazero.web.turns.Stream.emit`; None is the end."""
        with contextlib.suppress(RuntimeError):  # the server was stopped
            self._loop.call_soon_threadsafe(self._put, message)

    def is_stopped(self) -> bool:
        """See `alphazero.web.turns.Stream.is_stopped`."""
        return self._is_stopped

    def _run(self, job: Job) -> None:
        """Run a job to its end; what goes wrong becomes its last message."""
        try:
            job(self)
        except Stopped:
            pass
        except Refusal as error:
            self.emit({"type": "error", "error": str(error), "status": error.status})
        except Exception:
            _log.exception("a request failed")
            self.emit({"type": "error", "error": FAILED, "status": 500})
        finally:
            _places.release()
            self.emit(None)

    def _put(self, message: dict[str, Any] | None) -> None:
        if self._pending.empty() or not _is_about_progress(message):
            self._pending.put_nowait(message)

    async def _lines(self) -> AsyncIterator[str]:
        """Yield what to send: lines of JSON, and a blank line if there is no news for long."""
        while True:
            try:
                message = await asyncio.wait_for(self._pending.get(), KEEP_ALIVE_S)
            except TimeoutError:
                yield "\n"
                continue
            if message is None:
                return
            yield json.dumps(message, allow_nan=False) + "\n"


def _is_about_progress(message: dict[str, Any] | None) -> bool:
    return message is not None and (message["type"] == "progress" or message.get("final") is False)
