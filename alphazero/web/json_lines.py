"""Streams: the messages of a job as lines of JSON, while it works.

In: a job, which runs in a thread of its own. Out: an HTTP response of type application/x-ndjson.
When the connection is closed the job is stopped. A message about progress that was not sent in time
gives way to the next one, so that a slow reader gets news and no queue grows.
"""

import asyncio
import contextlib
import json
import logging
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from alphazero.web.backend import Job
from alphazero.web.refusal import BUSY, Refusal, Stopped

KEEP_ALIVE_S = 10.0
MAX_STREAMS = 100
#: Messages that wait for a reader; a job that has more is ended.
MAX_PENDING = 2_000
_HEADERS = [
    (b"content-type", b"application/x-ndjson"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # a proxy must pass each line on at once
]
_log = logging.getLogger("alphazero.web")


class Mailbox:
    """The messages of one job on their way to one connection: a `backend.Stream`.

    Threads put messages in, the event loop takes them out.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop = loop
        self._news = asyncio.Event()
        self._pending: deque[dict[str, Any]] = deque()
        self._is_stopped = self._is_closed = False

    def emit(self, message: dict[str, Any]) -> None:
        """See `alphazero.web.backend.Stream.emit`."""
        with contextlib.suppress(RuntimeError):  # the server was stopped
            self._loop.call_soon_threadsafe(self._put, message)

    def is_stopped(self) -> bool:
        """See `alphazero.web.backend.Stream.is_stopped`."""
        return self._is_stopped

    def stop(self) -> None:
        """Tell the job that nobody reads any more."""
        self._is_stopped = True

    def close(self) -> None:
        """Tell the reader that no more messages follow."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._close)

    async def lines(self):
        """Yield what to send: lines of JSON, and a blank line if there is no news for long."""
        while True:
            if self._pending:
                message = self._pending.popleft()
                yield json.dumps(message, allow_nan=False).encode() + b"\n"
                continue
            if self._is_closed:
                return
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), KEEP_ALIVE_S)
            except TimeoutError:
                yield b"\n"

    def _put(self, message: dict[str, Any]) -> None:
        if self._pending and _is_news(message) and _is_news(self._pending[-1]):
            self._pending.pop()
        self._pending.append(message)
        if len(self._pending) > MAX_PENDING:
            self.stop()
        self._news.set()

    def _close(self) -> None:
        self._is_closed = True
        self._news.set()


def _is_news(message: dict[str, Any]) -> bool:
    """Return whether a later message of the same kind makes this one worthless."""
    return message["type"] == "progress" or message.get("final") is False


class JsonLines:
    """Runs jobs in threads and sends their messages; refuses more than `MAX_STREAMS` at a time."""

    def __init__(self):
        self._threads = ThreadPoolExecutor(MAX_STREAMS, "stream")
        self._num_running = 0

    async def respond(self, job: Job, receive, send) -> None:
        """Send the response to a request, from its status to its last line.

        Raises:
            Refusal: if there are too many streams.
        """
        if self._num_running >= MAX_STREAMS:
            raise Refusal("too many people are here at the same time: try again soon.", BUSY)
        mailbox = Mailbox(asyncio.get_running_loop())
        self._num_running += 1
        running = asyncio.get_running_loop().run_in_executor(self._threads, _run, job, mailbox)
        running.add_done_callback(self._count_down)
        listening = asyncio.create_task(_stop_when_closed(receive, mailbox))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            async for line in mailbox.lines():
                await send({"type": "http.response.body", "body": line, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            mailbox.stop()
            listening.cancel()

    def _count_down(self, _) -> None:
        self._num_running -= 1

    def close(self) -> None:
        """End the threads when their jobs are done."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _run(job: Job, mailbox: Mailbox) -> None:
    """Run a job to its end; what goes wrong becomes its last message."""
    try:
        job(mailbox)
    except Stopped:
        pass
    except Refusal as error:
        mailbox.emit({"type": "error", "error": str(error), "status": error.status})
    except Exception:
        _log.exception("a request failed")
        message = "this request failed here; the terminal of the server says why."
        mailbox.emit({"type": "error", "error": message, "status": 500})
    finally:
        mailbox.close()


async def _stop_when_closed(receive, mailbox: Mailbox) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    mailbox.stop()
    mailbox.close()
