"""The connection to a Ray cluster: its nodes, how actors are placed on them, and why calls fail.

This file alone connects to Ray. It knows nothing of what actors do.
"""

import logging
import os
import socket
from typing import Any, NamedTuple

# Ray prints the state of its daemons, sixty lines, whenever a node dies. What matters to the user
# is in the notices. Ray reads this when it is imported.
os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")

import ray  # noqa: E402
import ray.exceptions  # noqa: E402
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: E402

from alphazero.runtime.errors import ConfigError  # noqa: E402

_CONNECT_S = 5.0


class Node(NamedTuple):
    """What the cluster says about a live node."""

    id: str
    host: str
    num_cpus: int
    num_gpus: int


def connect(address: str, key: str = "workers.address") -> bool:
    """Connect to a cluster, unless this process is connected; return whether it was started here.

    Args:
        address: HOST:PORT, "auto", or "local" to start a cluster of this machine alone.
        key: the setting that gave the address.

    Raises:
        ConfigError: if there is none.
    """
    if ray.is_initialized():
        return False
    if address == "local":
        ray.init(
            address="local",
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
        return True
    try:
        _check_reachable(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        raise ConfigError(
            f"{key}={address}: no Ray cluster can be reached ({first_line(error)}). "
            "Start one with 'ray start --head'; if it asks for a token, this machine needs "
            f"RAY_AUTH_MODE=token and the same token. {key}=local needs no cluster.",
            key=key,
            value=address,
            allowed="HOST:PORT, auto or local",
        ) from None
    return False


def live_nodes() -> list[Node]:
    """Return the nodes of the cluster that are alive."""
    return [_node(values) for values in ray.nodes() if values["Alive"]]


def place_on(node: Node, num_threads: int) -> dict[str, Any]:
    """Return the options of an actor on a node: with so many cores and all GPUs, never restarted.

    Ray would restart an actor without what it was told since.
    """
    return {
        "num_cpus": num_threads,
        "num_gpus": node.num_gpus,
        "max_restarts": 0,
        "max_task_retries": 0,
        "scheduling_strategy": NodeAffinitySchedulingStrategy(node.id, soft=False),
        "runtime_env": {"env_vars": {"OMP_NUM_THREADS": str(num_threads)}},
    }


def reason_of(error: Exception) -> str:
    """Return why a call failed, as a clause."""
    if isinstance(error, ray.exceptions.RayTaskError):
        return f"it failed: {type(error.cause).__name__}: {first_line(error.cause)}"
    if isinstance(error, ray.exceptions.OutOfMemoryError):
        return "its machine ran out of memory"
    if isinstance(error, ray.exceptions.RayActorError):
        text = str(error)
        for known, clause in (
            ("ModuleNotFoundError", "this program is not installed on its machine"),
            ("memory", "its machine ran out of memory"),
            ("node", "its machine has left the cluster or its process was killed"),
        ):
            if known in text:
                return clause
        return "its process has died"
    return first_line(error)


def first_line(error: Any) -> str:
    """Return the first line of an error's message, without its full stop."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def _check_reachable(address: str) -> None:
    """Raise OSError if nobody listens at HOST:PORT; Ray itself would try for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S).close()


def _node(values: dict[str, Any]) -> Node:
    """Return what an entry of `ray.nodes()` says."""
    resources = values["Resources"]
    return Node(
        values["NodeID"],
        values["NodeManagerHostname"],
        int(resources.get("CPU", 0)),
        int(resources.get("GPU", 0)),
    )
