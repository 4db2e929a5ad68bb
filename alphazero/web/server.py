"""Run the web server: open its socket, determine the page's address and hand over to uvicorn."""

import ipaddress
import secrets
import socket
from typing import NamedTuple

import uvicorn

from alphazero.runtime.errors import ConfigError
from alphazero.web.app import make_app
from alphazero.web.backend import Backend

FIRST_PORT = 8000  #: the first port to try
NUM_PORTS = 50  #: number of ports to try from there on
#: Maximum number of simultaneous connections; further ones get HTTP status 503.
MAX_CONNECTIONS = 100


class Address(NamedTuple):
    """The address of the page, and the token that a visitor needs to open it."""

    host: str  #: the address that the server listens on; "0.0.0.0" and "::" mean all addresses
    port: int
    token: str | None  #: None if no token is required

    @property
    def url(self) -> str:
        """The page's URL, such as "http://127.0.0.1:8000/", with the token if one is required."""
        host = self.host
        if host in ("0.0.0.0", "::"):
            host = _own_address()
        if ":" in host:
            host = f"[{host}]"
        query = "" if self.token is None else f"?token={self.token}"
        return f"http://{host}:{self.port}/{query}"


def _own_address() -> str:
    """Return this machine's network address, or its host name if it is not on a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # reserved for documentation; nothing is sent
            return probe.getsockname()[0]
        except OSError:
            return socket.gethostname()


def is_local(host: str) -> bool:
    """Return whether an address can be reached only from this machine.

    Args:
        host: an IP address or a host name; "localhost" is the only name considered local.
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_socket(host: str, port: int | None) -> socket.socket:
    """Open a non-blocking TCP socket that listens for connections.

    Args:
        host: the IP address or host name to listen on.
        port: the port to listen on; None means the first free one of `NUM_PORTS` ports, beginning
            with `FIRST_PORT`.

    Raises:
        ConfigError: if the host is not an address of this machine, or no such port is free.
    """
    ports = range(FIRST_PORT, FIRST_PORT + NUM_PORTS) if port is None else [port]
    try:
        family = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][0]
    except OSError:
        raise ConfigError.of("host", host, "an address of this machine") from None
    for candidate in ports:
        # asyncio sets TCP_NODELAY only if the protocol is explicit; it saves 40 ms per response.
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
    """The web server of the page; it listens once it is constructed, and responds in `run`.

    Args:
        backend: computes the responses.
        host: the IP address or host name to listen on.
        port: the port to listen on; None means the first free one.
        token: a secret that visitors must present. If None, a random one is made if other machines
            can connect; otherwise none is needed.
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
            log_config=None,  # uvicorn's would close the handlers of other libraries
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=MAX_CONNECTIONS,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve requests until the process ends.

        Call this on a worker thread: on the main thread, uvicorn would respond to Ctrl-C by waiting
        until open pages disconnect.
        """
        with self._socket:
            self._server.run(sockets=[self._socket])
