"""Take snapshots of a search: the statistics of its moves, the expected line and the tree.

A snapshot contains only copied data, which later simulations do not change. Each node of the tree
is listed together with the move that leads to it.

Values and proven results of a move are from the viewpoint of the player who chooses the move.

Shapes: K state words, A actions.
"""

import functools
import heapq
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.base import Analysis
from alphazero.search import tree as puct_tree
from alphazero.search.batched_search import TreeSearch
from alphazero.search.uct import tree as uct_tree
from alphazero.search.uct.search import UctSearch

RUNNING_NODES = 200  #: maximum number of nodes in a view while a search runs
FINAL_NODES = 1_000  #: maximum number of nodes in the final view of a search
_DIGITS = 4


class SearchView(NamedTuple):
    """A snapshot of a search, whose fields are those of an `api/analyse` message."""

    num_simulations: int  #: number of simulations so far
    value: float | None  #: expected result for the player to move
    proven: float | None  #: proven result for the player to move; None if there is none
    best: int  #: the action that the search would play now
    #: The legal actions, each with the keys action, visits, prior, value and proven; the last
    #: three are None where unknown.
    actions: list[dict[str, Any]]
    line: list[int]  #: the expected line: the actions that both sides are expected to play
    #: the network's value and best action without search, as "value" and "best"; None for UCT
    network: dict[str, Any] | None
    tree: list[dict[str, Any]]  #: the most visited nodes, parents before their children


class RootAnswer(NamedTuple):
    """The network's policy and value in the position at the root, without search."""

    priors: np.ndarray  #: float32[A], 0 for illegal actions
    value: float  #: expected result for the player to move


class _Node(NamedTuple):
    """A node of a search tree, with the statistics of the move that leads to it from its parent."""

    key: Any  #: identifies the node in its search
    action: int | None  #: the move; None at the root
    visits: int
    value: float
    prior: float | None = None
    proven: float | None = None
    to_move: int = 0


#: A function that returns the visited children of a node.
_Children = Callable[[_Node], list[_Node]]


def number(value: float | None) -> float | None:
    """Round a number to 4 decimals for JSON; return None if it is missing or not finite."""
    if value is None or not math.isfinite(value):
        return None
    return round(float(value), _DIGITS)


def root_answer(search: TreeSearch) -> RootAnswer:
    """Copy the network's policy and value at the root of a search that has only evaluated its root.

    Args:
        search: the search of a single position, before its first simulation below the root.
    """
    priors = search.tree.children_priors[0, puct_tree.ROOT_INDEX]
    value = search.tree.raw_values[0, puct_tree.ROOT_INDEX]
    return RootAnswer(priors.copy(), float(value))


def puct_view(search: TreeSearch, answer: RootAnswer, max_nodes: int) -> SearchView:
    """Take a snapshot of a PUCT search with a network.

    Args:
        search: the search to copy from, of a single position.
        answer: the network's policy and value at this root, as `root_answer` copied them before
            the search changed them.
        max_nodes: maximum number of tree nodes in the snapshot; with 0 it contains no tree.
    """
    tree = search.tree
    index = puct_tree.ROOT_INDEX
    num_visits = int(tree.children_visits[0, index].sum())
    proven = _result(tree.proven_values[0, index])
    value = float(tree.node_values[0, index]) if proven is None else float(proven)
    to_move = int(tree.players[0, index])
    root = _Node(index, None, num_visits, value, proven=proven, to_move=to_move)
    legal = np.flatnonzero(tree.children_index[0, index] != puct_tree.ILLEGAL).tolist()
    network_best = int(answer.priors.argmax())
    line = search.principal_variation(0) if num_visits else [network_best]
    network = {"value": number(answer.value), "best": network_best}
    children = functools.partial(_puct_children, tree, answer)
    return _view(root, children, legal, line, max_nodes, answer.priors, network)


def _puct_children(tree: puct_tree.Tree, answer: RootAnswer, node: _Node) -> list[_Node]:
    index = node.key
    nodes = []
    priors = tree.children_priors[0, index]
    if index == puct_tree.ROOT_INDEX:
        priors = answer.priors
    for action in np.flatnonzero(tree.children_index[0, index] >= 0).tolist():
        child = int(tree.children_index[0, index, action])
        to_move = int(tree.players[0, child])
        proven = _result(tree.proven_values[0, child])
        if proven is not None:
            sign = 1 if to_move == node.to_move else -1
            proven = sign * proven + 0.0  # no -0
        visits = int(tree.children_visits[0, index, action])
        value = float(tree.children_values[0, index, action])
        nodes.append(_Node(child, action, visits, value, float(priors[action]), proven, to_move))
    return nodes


def _result(proven: np.float32) -> float | None:
    return None if proven == puct_tree.UNPROVEN else number(float(proven))


def uct_view(search: UctSearch, state: np.ndarray, max_nodes: int) -> SearchView:
    """Take a snapshot of a UCT search.

    Args:
        search: the search to copy from.
        state: the position that was searched, an array of K state words.
        max_nodes: maximum number of tree nodes in the snapshot; with 0 it contains no tree.
    """
    game = search.game
    index = uct_tree.ROOT_INDEX
    player = int(game.players(state[None])[0])
    _, values = search.statistics(np.array([index]), player)
    root = _Node((index, state), None, search.num_done, float(values[0]), to_move=player)
    legal = np.flatnonzero(game.legal_action_mask(state[None])[0]).tolist()
    children = functools.partial(_uct_children, search)
    line = _most_visited_line(root, children) or legal[:1]
    return _view(root, children, legal, line, max_nodes)


def _uct_children(search: UctSearch, node: _Node) -> list[_Node]:
    """Return the visited children of a node in a UCT tree.

    Args:
        search: the search that grew the tree.
        node: the parent; its ``key`` is the pair (index in the tree, state).
    """
    index, state = node.key
    if search.tree.nodes[index]["first_child"] == uct_tree.NO_CHILDREN:
        return []
    actions, nodes = uct_tree.children_of(search.tree, index)
    visits, values = search.statistics(nodes, node.to_move)
    visited = np.flatnonzero(visits)
    states = np.repeat(state[None], len(visited), axis=0)
    after = search.game.step(states, actions[visited])
    children = []
    for index, child_state, to_move in zip(visited.tolist(), after.states, after.players.tolist()):
        key = int(nodes[index]), child_state
        action, num_visits = int(actions[index]), int(visits[index])
        children.append(_Node(key, action, num_visits, float(values[index]), to_move=to_move))
    return children


def analysis_view(game: Game, state: np.ndarray, analysis: Analysis) -> SearchView:
    """Convert a player's analysis of a position to a snapshot without a tree.

    Args:
        state: the position, an array of K state words.
        analysis: what the player found in the position.
    """
    legal = np.flatnonzero(game.legal_action_mask(state[None])[0]).tolist()
    children = list[_Node]()
    for action in legal:
        visits = int(analysis.visits[action])
        children.append(_Node(None, action, visits, analysis.values[action]))
    root = _Node(None, None, analysis.num_simulations, analysis.value)
    line = [int(action) for action in analysis.principal_variation]
    return _view(root, lambda node: children, legal, line, 0)


def _most_visited_line(node: _Node, children: _Children) -> list[int]:
    """Return the actions along the most visited path from a node down to a leaf.

    Args:
        node: the node where the path starts.
        children: returns the visited children of a node.
    """
    line: list[int] = []
    below = children(node)
    while below:
        node = max(below, key=lambda child: (child.visits, child.value))
        assert node.action is not None
        line.append(node.action)
        below = children(node)
    return line


def _view(
    root: _Node,
    children: _Children,
    legal: list[int],
    line: list[int],
    max_nodes: int,
    priors: np.ndarray | None = None,
    network: dict[str, Any] | None = None,
) -> SearchView:
    """Make a snapshot of a search from the root of its tree.

    Args:
        root: the root of the tree.
        children: returns the visited children of a node.
        legal: the legal actions at the root.
        line: the expected line, which begins with the best action.
        max_nodes: maximum number of tree nodes in the snapshot; with 0 it contains no tree.
        priors: float32[A], the network's priors at the root; None without a network.
        network: value and best move of the network without search; None without a network.
    """
    below = {child.action: child for child in children(root)}
    unvisited = _Node(None, None, 0, math.nan)
    actions = []
    for action in legal:
        child = below.get(action, unvisited)
        entry = {
            "action": action,
            "visits": child.visits,
            "prior": None if priors is None else number(priors[action]),
            "value": number(child.value),
            "proven": child.proven,
        }
        actions.append(entry)
    return SearchView(
        num_simulations=root.visits,
        value=number(root.value),
        proven=root.proven,
        best=line[0],
        actions=actions,
        line=line,
        network=network,
        tree=_most_visited(root, children, max_nodes),
    )


def _most_visited(root: _Node, children: _Children, max_nodes: int) -> list[dict[str, Any]]:
    """List the ``max_nodes`` most visited nodes of a tree, parents before their children.

    Args:
        root: the root of the tree.
        children: returns the visited children of a node.
        max_nodes: maximum number of nodes to list.

    Returns:
        The fields of each node as a dict, with its index as "id", its parent's index and its number
        of visited children.
    """
    nodes: list[dict[str, Any]] = []
    # Negative visits, a number that breaks ties, the parent's id, and the node.
    queue: list[tuple[int, int, int | None, _Node]] = [(0, 0, None, root)]
    order = 0
    while queue and len(nodes) < max_nodes:
        _, _, parent, node = heapq.heappop(queue)
        below = children(node)
        node_id = len(nodes)
        for child in below:
            order += 1
            heapq.heappush(queue, (-child.visits, order, node_id, child))
        plain = node._asdict()
        del plain["key"]
        plain["value"] = number(node.value)
        plain["prior"] = number(node.prior)
        nodes.append(plain | {"id": node_id, "parent": parent, "num_children": len(below)})
    return nodes
