"""Send live data when a page opens, and again whenever the data changes.

In: a function that reads the data. Out: server-sent events until the page disconnects.
"""

import asyncio
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from alphazero.web.streams import HEADERS

READ_EVERY_S = 0.5
#: Maximum fraction of the time that is spent reading, which is slow with hundreds of runs.
_MAX_WORK = 0.2


def live_response(read: Callable[[], bytes]) -> StreamingResponse:
    """Make a response that sends the data at first, and again whenever it changes.

    Args:
        read: returns the data as one line of JSON; called on a worker thread.
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
        await asyncio.sleep(max(READ_EVERY_S, (clock() - began) / _MAX_WORK))
