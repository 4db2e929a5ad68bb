"""Who may ask: the checks that every request passes before anything else looks at it.

In: requests. Out: the same requests, or a refusal. A page on this machine is open to every web site
that its owner visits, so the origin of a request must be this page; that its host is this machine
(else a foreign name that leads here could read answers) is checked by `alphazero.web.app`. A server
on another address asks for a token, once, and remembers it in a cookie.
"""

import secrets

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "alphazero_token"
_COOKIE_DAYS = 30
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "cache-control": "no-cache",  # the browser asks each time whether a file has changed
    "content-security-policy": CONTENT_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_TOKEN_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Token</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1>This page asks for a token</h1>
<p>{reason} The terminal in which <code>alphazero serve</code> runs shows it.</p>
<form method="get" action="./"><label>Token <input name="token" type="password" required
autocomplete="current-password"></label> <button>Open</button></form></main></body></html>
"""


class Guard:
    """ASGI middleware: see the module.

    Args:
        app: what is guarded.
        token: that requests must know; None asks for none.
    """

    def __init__(self, app: ASGIApp, token: str | None):
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = None
        if scope["type"] == "http":
            send = _with_headers(send)
            response = self._refusal(Request(scope))
        await (response or self._app)(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        """Return the response to a request that goes no further; None for the others."""
        if request.scope["path"].startswith("/api/") and not _is_from_page(request):
            return JSONResponse({"error": "a page of another site may not ask this server."}, 403)
        if self._token is None or self._knows_token(request):
            return None
        if request.scope["path"] != "/" or request.method != "GET":
            message = "this server asks for a token: open its page with ?token=TOKEN."
            return JSONResponse({"error": message}, 401)
        given = request.query_params.get("token")
        if given is not None and self._is_token(given):
            return self._remembering(request)
        reason = "" if given is None else "That was not the token."
        return HTMLResponse(_TOKEN_PAGE.format(reason=reason), 401)

    def _knows_token(self, request: Request) -> bool:
        kind, _, bearer = request.headers.get("authorization", "").partition(" ")
        is_bearer = kind.lower() == "bearer" and self._is_token(bearer)
        return is_bearer or self._is_token(request.cookies.get(COOKIE, ""))

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode(), (self._token or "").encode())

    def _remembering(self, request: Request) -> Response:
        """Return a redirection to the page without the token in its address, with a cookie."""
        response = RedirectResponse("./", 303)
        response.set_cookie(
            COOKIE,
            self._token or "",
            max_age=_COOKIE_DAYS * 86_400,
            httponly=True,
            samesite="strict",
            secure=request.scope.get("scheme") == "https",
        )
        return response


def _is_from_page(request: Request) -> bool:
    """Return whether a request comes from this server's own page, or from no page at all."""
    host = request.headers.get("host", "")
    own = {f"http://{host}", f"https://{host}"}  # https is that of a proxy
    origins, sites = map(request.headers.getlist, ("origin", "sec-fetch-site"))
    return own.issuperset(origins) and {"none", "same-origin"}.issuperset(sites)


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
