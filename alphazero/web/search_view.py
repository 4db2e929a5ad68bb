"""What a search knows at a moment: the statistics of the moves, the expected line, the tree.

In: the trees of a PUCT or a UCT search. Out: `SearchView`, plain data that no later simulation
changes. Node: a node of the tree as the page shows it, with the move that leads to it.

Values and proven results of a move are for the player who chooses it.
"""

import heapq
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.search.batched_search import TreeSearch
from alphazero.search.tree import ILLEGAL, ROOT_INDEX, UNPROVEN, Tree
from alphazero.search.uct.search import UctSearch
from alphazero.search.uct.tree import NO_CHILDREN, children_of, wins_of

#: How many nodes a view has while a search runs, and at its end.
RUNNING_NODES, FINAL_NODES = 200, 1_000
_DIGITS = 4
_wins_of = getattr(wins_of, "py_func", wins_of)


class RootAnswer(NamedTuple):
    """What the network says about a position, without any search."""

    priors: np.ndarray  #: float32[A], 0 where illegal
    value: float  #: for the player to move


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


# --- PUCT -----------------------------------------------------------------------------------------


def root_answer(search: TreeSearch, row: int) -> RootAnswer:
    """Return the network's answer at a root that was just evaluated."""
    tree = search.tree
    priors = tree.children_priors[row, ROOT_INDEX].copy()
    return RootAnswer(priors, float(tree.raw_values[row, ROOT_INDEX]))


def puct_view(search: TreeSearch, row: int, answer: RootAnswer, max_nodes: int) -> SearchView:
    """Return what a search knows about one of its positions.

    Args:
        answer: of the network at this root, before the search.
        max_nodes: of the tree; 0 leaves it out.
    """
    tree = search.tree
    visits = tree.children_visits[row, ROOT_INDEX]
    legal = np.flatnonzero(tree.children_index[row, ROOT_INDEX] != ILLEGAL).tolist()
    network_best = int(answer.priors.argmax())
    line, best = [network_best], network_best
    if visits.any():
        line = search.principal_variation(row)
        best = line[0]
    proven = _result(tree.proven_values[row, ROOT_INDEX])
    value = float(tree.node_values[row, ROOT_INDEX]) if proven is None else float(proven)
    root = Node(
        ROOT_INDEX,
        None,
        int(visits.sum()),
        value,
        None,
        proven,
        int(tree.players[row, ROOT_INDEX]),
    )

    def children(node: Node) -> list[Node]:
        return list(_puct_children(tree, row, node.key, answer))

    below = {child.action: child for child in children(root)}
    actions = []
    for action in legal:
        child = below.get(action)
        entry = {
            "action": action,
            "visits": 0 if child is None else child.visits,
            "prior": number(answer.priors[action]),
            "value": None if child is None else number(child.value),
            "proven": None if child is None else child.proven,
        }
        actions.append(entry)
    return SearchView(
        num_simulations=root.visits,
        value=number(value),
        proven=proven,
        best=best,
        actions=actions,
        line=line,
        network={"value": number(answer.value), "best": network_best},
        tree=most_visited(root, children, max_nodes),
    )


def _puct_children(tree: Tree, row: int, node: int, answer: RootAnswer) -> Iterator[Node]:
    player = tree.players[row, node]
    for action in np.flatnonzero(tree.children_index[row, node] >= 0).tolist():
        child = int(tree.children_index[row, node, action])
        sign = 1 if tree.players[row, child] == player else -1
        proven = _result(tree.proven_values[row, child])
        priors = answer.priors if node == ROOT_INDEX else tree.children_priors[row, node]
        yield Node(
            key=child,
            action=action,
            visits=int(tree.children_visits[row, node, action]),
            value=float(tree.children_values[row, node, action]),
            prior=float(priors[action]),
            proven=None if proven is None else sign * proven,
            to_move=int(tree.players[row, child]),
        )


def _result(proven: np.int8) -> int | None:
    return None if proven == UNPROVEN else int(proven)


# --- UCT ------------------------------------------------------------------------------------------


def uct_view(search: UctSearch, state: np.ndarray, max_nodes: int) -> SearchView:
    """Return what a UCT search knows about the position, [K], that it searches."""
    game = search.game
    player = int(game.players(state[None])[0])
    visits, points = _uct_statistics(search, np.array([ROOT_INDEX]))
    root = Node((ROOT_INDEX, state), None, search.num_done, 0.0, None, None, player)
    value = 2.0 * float(_wins_of(player, points, visits)[0]) / max(search.num_done, 1) - 1.0
    root = root._replace(value=value)

    def children(node: Node) -> list[Node]:
        return list(_uct_children(search, game, node))

    below = {child.action: child for child in children(root)}
    legal = np.flatnonzero(game.legal_action_mask(state[None])[0]).tolist()
    actions = []
    for action in legal:
        child = below.get(action)
        known = child is not None and child.visits > 0
        entry = {
            "action": action,
            "visits": child.visits if known else 0,
            "prior": None,
            "value": number(child.value) if known else None,
            "proven": None,
        }
        actions.append(entry)
    line = _uct_line(root, children) or legal[:1]
    return SearchView(
        num_simulations=search.num_done,
        value=number(value),
        proven=None,
        best=line[0],
        actions=actions,
        line=line,
        network=None,
        tree=most_visited(root, children, max_nodes),
    )


def _uct_children(search: UctSearch, game: Game, node: Node) -> Iterator[Node]:
    """Return the visited children of a node, whose key is its index and its state."""
    index, state = node.key
    if search.tree.nodes[index]["first_child"] == NO_CHILDREN:
        return
    actions, nodes = children_of(search.tree, index)
    visits, points = _uct_statistics(search, nodes)
    visited = np.flatnonzero(visits > 0)
    if not len(visited):
        return
    after = game.step(np.repeat(state[None], len(visited), axis=0), actions[visited])
    wins = _wins_of(node.to_move, points[visited], visits[visited])
    values = 2.0 * wins / visits[visited] - 1.0
    for k, place in enumerate(visited.tolist()):
        yield Node(
            key=(int(nodes[place]), after.states[k]),
            action=int(actions[place]),
            visits=int(visits[place]),
            value=float(values[k]),
            prior=None,
            proven=None,
            to_move=int(after.players[k]),
        )


def _uct_statistics(search: UctSearch, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the visits of nodes and the points of the player who began, int64[...]."""
    found = search.tree.nodes[nodes]
    return found["visits"].astype(np.int64), found["points"].astype(np.int64)


def _uct_line(root: Node, children: Callable[[Node], list[Node]]) -> list[int]:
    """Return the most visited moves, one after the other."""
    line: list[int] = []
    node = root
    while below := children(node):
        node = max(below, key=lambda child: (child.visits, child.value))
        line.append(node.action)
    return line
