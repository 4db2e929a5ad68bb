"""Control access to the server with checks that every request must pass before it is handled.

Any web site that the user visits can send requests to a server on this machine, so API requests
must originate from this server's page. A server without a token answers only to the names of this
machine, which prevents DNS rebinding. A server that other machines can reach asks for a token once,
and the browser keeps the token in a cookie.
"""

import re
import secrets

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from alphazero.play.requests import quoted

COOKIE = "alphazero_token"
_COOKIE_DAYS = 30
_LOCAL_HOST = re.compile(r"(?ai)(localhost|127\.0\.0\.1|\[::1\])(:\d*)?")
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "cache-control": "no-cache",  # the browser checks each time whether a file has changed
    "content-security-policy": CONTENT_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class Guard:
    """ASGI middleware that refuses requests from other web sites and requests without the token.

    Args:
        app: the application to protect.
        token: a secret that requests must present as a bearer token, in a cookie or, to open the
            page, as ``?token=`` in the page's address; the host name of a request, such as a
            proxy's, is then not checked. If None, no token is needed, but only the host names
            localhost, 127.0.0.1 and [::1] are accepted.
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
        """Return the response that refuses or redirects a request, or None if it may pass.

        A request for the page whose address contains the token is redirected to the address without
        the token; the redirect stores the token in a cookie.
        """
        if request.scope["path"].startswith("/api/") and not _is_from_page(request):
            return JSONResponse({"error": "other web sites may not use this server."}, 403)
        host = request.headers.get("host", "")
        if self._token is None and not _LOCAL_HOST.fullmatch(host):
            message = f"without a token, only localhost is served, not {quoted(host)}: "
            message += "start the server with token=OUR_OWN_TOKEN."
            return JSONResponse({"error": message}, 400)
        if self._token is None or self._has_token(request):
            return None
        is_page = request.scope["path"] == "/" and request.method == "GET"
        if is_page and self._is_token(request.query_params.get("token", "")):
            return self._redirect_with_cookie(request)
        message = "this server requires a token: open the address that its terminal shows."
        return JSONResponse({"error": message}, 401)

    def _has_token(self, request: Request) -> bool:
        _, _, bearer = request.headers.get("authorization", "").rpartition(" ")
        return self._is_token(bearer) or self._is_token(request.cookies.get(COOKIE, ""))

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode(), (self._token or "").encode())

    def _redirect_with_cookie(self, request: Request) -> Response:
        """Return a redirect that moves the token from the page's address to a cookie."""
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
    """Return whether a request was sent by this server's own page or from outside a browser.

    Browsers state where a request comes from in the headers Origin and Sec-Fetch-Site.
    """
    host = request.headers.get("host", "")
    own = {f"http://{host}", f"https://{host}"}  # https if a proxy adds it
    origins = request.headers.getlist("origin")
    sites = request.headers.getlist("sec-fetch-site")
    return own.issuperset(origins) and {"none", "same-origin"}.issuperset(sites)


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
