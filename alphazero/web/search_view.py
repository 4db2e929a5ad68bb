"""What a search knows at a moment: the statistics of the moves, the expected line, the tree.

Plain data that no later simulation changes; `alphazero.web.puct_view` and `uct_view` make it. A
node is a node of the tree as the page shows it, with the move that leads to it.

Values and proven results of a move are for the player who chooses it.
"""

import heapq
import math
from collections.abc import Callable
from typing import Any, NamedTuple

#: How many nodes a view has while a search runs, and at its end.
RUNNING_NODES, FINAL_NODES = 200, 1_000
_DIGITS = 4


class SearchView(NamedTuple):
    """A search at a moment, as `api/analyse` describes it."""

    num_simulations: int
    value: float | None  #: for the player to move
    proven: int | None  #: result for the player to move
    best: int  #: the action that it would play now
    actions: list[dict[str, Any]]  #: legal ones: action, visits, prior, value, proven
    line: list[int]  #: the moves that it expects
    network: dict[str, Any] | None  #: value and best move of the network without a search
    tree: list[dict[str, Any]]  #: nodes, parents before their children


def number(value: float) -> float | None:
    """Return a number for JSON; None for one that is unknown."""
    return None if math.isnan(value) or math.isinf(value) else round(float(value), _DIGITS)


class Node(NamedTuple):
    """A node of a tree, and the move that leads to it from its parent."""

    key: Any  #: what `children` is asked with
    action: int | None
    visits: int
    value: float
    prior: float | None
    proven: int | None
    to_move: int


def most_visited(root: Node, children: Callable[[Node], list[Node]], max_nodes: int) -> list[dict]:
    """Return the most visited nodes of a tree, parents before their children.

    Args:
        children: returns the visited children of a node.
    """
    found: list[dict] = []
    waiting = [(0, 0, None, root)]
    order = 0
    while waiting and len(found) < max_nodes:
        _, _, parent, node = heapq.heappop(waiting)
        below = children(node)
        index = len(found)
        found.append(_plain_node(index, parent, node, len(below)))
        for child in below:
            order += 1
            heapq.heappush(waiting, (-child.visits, order, index, child))
    return found


def _plain_node(index: int, parent: int | None, node: Node, num_children: int) -> dict:
    plain = node._asdict() | {"value": number(node.value), "id": index, "parent": parent}
    del plain["key"]
    plain["prior"] = None if node.prior is None else number(node.prior)
    return plain | {"num_children": num_children}
