"""The server: sockets, time limits of connections, and where the page can be opened.

In: a backend and an address. Out: a page that answers until Ctrl-C. uvicorn does HTTP; what it
leaves open is closed here: a connection that never sends a whole request, or never reads.
"""

import asyncio
import contextlib
import ipaddress
import secrets
import socket
import warnings
from typing import NamedTuple

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from alphazero.runtime.errors import ConfigError
from alphazero.web.app import make_app
from alphazero.web.backend import Backend

#: The first port that is tried, and how many after it.
FIRST_PORT, NUM_PORTS = 8000, 50
#: Answered at once; more are told to come back, and many more are closed.
MAX_CONNECTIONS, _MAX_OPEN = 500, 600
#: Seconds for the head of a request, and for a reader to make room.
HEAD_S, READ_S = 10.0, 20.0
_KEEP_ALIVE_S = 15
#: Connections that are accepted in one go, before any of them can be closed.
_BACKLOG = 100


class Address(NamedTuple):
    """Where the page is."""

    host: str
    port: int
    token: str | None

    @property
    def url(self) -> str:
        """The address to open, with the token."""
        host = _own_address() if self.host in ("0.0.0.0", "::") else self.host
        host = f"[{host}]" if ":" in host else host
        query = "" if self.token is None else f"?token={self.token}"
        return f"http://{host}:{self.port}/{query}"


def _own_address() -> str:
    """Return the address of this machine in its network; its name if it is in none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address for documentation: nothing is sent
            return probe.getsockname()[0]
        except OSError:
            return socket.gethostname()


class Connection(H11Protocol):
    """One connection, which is closed if nothing moves on it."""

    _head_timer: asyncio.TimerHandle | None = None
    _read_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > _MAX_OPEN:
            transport.abort()
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_head()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._read_timer is None:
            self._read_timer = self.loop.call_later(READ_S, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._read_timer = self._cancel(self._read_timer)

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_timer = self._cancel(self._head_timer)
        self._read_timer = self._cancel(self._read_timer)
        super().connection_lost(exc)

    def _watch_head(self) -> None:
        """Allow some seconds for the head of the next request, if none is being answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._head_timer = self._cancel(self._head_timer)
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_S, self._close_if_silent)

    @staticmethod
    def _cancel(timer: asyncio.TimerHandle | None) -> None:
        """Return what a timer is after it was cancelled."""
        if timer is not None:
            timer.cancel()
        return None

    def _close_if_silent(self) -> None:
        self._head_timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()


def is_local(host: str) -> bool:
    """Return whether an address is reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_socket(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens.

    Args:
        port: None takes the first free one from `FIRST_PORT` on.

    Raises:
        ConfigError: if nothing can listen there.
    """
    ports = range(FIRST_PORT, FIRST_PORT + NUM_PORTS) if port is None else [port]
    try:
        family = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][0]
    except OSError:
        raise ConfigError.of("host", host, "an address of this machine") from None
    for candidate in ports:
        # TCP is named so that asyncio sends at once (TCP_NODELAY): 40 ms less for each answer.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, candidate))
            listening.listen(socket.SOMAXCONN)
            listening.setblocking(False)
            return listening
        except OSError as error:
            listening.close()
            reason = error.strerror or str(error)
    raise ConfigError.of("port", ports[-1], "a free port", f"{host} refuses it: {reason}")


class _Uvicorn(uvicorn.Server):
    """Ends at once: nobody is waited for, and what is under way is given up."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # uvicorn then knows that nobody waits for an answer
        for task in list(self.server_state.tasks):
            task.cancel()
        await super().shutdown(sockets)


class Server:
    """A page that can be opened.

    Args:
        host: the address to listen on.
        port: None takes a free one.
        token: that visitors must know; None makes one if others than this machine can come.
    """

    def __init__(
        self,
        backend: Backend,
        host: str = "127.0.0.1",
        port: int | None = None,
        token: str | None = None,
    ):
        self._socket = open_socket(host, port)
        if token is None and not is_local(host):
            token = secrets.token_urlsafe(16)
        self.address = Address(host, self._socket.getsockname()[1], token)
        config = uvicorn.Config(
            make_app(backend, token),
            http=Connection,
            ws="none",
            lifespan="off",
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=MAX_CONNECTIONS,
            backlog=_BACKLOG,
            timeout_keep_alive=_KEEP_ALIVE_S,
        )
        self._server = _Uvicorn(config)

    def run(self) -> None:
        """Answer until Ctrl-C."""
        with self._socket, warnings.catch_warnings(), contextlib.suppress(KeyboardInterrupt):
            # What an interrupt leaves before the event loop runs.
            warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
            self._server.run(sockets=[self._socket])
