"""Stream HTTP responses: the messages of a job, or data that is sent again whenever it changes.

A job runs in its own thread, and its messages are sent as JSON lines. If the client closes the
connection, the job ends when it tries to send its next message.
"""

import asyncio
import contextlib
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from alphazero.play.requests import Refusal
from alphazero.web.backend import Job

HEADERS = {"x-accel-buffering": "no"}  # asks proxies not to buffer lines
FAILED = "this request failed on the server; its terminal shows the error."
_log = logging.getLogger("alphazero.web")
READ_EVERY_S = 0.5  #: seconds between two readings of live data
_MAX_WORK = 0.2  # largest fraction of the time spent reading, which is slow with hundreds of runs


class _Stopped(Exception):
    """Raised to end a job whose client has closed the connection."""


class JsonLines(StreamingResponse):
    """An HTTP response that runs a job in a thread and streams its messages as JSON lines.

    Args:
        job: called with the method `emit`, which sends a message.
    """

    media_type = "application/x-ndjson"

    def __init__(self, job: Job):
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
        """Send a message to the client, or end the response if the message is None.

        Raises:
            _Stopped: if the client has closed the connection.
        """
        if self._is_stopped and message is not None:
            raise _Stopped
        with contextlib.suppress(RuntimeError):  # the server was stopped
            self._loop.call_soon_threadsafe(self._pending.put_nowait, message)

    def _run(self, job: Job) -> None:
        """Run a job to its end; if it fails, send the error as the last message."""
        try:
            job(self.emit)
        except _Stopped:
            pass
        except Refusal as error:
            self.emit({"type": "error", "error": str(error), "status": error.status})
        except Exception:
            _log.exception("a request failed")
            self.emit({"type": "error", "error": FAILED, "status": 500})
        finally:
            self.emit(None)

    async def _lines(self) -> AsyncIterator[str]:
        while True:
            message = await self._pending.get()
            if message is None:
                return
            yield json.dumps(message, allow_nan=False) + "\n"


def live_response(read: Callable[[], bytes]) -> StreamingResponse:
    """Return a response that sends data at once, and again whenever the data changes.

    The data is sent as server-sent events until the client closes the connection.

    Args:
        read: returns the current data as one line of JSON; it is called at most every
            `READ_EVERY_S` seconds, on a worker thread.
    """
    return StreamingResponse(_events(read), media_type="text/event-stream", headers=HEADERS)


async def _events(read: Callable[[], bytes]) -> AsyncIterator[bytes]:
    clock = asyncio.get_running_loop().time
    sent = b""
    while True:
        began = clock()
        current = await run_in_threadpool(read)
        if current != sent:
            sent = current
            yield b"data: %b\n\n" % sent
        shortest_s = (clock() - began) / _MAX_WORK
        await asyncio.sleep(max(READ_EVERY_S, shortest_s))
