"""What changes while a page is open: sent at once, and again whenever it has changed.

In: a function that looks. Out: an HTTP response of type text/event-stream for each viewer. One task
looks for all viewers, and none while there is no viewer.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from alphazero.play.requests import BUSY, Refusal
from alphazero.web.streams import HEADERS, KEEP_ALIVE_S

LOOK_EVERY_S = 0.5
MAX_VIEWERS = 100
#: Of the time; looking through hundreds of runs takes long.
_MOST_WORK = 0.2
_log = logging.getLogger("alphazero.web")


class Live:
    """Shows all viewers what a function returns.

    Args:
        look: takes a thread; returns JSON in one line.
    """

    def __init__(self, look: Callable[[], bytes | memoryview]):
        self._look = look
        self._seen = b""
        self._viewers: set[asyncio.Event] = set()  # set when there is news
        self._task: asyncio.Task[None] | None = None

    async def endpoint(self, request: Request) -> Response:
        """Respond to a viewer."""
        if request.method == "HEAD":
            return Response(media_type=_Events.media_type)
        if len(self._viewers) >= MAX_VIEWERS:
            raise Refusal("too many people are here at the same time: try again soon.", BUSY)
        return _Events(self)

    def enter(self, news: asyncio.Event) -> None:
        """Let a viewer in, and look if nobody did until now."""
        self._viewers.add(news)
        if self._seen:
            news.set()
        if self._task is None:
            self._task = asyncio.create_task(self._watch())

    def leave(self, news: asyncio.Event) -> None:
        """Let a viewer go, and look no more if it was the last."""
        self._viewers.discard(news)
        if not self._viewers and self._task is not None:
            self._task.cancel()
            self._task, self._seen = None, b""

    async def events(self, news: asyncio.Event) -> AsyncIterator[bytes]:
        """Yield what to send: events, and a comment if there is no news for long."""
        while True:
            try:
                async with asyncio.timeout(KEEP_ALIVE_S):
                    await news.wait()
            except TimeoutError:
                yield b":\n\n"
                continue
            news.clear()
            yield b"data: %b\n\n" % self._seen

    async def _watch(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            began = clock()
            try:
                seen = bytes(await run_in_threadpool(self._look))
            except Exception:
                _log.exception("the runs cannot be looked at")
                seen = self._seen
            if seen != self._seen:
                self._seen = seen
                for news in self._viewers:
                    news.set()
            await asyncio.sleep(max(LOOK_EVERY_S, (clock() - began) / _MOST_WORK))


class _Events(StreamingResponse):
    """The response to one viewer."""

    media_type = "text/event-stream"

    def __init__(self, live: Live):
        self._live, self._news = live, asyncio.Event()
        super().__init__(live.events(self._news), headers=HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._live.enter(self._news)
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._live.leave(self._news)
