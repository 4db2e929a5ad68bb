"""Stream a job's messages as JSON lines while it runs.

In: a job, which runs in a separate thread. Out: an HTTP response of type application/x-ndjson.
Closing the connection stops the job.
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

from alphazero.play.requests import Refusal
from alphazero.web.jobs import Job, Stopped

HEADERS = {"x-accel-buffering": "no"}  # asks proxies not to buffer lines
FAILED = "this request failed on the server; its terminal shows the error."
_log = logging.getLogger("alphazero.web")


class JsonLines(StreamingResponse):
    """An HTTP response that streams a job's messages, see `alphazero.web.jobs.Stream`."""

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
        """Send a message to the client; None ends the response."""
        with contextlib.suppress(RuntimeError):  # the server was stopped
            self._loop.call_soon_threadsafe(self._pending.put_nowait, message)

    def is_stopped(self) -> bool:
        """Return whether the connection was closed."""
        return self._is_stopped

    def _run(self, job: Job) -> None:
        """Run a job to its end; if it fails, report the error as the last message."""
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
            self.emit(None)

    async def _lines(self) -> AsyncIterator[str]:
        while True:
            message = await self._pending.get()
            if message is None:
                return
            yield json.dumps(message, allow_nan=False) + "\n"
