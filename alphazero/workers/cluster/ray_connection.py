"""Connect to a Ray cluster, list its nodes, and explain why remote calls failed.

Only this module connects to Ray. It does not depend on what the actors do.
"""

import logging
import os
import signal
import socket
import threading
from typing import Any, NamedTuple

# Whenever a node dies, Ray prints sixty lines about its daemons; our own notices suffice. Ray reads
# this variable when it is imported.
os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")

import ray  # noqa: E402
import ray.exceptions  # noqa: E402
import ray.util.scheduling_strategies  # noqa: E402

from alphazero.runtime.errors import ConfigError  # noqa: E402

NODE_LEFT = "its machine has left the cluster"  #: one of the reasons that `reason_of` returns
_CONNECT_S = 5.0
_OUT_OF_MEMORY = "Ray has ended its process: its machine was running out of memory"
#: Why an actor or a task was lost, as a clause, keyed by a phrase in Ray's error message.
_REASONS = {
    "ModuleNotFoundError": "this program is not installed on its machine",
    "OUT_OF_MEMORY": _OUT_OF_MEMORY,
    "low on memory": _OUT_OF_MEMORY,
    "node has died": NODE_LEFT,
}


class Node(NamedTuple):
    """A live node (machine) of the Ray cluster, with the resources that Ray reports."""

    id: str
    host: str
    num_cpus: int
    num_gpus: int


def connect(address: str) -> bool:
    """Connect this process to a Ray cluster, unless it is already connected.

    Args:
        address: "HOST:PORT" of the cluster, "auto" to find one, or "local" to start one on this
            machine alone.

    Returns:
        True if this call started the cluster, which the caller then has to shut down.

    Raises:
        ConfigError: if no cluster can be reached.
    """
    if ray.is_initialized():
        return False
    handler = signal.getsignal(signal.SIGTERM)
    try:
        _check_reachable(address)
        ray.init(
            address=address,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        key = "workers.address"
        allowed = "HOST:PORT, auto or local"
        message = (
            f"{key}={address}: no Ray cluster can be reached ({first_line(error).split('. ')[0]}). "
            "Start one with 'ray start --head'; if it has a token, set RAY_AUTH_MODE=token and "
            f"copy the token to ~/.ray/auth_token. {key}=local needs no cluster."
        )
        raise ConfigError(message, key=key, value=address, allowed=allowed) from None
    finally:  # Ray's own handler would print a stack and end the process
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)
    return address == "local"


def live_nodes() -> list[Node]:
    """Return the nodes (machines) of the Ray cluster that are alive."""
    return [
        Node(
            values["NodeID"],
            values["NodeManagerHostname"],
            int(values["Resources"].get("CPU", 0)),
            int(values["Resources"].get("GPU", 0)),
        )
        for values in ray.nodes()
        if values["Alive"]
    ]


def reason_of(error: Exception) -> str:
    """Explain why a remote call failed, as a clause such as "its machine has left the cluster"."""
    if isinstance(error, ray.exceptions.RayTaskError):
        return f"it failed: {type(error.cause).__name__}: {first_line(error.cause)}"
    for known, clause in _REASONS.items():
        if known in str(error):
            return clause
    is_dead = isinstance(error, (ray.exceptions.RayActorError, ray.exceptions.WorkerCrashedError))
    return "its process was killed or has crashed" if is_dead else first_line(error)


def first_line(error: Any) -> str:
    """Return the first line of an error's message without its full stop, or the error's type.

    Args:
        error: an exception; if its message is empty, the name of its type is returned.
    """
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def _check_reachable(address: str) -> None:
    """Raise an error at once if nothing listens at HOST:PORT, where Ray would try for minutes.

    Args:
        address: HOST:PORT; any other text is not checked.

    Raises:
        OSError: if nothing accepts a connection within five seconds.
    """
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S).close()
