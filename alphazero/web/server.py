"""The server: its socket, and where the page can be opened.

In: a backend and an address. Out: a page that answers; uvicorn does HTTP.
"""

import ipaddress
import secrets
import socket
from typing import NamedTuple

import uvicorn

from alphazero.runtime.errors import ConfigError
from alphazero.web.app import make_app
from alphazero.web.backend import Backend

#: The first port that is tried, and how many after it.
FIRST_PORT, NUM_PORTS = 8000, 50
#: Connections at once; more are told to come back.
MAX_CONNECTIONS = 100


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
            http="h11",
            ws="none",
            lifespan="off",
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=MAX_CONNECTIONS,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Answer requests; not in the main thread, where uvicorn would wait for open pages."""
        with self._socket:
            self._server.run(sockets=[self._socket])
