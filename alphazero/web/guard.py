"""Who may ask: the checks that every request passes before anything else looks at it.

In: requests. Out: the same requests, or a refusal. A page on this machine is open to every web site
that its owner visits, so a request must come from the page itself: its host must be this machine
(else a foreign name that leads here could read answers), its origin this page. A server on another
address asks for a token besides, once, and remembers it in a cookie.
"""

import html
import secrets
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

COOKIE = "alphazero_token"
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_COOKIE_DAYS = 30
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_SECURITY_HEADERS = {
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
        only_local: whether it answers to the names of this machine alone.
    """

    def __init__(self, app, token: str | None, only_local: bool):
        self._app = app
        self._token = token
        self._only_local = only_local

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_security_headers(send)
        response = self._refusal(scope)
        await (response or self._app)(scope, receive, send)

    def _refusal(self, scope) -> Response | None:
        """Return the response to a request that goes no further; None for the others."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._only_local and _host_name(host) not in _LOCAL_NAMES:
            return _error(f"this server answers to localhost, not to '{host[:80]}'.", 403)
        if scope["path"].startswith("/api/") and not _is_from_page(headers, host):
            return _error("a page of another site may not ask this server.", 403)
        return None if self._token is None else self._token_refusal(scope, headers)

    def _token_refusal(self, scope, headers: Headers) -> Response | None:
        if self._knows_token(headers):
            return None
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        given = query.pop("token", None)
        is_page = scope["path"] == "/" and scope["method"] == "GET"
        if is_page and given is not None and self._is_token(given):
            return self._remembering(scope, query)
        if is_page:
            reason = "" if given is None else "That was not the token."
            page = _TOKEN_PAGE.format(reason=html.escape(reason))
            return HTMLResponse(page, 401, headers={"cache-control": "no-store"})
        return _error("this server asks for a token: open its page with ?token=TOKEN.", 401)

    def _knows_token(self, headers: Headers) -> bool:
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        cookies = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
        known = [value for name, _, value in cookies if name == COOKIE]
        known += [bearer] if kind.lower() == "bearer" else []
        return any(self._is_token(value) for value in known)

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode(), (self._token or "").encode())

    def _remembering(self, scope, query: dict[str, str]) -> Response:
        """Return a redirection to the page without the token in its address, with a cookie."""
        response = RedirectResponse("./" + (f"?{urlencode(query)}" if query else ""), 303)
        response.set_cookie(
            COOKIE,
            self._token or "",
            max_age=_COOKIE_DAYS * 86_400,
            httponly=True,
            samesite="strict",
            secure=scope.get("scheme") == "https",
        )
        return response


def _host_name(host: str) -> str:
    """Return the name in a Host header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_from_page(headers: Headers, host: str) -> bool:
    """Return whether a request comes from this server's own page, or from no page at all."""
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        return False
    return headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def _error(message: str, status: int) -> JSONResponse:
    return JSONResponse({"error": message}, status)


def _with_security_headers(send):
    async def send_with_headers(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            known = {name for name, _ in message["headers"]}
            added = [
                (name.encode(), value.encode())
                for name, value in _SECURITY_HEADERS.items()
                if name.encode() not in known
            ]
            message = message | {"headers": [*message["headers"], *added]}
        await send(message)

    return send_with_headers
