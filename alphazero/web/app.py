"""Map the HTTP routes of the web application to the methods of `Backend`.

Responses are JSON, streams of JSON lines, or files of the page. A refused request is answered with
an HTTP error status and the body {"error": "one plain sentence"}. Only this module, `guard` and
`streams` handle HTTP.
"""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles

from alphazero.play.requests import Refusal, read_json, shortened
from alphazero.web.backend import Backend
from alphazero.web.guard import Guard
from alphazero.web.streams import FAILED, JsonLines, live_response

STATIC = Path(__file__).parent / "static"
MAX_BODY = 1_048_576  # largest request body, in bytes


class Json(JSONResponse):
    """A JSON response in ASCII, which can hold paths that are not UTF-8."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def make_app(backend: Backend, token: str | None) -> Guard:
    """Make the web application, an ASGI callable that serves the page and its API.

    Args:
        backend: computes the responses of the API.
        token: a secret that every request must present; None if none is needed (see `Guard`).
    """

    async def live(request: Request) -> Response:
        return live_response(lambda: bytes(Json(backend.live()).body))

    def run(request: Request) -> Response:
        return Json(backend.run(request.query_params.get("id", "")))

    immediate = (backend.position, backend.positions, backend.exact)
    jobs = (backend.move, backend.analyse, backend.review)
    api = [
        Route("/games", lambda request: Json(backend.games())),
        Route("/live", live),
        Route("/run", run),
    ]
    for respond, answers in ((Json, immediate), (JsonLines, jobs)):
        for answer in answers:
            path = f"/{answer.__name__}"
            api.append(Route(path, _post(answer, respond), methods=["POST"]))
    files = StaticFiles(directory=STATIC, check_dir=False)

    async def page(request: Request) -> Response:
        return await files.get_response("index.html", request.scope)

    # No redirects: Starlette would build their target from the Host header, which can be forged.
    routes = [
        Mount("/api", Router(api, redirect_slashes=False)),
        Route("/", page),
        Mount("/", files),
    ]
    handlers: dict[Any, Any] = {HTTPException: _http_error, Refusal: _refused, Exception: _failed}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    streams = (*DEFAULT_EXCLUDED_CONTENT_TYPES, JsonLines.media_type)  # each line is sent at once
    return Guard(GZipMiddleware(app, compresslevel=6, exclude_content_types=streams), token)


def _post(
    answer: Callable[[Any], Any], respond: Callable[[Any], Response]
) -> Callable[[Request], Awaitable[Response]]:
    """Make an endpoint that passes a request's JSON body to ``answer`` on a worker thread.

    Args:
        answer: computes, from the parsed body, the data of the response or a `Job` that sends it.
        respond: converts the result of ``answer`` to an HTTP response.
    """

    async def endpoint(request: Request) -> Response:
        plain = await _read(request)
        return respond(await run_in_threadpool(answer, plain))

    return endpoint


async def _read(request: Request) -> Any:
    """Parse the JSON body of a request.

    Raises:
        Refusal: if the content type is not application/json, the body is larger than `MAX_BODY`
            bytes, or the body is not valid JSON.
    """
    content_type = request.headers.get("content-type", "")
    kind = content_type.partition(";")[0].strip()
    if kind.lower() != "application/json":
        raise Refusal("the request must have Content-Type: application/json.", 415)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise Refusal(f"the request is larger than {MAX_BODY} bytes.", 413)
    return read_json(bytes(body))


async def _refused(_: Request, error: Refusal) -> Response:
    # The rest of a body that is too large is never read.
    headers = {"connection": "close"} if error.status == 413 else None
    return Json({"error": shortened(str(error))}, error.status, headers)


async def _http_error(_: Request, error: HTTPException) -> Response:
    return Json({"error": error.detail}, error.status_code, error.headers)


async def _failed(_: Request, error: Exception) -> Response:
    """Respond to an unexpected exception with status 500 and a general error message.

    Starlette re-raises the exception afterwards, so that uvicorn prints it on the terminal.
    """
    return Json({"error": FAILED}, 500)
