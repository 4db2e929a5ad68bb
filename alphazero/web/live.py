"""What changes while a page is open: sent at once, and again whenever it has changed.

In: a function that looks. Out: a stream of server-sent events, which lasts until the page leaves.
"""

import asyncio
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from alphazero.web.streams import HEADERS

LOOK_EVERY_S = 0.5
#: Of the time; looking through hundreds of runs takes long.
_MAX_WORK = 0.2


def live_response(look: Callable[[], bytes]) -> StreamingResponse:
    """Return a response that shows what a function returns.

    Args:
        look: takes a thread; returns JSON in one line.
    """
    return StreamingResponse(_events(look), media_type="text/event-stream", headers=HEADERS)


async def _events(look: Callable[[], bytes]) -> AsyncIterator[bytes]:
    clock = asyncio.get_running_loop().time
    seen = b""
    while True:
        began = clock()
        found = await run_in_threadpool(look)
        if found != seen:
            seen = found
            yield b"data: %b\n\n" % seen
        await asyncio.sleep(max(LOOK_EVERY_S, (clock() - began) / _MAX_WORK))
