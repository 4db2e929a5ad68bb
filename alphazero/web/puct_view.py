"""What a PUCT search with a network knows about one of its positions, as a `SearchView`."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from alphazero.search.batched_search import TreeSearch
from alphazero.search.tree import ILLEGAL, ROOT_INDEX, UNPROVEN, Tree
from alphazero.web.search_view import Node, SearchView, most_visited, number


class RootAnswer(NamedTuple):
    """What the network says about a position, without any search."""

    priors: np.ndarray  #: float32[A], 0 where illegal
    value: float  #: for the player to move


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
