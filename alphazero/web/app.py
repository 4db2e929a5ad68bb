"""The web application: which address answers what. HTTP is known here and in `guard` only.

In: HTTP requests. Out: JSON, streams of JSON lines, and the files of the page. Every refusal has
the status that fits and the body {"error": "one plain sentence"}.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from alphazero.web.backend import Backend, Job
from alphazero.web.fields import read_object
from alphazero.web.guard import Guard
from alphazero.web.json_lines import JsonLines
from alphazero.web.refusal import Refusal

STATIC = Path(__file__).parent / "static"
MAX_BODY = 65_536  # bytes
MAX_ERROR = 300  # characters
BODY_S = 10.0

Answer = Callable[[dict[str, Any]], dict[str, Any]]


def make_app(backend: Backend, token: str | None = None, only_local: bool = True) -> Guard:
    """Return the application.

    Args:
        token: that requests must know; None asks for none.
        only_local: whether it answers to the names of this machine alone.
    """
    streams = JsonLines()

    @contextlib.asynccontextmanager
    async def lifespan(_):
        yield
        streams.close()

    api = [
        Route("/games", _get(lambda request: backend.games())),
        Route("/runs", _get(lambda request: backend.runs())),
        Route("/run", _get(lambda request: backend.run(request.query_params.get("id")))),
        Route("/position", _post(backend.position), methods=["POST"]),
        Route("/exact", _post(backend.exact), methods=["POST"]),
        *(
            Route(f"/{name}", _Streamed(getattr(backend, name), streams), methods=["POST"])
            for name in ("move", "analyse", "review", "misplayed")
        ),
    ]
    page = _PageFiles(directory=STATIC, html=True, check_dir=False)
    routes = [Mount("/api", routes=api), Mount("/", page)]
    handlers: dict[Any, Any] = {HTTPException: _http_error, Refusal: _refused, Exception: _failed}
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    return Guard(app, token, only_local)


class _PageFiles(StaticFiles):
    """The files of the page; a browser asks each time whether one has changed."""

    def file_response(self, *args, **kwargs) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        return response


def _get(answer: Callable[[Request], dict[str, Any]]):
    async def endpoint(request: Request) -> Response:
        return _json(await run_in_threadpool(answer, request))

    return endpoint


def _post(answer: Answer):
    async def endpoint(request: Request) -> Response:
        return _json(await run_in_threadpool(answer, await _read(request)))

    return endpoint


class _Streamed:
    """An address whose answer is a stream: an ASGI application.

    Args:
        prepare: checks a request and returns its job.
    """

    def __init__(self, prepare: Callable[[dict[str, Any]], Job], streams: JsonLines):
        self._prepare = prepare
        self._streams = streams

    async def __call__(self, scope, receive, send) -> None:
        request = await _read(Request(scope, receive))
        job = await run_in_threadpool(self._prepare, request)
        await self._streams.respond(job, receive, send)


async def _read(request: Request) -> dict[str, Any]:
    """Return the JSON object in the body of a request, which may be neither large nor slow."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal("the request must say Content-Type: application/json.", 415)
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise Refusal(f"a request has at most {MAX_BODY} bytes.", 413)
    except TimeoutError:
        raise Refusal(f"the request did not arrive within {BODY_S:g} seconds.", 408) from None
    return read_object(bytes(body))


def _json(value: dict[str, Any], status: int = 200) -> Response:
    text = json.dumps(value, allow_nan=False)
    headers = {"cache-control": "no-store"}
    return Response(text, status, headers, media_type="application/json")


def _error(message: str, status: int) -> Response:
    if len(message) > MAX_ERROR:
        message = message[: MAX_ERROR - 4] + " ..."
    response = _json({"error": message}, status)
    if status in (408, 413):  # the rest of the body is not read
        response.headers["connection"] = "close"
    return response


async def _refused(_: Request, error: Refusal) -> Response:
    return _error(str(error), error.status)


async def _http_error(request: Request, error: HTTPException) -> Response:
    sentences = {
        404: f"there is nothing at {request.url.path[:80]}.",
        405: f"{request.url.path[:80]} does not take the method {request.method[:20]}.",
    }
    response = _error(sentences.get(error.status_code, str(error.detail)), error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _failed(_: Request, error: Exception) -> Response:
    """Answer in a sentence; Starlette raises the error again, and uvicorn prints it."""
    return _error("this request failed here; the terminal of the server says why.", 500)
