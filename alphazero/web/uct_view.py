"""What a UCT search knows about the position that it searches, as a `SearchView`."""

from collections.abc import Callable, Iterator

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.search.uct.search import UctSearch
from alphazero.search.uct.tree import NO_CHILDREN, ROOT_INDEX, children_of, wins_of
from alphazero.web.search_view import Node, SearchView, most_visited, number

_wins_of = getattr(wins_of, "py_func", wins_of)  # the uncompiled function works on arrays too


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
