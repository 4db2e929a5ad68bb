"""The web application: which address answers what. HTTP is known here, in `guard` and `streams`.

In: HTTP requests. Out: JSON, streams of JSON lines, and the files of the page. Every refusal of the
application has the status that fits and the body {"error": "one plain sentence"}.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles

from alphazero.play.requests import Refusal, read_json, shortened
from alphazero.web.backend import Backend
from alphazero.web.guard import Guard
from alphazero.web.live import live_response
from alphazero.web.streams import FAILED, JsonLines

STATIC = Path(__file__).parent / "static"
MAX_BODY = 65_536  # bytes
_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


def make_app(backend: Backend, token: str | None = None) -> Guard:
    """Return the application.

    Args:
        token: that requests must know. With None the names of this machine alone are answered;
            whoever knows the token may come by any name, such as that of a proxy.
    """

    async def live(request: Request) -> Response:
        return live_response(lambda: bytes(JSONResponse(backend.live()).body))

    answers = (backend.position, backend.exact)
    jobs = (backend.move, backend.analyse, backend.review, backend.misplayed)
    api = [
        Route("/games", lambda request: JSONResponse(backend.games())),
        Route("/live", live),
        Route("/run", lambda request: JSONResponse(backend.run(dict(request.query_params)))),
        *(Route(f"/{one.__name__}", _post(one, JSONResponse), methods=["POST"]) for one in answers),
        *(Route(f"/{one.__name__}", _post(one, JsonLines), methods=["POST"]) for one in jobs),
    ]
    files = StaticFiles(directory=STATIC, check_dir=False)

    async def page(request: Request) -> Response:
        return await files.get_response("index.html", request.scope)

    # Nothing redirects: the address would be made of whatever the request says its host is.
    routes = [
        Mount("/api", Router(api, redirect_slashes=False)),
        Route("/", page),
        Mount("/", files),
    ]
    handlers: dict[Any, Any] = {HTTPException: _http_error, Refusal: _refused, Exception: _failed}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    names = _LOCAL_NAMES if token is None else ("*",)
    return Guard(TrustedHostMiddleware(app, names), token)


def _post(
    answer: Callable[[Any], Any], respond: Callable[[Any], Response]
) -> Callable[[Request], Awaitable[Response]]:
    """Return what responds to the JSON in the body of a request; the answer takes a thread."""

    async def endpoint(request: Request) -> Response:
        return respond(await run_in_threadpool(answer, await _read(request)))

    return endpoint


async def _read(request: Request) -> Any:
    """Return the JSON in the body of a request, which may not be large."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal("the request must say Content-Type: application/json.", 415)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise Refusal(f"a request has at most {MAX_BODY} bytes.", 413)
    return read_json(bytes(body))


async def _refused(_: Request, error: Refusal) -> Response:
    # The rest of a body that is too large is not read.
    headers = {"connection": "close"} if error.status == 413 else None
    return JSONResponse({"error": shortened(str(error))}, error.status, headers)


async def _http_error(_: Request, error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


async def _failed(_: Request, error: Exception) -> Response:
    """Answer in a sentence; Starlette raises the error again, and uvicorn prints it."""
    return JSONResponse({"error": FAILED}, 500)
